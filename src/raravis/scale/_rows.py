"""From rows of a Parquet part to matrices, bags and label lists, each fault named where it is."""

from collections.abc import Hashable
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from raravis.errors import InputError

if TYPE_CHECKING:
    import pyarrow as pa

__all__ = ["Rows", "cut", "matrix_of"]

Singles = NDArray[np.float32]
Indices = NDArray[np.int64]
LabelList = tuple[Hashable, ...] | None


@dataclass(frozen=True)
class Rows:
    """Some consecutive rows of a part: where bags begin, their keys, and what they list."""

    starts: Indices
    keys: list[Hashable]
    label_lists: list[LabelList]


def matrix_of(batch: "pa.RecordBatch", names: tuple[str, ...], file: Path, first: int) -> Singles:
    """Return columns of a batch as one matrix; ``first`` is the row of the part it begins at."""
    X = np.empty((batch.num_rows, len(names)), dtype=np.float32)
    for i, name in enumerate(names):
        column = batch.column(name)
        if column.null_count:
            row = int(np.argmax(column.is_null().to_numpy(zero_copy_only=False)))
            raise _unusable(file, first + row, name, "missing (null)")
        X[:, i] = column.to_numpy(zero_copy_only=False)
    if not np.isfinite(X).all():
        row, i = (int(v) for v in np.argwhere(~np.isfinite(X))[0])
        found = batch.column(names[i])[row].as_py()
        raise _unusable(file, first + row, names[i], f"{found!r}, not finite in single precision")
    return X


def _unusable(file: Path, row: int, name: str, what: str) -> InputError:
    return InputError(
        f"{file}: feature {name!r} is {what} in row {row}; features must be finite numbers, so "
        "impute it or drop that row."
    )


def cut(batch: "pa.RecordBatch", bag: str, labels: str | None, file: Path, first: int) -> Rows:
    """Find where bags begin in a batch, their keys and label lists."""
    import pyarrow.compute as pc

    column = batch.column(bag)
    if column.null_count:
        row = first + int(np.argmax(column.is_null().to_numpy(zero_copy_only=False)))
        raise InputError(f"{file}: row {row} names no bag ({bag!r} is null); every row needs one.")
    changes = np.ones(batch.num_rows, dtype=bool)
    if batch.num_rows > 1:
        differs = pc.not_equal(column.slice(1), column.slice(0, batch.num_rows - 1))
        changes[1:] = differs.to_numpy(zero_copy_only=False)
    starts = np.flatnonzero(changes)
    keys = column.take(_arrow(starts)).to_pylist()
    if labels is None:
        return Rows(starts, keys, [None] * len(keys))
    listing = batch.column(labels)
    _require_alike(listing, changes, keys, file, labels)
    return Rows(starts, keys, _label_lists(listing.take(_arrow(starts))))


def _arrow(indices: Indices) -> Any:
    import pyarrow as pa

    return pa.array(indices)


def _label_lists(listing: Any) -> list[LabelList]:
    """Read lists, or texts with ``;`` between classes; null is a bag that nobody has looked at."""
    cells = listing.to_pylist()
    if cells and any(isinstance(cell, str) for cell in cells):
        parts = [None if cell is None else cell.split(";") for cell in cells]
        stripped = [None if p is None else [c.strip() for c in p if c.strip()] for p in parts]
        cells = stripped
    return [None if cell is None else tuple(dict.fromkeys(cell)) for cell in cells]


def _require_alike(
    listing: Any, changes: NDArray[np.bool_], keys: list[Any], file: Path, labels: str
) -> None:
    """Refuse a bag whose rows do not all list the same."""
    codes = _row_codes(listing)
    torn = np.flatnonzero((codes[1:] != codes[:-1]) & ~changes[1:]) + 1
    if len(torn):
        key = keys[int(np.cumsum(changes)[torn[0]]) - 1]
        raise InputError(
            f"{file}: rows of the bag {key!r} list different classes in {labels!r}; a list is of "
            "the whole bag, so every row of the bag must hold the same one."
        )


def _row_codes(listing: Any) -> Indices:
    """Return numbers that are equal for equal cells; of lists, equal up to an unlikely accident."""
    import pyarrow as pa

    kind = listing.type
    if not (pa.types.is_list(kind) or pa.types.is_large_list(kind)):
        encoded = listing.dictionary_encode(null_encoding="encode")
        if isinstance(encoded, pa.ChunkedArray):
            encoded = encoded.combine_chunks()
        return np.asarray(encoded.indices, dtype=np.int64)
    # A product of odd numbers by place, modulo 2^64: a hash of the list, null apart from empty.
    offsets = np.asarray(listing.offsets, dtype=np.int64)
    flat = listing.values.dictionary_encode().indices.to_numpy(zero_copy_only=False)
    sizes = np.diff(offsets)
    place = np.arange(offsets[0], offsets[-1]) - np.repeat(offsets[:-1], sizes)
    terms = (flat[offsets[0] : offsets[-1]].astype(np.uint64) + np.uint64(1)) * (
        2 * place.astype(np.uint64) + np.uint64(0x9E3779B97F4A7C15)
    )
    running = np.concatenate([np.zeros(1, np.uint64), np.cumsum(terms, dtype=np.uint64)])
    local = offsets - offsets[0]
    codes = (running[local[1:]] - running[local[:-1]]).astype(np.int64) * 2
    return np.where(np.asarray(listing.is_null()), 1, codes)
