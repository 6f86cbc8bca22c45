"""Labels of bags: for each bag and class present, absent or unknown.

A bag that was reviewed and found to hold nothing (every class absent) is not the same as a bag
that nobody has looked at (every class unknown).
"""

from collections.abc import Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, Literal, Self
from warnings import warn

import numpy as np
from numpy.typing import ArrayLike

from raravis import _checks, _classes, _tables
from raravis._checks import checked_keys, plain, positions, some
from raravis._classes import (
    ABSENT,
    PRESENT,
    UNKNOWN,
    BoolArray,
    LabelSet,
    StatusArray,
    blank,
    checked_classes,
)
from raravis.bags import Bags
from raravis.errors import InputError, RaravisWarning

if TYPE_CHECKING:
    import pyarrow as pa

__all__ = ["ABSENT", "PRESENT", "UNKNOWN", "BagLabels", "as_labels"]

FillPolicy = Literal["unknown", "absent"]


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class BagLabels:
    """What is known about the classes of each bag; immutable.

    Parameters
    ----------
    classes : sequence of hashables
        Unique; the columns of ``status``.
    status : array of int, shape (n_bags, n_classes)
        ``PRESENT`` (1), ``ABSENT`` (-1) or ``UNKNOWN`` (0).
    keys : sequence of hashables, optional
        The name of each bag, if known.
    reviewed : array of bool, shape (n_bags,), optional
        Whether anybody has looked at the bag. It follows from ``status`` (at least one known
        entry) and is asked for only where there is no class at all.

    Examples
    --------
    >>> labels = BagLabels.from_sets([{"owl", "wren"}, set(), None])
    >>> labels
    BagLabels(3 bags, 2 classes, 1 reviewed and empty, 1 unlabelled)
    >>> labels.status
    array([[ 1,  1],
           [-1, -1],
           [ 0,  0]], dtype=int8)
    >>> labels.restrict(["owl"]).to_sets()
    [{'owl'}, set(), None]
    """

    classes: tuple[Hashable, ...]
    status: StatusArray
    keys: tuple[Hashable, ...] | None = None
    reviewed: BoolArray = None  # type: ignore[assignment]

    def __post_init__(self) -> None:
        classes = checked_classes(self.classes)
        status = _classes.checked_status(self.status, len(classes))
        keys = None if self.keys is None else checked_keys(self.keys, len(status))
        reviewed = _classes.checked_reviewed(self.reviewed, status)
        for array in (status, reviewed):
            array.flags.writeable = False
        for name, value in zip(self.__slots__, (classes, status, keys, reviewed), strict=True):
            object.__setattr__(self, name, value)

    # ------------------------------------------------------------------ constructors

    @classmethod
    def from_sets(
        cls,
        sets: Iterable[LabelSet],
        classes: Iterable[Hashable] | None = None,
        keys: Iterable[Hashable] | None = None,
    ) -> Self:
        """Make labels from the classes of each bag.

        Parameters
        ----------
        sets : iterable of iterables of hashables, or None
            An empty set is a bag that was reviewed and found empty; None is a bag that was not
            reviewed. A class that is not in a set is absent.
        classes : iterable of hashables, optional
            The columns; by default all classes that occur, sorted if they can be.
        keys : iterable of hashables, optional
        """
        if isinstance(sets, (str, bytes, Mapping)):
            raise InputError(
                f"sets is a {type(sets).__name__}; give a list with one set for each bag "
                "(or use BagLabels.from_mapping)."
            )
        listed = [_classes.class_list(item, i) for i, item in enumerate(sets)]
        columns = _classes.occurring(listed) if classes is None else checked_classes(classes)
        reviewed = np.array([item is not None for item in listed], dtype=bool)
        status = blank(reviewed, len(columns))
        rows, cols = _classes.pairs(listed, columns)
        status[rows, cols] = PRESENT
        return cls(columns, status, _checks.optional_keys(keys), reviewed)

    @classmethod
    def from_mapping(
        cls, sets: Mapping[Hashable, LabelSet], classes: Iterable[Hashable] | None = None
    ) -> Self:
        """Make labels from ``{bag key: set of classes, or None}``."""
        return cls.from_sets(sets.values(), classes, sets.keys())

    @classmethod
    def from_frame(
        cls,
        df: Any,
        *,
        bag: str | Sequence[str],
        labels: str,
        sep: str = ";",
        one_per_row: bool = False,
        classes: Iterable[Hashable] | None = None,
    ) -> Self:
        """Make labels from a data frame (pandas, polars, pyarrow).

        Parameters
        ----------
        df : data frame
        bag : str or list of str
            The column that names the bag; of several columns the keys are tuples.
        labels : str
            The column that lists the classes, as text or as a list. An empty cell is a bag that
            was reviewed and found empty, a missing one a bag that was not reviewed.
        sep : str
            What stands between classes in a text.
        one_per_row : bool
            Each row names one class of a bag, which may have several rows. A bag whose only cells
            are empty or missing was reviewed and found empty.
        classes : iterable of hashables, optional
            The columns; by default all classes that occur.
        """
        found = _tables.frame_sets(df, bag, labels, sep, one_per_row)
        return cls.from_mapping(found, classes)

    @classmethod
    def from_matrix(
        cls,
        M: Any,
        classes: Iterable[Hashable] | None = None,
        keys: Iterable[Hashable] | None = None,
    ) -> Self:
        """Make labels from an indicator matrix: 1 present, 0 absent, NaN unknown.

        Parameters
        ----------
        M : array or data frame of shape (n_bags, n_classes)
        classes : iterable of hashables, optional
            By default the column names of a data frame, or 0, 1, 2, ...
        keys : iterable of hashables, optional
        """
        names: Iterable[Hashable] | None = None
        if _tables.is_frame(M):
            M, names = _tables.frame_indicator(M)
        values = _classes.indicator(M)
        status = np.where(np.isnan(values), 0.0, 2.0 * values - 1.0)
        if names is None:
            names = range(values.shape[1])
        columns = checked_classes(names if classes is None else classes)
        return cls(
            columns, _classes.checked_status(status, len(columns)), _checks.optional_keys(keys)
        )

    @classmethod
    def from_status(
        cls, S: ArrayLike, classes: Iterable[Hashable], keys: Iterable[Hashable] | None = None
    ) -> Self:
        """Make labels from a matrix of 1 (present), -1 (absent) and 0 (unknown)."""
        return cls(checked_classes(classes), np.asarray(S), _checks.optional_keys(keys))

    @classmethod
    def from_instances(
        cls,
        bags: Bags,
        instance_labels: Iterable[Hashable],
        classes: Iterable[Hashable] | None = None,
        novel: Hashable = None,
    ) -> Self:
        """Label each bag with the union of its instances' labels; all bags count as reviewed.

        Parameters
        ----------
        bags : Bags
        instance_labels : sequence of n_instances hashables
        classes : iterable of hashables, optional
            The known classes; instances of others add nothing.
        novel : hashable
            The label of instances of no known class, which add nothing; None is any missing value.

        Examples
        --------
        >>> bags = Bags.from_list([[[0.0], [1.0]], [[2.0]], []])
        >>> BagLabels.from_instances(bags, [3, -1, -1], novel=-1).to_sets()
        [{3}, set(), set()]
        """
        codes, found = _checks.encode(instance_labels, "instance_labels")
        if len(codes) != bags.n_instances:
            raise InputError(
                f"There are {len(codes)} instance labels for {bags.n_instances} instances; give "
                "one for each."
            )
        labels = [None if _classes.is_same(label, novel) else plain(label) for label in found]
        kept = [label for label in labels if label is not None]
        columns = checked_classes(_classes.occurring([kept]) if classes is None else classes)
        place = {label: i for i, label in enumerate(columns)}
        column = np.array([place.get(label, -1) for label in labels], dtype=np.int64)[codes]
        reviewed = np.ones(bags.n_bags, dtype=bool)
        status = blank(reviewed, len(columns))
        counted = column >= 0
        status[bags.bag_index[counted], column[counted]] = PRESENT
        return cls(columns, status, bags.keys, reviewed)

    @classmethod
    def concat(
        cls,
        parts: Iterable["BagLabels"],
        *,
        missing: FillPolicy = "unknown",
        keys: Literal["error", "renumber"] = "error",
    ) -> Self:
        """Put labels after each other; the classes are those of all parts together.

        Parameters
        ----------
        parts : iterable of BagLabels
            At least one.
        missing : {"unknown", "absent"}
            What a class that a part has never heard of is in its reviewed bags.
        keys : {"error", "renumber"}
            What to do if two bags have the same key: refuse, or call all bags 0, 1, 2, ...
        """
        listed = list(parts)
        if not listed:
            raise InputError("concat needs at least one BagLabels, got none.")
        columns = listed[0].classes
        if any(part.classes != columns for part in listed):
            columns = _classes.occurring(list(part.classes) for part in listed)
        wide = [part.with_classes(columns, missing=missing) for part in listed]
        named = [part.keys for part in listed if part.keys is not None]
        return cls(
            columns,
            np.concatenate([part.status for part in wide]),
            _checks.joined_keys(named, keys) if len(named) == len(listed) else None,
            np.concatenate([part.reviewed for part in wide]),
        )

    # ------------------------------------------------------------------ what there is

    @property
    def n_bags(self) -> int:
        """Number of bags."""
        return len(self.status)

    @property
    def n_classes(self) -> int:
        """Number of classes."""
        return len(self.classes)

    @property
    def present(self) -> BoolArray:
        """Whether each bag is known to hold each class."""
        return np.equal(self.status, PRESENT)

    @property
    def absent(self) -> BoolArray:
        """Whether each bag is known not to hold each class."""
        return np.equal(self.status, ABSENT)

    @property
    def unknown(self) -> BoolArray:
        """Whether nothing is known about each bag and class."""
        return np.equal(self.status, UNKNOWN)

    @property
    def unlabelled(self) -> BoolArray:
        """Bags that nobody has looked at: every class is unknown."""
        return ~self.reviewed

    def __len__(self) -> int:
        return self.n_bags

    __hash__ = None  # type: ignore[assignment]

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, BagLabels):
            return NotImplemented
        return (
            self.classes == other.classes
            and self.keys == other.keys
            and np.array_equal(self.status, other.status)
            and np.array_equal(self.reviewed, other.reviewed)
        )

    def __reduce__(self) -> tuple[Any, ...]:
        # Through the constructor, so that a copy from another process is read-only too.
        return type(self), tuple(getattr(self, name) for name in self.__slots__)

    def __repr__(self) -> str:
        empty = int(np.all(self.absent, axis=1)[self.reviewed].sum())
        return (
            f"BagLabels({self.n_bags} bags, {self.n_classes} classes, {empty} reviewed and empty, "
            f"{int(self.unlabelled.sum())} unlabelled)"
        )

    def to_sets(self) -> list[set[Hashable] | None]:
        """Return the present classes of each bag; None for a bag that is unlabelled."""
        return [
            {self.classes[c] for c in np.flatnonzero(row)} if seen else None
            for row, seen in zip(self.present, self.reviewed, strict=True)
        ]

    def counts(self) -> dict[Hashable, int]:
        """Return the number of bags in which each class is present."""
        return dict(zip(self.classes, self.present.sum(axis=0).tolist(), strict=True))

    def to_arrow(self) -> "pa.Table":
        """Table with one row a bag: its key, if known, and for each class true, false or null."""
        return _tables.label_table(self.status, self.classes, self.keys)

    # ------------------------------------------------------------------ other labels

    def take(self, which: ArrayLike | slice) -> "BagLabels":
        """Labels of the bags at some positions (index array, mask or slice), in that order."""
        index = positions(which, self.n_bags)
        keys = None if self.keys is None else tuple(self.keys[i] for i in index)
        return BagLabels(self.classes, self.status[index], keys, self.reviewed[index])

    def align(
        self,
        bags: Bags,
        *,
        extra: Literal["error", "ignore"] = "error",
        missing: Literal["error", "unlabelled"] = "error",
    ) -> "BagLabels":
        """Labels in the order of the bags, matched by key.

        Parameters
        ----------
        bags : Bags
        extra : {"error", "ignore"}
            What to do with labels of bags that are not there.
        missing : {"error", "unlabelled"}
            What to do with bags that have no labels.
        """
        index = _classes.places(self.keys, bags.keys, extra, missing)
        # Position -1, for bags without labels, is the row added at the end.
        status = np.vstack([self.status, blank(np.zeros(1, dtype=bool), self.n_classes)])[index]
        return BagLabels(self.classes, status, bags.keys, np.append(self.reviewed, False)[index])

    def restrict(self, classes: Iterable[Hashable]) -> "BagLabels":
        """Keep only these classes, in the order in which they stand here."""
        wanted = set(checked_classes(classes))
        strange = wanted.difference(self.classes)
        if strange:
            raise InputError(
                f"There are no classes {some(strange)} to keep; there are {some(self.classes)}."
            )
        kept = [i for i, label in enumerate(self.classes) if label in wanted]
        names = tuple(self.classes[i] for i in kept)
        return BagLabels(names, self.status[:, kept], self.keys, self.reviewed)

    def with_classes(
        self, classes: Iterable[Hashable], *, missing: FillPolicy = "unknown"
    ) -> "BagLabels":
        """Make the columns these classes, in this order.

        Parameters
        ----------
        classes : iterable of hashables
            All the present ones and any further ones.
        missing : {"unknown", "absent"}
            What a class that had no column is in a reviewed bag. In an unlabelled one it is
            unknown.
        """
        columns = checked_classes(classes)
        place = {label: i for i, label in enumerate(columns)}
        strange = [label for label in self.classes if label not in place]
        if strange:
            raise InputError(
                f"The labels have classes {some(strange)}, which are not among {some(columns)}; "
                "use restrict() to leave them out."
            )
        _checks.require_choice("missing", missing, ("unknown", "absent"))
        status = blank(self.reviewed & (missing == "absent"), len(columns))
        status[:, [place[label] for label in self.classes]] = self.status
        return BagLabels(columns, status, self.keys, self.reviewed)

    def rename(self, mapping: Mapping[Hashable, Hashable]) -> "BagLabels":
        """Give some classes other names; the columns stay where they are."""
        strange = set(mapping).difference(self.classes)
        if strange:
            raise InputError(
                f"There are no classes {some(strange)} to rename; there are {some(self.classes)}."
            )
        return replace(self, classes=tuple(mapping.get(label, label) for label in self.classes))


