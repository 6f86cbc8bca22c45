"""Checks of classes, label sets and label matrices; what `BagLabels` is made of."""

from collections.abc import Hashable, Iterable, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from raravis._checks import as_list, is_missing, plain, require_choice, require_hashable, some
from raravis.errors import InputError

__all__ = [
    "ABSENT",
    "PRESENT",
    "UNKNOWN",
    "BoolArray",
    "LabelSet",
    "StatusArray",
    "are_single",
    "blank",
    "checked_classes",
    "checked_reviewed",
    "checked_status",
    "class_list",
    "indicator",
    "is_class_column",
    "is_same",
    "occurring",
    "pairs",
    "places",
    "require_no_indicator",
    "single_labels",
]

PRESENT = np.int8(1)
ABSENT = np.int8(-1)
UNKNOWN = np.int8(0)

BoolArray = NDArray[np.bool_]
StatusArray = NDArray[np.int8]
LabelSet = Iterable[Hashable] | None

# ---------------------------------------------------------------------- classes


def ordered(labels: Iterable[Hashable]) -> list[Hashable]:
    """Distinct labels, sorted if they can be, else as they first appear."""
    distinct = list(dict.fromkeys(labels))
    try:
        return sorted(distinct)  # type: ignore[type-var]
    except TypeError:
        return distinct


def _settled(labels: Iterable[Hashable]) -> list[Hashable]:
    """Labels of a set in an order that does not change from run to run, as its own does."""
    if not isinstance(labels, (set, frozenset)):
        return as_list(labels)
    return sorted(labels, key=lambda label: (type(label).__name__, repr(label)))


def occurring(sets: Iterable[list[Hashable] | None]) -> tuple[Hashable, ...]:
    """All classes of some label sets."""
    return tuple(ordered(label for item in sets for label in item or ()))


def checked_classes(classes: Iterable[Hashable]) -> tuple[Hashable, ...]:
    """Classes as a tuple of plain Python values, unique and none of them missing."""
    if isinstance(classes, (str, bytes)) or not isinstance(classes, Iterable):
        raise InputError(f"classes is {classes!r}; give a list of classes.")
    unordered = isinstance(classes, (set, frozenset))
    listed = [plain(label) for label in (ordered(_settled(classes)) if unordered else classes)]
    for i, label in enumerate(listed):
        require_hashable(label, f"class {i}")
    seen: set[Hashable] = set()
    for label in listed:
        if label in seen:
            raise InputError(f"The class {label!r} occurs twice; classes must be unique.")
        seen.add(label)
    return tuple(listed)


# ---------------------------------------------------------------------- label sets


def class_list(item: Any, position: int) -> list[Hashable] | None:
    """Classes of one bag as a list; None for a bag that nobody has looked at."""
    if item is None:
        return None
    where = f"the label set of bag {position} is"
    if isinstance(item, (str, bytes)):
        raise InputError(
            f"{where} the string {item!r}; write {{{item!r}}} for this one class, and a set, list "
            "or tuple for several."
        )
    if not isinstance(item, Iterable):
        raise InputError(
            f"{where} {item!r}; write {{{item!r}}} for one class, an empty set for none, None for "
            "a bag that nobody has looked at."
        )
    listed = [plain(label) for label in _settled(item)]
    for label in listed:
        require_hashable(label, f"a class in the label set of bag {position}")
    return listed


def pairs(
    sets: Sequence[list[Hashable] | None], classes: tuple[Hashable, ...]
) -> tuple[list[int], list[int]]:
    """Row and column of every class of every bag."""
    place = {label: i for i, label in enumerate(classes)}
    rows: list[int] = []
    cols: list[int] = []
    for row, item in enumerate(sets):
        for label in item or ():
            if label not in place:
                raise InputError(
                    f"bag {row} has the class {label!r}, which is not among the classes "
                    f"{some(classes)}; add it to classes or take it out of the labels."
                )
            rows.append(row)
            cols.append(place[label])
    return rows, cols


def is_same(label: Any, other: Any) -> bool:
    """Whether two labels are equal; all missing values are."""
    return bool(label is other or label == other or (is_missing(label) and is_missing(other)))


# ---------------------------------------------------------------------- matching by key


def places(
    labelled: Sequence[Hashable] | None, wanted: Sequence[Hashable], extra: str, missing: str
) -> list[int]:
    """Position of each wanted key among the labelled ones, -1 for one that is not there."""
    if labelled is None:
        raise InputError(
            "The labels have no keys to match bags by; make them with keys=..., or put them in "
            "the order of the bags and pass them as they are."
        )
    require_choice("extra", extra, ("error", "ignore"))
    require_choice("missing", missing, ("error", "unlabelled"))
    place = {key: i for i, key in enumerate(labelled)}
    both = f"({len(labelled)} bags in the labels, {len(wanted)} in the data)"
    lost = [key for key in wanted if key not in place]
    if lost and missing == "error":
        raise InputError(
            f"There are no labels for {len(lost)} bags {both}: {some(lost)}; check that both use "
            "the same keys, label them, or use BagLabels.align(bags, missing='unlabelled')."
        )
    known = set(wanted)
    strange = [key for key in labelled if key not in known]
    if strange and extra == "error":
        raise InputError(
            f"{len(strange)} labelled bags are not in the data {both}: {some(strange)}; correct "
            "their keys, or use BagLabels.align(bags, extra='ignore')."
        )
    return [place.get(key, -1) for key in wanted]


