"""BirdNET's results: its table (for Raven), its CSV and Parquet, its CSV for Kaleidoscope.

Versions of BirdNET differ in the order and the spelling of columns, so they are found by name.
"""

from collections.abc import Sequence
from dataclasses import replace
from os import PathLike
from pathlib import Path
from typing import Literal

import numpy as np

from raravis._checks import require_choice
from raravis.errors import InputError
from raravis.formats import raven
from raravis.formats._columns import (
    Columns,
    build_calls,
    channel_column,
    dropped_if,
    full_columns,
    label_cells,
    recordings_of,
    write_csv,
    write_tsv,
)
from raravis.formats._parquet import is_parquet, read_parquet, write_parquet
from raravis.formats._sheet import FloatArray, Sheet, folded, read_csv, read_tsv
from raravis.formats._text import open_text
from raravis.formats.calls import CallTable

__all__ = ["BirdNetKind", "BirdNetName", "read_birdnet", "read_detections", "write_birdnet"]

BirdNetName = Literal["common", "scientific", "code"]
BirdNetKind = Literal["table", "csv", "parquet"]

START, STOP = ("Start (s)", "start"), ("End (s)", "end")
OFFSET, DURATION, IN_FILE, FOLDER, IN_DIR = "OFFSET", "DURATION", "IN FILE", "FOLDER", "INDIR"
FILES = (raven.PATH, raven.FILE, "File", "filepath", "filename")
CONFIDENCE = "Confidence"
NAMES: dict[BirdNetName, str] = {
    "common": "Common Name",
    "scientific": "Scientific Name",
    "code": "Species Code",
}
_TOP = "TOP1MATCH"
_KNOWN = (*START, *STOP, OFFSET, DURATION, IN_FILE, *FILES, *NAMES.values(), CONFIDENCE, _TOP)
_SPELLING = {folded(title): title for title in (*NAMES.values(), CONFIDENCE)}
_NO_CALL = "nocall"
_ADVICE = "BirdNET's table, CSV and Kaleidoscope results have it; name another reader."


def read_birdnet(
    path: str | PathLike[str],
    *,
    name: BirdNetName | None = None,
    min_confidence: float = 0.0,
    recording: str | None = None,
) -> CallTable:
    """Read the results of BirdNET-Analyzer: table, CSV, Parquet or Kaleidoscope.

    Times count from the start of each recording, also in a table of several, where BirdNET lets
    them run through. The line that says that a recording has no call is not a call.

    Parameters
    ----------
    path : path-like
    name : {"common", "scientific", "code"}, optional
        Which name of the species is the label; by default the first of these that is there.
    min_confidence : float
        Detections with less are left out.
    recording : str, optional
        The recording, if the file does not say; by default what the file is named after.

    Returns
    -------
    CallTable
        The confidence and the other names stand in ``extra``.
    """
    calls, _ = read_detections(path, name=name, min_confidence=min_confidence, recording=recording)
    return calls


def read_detections(
    path: str | PathLike[str],
    *,
    name: BirdNetName | None = None,
    min_confidence: float = 0.0,
    recording: str | None = None,
) -> tuple[CallTable, tuple[str, ...]]:
    """Read results and also name all recordings that BirdNET listened to, as far as it says."""
    sheet = _sheet(path)
    named, names = _recordings(sheet, recording)
    label = _label_column(sheet, name)
    sure, silent = _confident(sheet, min_confidence), _no_calls(sheet)
    kept = [row for row in range(len(sheet)) if sure[row] and not silent[row]]
    heard = tuple(dict.fromkeys(names))
    sheet, names = sheet.take(kept), [names[row] for row in kept]
    begin_s, end_s, used = _times(sheet, named)
    calls = build_calls(
        sheet,
        recording=names,
        begin_s=begin_s,
        end_s=end_s,
        low=sheet.find(raven.LOW),
        high=sheet.find(raven.HIGH),
        label=label,
        channel=sheet.find(raven.CHANNEL),
        used=[*used, named, *_fillers(sheet)],
    )
    return calls, heard


def write_birdnet(
    calls: CallTable,
    path: str | PathLike[str],
    *,
    kind: BirdNetKind | None = None,
    name: BirdNetName = "common",
) -> None:
    """Write calls as BirdNET-Analyzer does.

    Confidence and further names come from ``calls.extra``, as `read_birdnet` puts them there, and
    are empty if that has none. Novelty and scores of classes follow the columns of BirdNET.

    Parameters
    ----------
    calls : CallTable
    path : path-like
        The folder is made if need be.
    kind : {"table", "csv", "parquet"}, optional
        By default that of the path's ending; ``"table"`` for any other than .csv and .parquet.
    name : {"common", "scientific", "code"}
        The column for the labels.
    """
    require_choice("name", name, ("common", "scientific", "code"))
    chosen = kind or {".csv": "csv", ".parquet": "parquet"}.get(Path(path).suffix.lower(), "table")
    require_choice("kind", chosen, ("table", "csv", "parquet"))
    if chosen == "table":
        write_tsv(_table_columns(calls, name), path)
    elif chosen == "csv":
        write_csv(_csv_columns(calls, name), path)
    else:
        write_parquet(_csv_columns(calls, name), path)


# ---------------------------------------------------------------------- reading


def _sheet(path: str | PathLike[str]) -> Sheet:
    """Read a file; the names of species and the confidence get one spelling of their title."""
    sheet = _any_sheet(path)
    header = tuple(_SPELLING.get(folded(title), title) for title in sheet.header)
    return replace(sheet, header=header) if len(set(header)) == len(header) else sheet


