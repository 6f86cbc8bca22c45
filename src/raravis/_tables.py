"""Tables in and out: data frames of any library, Arrow tables, Parquet files."""

import json
import secrets
from collections.abc import Hashable, Iterable, Sequence
from os import PathLike
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from raravis._checks import FloatArray, IntArray, plain, require_hashable, some
from raravis.errors import InputError

if TYPE_CHECKING:
    import narwhals as nw
    import pyarrow as pa

__all__ = [
    "feature_columns",
    "frame_indicator",
    "frame_keys",
    "frame_matrix",
    "frame_sets",
    "instance_table",
    "is_frame",
    "is_series",
    "label_table",
    "open_frame",
    "read_bags",
    "write_bags",
]

# ---------------------------------------------------------------------- data frames


def is_frame(data: Any) -> bool:
    """Whether something is a data frame, also a lazy one, of a library that narwhals knows."""
    if isinstance(data, (np.ndarray, list, tuple, dict)):
        return False
    from narwhals import dependencies

    return dependencies.is_into_dataframe(data) or hasattr(data, "collect_schema")


def is_series(data: Any) -> bool:
    """Whether something is a column of a library that narwhals knows."""
    if isinstance(data, (np.ndarray, list, tuple, dict)):
        return False
    from narwhals import dependencies

    return dependencies.is_into_series(data)


def open_frame(df: Any) -> "nw.DataFrame[Any]":
    """Put a data frame of pandas, polars or pyarrow behind one interface."""
    import narwhals as nw

    try:
        frame: nw.DataFrame[Any] = nw.from_native(df, eager_only=True)
        names = frame.columns
    except TypeError as error:
        raise InputError(
            f"df is a {type(df).__name__}; give a pandas or polars DataFrame or a pyarrow Table "
            "(call .collect() on a lazy frame)."
        ) from error
    except nw.exceptions.DuplicateError as error:
        raise InputError(f"df has two columns of the same name: {error}") from error
    if len(set(names)) < len(names):
        raise InputError(f"df has two columns of the same name among {names}; rename one.")
    return frame


def _named(columns: str | Sequence[str]) -> list[str]:
    return [columns] if isinstance(columns, str) else list(columns)


def _require_columns(frame: "nw.DataFrame[Any]", names: Iterable[str], what: str) -> None:
    for name in names:
        if name not in frame.columns:
            raise InputError(
                f"There is no column {name!r} for {what}; the columns are "
                f"{some(frame.columns, limit=20)}."
            )


def _require_complete(frame: "nw.DataFrame[Any]", name: str, advice: str) -> None:
    nulls = frame.get_column(name).is_null().to_numpy()
    if nulls.any():
        raise InputError(
            f"Column {name!r} has {int(nulls.sum())} missing values (NaN), the first in row "
            f"{int(np.argmax(nulls))}; {advice}."
        )


def frame_keys(frame: "nw.DataFrame[Any]", bag: str | Sequence[str]) -> list[Any]:
    """Key of each row: the value of one column, or the tuple of several."""
    names = _named(bag)
    if not names:
        raise InputError("bag is an empty list; name the column that says which bag a row is of.")
    _require_columns(frame, names, "the bag")
    for name in names:
        _require_complete(frame, name, "every row needs a bag, so drop those rows")
    columns = [frame.get_column(name).to_list() for name in names]
    return columns[0] if isinstance(bag, str) else list(zip(*columns, strict=True))


def feature_columns(
    frame: "nw.DataFrame[Any]", bag: str | Sequence[str], features: Sequence[str] | None
) -> tuple[str, ...]:
    """Names of the columns to use as features, checked."""
    numeric = {name for name, dtype in frame.schema.items() if dtype.is_numeric()}
    if features is None:
        names = tuple(c for c in frame.columns if c in numeric and c not in _named(bag))
    else:
        names = tuple(_named(features))
        _require_columns(frame, names, "the features")
    if not names:
        raise InputError(
            f"There is no numeric column besides the bag's; the columns are "
            f"{some(frame.columns, limit=20)}."
        )
    for name in names:
        if name in _named(bag):
            raise InputError(f"Column {name!r} names the bag, so it cannot be a feature too.")
        if name not in numeric:
            raise InputError(
                f"Column {name!r} has type {frame.schema[name]}; features must be numbers, so "
                "encode it or leave it out of features."
            )
    return names


