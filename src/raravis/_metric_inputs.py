"""What the figures of :mod:`raravis.metrics` accept, checked once at the door."""

import numpy as np
import numpy.typing as npt

from raravis.errors import InputError

__all__ = [
    "as_indicator",
    "as_kinds",
    "as_numbers",
    "bag_truth",
    "check_bootstrap",
    "check_equal_length",
    "checked_bags",
    "checked_scores",
]

FloatArray = npt.NDArray[np.float64]
BoolArray = npt.NDArray[np.bool_]
IntArray = npt.NDArray[np.int64]


def as_numbers(values: npt.ArrayLike, name: str) -> FloatArray:
    """Return a vector of numbers; infinities are fine, NaN is not."""
    numbers = _as_floats(values, name)
    if numbers.ndim != 1:
        raise InputError(
            f"{name} has shape {numbers.shape}; pass a vector, one value after another."
        )
    bad = np.flatnonzero(np.isnan(numbers))
    if bad.size:
        raise InputError(
            f"{name}[{bad[0]}] is NaN ({bad.size} of {numbers.size} values are); "
            "leave those out, or fix what produced them."
        )
    return numbers


def as_kinds(values: npt.ArrayLike, name: str) -> BoolArray:
    """Return known (True) or novel (False), also from 0/1 and from -1/+1."""
    numbers = as_numbers(values, name)
    if numbers.size == 0:
        raise InputError(f"{name} is empty; pass one value for each instance.")
    distinct = set(np.unique(numbers).tolist())
    if not (distinct <= {0.0, 1.0} or distinct <= {-1.0, 1.0}):
        raise InputError(
            f"{name} holds {sorted(distinct)[:5]}; pass True for known and False for novel "
            "(0/1 and -1/+1 are understood too)."
        )
    return numbers > 0


def checked_scores(
    known: npt.ArrayLike, scores: npt.ArrayLike, *, name: str = "scores"
) -> tuple[BoolArray, FloatArray]:
    """Return both as arrays of one length in which both kinds occur."""
    truth, values = as_kinds(known, "known"), as_numbers(scores, name)
    check_equal_length(len(truth), "known", len(values), name)
    if truth.all() or not truth.any():
        kind, other = ("known", "novel") if truth.all() else ("novel", "known")
        raise InputError(
            f"all {len(truth)} instances are {kind}; a ROC curve needs at least one {other} "
            "instance. Use more bags, or another set of known classes."
        )
    return truth, values


def checked_bags(bag_index: npt.ArrayLike, n_instances: int) -> tuple[IntArray, int]:
    """Return the bag of each instance as 0..n_bags-1, and n_bags."""
    bags = np.asarray(bag_index)
    if bags.ndim != 1:
        raise InputError(f"bag_index has shape {bags.shape}; pass one bag for each instance.")
    check_equal_length(n_instances, "known", len(bags), "bag_index")
    distinct, position = np.unique(bags, return_inverse=True)
    return position.astype(np.int64), len(distinct)


def check_bootstrap(level: float, n_resamples: int, n_bags: int) -> None:
    """Refuse options under which no interval exists."""
    if not 0 < level < 1:
        raise InputError(f"level is {level!r}; pass a share between 0 and 1, such as 0.95.")
    if n_resamples < 1:
        raise InputError(f"n_resamples is {n_resamples!r}; pass a positive number, such as 1000.")
    if n_bags < 2:
        raise InputError(
            "all instances are in one bag; resampling bags needs at least two. "
            "Use auc() for the figure without an interval."
        )


def check_equal_length(n: int, name: str, m: int, other: str) -> None:
    """Refuse two vectors that cannot describe the same instances."""
    if n != m:
        raise InputError(
            f"{name} has {n} values and {other} has {m}; pass one of each for every instance."
        )


def bag_truth(Y: npt.ArrayLike) -> tuple[BoolArray, BoolArray]:
    """Return which labels are present and which count at all, from 1, 0 and NaN."""
    matrix = _as_matrix(Y, "Y")
    unknown = np.isnan(matrix)
    if not np.isin(matrix[~unknown], (0.0, 1.0)).all():
        raise InputError(
            f"Y holds {np.unique(matrix[~unknown]).tolist()[:5]}; pass 1 = present, 0 = absent, "
            "NaN = unknown, or BagLabels.from_status(...) for +1, -1 and 0."
        )
    return matrix == 1, ~unknown


def as_indicator(Y_hat: npt.ArrayLike, shape: tuple[int, ...]) -> BoolArray:
    """Return a matrix of 0 and 1 of the given shape as bool."""
    matrix = _as_matrix(Y_hat, "Y_hat")
    if matrix.shape != shape:
        raise InputError(
            f"Y has shape {shape} and Y_hat has {matrix.shape}; both are (n_bags, n_classes)."
        )
    if not np.isin(matrix, (0.0, 1.0)).all():
        raise InputError(
            "Y_hat holds values other than 0 and 1; pass what predict_bags returns, "
            "or compare scores with a threshold first."
        )
    ones: BoolArray = matrix == 1
    return ones


def _as_matrix(values: npt.ArrayLike, name: str) -> FloatArray:
    matrix = _as_floats(values, name)
    if matrix.ndim != 2:
        raise InputError(f"{name} has shape {matrix.shape}; pass (n_bags, n_classes).")
    return matrix


def _as_floats(values: npt.ArrayLike, name: str) -> FloatArray:
    try:
        array = np.asarray(values)
        # Text that happens to look like numbers is a mistake upstream, not a score.
        if array.dtype.kind in "biufO":
            return np.asarray(array, dtype=np.float64)
    except (TypeError, ValueError) as error:
        raise InputError(f"{name} cannot be read as numbers: {error}.") from error
    raise InputError(f"{name} holds {array.dtype.name} values; pass numbers.")
