"""Tables of cells under a header, as tab-separated, comma-separated and Parquet files hold them."""

import csv
import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import chain
from os import PathLike, fspath

import numpy as np
from numpy.typing import NDArray

from raravis._checks import some
from raravis.errors import InputError
from raravis.formats._text import open_text, require_plain

__all__ = [
    "Rows",
    "Sheet",
    "csv_cell",
    "delimiter_of",
    "folded",
    "header_cells",
    "number",
    "number_cells",
    "read_csv",
    "read_tsv",
    "sheet_of",
    "tsv_cell",
]

FloatArray = NDArray[np.float64]
Rows = Iterator[tuple[int, list[str]]]

# What a few bytes could otherwise grow into: a header of a million columns over short rows.
MAX_COLUMNS = 50_000
MAX_FILLED_UP = 10_000_000
_QUOTED = re.compile(r'"((?:[^"]|"")*)"')
_DECIMAL_COMMA = re.compile(r"[+-]?\d+,\d+(e[+-]?\d+)?", re.IGNORECASE)
_BREAKS_TSV = re.compile("[\\t\\n\\r\\0]")
_BREAKS_CSV = re.compile('[,"\\n\\r\\0]')
_SEP_LINE = re.compile(r"sep=(.)\s*$", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class Sheet:
    """Cells of a file by column, as text or as numbers, with the line in the file of each row."""

    path: str
    header: tuple[str, ...]
    columns: tuple[tuple[str, ...] | FloatArray, ...]
    lines: tuple[int, ...]
    unit: str = "line"

    def __len__(self) -> int:
        return len(self.lines)

    def find(self, *names: str) -> int | None:
        """Return the position of the first of these columns that is there, by folded name."""
        for name in names:
            for position, title in enumerate(self.header):
                if folded(title) == folded(name):
                    return position
        return None

    def require(self, *names: str, advice: str) -> int:
        """Return the position of a column that must be there, under one of its names."""
        found = self.find(*names)
        if found is None:
            raise InputError(
                f"{self.path} has no column {names[0]!r}; its columns are "
                f"{some(self.header, limit=20)}. {advice}"
            )
        return found

    def where(self, row: int) -> str:
        """Name a row for a message: the line in the file."""
        return f"{self.unit} {self.lines[row]} of {self.path}"

    def texts(self, position: int) -> tuple[str, ...]:
        """Return a column as text."""
        cells = self.columns[position]
        return tuple(number_cells(cells)) if isinstance(cells, np.ndarray) else cells

    def numbers(self, position: int) -> FloatArray:
        """Return a column as numbers; an empty cell is NaN."""
        cells = self.columns[position]
        if isinstance(cells, np.ndarray):
            return cells
        try:
            _ascii("".join(cells))
            return np.array([float(cell or "nan") for cell in cells], dtype=np.float64)
        except ValueError:
            title = self.header[position]
            return np.array([number(c, f"{self.where(i)}, {title!r}") for i, c in enumerate(cells)])

    def take(self, rows: Sequence[int]) -> "Sheet":
        """Return some rows."""
        if len(rows) == len(self):
            return self
        columns = tuple(
            cells[list(rows)] if isinstance(cells, np.ndarray) else tuple(cells[i] for i in rows)
            for cells in self.columns
        )
        lines = tuple(self.lines[i] for i in rows)
        return Sheet(self.path, self.header, columns, lines, self.unit)


def folded(name: str) -> str:
    """Return a column name without what people vary: case, outer spaces, underscores, hyphens.

    Examples
    --------
    >>> folded(" Begin_File ") == folded("begin file")
    True
    """
    return " ".join(name.replace("_", " ").replace("-", " ").split()).casefold()


def number(cell: str, where: str) -> float:
    """Return the number in a cell; NaN if it is empty."""
    text = cell.strip()
    if _DECIMAL_COMMA.fullmatch(text):
        raise InputError(
            f"{where}: {text!r} has a decimal comma; numbers need a decimal point "
            f"({text.replace(',', '.')!r}), so save the file with that setting."
        )
    try:
        return float(_ascii(text) or "nan")
    except ValueError as error:
        raise InputError(f"{where}: {cell!r} is no number; correct that cell.") from error


def _ascii(cell: str) -> str:
    """Return a cell, refused if Python would read more into it than other programs do."""
    if "_" in cell or not cell.isascii():
        raise ValueError(cell)
    return cell.strip()


def number_cells(values: Iterable[float]) -> list[str]:
    """Write numbers as the shortest text that reads back as them; NaN as an empty cell."""
    listed = values.tolist() if isinstance(values, np.ndarray) else list(values)
    return ["" if value != value else repr(float(value)) for value in listed]  # noqa: PLR0124


# ---------------------------------------------------------------------- reading


def read_csv(path: str | PathLike[str], known: Iterable[str]) -> Sheet:
    """Read CSV; the delimiter is the one that makes most of the known columns of the header."""
    with open_text(path, newline="") as file:
        lines, delimiter = delimiter_of(file, known)
        return sheet_of(path, _csv_rows(lines, delimiter, path))


def read_tsv(
    path: str | PathLike[str],
    known: Iterable[str],
    *,
    surplus: Callable[[list[str], int], list[str]] | None = None,
) -> Sheet:
    """Read a table of a program that knows no quotes; one saved again as CSV is read as well."""
    with open_text(path) as file:
        lines, delimiter = delimiter_of(file, known)
        if delimiter == "\t":
            return sheet_of(path, _tsv_rows(lines), surplus=surplus)
    return read_csv(path, known)


def delimiter_of(lines: Iterable[str], known: Iterable[str]) -> tuple[Iterator[str], str]:
    """Return all lines, and the delimiter (tab, semicolon or comma) that makes the best header."""
    wanted = {folded(name) for name in known}
    remaining = iter(lines)
    skipped: list[str] = []
    head = ""
    for line in remaining:
        skipped.append(line)
        if line.strip() and not _SEP_LINE.match(line):
            head = line
            break

    def score(delimiter: str) -> tuple[int, int]:
        cells = header_cells(head, delimiter)
        return sum(folded(cell) in wanted for cell in cells), len(cells)

    return chain(skipped, remaining), max("\t;,", key=score)


def header_cells(line: str, delimiter: str) -> list[str]:
    try:
        return next(csv.reader([line], delimiter=delimiter), [])
    except csv.Error:
        return []


def _tsv_rows(lines: Iterable[str]) -> Rows:
    """Cut lines at tabs; a cell in double quotes, as pandas and R write some, loses them."""
    for n, line in enumerate(lines, start=1):
        cells = line.rstrip("\n").split("\t")
        yield n, [_unquoted(cell) if cell[:1] == '"' else cell for cell in cells]


def _unquoted(cell: str) -> str:
    match = _QUOTED.fullmatch(cell)
    return match[1].replace('""', '"') if match else cell


def _csv_rows(lines: Iterable[str], delimiter: str, path: object) -> Rows:
    """Read CSV; the line of a row is the one on which it ends. Excel's ``sep=`` line is skipped."""
    rows = csv.reader(lines, delimiter=delimiter, strict=True)
    try:
        for cells in rows:
            if rows.line_num == 1 and len(cells) <= 2 and _SEP_LINE.match(delimiter.join(cells)):
                continue
            yield rows.line_num, cells
    except csv.Error as error:
        raise InputError(
            f"Line {rows.line_num} of {path} is no valid CSV ({error}); put a text with quotes "
            "into double quotes and double those in it."
        ) from error


def sheet_of(
    path: str | PathLike[str],
    rows: Rows,
    *,
    surplus: Callable[[list[str], int], list[str]] | None = None,
) -> Sheet:
    """Collect rows under their header. Empty lines are passed over, short rows filled up.

    Parameters
    ----------
    path : path-like
        For messages.
    rows : iterator of (line number, cells)
    surplus : callable, optional
        Makes a row with more cells than columns fit, or returns it as it is.
    """
    name = fspath(path)
    filled = ((n, cells) for n, cells in rows if any(map(str.strip, cells)))
    _, header = next(filled, (0, None))
    if header is None:
        raise InputError(f"{name} is empty; a table without rows still has its line of columns.")
    titles = _titles(header, name)
    lines: list[int] = []
    found: list[list[str]] = []
    spare = MAX_FILLED_UP
    for n, cells in filled:
        lines.append(n)
        found.append(cells)
        if len(cells) == len(titles):
            continue
        fitted = _fit(cells, len(titles), surplus)
        spare -= len(titles) - len(fitted)
        if len(fitted) > len(titles):
            raise InputError(
                f"Line {n} of {name} has {len(fitted)} cells, but there are {len(titles)} columns; "
                "put a text that holds the separator into double quotes."
            )
        if spare < 0:
            raise InputError(
                f"Line {n} of {name} has {len(fitted)} cells, but there are {len(titles)} columns, "
                "and so it goes in too many lines; save the table with all its cells."
            )
        found[-1] = fitted + [""] * (len(titles) - len(fitted))
    columns = tuple(zip(*found, strict=True)) if found else ((),) * len(titles)
    return Sheet(name, titles, columns, tuple(lines))


def _titles(header: Sequence[str], path: str) -> tuple[str, ...]:
    kept = list(header)
    while kept and not kept[-1].strip():
        kept.pop()
    if len(kept) > MAX_COLUMNS:
        raise InputError(
            f"{path} has {len(kept):,} columns; tables of up to {MAX_COLUMNS:,} are read, so "
            "leave out those that you do not need."
        )
    titles = [title if title.strip() else f"column {i}" for i, title in enumerate(kept, start=1)]
    seen: set[str] = set()
    for title in titles:
        if title in seen:
            raise InputError(f"{path} has two columns {title!r}; rename one.")
        seen.add(title)
    return tuple(titles)


def _fit(
    cells: list[str], width: int, surplus: Callable[[list[str], int], list[str]] | None
) -> list[str]:
    while len(cells) > width and not cells[-1].strip():
        cells.pop()
    return surplus(cells, width) if len(cells) > width and surplus is not None else cells


# ---------------------------------------------------------------------- writing


def tsv_cell(cell: str) -> str:
    """Return a cell for tab-separated text; one that starts with a double quote is put in some."""
    if _BREAKS_TSV.search(cell):
        require_plain(cell, "text")
    return '"' + cell.replace('"', '""') + '"' if cell[:1] == '"' else cell


def csv_cell(cell: str) -> str:
    """Return a cell for comma-separated text, in double quotes if need be."""
    if _BREAKS_CSV.search(cell) is None:
        return cell
    if "\0" in cell:
        raise InputError(f"The text {cell!r} holds a NUL, which no text file can; rename it.")
    return '"' + cell.replace('"', '""') + '"'