# ---------------------------------------------------------------------- the door for estimators


def as_labels(labels: Any, bags: Bags, classes: Iterable[Hashable] | None = None) -> BagLabels:
    """Turn what a user passes as the labels of some bags into `BagLabels` in their order.

    Parameters
    ----------
    labels : BagLabels, list of sets, dict, indicator matrix, or 1-D array
        A list holds the label set of each bag, or None. A dict goes from bag key to label set. A
        matrix or data frame holds 1 (present), 0 (absent) and NaN (unknown). A 1-D array, or a
        list of numbers, holds exactly one class for each bag.
    bags : Bags
    classes : iterable of hashables, optional
        The columns wanted. One that the labels do not mention is absent from every reviewed bag;
        one that is not wanted is refused.

    Examples
    --------
    >>> bags = Bags.from_list([[[0.0]], [[1.0], [2.0]]], keys=["a", "b"])
    >>> as_labels({"b": {"owl"}, "a": None}, bags).to_sets()
    [None, {'owl'}]
    """
    made = labels if isinstance(labels, BagLabels) else _convert(labels)
    matched = _matched(made, bags)
    if classes is None:
        return matched
    columns = checked_classes(classes)
    if matched.classes == columns:
        return matched
    return matched.with_classes(columns, missing="absent")


