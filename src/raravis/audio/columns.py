"""Features from a user's own table: embeddings that another program computed.

A table (CSV or Parquet) has the columns ``recording``, ``begin_s`` and ``end_s``; all others are
features. A row may be a segment or a window of a few seconds, as Perch or AVES hear them.
"""

import hashlib
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path, PurePath
from typing import Any, Final

import numpy as np
import numpy.typing as npt

from raravis.audio.errors import AudioError
from raravis.audio.recipes import FeatureRecipe
from raravis.audio.segments import Segments
from raravis.errors import InputError

__all__ = ["column_features", "column_names", "table_recipe"]

FloatArray = npt.NDArray[np.float64]

_PLACE: Final = ("recording", "begin_s", "end_s")


@dataclass(frozen=True, slots=True, eq=False)
class _Table:
    names: tuple[str, ...]
    recording: npt.NDArray[Any]
    begin_s: FloatArray
    end_s: FloatArray
    features: FloatArray


def table_recipe(path: str | Path) -> FeatureRecipe:
    """Return the recipe of the features in a table; its hash covers the table's content.

    Parameters
    ----------
    path : path
        A CSV or Parquet file with the columns ``recording`` (a file name, or the end of a path),
        ``begin_s``, ``end_s`` and one for each feature.
    """
    recipe = FeatureRecipe(kind="columns", table=str(path), table_sha256=_digest(Path(path)))
    column_names(recipe)
    return recipe


def column_names(recipe: FeatureRecipe) -> tuple[str, ...]:
    """Return what the features of a table are called."""
    return _read(*_where(recipe)).names


def column_features(path: Path, segments: Segments, recipe: FeatureRecipe) -> FloatArray:
    """Return for every segment the row that shares the most time with it; of equals, the first."""
    table = _read(*_where(recipe))
    rows = np.flatnonzero(_is_of(table.recording, path))
    features = np.empty((len(segments), len(table.names)))
    for row, (begin_s, end_s) in enumerate(zip(segments.begin_s, segments.end_s, strict=True)):
        shared = np.minimum(end_s, table.end_s[rows]) - np.maximum(begin_s, table.begin_s[rows])
        if not len(rows) or shared.max() <= 0:
            raise AudioError(
                f"the table {recipe.table} has no row for {path.name} between {begin_s:g} and "
                f"{end_s:g} s; add the features of all that is to be annotated"
            )
        features[row] = table.features[rows[shared.argmax()]]
    return features


def _is_of(recordings: npt.NDArray[Any], path: Path) -> npt.NDArray[np.bool_]:
    """Say which names are a path's end."""
    parts = path.resolve().parts
    ends: dict[str, bool] = {}
    for name in dict.fromkeys(recordings.tolist()):
        pieces = PurePath(name).parts
        ends[name] = bool(pieces) and parts[-len(pieces) :] == pieces
    return np.array([ends[name] for name in recordings.tolist()], dtype=np.bool_)


def _where(recipe: FeatureRecipe) -> tuple[str, str]:
    table = str(recipe.table)
    if recipe.table_sha256 is None:
        raise InputError(
            f"table_sha256 is missing; that of {table} is {_digest(Path(table))!r}: pass it, so "
            "that features are known to be of this table"
        )
    return table, recipe.table_sha256


def _digest(path: Path) -> str:
    try:
        with path.open("rb") as file:
            return hashlib.file_digest(file, "sha256").hexdigest()
    except OSError as error:
        raise InputError(
            f"the table {path} cannot be read ({error.strerror or error}); pass the path of a CSV "
            "or Parquet file"
        ) from error


@lru_cache(maxsize=2)
def _read(name: str, digest: str) -> _Table:
    import pyarrow as pa

    path = Path(name)
    if _digest(path) != digest:
        raise InputError(
            f"the table {path} is not what it was when the recipe was made; make a new recipe, "
            "and learn anew what was learned from the other table"
        )
    try:
        frame = _frame(path)
    except (pa.ArrowException, OSError, ValueError) as error:
        raise InputError(f"the table {path} is no CSV or Parquet file ({error})") from error
    missing = [column for column in _PLACE if column not in frame.column_names]
    if missing:
        raise InputError(
            f"the table {path} has no column {missing[0]!r}; it needs recording, begin_s, end_s "
            "and the features"
        )
    names = tuple(column for column in frame.column_names if column not in _PLACE)
    numbers = {column: _numbers(frame, column, path) for column in (*_PLACE[1:], *names)}
    if not names:
        raise InputError(f"the table {path} has no column beside {', '.join(_PLACE)}; add features")
    recording = np.array([str(cell) for cell in frame["recording"].to_pylist()], dtype=object)
    features = np.stack([numbers[column] for column in names], axis=1)
    return _Table(names, recording, numbers["begin_s"], numbers["end_s"], features)


def _frame(path: Path) -> Any:
    if path.suffix.lower() == ".parquet":
        import pyarrow.parquet as pq

        with pq.ParquetFile(path) as file:
            return file.read(use_threads=False)
    from pyarrow import csv

    return csv.read_csv(path, read_options=csv.ReadOptions(use_threads=False))


def _numbers(frame: Any, column: str, path: Path) -> FloatArray:
    import pyarrow as pa

    try:
        values: FloatArray = frame[column].cast(pa.float64()).to_numpy().astype(np.float64)
    except pa.ArrowException as error:
        raise InputError(
            f"the column {column!r} of {path} holds something that is no number; leave it out"
        ) from error
    if not np.isfinite(values).all():
        row = int(np.flatnonzero(~np.isfinite(values))[0])
        raise InputError(f"the column {column!r} of {path} has no number in row {row}; fill it")
    return values
