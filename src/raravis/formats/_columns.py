"""What the tables of calls have in common: columns of a sheet to calls, and calls to columns.

Columns after the one of the novelty are scores of classes if they hold numbers; all else that a
reader has no use for is kept as it stands.
"""

import re
from collections.abc import Callable, Collection, Container, Iterable, Iterator, Sequence
from os import PathLike
from pathlib import Path
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from raravis._checks import some
from raravis.errors import InputError
from raravis.formats._sheet import FloatArray, Sheet, csv_cell, folded, number_cells, tsv_cell
from raravis.formats._text import write_lines
from raravis.formats.calls import CallTable

__all__ = [
    "Columns",
    "build_calls",
    "channel_column",
    "dropped_if",
    "full_columns",
    "label_cells",
    "recording_of",
    "recordings_of",
    "write_csv",
    "write_tsv",
]

Columns: TypeAlias = dict[str, list[str] | NDArray[Any]]

NOVELTY = "novelty"
_TOOL_ENDINGS = re.compile(
    r"(\.birdnet)?(\.(selection[. ]table|results))?(\.table[. ]\d+)?(\.selections|\.labels)?"
    r"\.(txt|csv|tsv|parquet)",
    re.IGNORECASE,
)


# ---------------------------------------------------------------------- reading


def recording_of(path: str | PathLike[str]) -> str:
    """Return the recording that a file of calls is named after.

    Examples
    --------
    >>> recording_of("calls/dawn.Table.1.selections.txt"), recording_of("dawn.wav.txt")
    ('dawn', 'dawn.wav')
    """
    name = Path(path).name
    for start in (match.start() for match in re.finditer(r"\.", name)):
        if start and _TOOL_ENDINGS.fullmatch(name, start):
            return name[:start]
    return name


def recordings_of(sheet: Sheet, position: int | None, recording: str | None) -> Sequence[str]:
    """Return the recording of each row: as the file says, or else as given, or as the file's name.

    A column that says nothing at all counts as not there.
    """
    named = () if position is None else sheet.texts(position)
    if not any(named):
        return (recording or recording_of(sheet.path),) * len(sheet)
    if "" in named:
        where = sheet.where(named.index(""))
        raise InputError(
            f"{where} names no recording in column {sheet.header[position or 0]!r}, but others do; "
            "fill the cell in."
        )
    return named


def build_calls(
    sheet: Sheet,
    *,
    recording: Sequence[str],
    begin_s: FloatArray,
    end_s: FloatArray,
    low: int | None = None,
    high: int | None = None,
    label: int | None = None,
    channel: int | None = None,
    used: Iterable[int | None] = (),
) -> CallTable:
    """Make calls of rows, of which some columns are already understood."""
    taken = {low, high, label, channel, *used}
    low_hz, high_hz = (_frequencies(sheet, position) for position in (low, high))
    _require_intervals(sheet, begin_s, end_s, low_hz, high_hz)
    novelty, scores = _score_positions(sheet, taken)
    kept = [i for i in range(len(sheet.header)) if i not in {*taken, novelty, *scores}]
    columns = [sheet.numbers(i) for i in scores]
    return CallTable(
        tuple(recording),
        begin_s,
        end_s,
        low_hz,
        high_hz,
        _labels(sheet, label),
        None if novelty is None else sheet.numbers(novelty),
        np.column_stack(columns) if scores else None,
        tuple(sheet.header[i] for i in scores),
        _channels(sheet, channel),
        {sheet.header[i]: sheet.texts(i) for i in kept},
    )


def _labels(sheet: Sheet, position: int | None) -> tuple[str | None, ...]:
    if position is None:
        return (None,) * len(sheet)
    return tuple(cell or None for cell in sheet.texts(position))


def _frequencies(sheet: Sheet, position: int | None) -> FloatArray:
    return np.full(len(sheet), np.nan) if position is None else sheet.numbers(position)


def _require_intervals(
    sheet: Sheet, begin: FloatArray, end: FloatArray, low: FloatArray, high: FloatArray
) -> None:
    # Written so that NaN, which compares as false, is refused in times and allowed in frequencies.
    good = (begin >= 0) & (end >= begin) & np.isfinite(end)
    _require_all(sheet, good, (begin, end), "begins at {} s and ends at {} s", "0 <= begin <= end")
    bad = (low < 0) | (high < 0) | (low > high) | np.isinf(low) | np.isinf(high)
    text = "has the lowest frequency {} Hz and the highest {} Hz"
    _require_all(sheet, ~bad, (low, high), text, "0 <= lowest <= highest, or an empty cell")


