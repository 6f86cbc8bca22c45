"""Which format a file of calls has, by what it starts with."""

from collections.abc import Callable
from os import PathLike
from typing import Literal

from raravis.errors import InputError
from raravis.formats import raven, tables
from raravis.formats._parquet import is_parquet, read_parquet
from raravis.formats._sheet import delimiter_of, folded, header_cells
from raravis.formats._text import open_text
from raravis.formats.audacity import read_audacity
from raravis.formats.birdnet import DURATION, IN_FILE, NAMES, OFFSET, START, STOP, read_birdnet
from raravis.formats.calls import CallTable
from raravis.formats.raven import read_raven
from raravis.formats.tables import read_calls

__all__ = ["Format", "read_any", "recognise"]

Format = Literal["raven", "audacity", "birdnet", "calls", "miml-arff", "table"]

_KNOWN = (raven.BEGIN, raven.END, *tables.BEGINS, *tables.ENDS, *START, *STOP, OFFSET, IN_FILE)
_READERS: dict[str, Callable[..., CallTable]] = {
    "raven": read_raven,
    "audacity": read_audacity,
    "birdnet": read_birdnet,
    "calls": read_calls,
}


def recognise(path: str | PathLike[str], *, foreign: bool = True) -> Format:
    """Tell the format of a file by its content.

    Parameters
    ----------
    path : path-like
    foreign : bool
        Whether a table with the times of some other program, such as ``start`` and ``end``, is one
        of calls, or any table.

    Returns
    -------
    {"raven", "audacity", "birdnet", "calls", "miml-arff", "table"}
        ``"table"`` is any other table. An empty file is a label track without labels.
    """
    if is_parquet(path):
        return _by_header(read_parquet(path).header, foreign)
    with open_text(path, newline="", quiet=True) as file:
        lines, delimiter = delimiter_of(file, _KNOWN)
        head = next((line for line in lines if line.strip()), "")
        if head.startswith("sep="):
            head = next((line for line in lines if line.strip()), "")
    if not head or _is_label(head):
        return "audacity"
    if head.lstrip().startswith("%") or head.lstrip().lower().startswith("@relation"):
        return "miml-arff"
    return _by_header(header_cells(head, delimiter), foreign)


def read_any(path: str | PathLike[str], *, recording: str | None = None) -> CallTable:
    """Read calls from a file in whatever format it is: Raven, Audacity, BirdNET, CSV or Parquet.

    Parameters
    ----------
    path : path-like
    recording : str, optional
        The recording, if the file does not say; by default what the file is named after.
    """
    found = recognise(path)
    if found == "miml-arff":
        raise InputError(
            f"{path} is ARFF, which holds bags and labels, not calls; use read_miml_arff."
        )
    if found == "table":
        raise InputError(
            f"{path} is no table of calls: it lacks {tables.BEGINS[0]!r} and "
            f"{tables.ENDS[0]!r}, and the columns of Raven and BirdNET. Species per "
            "recording are read with read_species."
        )
    return _READERS[found](path, recording=recording)


def _is_label(line: str) -> bool:
    cells = line.split("\t")
    try:
        return len(cells) >= 2 and all(float(cell) >= 0 for cell in cells[:2])
    except ValueError:
        return False


def _by_header(header: tuple[str, ...] | list[str], foreign: bool) -> Format:
    titles = {folded(title) for title in header}

    def has(*names: str) -> bool:
        return all(folded(name) in titles for name in names)

    named = any(has(name) for name in NAMES.values())
    if has(tables.BEGINS[0], tables.ENDS[0]):
        return "calls"
    if has(raven.BEGIN, raven.END):
        return "birdnet" if named and has("Confidence") else "raven"
    if has(OFFSET, DURATION, IN_FILE) or (
        named and any(has(a, b) for a, b in zip(START, STOP, strict=True))
    ):
        return "birdnet"
    both = foreign and any(map(has, tables.BEGINS)) and any(map(has, tables.ENDS))
    return "calls" if both else "table"