def frame_matrix(frame: "nw.DataFrame[Any]", names: tuple[str, ...]) -> FloatArray:
    """Columns of a frame as one matrix; float32 only if all of them are."""
    import narwhals as nw

    single = all(frame.schema[name] == nw.Float32 for name in names)
    matrix = np.empty((len(frame), len(names)), dtype=np.float32 if single else np.float64)
    for i, name in enumerate(names):
        _require_complete(frame, name, "drop those rows or impute the values")
        matrix[:, i] = frame.get_column(name).to_numpy()
    return matrix


def frame_indicator(df: Any) -> tuple[NDArray[np.object_], tuple[str, ...]]:
    """Cells of a frame as objects, missing ones as None, and the column names."""
    frame = open_frame(df)
    cells = np.empty(frame.shape, dtype=object)
    for i, name in enumerate(frame.columns):
        cells[:, i] = frame.get_column(name).to_list()
        cells[frame.get_column(name).is_null().to_numpy(), i] = None
    return cells, tuple(frame.columns)


def frame_sets(
    df: Any, bag: str | Sequence[str], labels: str, sep: str, one_per_row: bool
) -> dict[Hashable, list[Hashable] | None]:
    """Classes of each bag, as a frame lists them; None where the cell is missing."""
    frame = open_frame(df)
    keys = [plain(key) for key in frame_keys(frame, bag)]
    for row, key in enumerate(keys):
        require_hashable(key, f"the bag of row {row}")
    _require_columns(frame, [labels], "the labels")
    column = frame.get_column(labels)
    cells = zip(column.to_list(), column.is_null().to_list(), strict=True)
    rows = zip(keys, (None if null else cell for cell, null in cells), strict=True)
    return _sets_of_pairs(rows) if one_per_row else _sets_of_cells(rows, sep)


def _sets_of_pairs(rows: Iterable[tuple[Hashable, Any]]) -> dict[Hashable, list[Hashable] | None]:
    found: dict[Hashable, list[Hashable]] = {}
    for key, cell in rows:
        label = cell.strip() if isinstance(cell, str) else cell
        empty = label is None or (isinstance(label, str) and not label)
        found.setdefault(key, []).extend([] if empty else [label])
    return dict(found)


def _sets_of_cells(
    rows: Iterable[tuple[Hashable, Any]], sep: str
) -> dict[Hashable, list[Hashable] | None]:
    found: dict[Hashable, list[Hashable] | None] = {}
    for row, (key, cell) in enumerate(rows):
        if key in found:
            raise InputError(
                f"The bag {key!r} has a second row, {row}; put all its classes into one cell, or "
                "pass one_per_row=True if each row names one class."
            )
        found[key] = _cell_classes(cell, sep)
    return found


def _cell_classes(cell: Any, sep: str) -> list[Hashable] | None:
    if cell is None:
        return None
    if isinstance(cell, str):
        return [part.strip() for part in cell.split(sep) if part.strip()]
    if isinstance(cell, (list, tuple, set, frozenset, np.ndarray)) or hasattr(cell, "to_list"):
        return list(cell)
    return [cell]


# ---------------------------------------------------------------------- Arrow


def instance_table(
    instances: FloatArray,
    keys: tuple[Hashable, ...],
    sizes: IntArray,
    feature_names: tuple[str, ...] | None,
) -> "pa.Table":
    """One row an instance: the bag's key, then the features."""
    import pyarrow as pa

    names = feature_names or tuple(f"feature_{i}" for i in range(instances.shape[1]))
    rows = pa.array(np.repeat(np.arange(len(keys)), sizes))
    columns = [_bag_column(keys).take(rows), *(pa.array(column) for column in instances.T)]
    return pa.table(columns, names=[_free_name("bag", names), *names])


def label_table(
    status: NDArray[np.int8], classes: tuple[Hashable, ...], keys: tuple[Hashable, ...] | None
) -> "pa.Table":
    """One row a bag: its key, if known, and for each class true, false or (unknown) null."""
    import pyarrow as pa

    names = [str(label) for label in classes]
    columns = [pa.array(column > 0, mask=column == 0) for column in status.T]
    if keys is not None:
        columns = [_bag_column(keys), *columns]
        names = [_free_name("bag", names), *names]
    return pa.table(columns, names=names)


def _bag_column(keys: tuple[Hashable, ...]) -> "pa.Array":
    """Keys as an Arrow array; as text if they are of mixed or unusual types."""
    import pyarrow as pa

    kinds = {type(key) for key in keys}
    if kinds in ({float}, {bool}) or (kinds == {int} and _fit_in_64_bits(keys)):
        return pa.array(keys)
    return pa.array([_text(key) for key in keys], type=pa.string())


