"""Checks at the door, shared by bags and labels: each passes good input on or raises InputError."""

from collections.abc import Hashable, Iterable, Iterator, Sequence
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from raravis.errors import InputError

__all__ = [
    "FloatArray",
    "IntArray",
    "NotANumberError",
    "as_array",
    "as_list",
    "bag_array",
    "checked_keys",
    "checked_names",
    "checked_offsets",
    "checked_rows",
    "common_width",
    "encode",
    "is_missing",
    "joined_keys",
    "looks_like_bag",
    "optional_keys",
    "plain",
    "positions",
    "read_only",
    "real_matrix",
    "real_values",
    "recode",
    "require_choice",
    "require_features",
    "require_finite",
    "require_hashable",
    "require_samples",
    "some",
]

FloatArray = NDArray[np.floating[Any]]
IntArray = NDArray[np.int64]


class NotANumberError(InputError, TypeError):
    """A value that is no number where numbers belong, for those who catch TypeError."""


def some(values: Iterable[Any], limit: int = 5) -> str:
    """Show the first few of many values for a message."""
    listed = list(values)
    return ", ".join(map(repr, listed[:limit])) + (", ..." if len(listed) > limit else "")


def require_choice(name: str, value: str, choices: tuple[str, ...]) -> None:
    """Refuse an option that is not one of a closed set."""
    if value not in choices:
        raise InputError(f"{name} is {value!r}; it must be {' or '.join(map(repr, choices))}.")


# ---------------------------------------------------------------------- keys, classes and ids


def plain(key: Any) -> Any:
    """NumPy scalar as the Python value it stands for; dates stay, as Python's are coarser."""
    if isinstance(key, np.generic) and key.dtype.kind not in "mM":
        return key.item()
    if type(key) is tuple:
        return tuple(plain(part) for part in key)
    return key


def is_missing(value: Any) -> bool:
    """Whether a value is None, NaN or a data frame's mark of a missing value."""
    if value is None or type(value).__name__ in {"NAType", "NaTType"}:
        return True
    if isinstance(value, tuple):
        return any(is_missing(part) for part in value)
    if isinstance(value, (np.datetime64, np.timedelta64)):
        return bool(np.isnat(value))
    return isinstance(value, (float, np.floating)) and bool(np.isnan(value))


def require_hashable(value: Any, what: str) -> None:
    """Refuse what cannot name a bag or a class."""
    if is_missing(value):
        raise InputError(f"{what} is {value!r}, a missing value; give it a name or leave it out.")
    try:
        hash(value)
    except TypeError as error:
        raise InputError(
            f"{what} is {value!r}, which is not hashable; use a str, a number or a tuple."
        ) from error


def as_list(values: Any) -> list[Any]:
    """List of Python values from an array, a series or any iterable."""
    if isinstance(values, np.ndarray) and values.dtype.kind in "mM":
        return list(values)
    for method in ("to_pylist", "tolist", "to_list"):
        if hasattr(values, method):
            return list(getattr(values, method)())
    return list(values)


def encode(ids: Any, what: str) -> tuple[IntArray, list[Any]]:
    """Codes 0, 1, ... of ids in the order in which each first appears, and the distinct ids."""
    if isinstance(ids, (str, bytes)) or not isinstance(ids, Iterable):
        raise InputError(f"{what} is {ids!r}; give a list with one entry for each row.")
    if isinstance(ids, np.ndarray):
        if ids.ndim != 1:
            raise InputError(f"{what} has shape {ids.shape}; give one entry for each row.")
        if ids.dtype.kind in "iufbUS":
            return _encode_array(ids)
    return _encode_list(as_list(ids), what)


def _encode_list(listed: list[Any], what: str) -> tuple[IntArray, list[Any]]:
    place: dict[Any, int] = {}
    try:
        codes = [place.setdefault(value, len(place)) for value in listed]
    except TypeError:
        for row, value in enumerate(listed):
            require_hashable(value, f"entry {row} of {what}")
        raise
    return np.array(codes, dtype=np.int64), list(place)


