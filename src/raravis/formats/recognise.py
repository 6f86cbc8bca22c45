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

_KNOWN = (raven.BEGIN, raven.END, tables.BEGIN, tables.END, *START, *STOP, OFFSET, IN_FILE)
_READERS: dict[str, Callable[[str | PathLike[str]], CallTable]] = {
    "raven": read_raven,
    "audacity": read_audacity,
    "birdnet": read_birdnet,
    "calls": read_calls,
}


def recognise(path: str | PathLike[str]) -> Format:
    """Tell the format of a file by its content.

    Returns
    -------
    {"raven", "audacity", "birdnet", "calls", "miml-arff", "table"}
        ``"table"`` is any other table. An empty file is a label track without labels.
    """
    if is_parquet(path):
        return _by_header(read_parquet(path).header)
    with open_text(path, newline="", quiet=True) as file:
        lines, delimiter = delimiter_of(file, _KNOWN)
        head = next((line for line in lines if line.strip()), "")
        if head.startswith("sep="):
            head = next((line for line in lines if line.strip()), "")
    if not head or _is_label(head):
        return "audacity"
    if head.lstrip().startswith("%") or head.lstrip().lower().startswith("@relation"):
        return "miml-arff"
    return _by_header(header_cells(head, delimiter))


def read_any(path: str | PathLike[str]) -> CallTable:
    """Read calls from a file in whatever format it is: Raven, Audacity, BirdNET, CSV or Parquet."""
    found = recognise(path)
    if found == "miml-arff":
        raise InputError(
            f"{path} is ARFF, which holds bags and labels, not calls; use read_miml_arff."
        )
    if found == "table":
        raise InputError(
            f"{path} is no table of calls: it lacks {tables.BEGIN!r} and {tables.END!r}, and the "
            "columns of Raven and BirdNET. Species per recording are read with read_species."
        )
    return _READERS[found](path)


def _is_label(line: str) -> bool:
    cells = line.split("\t")
    try:
        return len(cells) >= 2 and all(float(cell) >= 0 for cell in cells[:2])
    except ValueError:
        return False


def _by_header(header: tuple[str, ...] | list[str]) -> Format:
    titles = {folded(title) for title in header}

    def has(*names: str) -> bool:
        return all(folded(name) in titles for name in names)

    named = any(has(name) for name in NAMES.values())
    if has(tables.BEGIN, tables.END):
        return "calls"
    if has(raven.BEGIN, raven.END):
        return "birdnet" if named and has("Confidence") else "raven"
    if has(OFFSET, DURATION, IN_FILE) or (
        named and any(has(a, b) for a, b in zip(START, STOP, strict=True))
    ):
        return "birdnet"
    return "table"
