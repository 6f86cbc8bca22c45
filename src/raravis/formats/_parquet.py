"""Parquet files as sheets: columns of numbers and of text."""

from collections.abc import Iterable, Iterator
from os import PathLike, fspath
from typing import TYPE_CHECKING, Any

import numpy as np

from raravis.errors import InputError
from raravis.formats._columns import Columns
from raravis.formats._sheet import FloatArray, Sheet
from raravis.formats._text import draft_of, first_bytes

if TYPE_CHECKING:
    import pyarrow as pa
    import pyarrow.parquet as pq

__all__ = ["is_parquet", "read_parquet", "write_parquet"]

_MAGIC = b"PAR1"
# A few bytes of Parquet can stand for any number of equal cells.
MAX_CELLS = 200_000_000
_MAX_UNPACKED = 8 << 30


def is_parquet(path: str | PathLike[str]) -> bool:
    """Whether a file starts as Parquet does."""
    return first_bytes(path).startswith(_MAGIC)


def write_parquet(columns: Columns, path: str | PathLike[str]) -> None:
    """Write columns: numbers as numbers, with null for NaN, and text, with null for nothing."""
    import pyarrow as pa
    import pyarrow.parquet as pq

    table = pa.table({name: _array(cells) for name, cells in columns.items()})
    with draft_of(path) as draft:
        pq.write_table(table, draft, write_page_checksum=True)


def _array(cells: Any) -> "pa.Array":
    import pyarrow as pa

    if isinstance(cells, np.ndarray):
        return pa.array(cells, from_pandas=True)
    return pa.array([cell or None for cell in cells], type=pa.string())


def read_parquet(path: str | PathLike[str]) -> Sheet:
    """Read a table whose columns are numbers, text or anything else that has a plain text."""
    import pyarrow as pa

    name = fspath(path)
    first_bytes(path)
    try:
        table = _table(name)
        columns = tuple(_cells(column, f"{name}, {title!r}") for title, column in _named(table))
    except (pa.ArrowException, OSError, UnicodeDecodeError) as error:
        raise InputError(
            f"{name} is no Parquet file, or it is truncated or damaged ({error}); write it again."
        ) from error
    titles = tuple(table.column_names)
    if len(set(titles)) < len(titles):
        raise InputError(f"{name} has two columns of the same name among {titles}; rename one.")
    return Sheet(name, titles, columns, tuple(range(1, table.num_rows + 1)), "row")


def _table(name: str) -> "pa.Table":
    import pyarrow as pa
    import pyarrow.parquet as pq

    limits = {"thrift_string_size_limit": 1 << 24, "thrift_container_size_limit": 1 << 20}
    with pq.ParquetFile(name, page_checksum_verification=True, **limits) as file:
        _require_modest(file.metadata, name)
        texts = [field.name for field in file.schema_arrow if pa.types.is_string(field.type)]
    # As dictionaries, equal texts are unpacked once, however often they occur.
    with pq.ParquetFile(
        name, page_checksum_verification=True, read_dictionary=texts, **limits
    ) as file:
        table = file.read(use_threads=False)
    table.validate(full=True)
    return table


def _require_modest(metadata: "pq.FileMetaData", name: str) -> None:
    cells = metadata.num_rows * metadata.num_columns
    groups = [metadata.row_group(i) for i in range(metadata.num_row_groups)]
    unpacked = sum(group.total_byte_size for group in groups)
    if cells > MAX_CELLS or unpacked > _MAX_UNPACKED:
        raise InputError(
            f"{name} unpacks to {cells:,} cells in {unpacked:,} bytes; tables of up to "
            f"{MAX_CELLS:,} cells in {_MAX_UNPACKED:,} bytes are read, so split it by recording."
        )


def _named(table: "pa.Table") -> Iterable[tuple[str, "pa.ChunkedArray"]]:
    return zip(table.column_names, table.columns, strict=True)


def _cells(column: "pa.ChunkedArray", where: str) -> tuple[str, ...] | FloatArray:
    """Return a column as numbers if it has fractions, else as text; nothing is null."""
    import pyarrow as pa

    if pa.types.is_floating(column.type):
        return np.asarray(column.cast(pa.float64()).to_numpy(), dtype=np.float64)
    if pa.types.is_nested(column.type):
        raise InputError(
            f"{where} holds {column.type} in its cells; a table of calls has one text or number in "
            "each, so leave that column out."
        )
    if not pa.types.is_dictionary(column.type):
        column = column.cast(pa.string()).dictionary_encode()
    chunks = column.unify_dictionaries().chunks
    return tuple(cell for chunk in chunks for cell in _texts(chunk, where))


def _texts(chunk: "pa.DictionaryArray", where: str) -> Iterator[str]:
    import pyarrow as pa
    import pyarrow.compute as pc

    lengths = pc.utf8_length(chunk.dictionary.cast(pa.string()))
    total = pc.sum(lengths.cast(pa.float64()).take(chunk.indices)).as_py() or 0.0
    if total > _MAX_UNPACKED:
        raise InputError(
            f"{where} unpacks to {total:,.0f} characters; columns of up to {_MAX_UNPACKED:,} are "
            "read, so split the table by recording."
        )
    words = [
        "" if word is None else word for word in chunk.dictionary.cast(pa.string()).to_pylist()
    ]
    return ("" if code is None else words[code] for code in chunk.indices.to_pylist())