def _encode_array(ids: NDArray[Any]) -> tuple[IntArray, list[Any]]:
    distinct, first, inverse = np.unique(ids, return_index=True, return_inverse=True)
    by_appearance = np.argsort(first)
    rank = np.empty(len(distinct), dtype=np.int64)
    rank[by_appearance] = np.arange(len(distinct))
    return rank[inverse], distinct[by_appearance].tolist()


def checked_keys(
    keys: Iterable[Hashable] | None, n_bags: int | None = None
) -> tuple[Hashable, ...]:
    """Keys as a tuple of plain Python values, unique and none of them missing."""
    if keys is None:
        return tuple(range(n_bags or 0))
    if isinstance(keys, (str, bytes)) or not isinstance(keys, Iterable):
        raise InputError(f"keys is {keys!r}; give a list with one key for each bag.")
    listed = tuple(plain(key) for key in as_list(keys))
    if n_bags is not None and len(listed) != n_bags:
        raise InputError(f"There are {len(listed)} keys for {n_bags} bags; give one for each bag.")
    seen: set[Hashable] = set()
    for position, key in enumerate(listed):
        require_hashable(key, f"the key of bag {position}")
        if key in seen:
            raise InputError(f"The bag key {key!r} occurs twice; keys must be unique.")
        seen.add(key)
    return listed


def optional_keys(keys: Iterable[Hashable] | None) -> tuple[Hashable, ...] | None:
    """Keys, checked if there are any."""
    return None if keys is None else checked_keys(keys)


def joined_keys(parts: Sequence[Sequence[Hashable]], policy: str) -> tuple[Hashable, ...]:
    """Keys of several parts after each other; 0, 1, 2, ... if they are to be renumbered."""
    require_choice("keys", policy, ("error", "renumber"))
    if policy == "renumber":
        return tuple(range(sum(map(len, parts))))
    seen: dict[Hashable, None] = {}
    for key in (key for part in parts for key in part):
        if key in seen:
            raise InputError(
                f"There would be two bags with the key {key!r}; pass keys='renumber' to call the "
                "bags 0, 1, 2, ..."
            )
        seen[key] = None
    return tuple(seen)


def positions(which: Any, n_bags: int, what: str = "bag") -> IntArray:
    """Positions in ``range(n_bags)`` that an index array, a mask or a slice selects."""
    if isinstance(which, slice):
        return np.arange(n_bags)[which]
    array = np.asarray(which)
    if array.shape == (n_bags,) and array.dtype == bool:
        return np.flatnonzero(array)
    if array.shape == (0,) and array.dtype != bool:
        return np.empty(0, dtype=np.int64)
    if array.ndim != 1 or array.dtype.kind not in "iu":
        raise InputError(
            f"A selection of shape {array.shape} and dtype {array.dtype} does not fit {n_bags} "
            f"{what}s; give whole numbers, a slice, or a mask with one bool for each {what}."
        )
    outside = array[(array < -n_bags) | (array >= n_bags)]
    if outside.size:
        raise InputError(
            f"There is no {what} at position {outside[0]}: there are {n_bags} {what}s."
        )
    return np.where(array < 0, array + n_bags, array).astype(np.int64)


# ---------------------------------------------------------------------- matrices of features


def as_array(X: Any, what: str) -> NDArray[Any]:
    """Dense array of something that is one, with numbers and strings kept apart."""
    if hasattr(X, "tocsr"):
        raise InputError(f"{what} is a sparse matrix; only dense arrays work, so call .toarray().")
    if isinstance(X, np.ma.MaskedArray) and np.ma.is_masked(X):
        raise InputError(f"{what} has masked entries; drop or impute them first.")
    try:
        array = np.asarray(X)
    except ValueError as error:
        raise InputError(
            f"{what} is not an array: {error}. A list of bags goes through Bags.from_list."
        ) from error
    if array.dtype.kind in "US" and not isinstance(X, np.ndarray):
        # Lists of numbers and strings turned into strings; go back to see which is which.
        array = np.asarray(X, dtype=object)
    return array


