"""Bags of instances: one flat matrix, cut into bags, with a key for each bag.

`Bags` is what everything that makes instances returns and everything that learns or scores takes.
"""

import hashlib
import operator
from collections.abc import Hashable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from os import PathLike
from typing import TYPE_CHECKING, Any, Literal, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray

from raravis import _checks, _segments, _tables
from raravis._checks import FloatArray, IntArray, checked_keys, positions, real_matrix
from raravis.errors import InputError

if TYPE_CHECKING:
    import pyarrow as pa

__all__ = ["Bags", "as_bags", "positions", "split_indices"]

KeyPolicy = Literal["error", "renumber"]


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class Bags:
    """Instances (feature vectors) grouped into bags; immutable.

    A float array that is already C-contiguous is not copied, only seen through a read-only view:
    do not change it afterwards.

    Parameters
    ----------
    instances : array of shape (n_instances, n_features)
        Finite real numbers, bag after bag. float32 stays float32, all else becomes float64.
    offsets : array of int, shape (n_bags + 1,)
        Bag ``i`` holds rows ``offsets[i]`` to ``offsets[i + 1]`` (excluded); a bag may be empty.
    keys : sequence of hashables, optional
        The name of each bag, unique; 0, 1, 2, ... by default.
    source_rows : array of int, shape (n_instances,), optional
        The row of each instance in the table it came from; 0, 1, 2, ... by default.
    feature_names : sequence of str, optional

    Examples
    --------
    >>> bags = Bags.from_list([[[0.0, 1.0], [2.0, 3.0]], [], [[4.0, 5.0]]], keys=["a", "b", "c"])
    >>> bags
    Bags(3 bags, 3 instances, 2 features, sizes 1-2, 1 empty)
    >>> bags[2]
    array([[4., 5.]])
    >>> bags.take([2, 0]).keys
    ('c', 'a')
    """

    instances: FloatArray
    offsets: IntArray
    keys: tuple[Hashable, ...] = None  # type: ignore[assignment]
    source_rows: IntArray = None  # type: ignore[assignment]
    feature_names: tuple[str, ...] | None = None

    def __post_init__(self) -> None:
        instances = _checks.read_only(real_matrix(self.instances, "instances"))
        _checks.require_features(instances)
        offsets = _checks.checked_offsets(self.offsets, len(instances))
        keys = checked_keys(self.keys, len(offsets) - 1)
        _checks.require_finite(instances, offsets, keys)
        rows = _checks.checked_rows(self.source_rows, len(instances))
        names = _checks.checked_names(self.feature_names, instances.shape[1])
        values = (instances, offsets, keys, rows, names)
        for field, value in zip(self.__slots__, values, strict=True):
            object.__setattr__(self, field, value)

    # ------------------------------------------------------------------ constructors

    @classmethod
    def from_list(
        cls,
        bags: Iterable[ArrayLike],
        keys: Iterable[Hashable] | None = None,
        n_features: int | None = None,
    ) -> Self:
        """Make bags from one 2-D array a bag.

        Parameters
        ----------
        bags : iterable of arrays of shape (n_i, n_features)
            ``[]``, or an array with no rows, is an empty bag.
        keys : iterable of hashables, optional
        n_features : int, optional
            Needed only if every bag is empty.
        """
        items = list(bags)
        names = checked_keys(keys, len(items))
        arrays = [_checks.bag_array(item, key) for item, key in zip(items, names, strict=True)]
        width = _checks.common_width(arrays, names, n_features)
        full = [a for a in arrays if a.size]
        dtype = np.result_type(*full) if full else np.dtype(np.float64)
        stacked = np.concatenate([np.empty((0, width), dtype), *full])
        return cls(stacked, _segments.offsets_of([len(a) for a in arrays]), names)

    @classmethod
    def from_arrays(
        cls,
        X: ArrayLike,
        bag_ids: Iterable[Hashable],
        keys: Iterable[Hashable] | None = None,
    ) -> Self:
        """Make bags from a matrix and the bag of each of its rows, in any order.

        Bags stand in the order in which their ids first appear, instances of a bag in row order.

        Parameters
        ----------
        X : array of shape (n_instances, n_features)
        bag_ids : sequence of n_instances hashables
        keys : iterable of hashables, optional
            All bags in the order wanted; an id that no row has makes an empty bag.

        Examples
        --------
        >>> Bags.from_arrays([[1.0], [2.0], [3.0]], ["b", "a", "b"]).keys
        ('b', 'a')
        >>> Bags.from_arrays([[1.0]], ["b"], keys=["a", "b"]).sizes
        array([0, 1])
        """
        return cls._grouped(real_matrix(X, "X"), bag_ids, keys, None)

    @classmethod
    def from_matrix(cls, X: ArrayLike, keys: Iterable[Hashable] | None = None) -> Self:
        """Make one bag of each row of a 2-D array."""
        matrix = real_matrix(X, "X")
        n_bags = len(matrix)
        return cls(matrix, np.arange(n_bags + 1), checked_keys(keys, n_bags))

    @classmethod
    def from_frame(
        cls,
        df: Any,
        bag: str | Sequence[str] = "recording",
        features: Sequence[str] | None = None,
    ) -> Self:
        """Make bags from a data frame (pandas, polars, pyarrow) with one row an instance.

        Parameters
        ----------
        df : data frame
        bag : str or list of str
            The column that names the bag; of several columns the keys are tuples.
        features : list of str, optional
            The columns to use; by default all numeric ones that do not name the bag.
        """
        frame = _tables.open_frame(df)
        ids = _tables.frame_keys(frame, bag)
        names = _tables.feature_columns(frame, bag, features)
        return cls._grouped(_tables.frame_matrix(frame, names), ids, None, names)

    @classmethod
    def from_parquet(cls, path: str | PathLike[str]) -> Self:
        """Read bags that `to_parquet` wrote."""
        instances, rows, head = _tables.read_bags(path)
        try:
            bags = cls(instances, head["offsets"], head["keys"], rows, head["feature_names"])
        except InputError as error:
            raise _tables.damaged(path, error) from error
        if bags.fingerprint() != head["sha256"]:
            raise _tables.damaged(path, "its content does not match its checksum")
        return bags

    @classmethod
    def concat(cls, parts: Iterable["Bags"], *, keys: KeyPolicy = "error") -> Self:
        """Put bags after each other.

        Parameters
        ----------
        parts : iterable of Bags
            At least one. Their source tables count as stacked in this order.
        keys : {"error", "renumber"}
            What to do if two bags have the same key: refuse, or call all bags 0, 1, 2, ...
        """
        listed = list(parts)
        _require_concatenable(listed)
        shifts = np.cumsum([0, *(_table_length(part) for part in listed)])
        rows = [part.source_rows + shift for part, shift in zip(listed, shifts, strict=False)]
        return cls(
            np.concatenate([part.instances for part in listed]),
            _segments.offsets_of(np.concatenate([part.sizes for part in listed])),
            _checks.joined_keys([part.keys for part in listed], keys),
            np.concatenate(rows),
            _shared_names(listed),
        )

    @classmethod
    def _grouped(
        cls,
        X: FloatArray,
        bag_ids: Iterable[Hashable],
        keys: Iterable[Hashable] | None,
        names: tuple[str, ...] | None,
    ) -> Self:
        codes, found = _checks.encode(bag_ids, "bag_ids")
        if len(codes) != len(X):
            raise InputError(
                f"bag_ids names the bag of {len(codes)} rows, but X has {len(X)} rows; "
                "give one id for each row."
            )
        wanted = checked_keys(found if keys is None else keys)
        if keys is not None:
            codes = _checks.recode(codes, checked_keys(found), wanted)
        order = np.argsort(codes, kind="stable")
        sizes = np.bincount(codes, minlength=len(wanted))
        in_order = bool(np.all(codes[1:] >= codes[:-1]))
        return cls(X if in_order else X[order], _segments.offsets_of(sizes), wanted, order, names)

    # ------------------------------------------------------------------ what there is

    @property
    def n_bags(self) -> int:
        """Number of bags."""
        return len(self.offsets) - 1

    @property
    def n_instances(self) -> int:
        """Number of instances in all bags together."""
        return len(self.instances)

    @property
    def n_features(self) -> int:
        """Number of features of an instance."""
        return int(self.instances.shape[1])

    @property
    def dtype(self) -> np.dtype[Any]:
        """Floating-point type of the instances."""
        return self.instances.dtype

    @property
    def sizes(self) -> IntArray:
        """Number of instances of each bag."""
        return np.diff(self.offsets)

    @property
    def bag_index(self) -> IntArray:
        """Position of the bag of each instance."""
        return np.repeat(np.arange(self.n_bags), self.sizes)

    def __len__(self) -> int:
        return self.n_bags

    def __getitem__(self, index: int) -> FloatArray:
        position = range(self.n_bags)[operator.index(index)]
        return self.instances[self.offsets[position] : self.offsets[position + 1]]

    def __iter__(self) -> Iterator[FloatArray]:
        return (self[i] for i in range(self.n_bags))

    __hash__ = None  # type: ignore[assignment]

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Bags):
            return NotImplemented
        return (
            self.dtype == other.dtype
            and self.keys == other.keys
            and self.feature_names == other.feature_names
            and np.array_equal(self.offsets, other.offsets)
            and np.array_equal(self.source_rows, other.source_rows)
            and np.array_equal(self.instances, other.instances)
        )

    def __reduce__(self) -> tuple[Any, ...]:
        # Through the constructor, so that a copy from another process is read-only too.
        return type(self), tuple(getattr(self, name) for name in self.__slots__)

    def __repr__(self) -> str:
        sizes = self.sizes
        full = sizes[sizes > 0]
        spread = f"sizes {full.min()}-{full.max()}, " if full.size else ""
        return (
            f"Bags({self.n_bags} bags, {self.n_instances} instances, {self.n_features} features, "
            f"{spread}{self.n_bags - full.size} empty)"
        )

    def fingerprint(self) -> str:
        """SHA-256 of the content, as hexadecimal digits: other content, other fingerprint."""
        digest = hashlib.sha256()
        digest.update(repr((self.instances.shape, self.dtype.str, self.feature_names)).encode())
        for array in (self.instances, self.offsets, self.source_rows):
            digest.update(np.ascontiguousarray(array).data)
        digest.update(repr(self.keys).encode("utf-8", "surrogatepass"))
        return digest.hexdigest()

    # ------------------------------------------------------------------ other bags

    def take(self, which: ArrayLike | slice, *, keys: KeyPolicy = "error") -> "Bags":
        """Bags at some positions, in the order given.

        Parameters
        ----------
        which : array of int, mask of bool, or slice
        keys : {"error", "renumber"}
            What to do if a bag is taken twice: refuse, or call all bags 0, 1, 2, ...
        """
        index = positions(which, self.n_bags)
        rows = _segments.rows_of(self.offsets, index)
        return Bags(
            self.instances[rows],
            _segments.offsets_of(self.sizes[index]),
            _checks.joined_keys([[self.keys[i] for i in index]], keys),
            self.source_rows[rows],
            self.feature_names,
        )

    def split(self, fractions: Sequence[float] = (0.7, 0.3), *, seed: int) -> tuple["Bags", ...]:
        """Random disjoint parts; `split_indices` with the same seed splits labels alike."""
        return tuple(self.take(part) for part in split_indices(self.n_bags, fractions, seed))

    def with_instances(self, X: ArrayLike, *, feature_names: Sequence[str] | None = None) -> "Bags":
        """Make the same bags of other features, one row for each instance.

        The feature names are kept if none are given and their number is still right.
        """
        matrix = real_matrix(X, "X")
        self._require_rows(matrix, "X")
        names = None if feature_names is None else tuple(feature_names)
        if names is None and matrix.shape[1] == self.n_features:
            names = self.feature_names
        return Bags(matrix, self.offsets, self.keys, self.source_rows, names)

    # ------------------------------------------------------------------ values an instance

    def bag_max(self, values: ArrayLike, empty: float = -np.inf) -> FloatArray:
        """Largest value in each bag.

        Parameters
        ----------
        values : array of shape (n_instances,) or (n_instances, k)
        empty : float
            What an empty bag gets.

        Examples
        --------
        >>> Bags.from_list([[[0.0], [1.0]], [], [[2.0]]]).bag_max([3.0, 5.0, 4.0])
        array([  5., -inf,   4.])
        """
        array = _checks.real_values(values)
        self._require_rows(array, "values")
        return _segments.reduce_segments(np.maximum, array, self.offsets, empty)

    def bag_argmax(self, values: ArrayLike) -> IntArray:
        """Row (in `instances`) of the first largest value of each bag; -1 for an empty bag."""
        array = _checks.real_values(values)
        self._require_rows(array, "values")
        first = _segments.first_largest(array, self.offsets)
        if np.any(first == self.n_instances):
            raise InputError("values hold NaN, which has no place in an order; replace it first.")
        return first

    def to_source_order(self, values: ArrayLike) -> NDArray[Any]:
        """Values of the instances, put into the row order of the table they came from.

        After `take` the rows that are left stand in the order of that table; after `concat` the
        tables stand one after the other.

        Examples
        --------
        >>> bags = Bags.from_arrays([[1.0], [2.0], [3.0]], ["b", "a", "b"])
        >>> bags.to_source_order(bags.instances[:, 0])
        array([1., 2., 3.])
        """
        array = np.asarray(values)
        self._require_rows(array, "values")
        return array[np.argsort(self.source_rows, kind="stable")]

    def _require_rows(self, values: NDArray[Any], name: str) -> None:
        if values.ndim == 0 or len(values) != self.n_instances:
            raise InputError(
                f"{name} has shape {values.shape}, but there are {self.n_instances} instances; "
                "give one row for each, bag after bag."
            )

    # ------------------------------------------------------------------ tables

    def to_arrow(self) -> "pa.Table":
        """Table with a row for each instance: ``bag``, then the features; without empty bags."""
        return _tables.instance_table(self.instances, self.keys, self.sizes, self.feature_names)

    def to_parquet(self, path: str | PathLike[str]) -> None:
        """Write to a Parquet file from which `from_parquet` makes equal bags.

        Keys may be str, int, float, bool, or tuples of these.
        """
        head = {
            "offsets": self.offsets.tolist(),
            "keys": self.keys,
            "feature_names": self.feature_names,
            "sha256": self.fingerprint(),
        }
        _tables.write_bags(path, self.to_arrow(), self.source_rows, head)


