"""Audacity label tracks: begin, end and label, then a line of frequencies that may be missing."""

from collections.abc import Iterator
from os import PathLike, fspath

import numpy as np

from raravis._checks import some
from raravis.errors import InputError
from raravis.formats._columns import build_calls, recording_of
from raravis.formats._sheet import Sheet, number
from raravis.formats._text import open_text, require_plain, write_lines
from raravis.formats.calls import CallTable

__all__ = ["read_audacity", "write_audacity"]

CONFIDENCE = "Confidence"
_HEADER = ("begin", "end", "label", CONFIDENCE, "low", "high")
# What Audacity writes for a frequency that was not marked.
_NO_FREQUENCY = -1.0


def read_audacity(path: str | PathLike[str], *, recording: str | None = None) -> CallTable:
    """Read a label track exported from Audacity, with or without frequencies.

    Parameters
    ----------
    path : path-like
    recording : str, optional
        What the labels are of; by default what the file is named after.

    Returns
    -------
    CallTable
        A fourth column, as BirdNET writes, stands in ``extra`` as ``Confidence``.
    """
    sheet = _labels(path)
    begin_s, end_s = sheet.numbers(0), sheet.numbers(1)
    plain = not any(sheet.texts(3))
    return build_calls(
        sheet,
        recording=(recording or recording_of(path),) * len(sheet),
        begin_s=begin_s,
        end_s=end_s,
        low=4,
        high=5,
        label=2,
        used=(0, 1, 3) if plain else (0, 1),
    )


def write_audacity(calls: CallTable, path: str | PathLike[str]) -> None:
    """Write a label track of one recording that Audacity imports.

    It holds times, frequencies and labels; novelty, scores and further columns do not fit in.

    Parameters
    ----------
    calls : CallTable
        Of one recording; see `CallTable.for_recording`.
    path : path-like
        The folder is made if need be.
    """
    if len(calls.recordings) > 1:
        raise InputError(
            f"The calls are of several recordings ({some(calls.recordings)}), and an Audacity "
            "label track is of one; write a file for each, with calls.for_recording(name)."
        )
    write_lines(path, _lines(calls))


def _lines(calls: CallTable) -> Iterator[str]:
    boxes = np.column_stack([calls.low_hz, calls.high_hz])
    for i, (begin, end) in enumerate(zip(calls.begin_s, calls.end_s, strict=True)):
        label = require_plain(calls.label[i] or "", "label")
        yield f"{float(begin)!r}\t{float(end)!r}\t{label}\n"
        if not np.isnan(boxes[i]).all():
            low, high = np.where(np.isnan(boxes[i]), _NO_FREQUENCY, boxes[i])
            yield f"\\\t{float(low)!r}\t{float(high)!r}\n"


def _labels(path: str | PathLike[str]) -> Sheet:
    name = fspath(path)
    rows: list[list[str]] = []
    lines: list[int] = []
    with open_text(path) as file:
        for n, line in enumerate(file, start=1):
            cells = line.rstrip("\n").split("\t")
            if cells[0] == "\\":
                _add_frequencies(rows, cells, f"line {n} of {name}")
            elif line.strip():
                rows.append(_label(cells, f"line {n} of {name}"))
                lines.append(n)
    columns = tuple(zip(*rows, strict=True)) if rows else ((),) * len(_HEADER)
    return Sheet(name, _HEADER, columns, tuple(lines))


def _label(cells: list[str], where: str) -> list[str]:
    if not 2 <= len(cells) <= 4:
        raise InputError(
            f"{where} has {len(cells)} cells between tabs; a line of an Audacity label track has "
            "begin, end and label. Export the labels again, or name the right reader."
        )
    return [*cells, *[""] * (4 - len(cells)), "", ""]


def _add_frequencies(rows: list[list[str]], cells: list[str], where: str) -> None:
    if not rows or any(rows[-1][4:]) or len(cells) != 3:
        raise InputError(
            f"{where} is no line of two frequencies right after the line of its label, as Audacity "
            "writes it; export the labels again."
        )
    values = [number(cell, where) for cell in cells[1:]]
    unknown = [value == _NO_FREQUENCY for value in values]
    rows[-1][4:] = ["" if no else cell for no, cell in zip(unknown, cells[1:], strict=True)]