def real_matrix(X: Any, what: str) -> FloatArray:
    """C-contiguous 2-D float32 or float64 array, without a copy where it is one already."""
    array = as_array(X, what)
    if array.ndim != 2:
        raise InputError(
            f"{what} has shape {array.shape}, but must have two axes, (instance, feature). "
            "Reshape your data: x.reshape(1, -1) is one instance, x.reshape(-1, 1) one feature."
        )
    _require_numeric(array, what)
    dtype = np.float32 if array.dtype == np.float32 else np.float64
    try:
        with np.errstate(over="ignore"):
            return np.ascontiguousarray(array, dtype=dtype)
    except OverflowError as error:
        raise InputError(f"{what} holds a number that is too large for {dtype}.") from error


def _require_numeric(array: NDArray[Any], what: str) -> None:
    kind = array.dtype.kind
    if kind == "c":
        raise InputError(f"Complex data not supported: {what} has dtype {array.dtype}.")
    if kind == "O":
        for column, value in _cells(array):
            _require_number(value, f"{what} holds {value!r} in feature {column}")
    elif kind not in "fiub":
        first = f", such as {array.flat[0]!r} in feature 0" if array.size else ""
        raise InputError(
            f"{what} has dtype {array.dtype}{first}; features must be numbers, so encode these "
            "or leave them out."
        )


def _cells(array: NDArray[Any]) -> Iterator[tuple[int, Any]]:
    return ((column, value) for column, values in enumerate(array.T) for value in values)


def _require_number(value: Any, found: str) -> None:
    if isinstance(value, (complex, np.complexfloating)):
        raise InputError(f"Complex data not supported: {found}.")
    if not isinstance(value, (int, float, np.integer, np.floating, np.bool_)):
        raise NotANumberError(
            f"{found}; each argument must be a number, so encode a string or an object as numbers "
            "and impute what is missing."
        )


def checked_offsets(offsets: Any, n_instances: int) -> IntArray:
    """Where each bag starts, and where the last one ends."""
    array = np.asarray(offsets)
    if array.ndim != 1 or array.size == 0 or array.dtype.kind not in "iu":
        raise InputError(
            f"offsets has shape {array.shape} and dtype {array.dtype}; it must be n_bags + 1 "
            "whole numbers."
        )
    if array[0] != 0 or array[-1] != n_instances or np.any(array[1:] < array[:-1]):
        raise InputError(
            f"offsets runs from {array[0]} to {array[-1]}; it must rise from 0 to the number of "
            f"instances, {n_instances}, and never fall."
        )
    return read_only(np.array(array, dtype=np.int64))


def checked_rows(rows: Any, n_instances: int) -> IntArray:
    """Rows of the source table, one an instance."""
    if rows is None:
        return read_only(np.arange(n_instances))
    array = np.asarray(rows)
    if array.shape != (n_instances,) or (array.size and array.dtype.kind not in "iu"):
        raise InputError(
            f"source_rows has shape {array.shape} and dtype {array.dtype}; it must be one whole "
            f"number for each of the {n_instances} instances."
        )
    if array.size and array.min() < 0:
        raise InputError(f"source_rows holds {array.min()}; rows count from 0.")
    return read_only(np.array(array, dtype=np.int64))


def checked_names(names: Any, n_features: int) -> tuple[str, ...] | None:
    """Names of the features, all different."""
    if names is None:
        return None
    listed = () if isinstance(names, str) else tuple(str(name) for name in names)
    if len(listed) != n_features or len(set(listed)) != n_features:
        raise InputError(
            f"feature_names is {names!r}; give a list of {n_features} different names."
        )
    return listed