def split_indices(n_bags: int, fractions: Sequence[float], seed: int) -> tuple[IntArray, ...]:
    """Random disjoint parts of ``range(n_bags)``, each in ascending order.

    Parameters
    ----------
    n_bags : int
    fractions : sequence of float
        Positive, with sum 1. The sizes are rounded by largest remainder, so they add up.
    seed : int

    Examples
    --------
    >>> [part.tolist() for part in split_indices(5, (0.6, 0.4), seed=0)]
    [[2, 3, 4], [0, 1]]
    """
    shares = np.asarray(fractions, dtype=np.float64)
    if shares.ndim != 1 or not np.all(shares > 0) or not np.isclose(shares.sum(), 1.0):
        raise InputError(
            f"fractions is {fractions!r}; give positive numbers whose sum is 1, like (0.7, 0.3)."
        )
    sizes = _segments.sizes_of_shares(n_bags, shares)
    order = np.random.default_rng(seed).permutation(n_bags)
    return tuple(np.sort(part) for part in np.split(order, np.cumsum(sizes)[:-1]))


# ---------------------------------------------------------------------- the door for estimators


def as_bags(data: Any, *, n_features: int | None = None, what: str = "data") -> Bags:
    """Turn what a user passes to an estimator into `Bags`.

    Parameters
    ----------
    data : Bags, 2-D array, 3-D array, or list of 2-D arrays
        The rows of a 2-D array are bags of one instance; a 3-D array is (bag, instance, feature).
    n_features : int, optional
        The number of features that there must be.
    what : str
        Who expects that number of features.

    Examples
    --------
    >>> as_bags([[1.0, 2.0], [3.0, 4.0], [5.0, 6.0]])
    Bags(3 bags, 3 instances, 2 features, sizes 1-1, 0 empty)
    """
    bags = data if isinstance(data, Bags) else _convert(data, n_features)
    if n_features is not None and bags.n_features != n_features:
        raise InputError(
            f"X has {bags.n_features} features, but {what} is expecting {n_features} features "
            "as input"
        )
    return bags


