"""Feature scaling: a shift and a scale per feature, learned from the training instances."""

from dataclasses import dataclass
from typing import Any, Literal, get_args

import numpy as np
from numpy.typing import NDArray

from raravis.errors import InputError

__all__ = ["Scaling", "ScalingName"]

Floats = NDArray[np.floating[Any]]
Doubles = NDArray[np.float64]
#: Features beyond this overflow when squared.
_LARGEST = 1e150

ScalingName = Literal["minmax", "standard", "robust", "none"]


@dataclass(frozen=True)
class Scaling:
    """(x - shift) / scale, feature by feature.

    Examples
    --------
    >>> import numpy as np
    >>> scaling = Scaling.learn(np.array([[0.0, 5.0], [10.0, 5.0]]), "minmax")
    >>> scaling.apply(np.array([[5.0, 5.0]]))
    array([[0.5, 0. ]])
    """

    shift: NDArray[np.float64]
    scale: NDArray[np.float64]

    @classmethod
    def learn(cls, X: Floats, name: ScalingName) -> "Scaling":
        """Learn from the rows of X; a feature that never varies is shifted to zero, not divided."""
        if name not in get_args(ScalingName):
            raise InputError(
                f"scaling is {name!r}; pass one of {', '.join(get_args(ScalingName))}."
            )
        if len(X) and float(np.abs(X).max()) > _LARGEST:
            raise InputError(
                f"a feature reaches {np.abs(X).max():g}; above {_LARGEST:g} squares overflow. "
                "Divide the features by a constant first."
            )
        shift, scale = _STATISTICS[name](X.astype(np.float64, copy=False))
        return cls(shift, np.where(scale > np.finfo(np.float64).tiny, scale, 1.0))

    def apply(self, X: Floats) -> Floats:
        """Return the scaled rows, in the dtype of X."""
        scaled: Floats = np.subtract(X, self.shift, dtype=np.float64)
        scaled /= self.scale
        return np.ascontiguousarray(scaled, dtype=X.dtype)


def _minmax(X: Doubles) -> tuple[Doubles, Doubles]:
    low, high = X.min(axis=0), X.max(axis=0)
    return low, high - low


def _standard(X: Doubles) -> tuple[Doubles, Doubles]:
    return X.mean(axis=0), X.std(axis=0)


def _robust(X: Doubles) -> tuple[Doubles, Doubles]:
    low, middle, high = np.quantile(X, [0.25, 0.5, 0.75], axis=0)
    return middle, high - low


def _none(X: Doubles) -> tuple[Doubles, Doubles]:
    return np.zeros(X.shape[1]), np.ones(X.shape[1])


_STATISTICS = {"minmax": _minmax, "standard": _standard, "robust": _robust, "none": _none}