def require_features(X: FloatArray) -> None:
    """Refuse instances without features."""
    if X.shape[1] == 0:
        raise InputError(
            f"Found array with 0 feature(s) (shape={X.shape}) while a minimum of 1 is required."
        )


def require_finite(X: FloatArray, offsets: IntArray, keys: tuple[Hashable, ...]) -> None:
    """Refuse NaN and infinity, naming the first bag and feature that have one."""
    finite = np.isfinite(X)
    if finite.all():
        return
    row, feature = np.argwhere(~finite)[0]
    value = "NaN" if np.isnan(X[row, feature]) else "infinity"
    key = keys[int(np.searchsorted(offsets, row, side="right")) - 1]
    raise InputError(
        f"Input X contains {value}. The first is in bag {key!r}, feature {feature}; drop such "
        "instances or impute the value."
    )


# ---------------------------------------------------------------------- bags in lists


def looks_like_bag(item: Any) -> bool:
    """Whether a list with this item is a list of bags, as against a matrix given as lists."""
    if isinstance(item, (list, tuple)):
        return not item or isinstance(item[0], (list, tuple, np.ndarray))
    return hasattr(item, "__array__") and not isinstance(item, np.generic)


def require_samples(array: NDArray[Any]) -> None:
    """Refuse an array that is neither a matrix nor a stack of bags, or holds none."""
    if array.ndim and array.shape[0] == 0:
        raise InputError(
            f"Found array with 0 sample(s) (shape={array.shape}) while a minimum of 1 is required."
        )
    if array.ndim not in (2, 3):
        raise InputError(
            f"Expected bags or a 2D array, got an array of shape {array.shape}. Reshape your data "
            "with array.reshape(-1, 1) if it has a single feature or array.reshape(1, -1) if it "
            "is a single instance; several bags are passed as Bags or a list of 2D arrays."
        )


def bag_array(item: ArrayLike, key: Hashable) -> FloatArray:
    """One bag of a list; an empty one without a number of features has shape (0, 0)."""
    array = as_array(item, f"bag {key!r}")
    if array.shape == (0,):
        array = np.empty((0, 0))
    return real_matrix(array, f"bag {key!r}")


def common_width(
    arrays: list[FloatArray], keys: tuple[Hashable, ...], n_features: int | None
) -> int:
    """Give the number of features that all bags of a list share."""
    width, origin = n_features, "n_features"
    for array, key in zip(arrays, keys, strict=True):
        if array.shape == (0, 0):
            continue
        if width is None:
            width, origin = array.shape[1], f"bag {key!r}"
        if array.shape[1] != width:
            raise InputError(
                f"bag {key!r} has {array.shape[1]} features, but {origin} says {width}; all bags "
                "need the same features."
            )
    if width is None:
        raise InputError(
            "All bags are empty, so nothing says how many features there are; give n_features."
        )
    return width


def recode(codes: IntArray, found: tuple[Hashable, ...], wanted: tuple[Hashable, ...]) -> IntArray:
    """Codes that count in the order of ``wanted`` instead of ``found``."""
    place = {key: i for i, key in enumerate(wanted)}
    lost = [key for key in found if key not in place]
    if lost:
        raise InputError(
            f"{len(lost)} ids in bag_ids are not among keys, such as {some(lost)}; list every "
            "bag in keys or drop those rows."
        )
    return np.array([place[key] for key in found], dtype=np.int64)[codes]


def real_values(values: ArrayLike) -> NDArray[Any]:
    """Floating-point values, in single precision if they are."""
    array = np.asarray(values)
    if array.dtype.kind not in "fiub":
        raise InputError(f"values has dtype {array.dtype}; give real numbers.")
    return array if array.dtype.kind == "f" else array.astype(np.float64)


def read_only(array: NDArray[Any]) -> NDArray[Any]:
    """View of an array through which it cannot be changed."""
    view = array.view()
    view.flags.writeable = False
    return view