def _any_sheet(path: str | PathLike[str]) -> Sheet:
    if is_parquet(path):
        return read_parquet(path)
    with open_text(path, quiet=True) as file:
        head = next((line for line in file if line.strip()), "")
    return read_tsv(path, (raven.BEGIN, *_KNOWN)) if "\t" in head else read_csv(path, _KNOWN)


def _recordings(sheet: Sheet, recording: str | None) -> tuple[int | None, Sequence[str]]:
    inside = sheet.find(IN_FILE)
    if inside is None:
        named = sheet.find(*FILES)
        return named, recordings_of(sheet, named, recording)
    parts = [sheet.find(IN_DIR), sheet.find(FOLDER), inside]
    columns = [sheet.texts(part) for part in parts if part is not None]
    rows = zip(*columns, strict=True)
    return inside, ["/".join(part for part in row if part) for row in rows]


def _label_column(sheet: Sheet, name: BirdNetName | None) -> int:
    if name is not None:
        require_choice("name", name, ("common", "scientific", "code"))
        return sheet.require(NAMES[name], advice="Choose another name.")
    there = [p for p in (sheet.find(title) for title in (*NAMES.values(), _TOP)) if p is not None]
    if not there:
        sheet.require(NAMES["common"], advice=_ADVICE)
    # A column without any content only keeps the place.
    return next((p for p in there if any(sheet.texts(p))), there[0])


def _confident(sheet: Sheet, least: float) -> Sequence[bool]:
    if not least:
        return [True] * len(sheet)
    confidence = sheet.numbers(sheet.require(CONFIDENCE, advice="Leave min_confidence at 0."))
    return [bool(value >= least) for value in confidence]


def _no_calls(sheet: Sheet) -> Sequence[bool]:
    """Whether each row says that its recording has no call."""
    common, code = sheet.find(NAMES["common"]), sheet.find(NAMES["code"])
    if common is None or code is None:
        return [False] * len(sheet)
    pairs = zip(sheet.texts(common), sheet.texts(code), strict=True)
    return [pair == (_NO_CALL, _NO_CALL) for pair in pairs]


def _times(sheet: Sheet, named: int | None) -> tuple[FloatArray, FloatArray, Sequence[int | None]]:
    if sheet.find(raven.BEGIN) is not None:
        return raven.times_in_file(sheet, named)
    offset, duration = sheet.find(OFFSET), sheet.find(DURATION)
    if offset is not None and duration is not None:
        begin_s = sheet.numbers(offset)
        return begin_s, begin_s + sheet.numbers(duration), (offset, duration)
    begin, end = (sheet.require(*names, advice=_ADVICE) for names in (START, STOP))
    return sheet.numbers(begin), sheet.numbers(end), (begin, end)


def _fillers(sheet: Sheet) -> list[int]:
    """Return the columns that hold nothing but what a table without their content has."""
    nothing = [""] * len(sheet)
    empty = [sheet.find(title) for title in (*NAMES.values(), CONFIDENCE)]
    unsaid = (position for column in empty for position in dropped_if(sheet, column, nothing))
    return [*unsaid, *raven.numbering(sheet)]


# ---------------------------------------------------------------------- writing


def _names(calls: CallTable, name: BirdNetName) -> Columns:
    """Return the columns of names and of the confidence, labels among them."""
    if NAMES[name] in calls.extra:
        raise InputError(
            f"The calls have a further column {NAMES[name]!r}, where their labels would go; choose "
            f"another name than {name!r}, or rename that column."
        )
    nothing = [""] * len(calls)
    columns: Columns = {t: list(calls.extra.get(t, nothing)) for t in (*NAMES.values(), CONFIDENCE)}
    return columns | {NAMES[name]: label_cells(calls)}


def _table_columns(calls: CallTable, name: BirdNetName) -> Columns:
    numbered = raven.numbering_columns(calls)
    names = _names(calls, name)
    first: Columns = {
        raven.SELECTION: numbered[raven.SELECTION],
        raven.BEGIN: calls.begin_s,
        raven.END: calls.end_s,
        **names,
        raven.VIEW: numbered[raven.VIEW],
        **channel_column(calls, raven.CHANNEL),
        raven.OFFSET: calls.begin_s,
        raven.LOW: calls.low_hz,
        raven.HIGH: calls.high_hz,
        raven.PATH: list(calls.recording),
    }
    reserved = (raven.CHANNEL,)
    used = {*numbered, *names}
    return full_columns(calls, first, used=used, reserved=reserved, novelty=raven.NOVELTY)


def _frequencies(calls: CallTable) -> Columns:
    """Return columns that BirdNET's CSV does not have, if there is something to put there."""
    box: Columns = {raven.LOW: calls.low_hz, raven.HIGH: calls.high_hz}
    return {} if all(np.isnan(column).all() for column in (calls.low_hz, calls.high_hz)) else box


def _csv_columns(calls: CallTable, name: BirdNetName) -> Columns:
    names = _names(calls, name)
    first: Columns = {
        START[0]: calls.begin_s,
        STOP[0]: calls.end_s,
        "Scientific name": names[NAMES["scientific"]],
        "Common name": names[NAMES["common"]],
        CONFIDENCE: names[CONFIDENCE],
        "File": list(calls.recording),
        **channel_column(calls, raven.CHANNEL),
        **_frequencies(calls),
    }
    if name == "code" or any(names[NAMES["code"]]):
        first[NAMES["code"]] = names[NAMES["code"]]
    reserved = (*_KNOWN, raven.BEGIN, raven.CHANNEL, raven.LOW, raven.HIGH)
    return full_columns(calls, first, used=set(names), reserved=reserved, novelty=raven.NOVELTY)
