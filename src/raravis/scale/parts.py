"""A Parquet data set of bags: one row an instance, one file or many, larger than memory if need be.

Every row names its bag, holds the features, and repeats what is listed for the whole bag. The rows
of a bag follow one another and lie in one part; so a part can be read, and learned from, without
the others.
"""

import json
import re
from collections.abc import Hashable, Iterator, Sequence
from dataclasses import dataclass
from os import PathLike
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from raravis._checks import some
from raravis._segments import offsets_of
from raravis.errors import InputError
from raravis.scale._rows import LabelList, cut, matrix_of

if TYPE_CHECKING:
    import pyarrow as pa

__all__ = ["LISTING", "BagParts", "Block"]

Singles = NDArray[np.float32]
Indices = NDArray[np.int64]

#: Beside the parts: their names and numbers of rows, so that one that is gone is missed.
LISTING = "_parts.json"
_NUMBERED = re.compile(r"^(.*?)(\d+)(\D*)$")


@dataclass(frozen=True)
class Block:
    """Some whole bags of one part: their instances, where each begins, keys and label lists."""

    part: int
    instances: Singles
    offsets: Indices
    keys: list[Hashable]
    label_lists: list[LabelList]

    @property
    def n_instances(self) -> int:
        """Number of instances."""
        return len(self.instances)

    @property
    def n_bags(self) -> int:
        """Number of bags."""
        return len(self.offsets) - 1


@dataclass(frozen=True)
class BagParts:
    """Parquet files with one row an instance, and which of their columns are what.

    Examples
    --------
    >>> import tempfile
    >>> from raravis.scale import write_mixture
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     parts = write_mixture(folder, 500, n_classes=3, rows_a_part=200)
    ...     sizes = [block.n_instances for block in parts.blocks(0, rows=50)]
    >>> len(parts.files), sum(sizes), max(sizes) <= 50
    (3, 200, True)
    """

    files: tuple[Path, ...]
    rows: tuple[int, ...]
    bag: str
    features: tuple[str, ...]
    labels: str | None

    @classmethod
    def open(
        cls,
        path: "str | PathLike[str] | Sequence[str | PathLike[str]] | BagParts",
        *,
        bag: str = "bag",
        features: Sequence[str] | None = None,
        labels: str | None = "labels",
    ) -> "BagParts":
        """Look at the files, and refuse those that do not belong together.

        Parameters
        ----------
        path : path of a file or a folder, or list of paths
            Of a folder, every ``*.parquet`` in the order of their names. A list says itself what
            belongs to it: no gap in its numbers is looked for.
        bag : str
            The column that names the bag of a row.
        features : list of str, optional
            The columns to use; by default all of floating-point type but ``bag``.
        labels : str or None
            The column that lists the classes of the bag: lists, or texts with ``;`` between
            classes. Empty is reviewed and found empty, null is unlabelled.
        """
        if isinstance(path, BagParts):
            return path
        files = _files(path)
        first = _schema(files[0])
        names = _features(first, files[0], bag, features)
        wanted = {bag, *names} | ({labels} if labels is not None else set())
        _require_columns(first, files[0], bag, labels)
        for file in files[1:]:
            _require_same(first, _schema(file), (files[0], file), wanted)
        rows = tuple(_n_rows(file) for file in files)
        if not sum(rows):
            raise InputError(f"{files[0].parent} holds no rows at all; there is nothing to read.")
        _require_listed_rows(files, rows)
        return cls(files, rows, bag, names, labels)

    @property
    def n_instances(self) -> int:
        """Number of instances in all parts."""
        return sum(self.rows)

    @property
    def n_features(self) -> int:
        """Number of features of an instance."""
        return len(self.features)

    def without_labels(self) -> "BagParts":
        """Return the same parts, their lists not read."""
        return BagParts(self.files, self.rows, self.bag, self.features, None)

    def blocks(self, part: int, *, rows: int) -> Iterator[Block]:
        """Yield the bags of a part in order, at most ``rows`` instances at a time if they can be.

        A bag is never split: one that is larger comes alone.
        """
        pending = _Pending(part)
        for batch, first in self._batches(part, rows):
            X = matrix_of(batch, self.features, self.files[part], first)
            pending.add(X, cut(batch, self.bag, self.labels, self.files[part], first), self)
            yield from pending.full(rows)
        yield from pending.rest()

    def keys_of(self, part: int) -> Iterator[Hashable]:
        """Yield the key of each row of a part."""
        for batch in _opened(self.files[part]).iter_batches(columns=[self.bag]):
            yield from batch.column(0).to_pylist()

    def _batches(self, part: int, rows: int) -> Iterator[tuple["pa.RecordBatch", int]]:
        import pyarrow as pa

        columns = [self.bag, *self.features, *([self.labels] if self.labels else [])]
        first = 0
        try:
            with _opened(self.files[part]) as file:
                for batch in file.iter_batches(batch_size=rows, columns=columns):
                    if batch.num_rows:
                        yield batch, first
                    first += batch.num_rows
        except (pa.ArrowException, OSError) as error:
            raise _unreadable(self.files[part], error) from error


