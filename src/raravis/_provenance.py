"""Which bags a model learned from, and where its threshold comes from: both travel with the model.

An estimator calls :func:`bag_hashes` in ``fit`` and keeps what it returns as ``training_bags_``.
To be written to disk with it, it adds :func:`stored_values` and :func:`stored_arrays` to its
state, and calls :func:`restore_provenance` when it is restored.
"""

import hashlib
from typing import Any

import numpy as np
from numpy.typing import NDArray

from raravis._state import JSON, State, encode_value
from raravis.bags import Bags

__all__ = [
    "HashArray",
    "bag_hashes",
    "restore_provenance",
    "seen_in_training",
    "stored_arrays",
    "stored_values",
]

HashArray = NDArray[np.uint64]
_PREFIX_BYTES = 8


def bag_hashes(bags: Bags) -> HashArray:
    """Return a prefix of the SHA-256 of each bag's content, as one number a bag.

    Only the instances count, in single precision: not the key, not the other bags, not the names of
    the features.

    Examples
    --------
    >>> bags = Bags.from_list([[[1.0], [2.0]], [[1.0]]], keys=["dawn", "dusk"])
    >>> bool(bag_hashes(bags)[1] == bag_hashes(Bags.from_list([[[1.0]]]))[0])
    True
    """
    with np.errstate(over="ignore", under="ignore"):
        # Adding zero makes -0 and 0 the same bytes.
        rows = np.ascontiguousarray(bags.instances.astype("<f4") + np.float32(0))
    digests = (
        hashlib.sha256(rows[start:stop].data).digest()[:_PREFIX_BYTES]
        for start, stop in zip(bags.offsets[:-1], bags.offsets[1:], strict=True)
    )
    return np.frombuffer(b"".join(digests), dtype="<u8").astype(np.uint64)


def seen_in_training(model: object, bags: Bags) -> NDArray[np.bool_] | None:
    """Say of each bag whether the model learned from one of the same content; empty bags are not.

    Returns None for a model that does not know what it learned from.
    """
    hashes = getattr(model, "training_bags_", None)
    if hashes is None:
        return None
    seen: NDArray[np.bool_] = np.isin(bag_hashes(bags), hashes) & (bags.sizes > 0)
    return seen


def stored_values(model: Any) -> dict[str, JSON]:
    """Return the fitted values that say where a model's threshold comes from."""
    return {
        "offset": encode_value(float(model.offset_)),
        "threshold": encode_value(getattr(model, "threshold_", None)),
    }


def stored_arrays(model: Any) -> dict[str, NDArray[Any]]:
    """Return the arrays that say what a model learned from."""
    hashes = getattr(model, "training_bags_", None)
    return {} if hashes is None else {"training_bags": hashes}


def restore_provenance(model: Any, state: State) -> None:
    """Give a restored model its threshold and the hashes of its bags, if the state has them."""
    if "offset" in state.fitted:
        model.offset_ = float(state.value("offset"))
    if state.fitted.get("threshold") is not None:
        model.threshold_ = state.value("threshold")
    if "training_bags" in state.arrays:
        model.training_bags_ = state.array("training_bags", kinds="u", shape=(None,))