def _fit_in_64_bits(keys: Iterable[Any]) -> bool:
    return all(-(2**63) <= key < 2**63 for key in keys)


def _text(key: Hashable) -> str:
    # File names may hold bytes that are no UTF-8, which Arrow refuses.
    return str(key).encode("utf-8", "backslashreplace").decode()


def _free_name(name: str, taken: Iterable[str]) -> str:
    """Return the name, with as many underscores after it as make it a new one."""
    names = set(taken)
    while name in names:
        name += "_"
    return name


# ---------------------------------------------------------------------- Parquet

# What a table cannot say (keys as they are, empty bags) stands as JSON in the schema's metadata.
_META_KEY = b"raravis"
_FORMAT = "raravis-bags"
_VERSION = 1
_HEAD_TYPES: dict[str, Any] = {
    "offsets": list,
    "keys": list,
    "feature_names": (list, type(None)),
    "sha256": str,
}


def write_bags(
    path: str | PathLike[str], table: "pa.Table", source_rows: IntArray, head: dict[str, Any]
) -> None:
    """Write instances to a file that is either complete or not there."""
    import pyarrow as pa
    import pyarrow.parquet as pq

    for key in head["keys"]:
        _require_storable(key)
    name = _free_name("source_row", table.column_names)
    text = json.dumps({"format": _FORMAT, "version": _VERSION, **head})
    full = table.append_column(name, pa.array(source_rows))
    full = full.replace_schema_metadata({_META_KEY: text.encode()})
    target = Path(path)
    draft = target.with_name(f".{target.name}.{secrets.token_hex(4)}.part")
    try:
        pq.write_table(full, draft, write_page_checksum=True)
        draft.replace(target)
    finally:
        draft.unlink(missing_ok=True)


def _require_storable(key: Any) -> None:
    if type(key) is tuple:
        for part in key:
            _require_storable(part)
    elif type(key) not in {str, int, float, bool}:
        raise InputError(
            f"The bag key {key!r} is or holds a {type(key).__name__}; a file can hold keys that "
            "are str, int, float, bool or tuples of these."
        )


def read_bags(path: str | PathLike[str]) -> tuple[FloatArray, IntArray, dict[str, Any]]:
    """Instances, source rows, and the head that `write_bags` put beside them."""
    import pyarrow as pa
    import pyarrow.parquet as pq

    with Path(path).open("rb") as file:
        try:
            head = _read_head(path, pq.read_schema(file).metadata)
            table = pq.ParquetFile(file, page_checksum_verification=True).read(use_threads=False)
            columns = [column.to_numpy() for column in table.columns[1:]]
        except (pa.ArrowException, OSError, UnicodeDecodeError) as error:
            raise InputError(
                f"{path} is not a Parquet file, or it is truncated or damaged ({error}); write it "
                "again with Bags.to_parquet."
            ) from error
    if len(columns) < 2:
        raise damaged(path, "columns are missing")
    return np.column_stack(columns[:-1]), columns[-1], head


def damaged(path: str | PathLike[str], why: object) -> InputError:
    """Return the error for a file that is ours but not as we wrote it."""
    return InputError(f"{path} is damaged or was altered ({why}); write it again.")


def _read_head(path: str | PathLike[str], metadata: dict[bytes, bytes] | None) -> dict[str, Any]:
    text = (metadata or {}).get(_META_KEY)
    if text is None:
        raise InputError(
            f"{path} is a Parquet file, but not one that Bags.to_parquet wrote; read it as a data "
            "frame and use Bags.from_frame(df, bag=...)."
        )
    try:
        head = json.loads(text)
    except (ValueError, RecursionError) as error:
        raise damaged(path, error) from error
    if not isinstance(head, dict) or head.get("format") != _FORMAT:
        raise damaged(path, "its metadata are not those of bags")
    version = head.get("version")
    if isinstance(version, int) and version > _VERSION:
        raise InputError(
            f"{path} has format version {version}, but this raravis reads up to {_VERSION}; "
            "update raravis."
        )
    if not all(n in head and isinstance(head[n], kind) for n, kind in _HEAD_TYPES.items()):
        raise damaged(path, "its metadata are incomplete")
    return {**head, "keys": [_from_json(key) for key in head["keys"]]}


def _from_json(key: Any) -> Any:
    # A list is no key, so a list in the file was a tuple.
    return tuple(_from_json(part) for part in key) if isinstance(key, list) else key