def _matched(labels: BagLabels, bags: Bags) -> BagLabels:
    """Labels in the order of the bags: by key if they have keys, by position if not."""
    if labels.keys is not None:
        return labels if labels.keys == bags.keys else labels.align(bags)
    if labels.n_bags != bags.n_bags:
        raise InputError(
            f"There are labels for {labels.n_bags} bags, but {bags.n_bags} bags in the data; give "
            "one label set for each bag."
        )
    return replace(labels, keys=bags.keys)


def _convert(labels: Any) -> BagLabels:
    if labels is None:
        raise InputError("This requires y to be passed, but the target y is None.")
    if isinstance(labels, (str, bytes, set, frozenset)) or not hasattr(labels, "__len__"):
        raise InputError(
            f"The labels are {labels!r}; give a list with one set for each bag, or a dict from "
            "bag key to set."
        )
    if isinstance(labels, Mapping):
        return BagLabels.from_mapping(labels)
    if isinstance(labels, (list, tuple)):
        return _from_items(labels, numbers_only=True)
    if _tables.is_frame(labels) or hasattr(labels, "tocsr"):
        return BagLabels.from_matrix(labels)
    if _tables.is_series(labels):
        return _from_items(_checks.as_list(labels))
    return _from_array(np.asarray(labels))


def _from_array(array: Any) -> BagLabels:
    if array.ndim == 1:
        return _from_items(array.tolist())
    if _classes.is_class_column(array):
        warn(
            "A column-vector y was passed when a 1d array was expected: it is read as one class "
            "for each bag; pass y.ravel() to say so.",
            RaravisWarning,
            stacklevel=5,
        )
        return _from_items(array[:, 0].tolist())
    return BagLabels.from_matrix(array)


def _from_items(items: Sequence[Any], *, numbers_only: bool = False) -> BagLabels:
    """Read label sets, or one class for each bag."""
    if _classes.are_single(items, numbers_only=numbers_only):
        return BagLabels.from_sets(_classes.single_labels(items))
    _classes.require_no_indicator(items)
    return BagLabels.from_sets(items)