class _Pending:
    """Rows read and not yet given out: the last bag may go on in the next batch."""

    def __init__(self, part: int) -> None:
        self.part = part
        self.X: list[Singles] = []
        self.n = 0
        self.starts: list[int] = []
        self.keys: list[Hashable] = []
        self.lists: list[LabelList] = []

    def add(self, X: Singles, rows: Any, parts: BagParts) -> None:
        goes_on = bool(self.keys) and rows.keys[0] == self.keys[-1]
        if goes_on and rows.label_lists[0] != self.lists[-1]:
            raise InputError(
                f"{parts.files[self.part]}: rows of the bag {self.keys[-1]!r} list different "
                f"classes in {parts.labels!r}; every row of a bag must hold the same list."
            )
        skip = int(goes_on)
        self.starts += (rows.starts[skip:] + self.n).tolist()
        self.keys += rows.keys[skip:]
        self.lists += rows.label_lists[skip:]
        self.X.append(X)
        self.n += len(X)

    def full(self, rows: int) -> Iterator[Block]:
        """Give out whole bags while there is a block of them; the last bag stays."""
        while self.n > rows and len(self.starts) > 1:
            ends = np.asarray(self.starts[1:])
            n_bags = max(1, int(np.searchsorted(ends, rows, side="right")))
            yield self._take(n_bags, int(ends[n_bags - 1]))

    def rest(self) -> Iterator[Block]:
        if self.n:
            yield self._take(len(self.starts), self.n)

    def _take(self, n_bags: int, n_rows: int) -> Block:
        X = self.X[0] if len(self.X) == 1 else np.concatenate(self.X)
        sizes = np.diff([*self.starts[:n_bags], n_rows])
        block = Block(
            self.part, X[:n_rows], offsets_of(sizes), self.keys[:n_bags], self.lists[:n_bags]
        )
        self.X, self.n = [X[n_rows:]], self.n - n_rows
        self.starts = [start - n_rows for start in self.starts[n_bags:]]
        self.keys, self.lists = self.keys[n_bags:], self.lists[n_bags:]
        return block


# ---------------------------------------------------------------------- which files


def _files(path: Any) -> tuple[Path, ...]:
    if isinstance(path, (list, tuple)):
        files = tuple(Path(item) for item in path)
        for file in files:
            _require_file(file)
        if not files:
            raise InputError("path is an empty list; name at least one Parquet file.")
        return files
    place = Path(path)
    if not place.is_dir():
        _require_file(place)
        return (place,)
    files = tuple(sorted(file for file in place.glob("*.parquet") if file.is_file()))
    if not files:
        raise InputError(f"the folder {place} holds no *.parquet file; name the one that does.")
    _require_no_gap(place, files)
    return files


def _require_file(file: Path) -> None:
    if not file.is_file():
        raise InputError(f"{file} is not there; the data set cannot be read without that part.")


