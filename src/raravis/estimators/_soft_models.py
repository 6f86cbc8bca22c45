"""Models of instances that M-steps leave behind, as numbers to be stored and back."""

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from raravis._state import JSON, State, encode_value
from raravis.errors import InputError, ModelFileError
from raravis.kernels import Kernel
from raravis.solvers import SoftForest, SoftLogistic

__all__ = ["restored_model", "storable_model"]

Arrays = dict[str, NDArray[Any]]


def storable_model(model: object) -> tuple[dict[str, JSON], Arrays]:
    """Return small values and arrays from which ``restored_model`` makes an equal model."""
    if isinstance(model, SoftLogistic):
        return {"soft_model": "kernel"}, {
            "landmarks": model.landmarks,
            "coefficients": model.coefficients,
            "constant": model.constant,
        }
    if isinstance(model, SoftForest):
        return {"soft_model": "forest", "floor": encode_value(model.floor)}, {
            "feature": model.feature,
            "threshold": model.threshold,
            "left": model.left,
            "right": model.right,
            "leaf": model.leaf,
            "values": model.values,
            "first_node": model.first_node,
        }
    raise InputError(
        f"the M-step left a {type(model).__name__}, which cannot be stored; only models fitted "
        "with m_step='kernel' or 'forest' can be saved."
    )


def restored_model(
    state: State, kernel: Callable[[], Kernel], *, n_features: int, n_columns: int
) -> SoftLogistic | SoftForest:
    """Read a stored model of ``n_columns`` classes; ``kernel`` makes the kernel if it has one."""
    kind = state.value("soft_model")
    if kind == "kernel":
        landmarks = state.array("landmarks", kinds="f", shape=(None, n_features))
        return SoftLogistic(
            kernel(),
            landmarks,
            state.array("coefficients", kinds="f", shape=(len(landmarks), n_columns)),
            state.array("constant", kinds="f", shape=(n_columns,)),
        )
    if kind == "forest":
        return _forest(state, n_features, n_columns)
    raise ModelFileError(f"the model file holds a {kind!r}, which is no model of instances.")


def _forest(state: State, n_features: int, n_columns: int) -> SoftForest:
    feature = state.array("feature", kinds="i", shape=(None,))
    n_nodes = len(feature)
    parts = {name: state.array(name, kinds="i", shape=(n_nodes,)) for name in _LINKS}
    forest = SoftForest(
        feature=feature,
        threshold=state.array("threshold", kinds="f", shape=(n_nodes,)),
        values=state.array("values", kinds="f", shape=(None, n_columns)),
        first_node=state.array("first_node", kinds="i", shape=(None,)),
        floor=float(state.value("floor")),
        **parts,
    )
    _check_links(forest, n_features)
    return forest


_LINKS = ("left", "right", "leaf")


def _check_links(forest: SoftForest, n_features: int) -> None:
    """Refuse trees whose walk would leave the arrays or never end: compiled loops do not check."""
    roots = forest.first_node
    n_nodes = len(forest.feature)
    in_order = len(roots) > 0 and roots[0] == 0 and bool((np.diff(roots) > 0).all())
    if not in_order or roots[-1] >= n_nodes:
        raise ModelFileError("the trees of the model file do not follow one another.")
    sizes = np.diff(np.append(roots, n_nodes))
    place = np.arange(n_nodes) - np.repeat(roots, sizes)
    size = np.repeat(sizes, sizes)
    inner = forest.left >= 0
    links_fit = all(
        bool(((child > place) & (child < size))[inner].all())
        for child in (forest.left, forest.right)
    )
    features_fit = bool(((forest.feature >= 0) & (forest.feature < n_features))[inner].all())
    leaves = forest.leaf[~inner]
    leaves_fit = bool(((leaves >= 0) & (leaves < len(forest.values))).all())
    if not (links_fit and features_fit and leaves_fit):
        raise ModelFileError("a tree of the model file points outside of itself.")
