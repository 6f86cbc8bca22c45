"""Calls as CSV and Parquet, with the units in the names of the columns.

``recording, begin_s, end_s, low_hz, high_hz, label``, then ``channel`` and whatever else there is,
then ``novelty`` and a column a class.
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

__all__ = ["BEGIN", "END", "read_calls", "write_calls"]

RECORDING, BEGIN, END, LOW, HIGH = "recording", "begin_s", "end_s", "low_hz", "high_hz"
LABEL, CHANNEL, NOVELTY = "label", "channel", "novelty"
_KNOWN = (RECORDING, BEGIN, END, LOW, HIGH, LABEL, CHANNEL, NOVELTY)
_ADVICE = "A table of calls says in seconds where each begins and ends, so rename or add it."


def read_calls(path: str | PathLike[str], *, recording: str | None = None) -> CallTable:
    """Read calls from CSV (commas, semicolons or tabs) or Parquet, told apart by content.

    Only ``begin_s`` and ``end_s`` are required.

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
    begin, end = (sheet.require(name, advice=_ADVICE) for name in (BEGIN, END))
    named = sheet.find(RECORDING)
    return build_calls(
        sheet,
        recording=recordings_of(sheet, named, recording),
        begin_s=sheet.numbers(begin),
        end_s=sheet.numbers(end),
        low=sheet.find(LOW),
        high=sheet.find(HIGH),
        label=sheet.find(LABEL),
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