def _require_no_gap(folder: Path, files: tuple[Path, ...]) -> None:
    listed = _listed(folder)
    if listed is not None:
        missing = sorted(set(listed) - {file.name for file in files})
        extra = sorted({file.name for file in files} - set(listed))
        if missing or extra:
            what = f"lacks the parts {missing[:5]}" if missing else f"holds {extra[:5]} besides"
            raise InputError(
                f"{folder} {what}, against its list {LISTING}; bring the folder in order, or pass "
                "a list of the files to use."
            )
        return
    matches = [_NUMBERED.match(file.stem) for file in files]
    numbers = [int(m[2]) for m in matches if m]
    if len(files) < 2 or len(numbers) < len(files) or len({(m[1], m[3]) for m in matches if m}) > 1:
        return
    gaps = sorted(set(range(numbers[0], numbers[-1])) - set(numbers))
    if gaps:
        width = len(matches[0][2]) if matches[0] else 0
        others = f" and {len(gaps) - 1} others" if len(gaps) > 1 else ""
        raise InputError(
            f"{folder} holds parts {numbers[0]} to {numbers[-1]} without part "
            f"{gaps[0]:0{width}d}{others}; restore it, or pass a list of the files to use."
        )


def _listed(folder: Path) -> dict[str, int] | None:
    listing = folder / LISTING
    if not listing.exists():
        return None
    try:
        found = json.loads(listing.read_text(encoding="utf-8"))["parts"]
        return {str(name): int(rows) for name, rows in found.items()}
    except (ValueError, LookupError, TypeError, AttributeError) as error:
        raise InputError(f"{listing} is damaged ({error}); delete it or write it again.") from error


def _require_listed_rows(files: tuple[Path, ...], rows: tuple[int, ...]) -> None:
    listed = _listed(files[0].parent) or {}
    for file, n in zip(files, rows, strict=True):
        if n != listed.get(file.name, n):
            raise InputError(
                f"{file} has {n:,} rows, but {LISTING} says {listed[file.name]:,}; the part was "
                "changed or cut short, so write it again."
            )


# ---------------------------------------------------------------------- what is in them


def _opened(file: Path) -> Any:
    import pyarrow as pa
    import pyarrow.parquet as pq

    try:
        return pq.ParquetFile(file)
    except (pa.ArrowException, OSError) as error:
        raise _unreadable(file, error) from error


def _unreadable(file: Path, error: Exception) -> InputError:
    return InputError(
        f"{file} is not a Parquet file, or it is truncated or damaged ({error}); write it again."
    )


def _schema(file: Path) -> "pa.Schema":
    with _opened(file) as opened:
        schema: pa.Schema = opened.schema_arrow
    return schema


def _n_rows(file: Path) -> int:
    with _opened(file) as opened:
        return int(opened.metadata.num_rows)


def _features(
    schema: "pa.Schema", file: Path, bag: str, features: Sequence[str] | None
) -> tuple[str, ...]:
    import pyarrow as pa

    if features is None:
        names = [f.name for f in schema if pa.types.is_floating(f.type) and f.name != bag]
    else:
        names = list(features)
    if not names:
        raise InputError(
            f"{file} has no column of floating-point numbers besides {bag!r}; its columns are "
            f"{some(schema.names, limit=20)}. Name the features, or store them as numbers."
        )
    for name in names:
        kind = schema.field(name).type if name in schema.names else None
        if kind is None or not (pa.types.is_floating(kind) or pa.types.is_integer(kind)):
            raise InputError(
                f"{file}: the feature {name!r} is {'not there' if kind is None else kind}; "
                f"features must be columns of numbers. Its columns are "
                f"{some(schema.names, limit=20)}."
            )
    return tuple(names)


def _require_columns(schema: "pa.Schema", file: Path, bag: str, labels: str | None) -> None:
    for name, what in ((bag, "bag"), (labels, "labels")):
        if name is not None and name not in schema.names:
            raise InputError(
                f"{file} has no column {name!r} for the {what}; its columns are "
                f"{some(schema.names, limit=20)}. Name the right one with {what}=."
            )


def _require_same(
    first: "pa.Schema", other: "pa.Schema", files: tuple[Path, Path], wanted: set[str]
) -> None:
    for name in first.names:
        if name not in wanted:
            continue
        expected = first.field(name).type
        found = other.field(name).type if name in other.names else None
        if found != expected:
            raise InputError(
                f"{files[1]} has another schema than {files[0].name}: its column {name!r} is "
                f"{'missing' if found is None else found}, not {expected}. Write it again with the "
                "columns and types of the others."
            )
