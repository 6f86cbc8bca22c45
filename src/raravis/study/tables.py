"""Tables of calls that somebody else has made, matched to the recordings of a study."""

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import numpy as np

from raravis.formats import CallTable, read_any
from raravis.formats._matching import match_names
from raravis.study.errors import StudyError

__all__ = ["read_call_tables"]

_SUFFIXES = frozenset({".txt", ".csv", ".tsv", ".parquet"})


def read_call_tables(
    place: Path, recordings: Sequence[str]
) -> tuple[dict[str, CallTable], tuple[str, ...]]:
    """Read calls from a table, or from all tables in a folder, of whatever format.

    Returns
    -------
    dict of str to CallTable
        By the name of the recording, in the order of ``recordings``; those without calls are not in
        it.
    tuple of str
        Names in the tables that match no recording, or several.
    """
    calls = CallTable.concat([read_any(path) for path in _files(place)])
    matches = match_names(calls.recordings, recordings)
    found = matches.matched
    rows: dict[str, list[int]] = {}
    for row, given in enumerate(calls.recording):
        if given in found:
            rows.setdefault(found[given], []).append(row)
    tables = {name: calls.take(np.array(rows[name])) for name in recordings if name in rows}
    renamed = {name: replace(it, recording=(name,) * len(it)) for name, it in tables.items()}
    return renamed, (*matches.unmatched, *matches.ambiguous)


def _files(place: Path) -> list[Path]:
    if place.is_file():
        return [place]
    if not place.is_dir():
        raise StudyError(f"{place} is not there; name a table of calls, or a folder of them.")
    found = sorted(path for path in place.rglob("*") if path.suffix.lower() in _SUFFIXES)
    if not found:
        raise StudyError(
            f"there is no table in {place}; name a folder with files that end in "
            f"{', '.join(sorted(_SUFFIXES))}."
        )
    return found