# ---------------------------------------------------------------------- matrices


def checked_status(status: Any, n_classes: int) -> StatusArray:
    """Matrix of 1 (present), -1 (absent) and 0 (unknown)."""
    array = np.asarray(status)
    if array.ndim != 2 or array.shape[1] != n_classes:
        raise InputError(
            f"The labels have shape {array.shape}; it must be (n_bags, {n_classes}), one column "
            "for each class."
        )
    if array.dtype.kind not in "fiubO":
        raise InputError(f"The label status has dtype {array.dtype}; give numbers 1, -1 and 0.")
    _require_only(array, np.isin(array, (-1, 0, 1)), "1 for present, -1 for absent, 0 for unknown")
    return array.astype(np.int8)


def blank(reviewed: BoolArray, n_classes: int) -> StatusArray:
    """Status of bags with no class present: absent where reviewed, else unknown."""
    return np.repeat(np.where(reviewed, ABSENT, UNKNOWN)[:, None], n_classes, axis=1)


def checked_reviewed(reviewed: Any, status: StatusArray) -> BoolArray:
    """Whether each bag was looked at; the status says so unless there is no class."""
    if status.shape[1] or reviewed is None:
        return np.asarray(np.any(status != UNKNOWN, axis=1))
    array = np.array(reviewed, dtype=bool)
    if array.shape != (len(status),):
        raise InputError(
            f"reviewed has shape {array.shape}; give one bool for each of the {len(status)} bags."
        )
    return array


def indicator(M: Any) -> NDArray[np.float64]:
    """Matrix of 1 (present), 0 (absent) and NaN (unknown) as floats."""
    if hasattr(M, "tocsr"):
        raise InputError("The indicator matrix is sparse; only dense ones work: call .toarray().")
    array = np.asarray(M)
    if array.ndim != 2:
        raise InputError(
            f"The indicator matrix has shape {array.shape}; it must have two axes, (bag, class)."
        )
    if array.dtype.kind not in "fiubO":
        raise InputError(
            f"The indicator matrix has dtype {array.dtype}; give numbers, or a list of sets."
        )
    unknown = np.vectorize(is_missing, otypes=[bool])(array)
    values = np.where(unknown, 0, array)
    _require_only(
        array,
        np.isin(values, (0, 1)),
        "1 for present, 0 for absent, NaN for unknown, or use BagLabels.from_status for 1, -1, 0",
    )
    return np.where(unknown, np.nan, values.astype(np.float64))


def _require_only(array: NDArray[Any], allowed: BoolArray, advice: str) -> None:
    bad = np.argwhere(~allowed)
    if bad.size:
        row, column = bad[0]
        raise InputError(
            f"The labels hold {plain(array[row, column])!r} in row {row}, column {column}; write "
            f"{advice}."
        )


# ---------------------------------------------------------------------- labels at the door


def are_single(items: Sequence[Any], *, numbers_only: bool) -> bool:
    """Whether entries are classes, not label sets; in a list, where a text is a slip, numbers."""
    if numbers_only:
        return all(isinstance(plain(item), (int, float)) for item in items)
    return all(isinstance(item, (str, bytes)) or not _is_set_like(item) for item in items)


def _is_set_like(item: Any) -> bool:
    return item is None or isinstance(item, Iterable)


def is_class_column(array: NDArray[Any]) -> bool:
    """Whether a matrix is one column of classes, not of zeros and ones."""
    if array.shape[1:] != (1,):
        return False
    return not all(is_missing(cell) or cell in (0, 1) for cell in array[:, 0].tolist())


def single_labels(items: Iterable[Any]) -> list[set[Hashable]]:
    """Label sets of bags that have one class each."""
    listed = [plain(item) for item in items]
    for item in listed:
        if is_missing(item):
            raise InputError(
                "Input y contains NaN. Give every bag a class, or use a list of sets with None "
                "for bags that nobody has looked at."
            )
        if isinstance(item, float) and np.isinf(item):
            raise InputError("Input y contains infinity, which is no class.")
    return [{item} for item in listed]


def require_no_indicator(sets: Sequence[Any]) -> None:
    """Refuse nested lists that are more likely an indicator matrix than lists of classes."""
    rows = [item for item in sets if isinstance(item, (list, tuple))]
    widths = {len(row) for row in rows}
    if len(rows) != len(sets) or len(widths) != 1 or min(widths) < 2:
        return
    cells = [cell for row in rows for cell in row]
    if all(isinstance(cell, (int, float)) and cell in (0, 1) for cell in cells):
        raise InputError(
            f"The labels are lists of {widths.pop()} zeros and ones each, which can be read as an "
            "indicator matrix or as lists of the classes 0 and 1; pass np.array(labels) for the "
            "first, sets for the second."
        )
