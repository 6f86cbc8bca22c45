"""The tables of results: for people, and for the programs they use."""

import csv
import io
from collections import Counter
from collections.abc import Iterator
from dataclasses import replace

from raravis.formats import CallTable, write_audacity, write_calls, write_raven
from raravis.study.files import write_bytes
from raravis.study.labels import NOVEL_NAME
from raravis.study.recordings import Recording
from raravis.study.results import StudyResults

__all__ = ["results_are_current", "write_results"]

_VERSION = 1
_RAVEN, _AUDACITY = ".selections.txt", ".labels.txt"


def results_are_current(results: StudyResults) -> bool:
    """Whether the tables were written from these results, and are all there."""
    if results.study.stamp("results") != _stamp(results):
        return False
    return all((results.study.results_folder / name).is_file() for name in _names(results))


def write_results(results: StudyResults) -> None:
    """Write every table; those of recordings that are gone are removed."""
    folder = results.study.results_folder
    write_calls(results.calls, folder / "calls.csv")
    write_calls(results.calls, folder / "calls.parquet")
    write_bytes(_recordings(results), folder / "recordings.csv")
    write_bytes(_candidates(results), folder / "candidates.csv")
    for name, calls in _by_recording(results):
        write_raven(calls, folder / "raven" / f"{name}{_RAVEN}")
        write_audacity(calls, folder / "audacity" / f"{name}{_AUDACITY}")
    _sweep(results)
    results.study.set_stamp("results", _stamp(results))


def _stamp(results: StudyResults) -> dict[str, object]:
    return {"version": _VERSION, "run": results.run}


def _names(results: StudyResults) -> list[str]:
    scored = _scored(results)
    return [
        "calls.csv",
        "calls.parquet",
        "recordings.csv",
        "candidates.csv",
        *(f"raven/{name}{_RAVEN}" for name in scored),
        *(f"audacity/{name}{_AUDACITY}" for name in scored),
    ]


def _scored(results: StudyResults) -> list[str]:
    """Return the recordings of which it is known what calls they hold, if any."""
    return [it.name for it in results.recordings if it.usable and it.name not in results.problems]


def _by_recording(results: StudyResults) -> Iterator[tuple[str, CallTable]]:
    """Yield the calls of every recording, without the scores, which no program shows."""
    rows: dict[str, list[int]] = {name: [] for name in _scored(results)}
    for row, name in enumerate(results.calls.recording):
        rows[name].append(row)
    slim = replace(results.calls, class_scores=None, classes=())
    for name, places in rows.items():
        yield name, slim.take(places)


def _sweep(results: StudyResults) -> None:
    """Remove tables of recordings that are no longer there, and only those."""
    folder, kept = results.study.results_folder, set(_names(results))
    for kind, ending in (("raven", _RAVEN), ("audacity", _AUDACITY)):
        for path in sorted((folder / kind).rglob(f"*{ending}")):
            if path.relative_to(folder).as_posix() not in kept:
                path.unlink(missing_ok=True)


def _recordings(results: StudyResults) -> bytes:
    calls = Counter(results.calls.recording)
    novel = Counter(
        name
        for name, label in zip(results.calls.recording, results.calls.label, strict=True)
        if label == NOVEL_NAME
    )
    head: list[object] = [
        "recording", "status", "detail", "duration_s", "sample_rate_hz", "n_channels",
        "started_at", "labelled", "species", "calls", "novel",
    ]  # fmt: skip
    rows = [_recording(results, found, calls, novel) for found in results.recordings]
    return _csv([head, *rows])


def _recording(
    results: StudyResults, found: Recording, calls: Counter[str], novel: Counter[str]
) -> list[object]:
    listed = results.species.get(found.name)
    problem = results.problems.get(found.name)
    return [
        found.name,
        found.status if problem is None else "unreadable",
        found.detail if problem is None else problem,
        repr(found.duration_s),
        found.sample_rate_hz,
        found.n_channels,
        found.started_at or "",
        "no" if listed is None else "yes",
        ";".join(listed or ()),
        calls[found.name],
        novel[found.name],
    ]


def _candidates(results: StudyResults) -> bytes:
    rows: list[list[object]] = [["candidate", "recording", "begin_s", "end_s", "medoid"]]
    for candidate in results.candidates:
        for call in candidate.members.tolist():
            begin, end = float(results.calls.begin_s[call]), float(results.calls.end_s[call])
            medoid = "yes" if call == candidate.medoid else "no"
            where = results.calls.recording[call]
            rows.append([candidate.name, where, repr(begin), repr(end), medoid])
    return _csv(rows)


def _csv(rows: list[list[object]]) -> bytes:
    text = io.StringIO()
    csv.writer(text, lineterminator="\n").writerows(rows)
    return text.getvalue().encode()