def _convert(data: Any, n_features: int | None) -> Bags:
    if _tables.is_frame(data):
        raise InputError(
            "A data frame does not say which rows belong together; make bags of it with "
            "Bags.from_frame(df, bag=...), or pass df.to_numpy() if each row is a bag."
        )
    if isinstance(data, (list, tuple)) and any(_checks.looks_like_bag(item) for item in data):
        return _from_list_of_bags(data, n_features)
    array = _checks.as_array(data, "X")
    if array.ndim == 1 and any(_checks.looks_like_bag(item) for item in array):
        return _from_list_of_bags(list(array), n_features)
    _checks.require_samples(array)
    if array.ndim == 3:
        n_bags, size, width = array.shape
        flat = array.reshape(n_bags * size, width)
        return Bags(real_matrix(flat, "X"), np.arange(n_bags + 1) * size)
    return Bags.from_matrix(array)


def _from_list_of_bags(data: Any, n_features: int | None) -> Bags:
    """Only where every bag is empty does the width have to come from the model."""
    all_empty = not any(np.size(item) for item in data)
    return Bags.from_list(data, n_features=n_features if all_empty else None)


def _require_concatenable(parts: list[Bags]) -> None:
    if not parts:
        raise InputError("concat needs at least one Bags, got none.")
    for i, part in enumerate(parts):
        if part.n_features != parts[0].n_features:
            raise InputError(
                f"Part {i} has {part.n_features} features, part 0 has {parts[0].n_features}; "
                "only bags of the same features can be put together."
            )


def _shared_names(parts: list[Bags]) -> tuple[str, ...] | None:
    names = {part.feature_names for part in parts}
    if len(names) > 1 and None not in names:
        raise InputError("The parts have different feature names; rename or reorder them first.")
    return names.pop() if len(names) == 1 else None


def _table_length(part: Bags) -> int:
    return int(part.source_rows.max()) + 1 if part.n_instances else 0
