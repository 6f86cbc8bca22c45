"""Raven selection tables: tab-separated text, one call a line, times and a frequency box."""

from collections.abc import Sequence
from os import PathLike
from warnings import warn

import numpy as np

from raravis.errors import RaravisWarning
from raravis.formats._columns import (
    Columns,
    build_calls,
    channel_column,
    dropped_if,
    full_columns,
    label_cells,
    recordings_of,
    write_tsv,
)
from raravis.formats._sheet import FloatArray, Sheet, read_tsv
from raravis.formats.calls import CallTable

__all__ = ["numbering", "numbering_columns", "read_raven", "times_in_file", "write_raven"]

SELECTION, VIEW, CHANNEL = "Selection", "View", "Channel"
BEGIN, END, OFFSET = TIMES = ("Begin Time (s)", "End Time (s)", "File Offset (s)")
LOW, HIGH = "Low Freq (Hz)", "High Freq (Hz)"
FILE, PATH = "Begin File", "Begin Path"
ANNOTATION, NOVELTY = "Annotation", "Novelty"
SPECTROGRAM = "Spectrogram 1"
_LABELS = (ANNOTATION, "Species", "Label", "Common Name")
_KNOWN = (SELECTION, VIEW, CHANNEL, *TIMES, LOW, HIGH, FILE, PATH, *_LABELS)
_ADVICE = "A Raven selection table has it; name another reader, or save it again from Raven."


def read_raven(
    path: str | PathLike[str],
    *,
    recording: str | None = None,
    annotation_column: str | None = None,
) -> CallTable:
    """Read a Raven selection table.

    Of a selection that Raven lists once for the waveform and once for the spectrogram, the latter
    is taken. Where there is ``File Offset (s)``, times count from it: in a table of several files
    Raven's begin times run through all of them.

    Parameters
    ----------
    path : path-like
    recording : str, optional
        The recording, if there is no ``Begin File`` or ``Begin Path``; by default what the file
        is named after.
    annotation_column : str, optional
        Holds the labels; by default ``Annotation``, ``Species``, ``Label`` or ``Common Name``,
        whichever is there first. Without any the calls have no label.

    Returns
    -------
    CallTable
        Columns after ``Novelty`` that hold numbers are scores of classes; what else there is
        stands in ``extra``.
    """
    sheet = _without_waveforms(read_tsv(path, _KNOWN))
    if annotation_column is None:
        label = sheet.find(*_LABELS)
    else:
        label = sheet.require(annotation_column, advice="Name one of these as annotation_column.")
    named = sheet.find(FILE, PATH)
    begin_s, end_s, used = times_in_file(sheet, named)
    return build_calls(
        sheet,
        recording=recordings_of(sheet, named, recording),
        begin_s=begin_s,
        end_s=end_s,
        low=sheet.find(LOW),
        high=sheet.find(HIGH),
        label=label,
        channel=sheet.find(CHANNEL),
        used=[*used, named, *numbering(sheet)],
    )


def write_raven(calls: CallTable, path: str | PathLike[str]) -> None:
    """Write a Raven selection table.

    Novelty, scores of classes and further columns follow those of Raven, which shows them too.
    Labels stand under ``Annotation``; an unknown frequency is an empty cell.

    Parameters
    ----------
    calls : CallTable
    path : path-like
        The folder is made if need be.
    """
    numbered = numbering_columns(calls)
    first: Columns = {
        **numbered,
        **channel_column(calls, CHANNEL),
        BEGIN: calls.begin_s,
        END: calls.end_s,
        LOW: calls.low_hz,
        HIGH: calls.high_hz,
        FILE: list(calls.recording),
        OFFSET: calls.begin_s,
        ANNOTATION: label_cells(calls),
    }
    reserved = (CHANNEL,)
    used = set(numbered)
    write_tsv(full_columns(calls, first, used=used, reserved=reserved, novelty=NOVELTY), path)


def times_in_file(
    sheet: Sheet, named: int | None
) -> tuple[FloatArray, FloatArray, Sequence[int | None]]:
    """Return when calls begin and end within their file, and the columns that say so."""
    begin, end = (sheet.require(name, advice=_ADVICE) for name in (BEGIN, END))
    offset = sheet.find(OFFSET)
    begin_s, end_s = sheet.numbers(begin), sheet.numbers(end)
    if offset is not None:
        in_file = sheet.numbers(offset)
        moved = np.isfinite(in_file) & (in_file != begin_s)
        # Those that need not move keep the very numbers of the file.
        end_s = np.where(moved, in_file + (end_s - begin_s), end_s)
        begin_s = np.where(moved, in_file, begin_s)
    elif named is not None and len(set(sheet.texts(named)) - {""}) > 1:
        warn(
            f"{sheet.path} has calls of several files, but no column {OFFSET!r}; times are taken "
            "to count from the start of each file. If they run through all files, save the table "
            "again with that column.",
            RaravisWarning,
            stacklevel=4,
        )
    return begin_s, end_s, (begin, end, offset)


def numbering_columns(calls: CallTable) -> dict[str, list[str]]:
    """Return the number and the view of each call: those of the file, if it came with some."""
    count = [str(i) for i in range(1, len(calls) + 1)]
    usual = {SELECTION: count, VIEW: [SPECTROGRAM] * len(calls)}
    return {title: list(calls.extra.get(title, cells)) for title, cells in usual.items()}


def numbering(sheet: Sheet) -> list[int]:
    """Return the columns that merely count the calls and name the usual view."""
    count = [str(i) for i in range(1, len(sheet) + 1)]
    return [
        *dropped_if(sheet, sheet.find(SELECTION), count),
        *dropped_if(sheet, sheet.find(VIEW), [SPECTROGRAM] * len(sheet)),
    ]


def _without_waveforms(sheet: Sheet) -> Sheet:
    """Drop a selection's row for the waveform if there is one for the spectrogram."""
    selection, view = sheet.find(SELECTION), sheet.find(VIEW)
    if selection is None or view is None:
        return sheet
    pairs = list(zip(sheet.texts(selection), sheet.texts(view), strict=True))
    seen = {number for number, shown in pairs if shown.startswith("Spectrogram")}
    kept = [
        row
        for row, (number, shown) in enumerate(pairs)
        if not (shown.startswith("Waveform") and number in seen)
    ]
    return sheet.take(kept)
