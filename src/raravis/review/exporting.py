"""Decisions as tables: every one that was made, and what holds of each call now."""

import csv
import io
import re
import zipfile
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, Literal, TypeAlias, get_args

import numpy as np

from raravis.formats import CallTable, write_raven
from raravis.review.decisions import Act
from raravis.review.desk import Desk
from raravis.review.keys import CallKey
from raravis.review.verdicts import Verdicts

__all__ = ["EXPORTS", "Export", "decided_calls", "export"]

Export: TypeAlias = Literal["decisions.csv", "calls.csv", "raven.zip"]
EXPORTS: tuple[Export, ...] = get_args(Export)

_DEFLATED = zipfile.ZIP_DEFLATED
_CALL = ("recording", "begin_s", "end_s", "low_hz", "high_hz")
_ACT = ("decision", "at", "reviewer", "model", "queue", "kind", "class", "note", "undoes")
_NOW = ("standing", "verdict", "class", "reviewers", "notes", "model_label", "novelty")


def export(desk: Desk, name: Export) -> tuple[bytes, str]:
    """Return a table of decisions as a file, and its kind."""
    acts, verdicts = desk.log.acts(), desk.verdicts
    if name == "decisions.csv":
        return _csv((*_ACT, *_CALL), _log_rows(acts)), "text/csv; charset=utf-8"
    if name == "raven.zip":
        return _raven_zip(decided_calls(verdicts)), "application/zip"
    return _csv((*_CALL, *_NOW), _call_rows(desk, verdicts)), "text/csv; charset=utf-8"


def decided_calls(verdicts: Verdicts) -> CallTable:
    """Return the calls whose class is settled, labelled with it."""
    pairs = ((key, verdicts.settled(key)) for key in verdicts)
    found = [(k, v.class_name) for k, v in pairs if v is not None and v.class_name is not None]
    found.sort(key=lambda pair: (pair[0].recording, pair[0].begin_s, pair[0].end_s))
    boxes = [[_or_nan(value) for value in key[1:]] for key, _ in found]
    begin_s, end_s, low_hz, high_hz = np.array(boxes, dtype=np.float64).reshape(len(found), 4).T
    names, labels = tuple(key.recording for key, _ in found), tuple(name for _, name in found)
    return CallTable(names, begin_s, end_s, low_hz, high_hz, labels)


def _raven_zip(calls: CallTable) -> bytes:
    """Write a selection table for each recording."""
    content = io.BytesIO()
    with TemporaryDirectory() as folder, zipfile.ZipFile(content, "w", _DEFLATED) as packed:
        draft = Path(folder) / "selections.txt"
        for number, recording in enumerate(calls.recordings, start=1):
            write_raven(calls.for_recording(recording), draft)
            packed.write(draft, f"{number:05d} {_plain_name(recording)}.selections.txt")
    return content.getvalue()


def _plain_name(recording: str) -> str:
    """Return what a file may be called wherever it is unpacked.

    >>> _plain_name("../site 1/dawn?.wav")
    'site 1_dawn_'
    """
    name = re.sub(r"[^\w. -]+", "_", Path(recording).with_suffix("").as_posix())
    return name.lstrip("._ ")[:100] or "recording"


def _log_rows(acts: Sequence[Act]) -> Iterator[tuple[Any, ...]]:
    for act in acts:
        said = (act.kind, act.class_name, act.note, act.undoes)
        about = (act.id, act.at, act.reviewer, act.model, act.queue, *said)
        for key in act.calls or (("",) * len(_CALL),):
            yield (*about, *key)


def _call_rows(desk: Desk, verdicts: Verdicts) -> Iterator[tuple[Any, ...]]:
    stage = desk.stage
    for key in sorted(verdicts, key=_sort_key):
        settled = verdicts.settled(key)
        place = stage.index.find(key)
        said = "; ".join(verdicts.opinions(key))
        notes = " | ".join(f"{act.reviewer}: {act.note}" for act in verdicts.notes(key))
        yield (
            *key,
            verdicts.standing(key),
            settled.kind if settled else None,
            settled.class_name if settled else None,
            said,
            notes,
            stage.items.calls.label[place] if place >= 0 else None,
            float(stage.items.novelty[place]) if place >= 0 else None,
        )


def _csv(header: Sequence[str], rows: Iterable[Sequence[Any]]) -> bytes:
    text = io.StringIO(newline="")
    writer = csv.writer(text)
    writer.writerow(header)
    writer.writerows(rows)
    return text.getvalue().encode("utf-8", "backslashreplace")


def _sort_key(key: CallKey) -> tuple[str, float, float, float]:
    return key.recording, key.begin_s, key.end_s, key.low_hz or 0.0


def _or_nan(value: float | None) -> float:
    return float("nan") if value is None else value