def _require_all(
    sheet: Sheet,
    good: NDArray[np.bool_],
    values: tuple[FloatArray, FloatArray],
    what: str,
    accepted: str,
) -> None:
    if good.all():
        return
    row = int(np.argmin(good))
    found = what.format(*(float(value[row]) for value in values))
    raise InputError(
        f"{sheet.where(row)}: the call {found}; both must be finite numbers with {accepted}. "
        "Correct that row."
    )


def _score_positions(sheet: Sheet, taken: Collection[int | None]) -> tuple[int | None, list[int]]:
    """Return where the novelty stands, and where the scores of classes do."""
    novelty = sheet.find(NOVELTY)
    if novelty is None or novelty in taken:
        return None, []
    after = range(novelty + 1, len(sheet.header))
    return novelty, [i for i in after if i not in taken and _has_numbers(sheet, i)]


def _has_numbers(sheet: Sheet, position: int) -> bool:
    """Whether a column has numbers or nothing at all; then none of its cells may be text."""
    cells = sheet.columns[position]
    if isinstance(cells, np.ndarray):
        return True
    filled = [cell for cell in cells if cell.strip()]
    return not filled or any(map(_is_number, filled))


def _is_number(cell: str) -> bool:
    try:
        float(cell)
    except ValueError:
        return False
    return True


def _channels(sheet: Sheet, position: int | None) -> NDArray[np.int64] | None:
    if position is None:
        return None
    found = sheet.numbers(position)
    if len(found) and np.isnan(found).all():
        return None
    good = (found >= 1) & (found == np.floor(found)) & (found < 2**31)
    if not good.all():
        row = int(np.argmin(good))
        raise InputError(
            f"{sheet.where(row)}: the channel is {sheet.texts(position)[row]!r}; channels count 1, "
            "2, 3, ..., so correct that cell."
        )
    return found.astype(np.int64)


def dropped_if(sheet: Sheet, position: int | None, usual: Sequence[str]) -> list[int]:
    """Return the position of a column to pass over, as it holds only what a writer puts there."""
    if position is not None and sheet.texts(position) == tuple(usual):
        return [position]
    return []


# ---------------------------------------------------------------------- writing


def label_cells(calls: CallTable) -> list[str]:
    """Return the labels as cells; one for a call without a label is empty."""
    return [label or "" for label in calls.label]


def channel_column(calls: CallTable, title: str) -> Columns:
    """Return the column of channels; none if they are not known."""
    return {} if calls.channel is None else {title: calls.channel}


def full_columns(
    calls: CallTable,
    first: Columns,
    *,
    reserved: Iterable[str],
    used: Container[str] = (),
    novelty: str = NOVELTY,
) -> Columns:
    """Add to the columns of a format what else is known of the calls.

    Parameters
    ----------
    calls : CallTable
    first : mapping of str to cells
    reserved : iterable of str
        Further names that the reader would take for a column of the format.
    used : collection of str
        The columns of ``calls.extra`` that are among ``first`` already.
    novelty : str
        The title of that column.
    """
    extra = {name: list(cells) for name, cells in calls.extra.items() if name not in used}
    _require_free([*extra, *calls.classes], {*first, *reserved, novelty})
    columns = first | extra
    if calls.novelty is not None:
        columns[novelty] = calls.novelty
    if calls.class_scores is not None:
        columns |= dict(zip(calls.classes, calls.class_scores.T, strict=True))
    return columns


def _require_free(names: Sequence[str], taken: Iterable[str]) -> None:
    reserved = {folded(name) for name in taken}
    strange = [name for name in names if folded(name) in reserved or not name.strip()]
    if strange or len(set(names)) < len(names):
        listed = strange or [name for name in names if names.count(name) > 1]
        raise InputError(
            f"The classes and further columns are called {some(listed)}, which is empty, occurs "
            "twice or is a column of this format; rename those before you write the table."
        )


def write_tsv(columns: Columns, path: str | PathLike[str]) -> None:
    """Write a table for programs that know no quotes."""
    write_lines(path, _lines(columns, tsv_cell, "\t"))


def write_csv(columns: Columns, path: str | PathLike[str]) -> None:
    """Write a table with commas."""
    write_lines(path, _lines(columns, csv_cell, ","))


def _lines(columns: Columns, cell: Callable[[str], str], mark: str) -> Iterator[str]:
    yield mark.join(map(cell, columns)) + "\n"
    for row in zip(*(_cells(column, cell) for column in columns.values()), strict=True):
        yield mark.join(row) + "\n"


def _cells(column: list[str] | NDArray[Any], cell: Callable[[str], str]) -> list[str]:
    if not isinstance(column, np.ndarray):
        return list(map(cell, column))
    return number_cells(column) if column.dtype.kind == "f" else [str(i) for i in column.tolist()]
