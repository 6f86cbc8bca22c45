"""Calls from one format to another: a file, or a folder of files."""

from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import partial
from os import PathLike
from pathlib import Path
from typing import Literal

from raravis._checks import require_choice
from raravis.errors import InputError
from raravis.formats._columns import recording_of
from raravis.formats._folders import call_files, file_names, placed
from raravis.formats.audacity import write_audacity
from raravis.formats.birdnet import write_birdnet
from raravis.formats.calls import CallTable
from raravis.formats.raven import write_raven
from raravis.formats.recognise import read_any
from raravis.formats.tables import write_calls

__all__ = ["Converted", "Target", "convert"]

Target = Literal["raven", "audacity", "birdnet", "csv", "parquet"]

_ENDINGS: dict[Target, str] = {
    "raven": ".selections.txt",
    "audacity": ".labels.txt",
    "birdnet": ".BirdNET.selection.table.txt",
    "csv": ".csv",
    "parquet": ".parquet",
}
_WRITERS: dict[Target, Callable[[CallTable, Path], None]] = {
    "raven": write_raven,
    "audacity": write_audacity,
    "birdnet": partial(write_birdnet, kind="table"),
    "csv": write_calls,
    "parquet": write_calls,
}


@dataclass(frozen=True)
class Converted:
    """What was converted.

    Parameters
    ----------
    calls : int
    recordings : tuple of str
    format : {"raven", "audacity", "birdnet", "csv", "parquet"}
        What was written.
    written : tuple of Path
    ignored : tuple of str
        Files in the folder that hold no calls.
    """

    calls: int
    recordings: tuple[str, ...]
    format: Target
    written: tuple[Path, ...]
    ignored: tuple[str, ...] = ()


def convert(
    source: str | PathLike[str],
    target: str | PathLike[str],
    *,
    to: Target | None = None,
    overwrite: bool = False,
) -> Converted:
    """Write calls in another format.

    Parameters
    ----------
    source : path-like
        A file of calls in whatever format, or a folder with such files.
    target : path-like
        A file; or a folder, in which each recording gets a file of its own: one that is there, or
        a name without ending.
    to : {"raven", "audacity", "birdnet", "csv", "parquet"}, optional
        By default what the target's ending says: .csv, .parquet, .selections.txt (Raven),
        .labels.txt (Audacity) or .BirdNET.selection.table.txt.
    overwrite : bool
        Whether files that are there may be replaced.
    """
    place = Path(target)
    chosen = _target(place, to)
    calls, silent, ignored = _read(Path(source))
    single = not place.is_dir() and bool(place.suffix)
    if single and chosen == "audacity" and len(calls.recordings) > 1:
        raise InputError(
            f"{source} has calls of {len(calls.recordings)} recordings, and an Audacity label "
            "track is of one; name a folder as target, and each gets a file."
        )
    if single:
        parts = {place: calls}
    else:
        names = file_names((*calls.recordings, *silent), _ENDINGS[chosen])
        tables = calls.by_recording()
        parts = {place / name: tables.get(key, CallTable.empty()) for key, name in names.items()}
    _require_new(parts, Path(source), overwrite)
    for path, part in parts.items():
        _WRITERS[chosen](part, path)
    return Converted(len(calls), calls.recordings, chosen, tuple(parts), ignored)


def _target(place: Path, to: Target | None) -> Target:
    """Return the format to write, which must go with the ending."""
    said = next((name for name, end in _ENDINGS.items() if str(place).endswith(end)), None)
    chosen = to or said
    if chosen is None:
        raise InputError(
            f"{place} does not say in which format to write; end it in "
            f"{', '.join(_ENDINGS.values())}, or name the format as to."
        )
    require_choice("to", chosen, tuple(_ENDINGS))
    table = {".csv", ".parquet"}
    if {place.suffix.lower(), _ENDINGS[chosen]} == table or (
        chosen == "parquet" and place.suffix.lower() not in {"", ".parquet"} and not place.is_dir()
    ):
        raise InputError(
            f"{place} has another ending than the format {chosen!r}; end it in {_ENDINGS[chosen]}."
        )
    return chosen


def _read(source: Path) -> tuple[CallTable, tuple[str, ...], tuple[str, ...]]:
    """Return calls, the recordings without any, and the files that hold none."""
    if not source.is_dir():
        calls = read_any(source)
        return calls, () if len(calls) else (recording_of(source),), ()
    files, ignored = call_files(source)
    tables = [(path, read_any(path)) for path in files]
    silent = tuple(placed(recording_of(p), p, source) for p, calls in tables if not len(calls))
    named = [
        replace(calls, recording=tuple(placed(name, path, source) for name in calls.recording))
        for path, calls in tables
    ]
    return CallTable.concat(named), silent, ignored


def _require_new(parts: dict[Path, CallTable], source: Path, overwrite: bool) -> None:
    for path in parts:
        if path.exists() and path.resolve() == source.resolve():
            raise InputError(f"{path} is the source itself; name another target.")
        if path.exists() and not overwrite:
            raise InputError(
                f"{path} is there already; name another target, or allow it to be replaced."
            )
