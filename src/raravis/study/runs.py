"""Scored calls: which class each is, how novel it is, and everything that a report needs."""

from collections.abc import Iterable, Mapping
from dataclasses import asdict, dataclass, fields, replace
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from raravis.formats import CallTable
from raravis.labels import BagLabels
from raravis.study.errors import StudyError
from raravis.study.features import Instances
from raravis.study.files import digest, read_json, read_table, write_json, write_table
from raravis.study.judging import judge_calls
from raravis.study.labels import NOVEL_NAME, StudyLabels
from raravis.study.recordings import Recording, recording_columns, recordings_from
from raravis.study.results import CandidateClass, ModelNote, StudyResults
from raravis.study.store import Study

if TYPE_CHECKING:
    import pyarrow as pa

__all__ = [
    "Cutoff",
    "Scored",
    "call_table",
    "current_run",
    "find_candidates",
    "load_results",
    "run_key",
    "score_calls",
    "write_run",
]

_VERSION = 2
_BOX = ("begin_s", "end_s", "low_hz", "high_hz")
_CALLS = {"table": "calls", "version": _VERSION}
_RECORDINGS = {"table": "recordings of a run", "version": _VERSION}

FloatArray = NDArray[np.float64]


@dataclass(frozen=True)
class Cutoff:
    """Where novel begins.

    Parameters
    ----------
    novelty : float
        A call is novel if its novelty is above this.
    promise : str
        What that promises, as a sentence; empty if it is the model's own.
    """

    novelty: float
    promise: str = ""


@dataclass(frozen=True, eq=False)
class Scored:
    """The calls of a study under a model, and candidate new classes among the novel ones."""

    calls: CallTable
    candidates: tuple[CandidateClass, ...]


def score_calls(
    model: Any,
    instances: Instances,
    labels: StudyLabels | None,
    cutoff: Cutoff,
    *,
    context: bool = False,
) -> CallTable:
    """Annotate every call; ``labels`` restrict it to what is listed for its recording.

    Where nothing is listed every call is novel. It ranks by its scores all the same, just above the
    threshold at least, so that sounds which resemble a class do not come out as the most novel.
    """
    names = tuple(map(str, model.classes_))
    listed = None if labels is None else _listed(labels, instances, tuple(model.classes_))
    found = judge_calls(
        model, instances.bags, listed, promised=bool(cutoff.promise), context=context
    )
    is_novel = found.certain | (found.novelty > cutoff.novelty)
    above = np.nextafter(cutoff.novelty, np.inf)
    return replace(
        call_table(instances),
        label=tuple(
            NOVEL_NAME if novel else names[best]
            for novel, best in zip(is_novel.tolist(), found.classes.tolist(), strict=True)
        ),
        novelty=np.where(is_novel, np.maximum(found.novelty, above), found.novelty),
        class_scores=found.scores,
        classes=names,
    )


def find_candidates(
    model: Any, instances: Instances, calls: CallTable
) -> tuple[CandidateClass, ...]:
    """Group the novel calls that resemble each other, the largest group first."""
    from raravis.grouping import group_novel

    novel = np.array([label == NOVEL_NAME for label in calls.label], dtype=bool)
    if not novel.any():
        return ()
    found = group_novel(model, instances.bags, novel=novel)
    return tuple(
        CandidateClass(f"group {number}", group.members.astype(np.int64), int(group.medoid))
        for number, group in enumerate(found.groups, start=1)
    )


def _listed(labels: StudyLabels, instances: Instances, classes: tuple[str, ...]) -> BagLabels:
    """Return what each recording may hold; of a class that no list can name nothing is known."""
    found = labels.for_bags([it.name for it in instances.recordings])
    strange = [name for name in classes if name not in found.classes]
    return found.with_classes((*found.classes, *strange), missing="unknown")


def call_table(instances: Instances) -> CallTable:
    """Return all calls by their boxes alone, in the order of the instances."""
    keys, rows = instances.bags.keys, instances.bags.bag_index.tolist()
    begin_s, end_s, low_hz, high_hz = (instances.column(name) for name in _BOX)
    return CallTable(tuple(str(keys[row]) for row in rows), begin_s, end_s, low_hz, high_hz)


# ---------------------------------------------------------------------- on disk


def run_key(
    study: Study,
    instances: Instances,
    labels: StudyLabels,
    note: ModelNote,
    cutoff: Cutoff,
    problems: Mapping[str, str],
) -> str:
    """Return what names the scores of these calls under this model."""
    content = {
        "version": _VERSION,
        "model": note.key,
        "cutoff": asdict(cutoff),
        "known_labels": study.settings.known_labels,
        "labels": labels.key,
        "calls": {name: path.name for name, path in instances.files.items()},
        "problems": dict(problems),
    }
    return digest(content)[:24]


def current_run(study: Study) -> str | None:
    """Return the key of the scores that are complete and were made last."""
    key = study.stamp("score").get("run")
    return key if isinstance(key, str) and _note_path(study, key).is_file() else None


def write_run(
    study: Study,
    key: str,
    scored: Scored,
    *,
    recordings: Iterable[Recording],
    feature_files: Mapping[str, Path],
    labels: StudyLabels,
    note: ModelNote,
    cutoff: Cutoff,
    problems: Mapping[str, str],
) -> None:
    """Keep scored calls; the note is written last, so that where it stands all is there."""
    folder = _note_path(study, key).parent
    write_table(_call_columns(scored.calls), folder / "calls.parquet", about=_CALLS)
    write_table(recording_columns(recordings), folder / "recordings.parquet", about=_RECORDINGS)
    content = {
        "version": _VERSION,
        "classes": list(scored.calls.classes),
        "model": {**asdict(note), "parameters": dict(note.parameters)},
        "threshold": cutoff.novelty,
        "promise": cutoff.promise,
        "species": {name: list(listed) for name, listed in labels.species.items()},
        "unmatched": [*labels.unmatched, *labels.ambiguous],
        "problems": dict(problems),
        "candidates": [
            {"name": it.name, "members": it.members.tolist(), "medoid": it.medoid}
            for it in scored.candidates
        ],
        "features": {
            name: path.relative_to(study.folder).as_posix() for name, path in feature_files.items()
        },
        "scored_at": datetime.now(UTC).isoformat(timespec="seconds"),
    }
    write_json(content, _note_path(study, key))


def load_results(study: Study) -> StudyResults:
    """Read the calls that were scored last."""
    key = current_run(study)
    if key is None:
        raise StudyError(
            f"the calls of {study.folder} have not been scored; give the command raravis run "
            f"--out {study.folder}, or raravis score {study.folder} if all before it is done."
        )
    folder = _note_path(study, key).parent
    found = read_json(_note_path(study, key))
    calls = read_table(folder / "calls.parquet", about=_CALLS)
    recordings = read_table(folder / "recordings.parquet", about=_RECORDINGS)
    if found is None or calls is None or recordings is None:
        _note_path(study, key).unlink(missing_ok=True)
        raise StudyError(
            f"the scores in {folder} are damaged; give the command raravis score {study.folder} "
            "to have them made anew."
        )
    return _results(study, key, found, calls, recordings)


def _results(
    study: Study, key: str, found: Mapping[str, Any], calls: "pa.Table", recordings: "pa.Table"
) -> StudyResults:
    model = {field.name: found["model"][field.name] for field in fields(ModelNote)}
    return StudyResults(
        study=study,
        recordings=recordings_from(recordings),
        problems=found["problems"],
        calls=_call_table(calls, tuple(found["classes"])),
        species={name: tuple(listed) for name, listed in found["species"].items()},
        unmatched=tuple(found["unmatched"]),
        model=ModelNote(**{**model, "classes": tuple(model["classes"])}),
        threshold=found["threshold"],
        promise=found["promise"],
        candidates=tuple(
            CandidateClass(it["name"], np.array(it["members"], dtype=np.int64), it["medoid"])
            for it in found["candidates"]
        ),
        run=key,
        scored_at=found["scored_at"],
        feature_files={name: study.folder / path for name, path in found["features"].items()},
    )


def _note_path(study: Study, key: str) -> Path:
    return study.runs_folder / key / "run.json"


def _call_columns(calls: CallTable) -> dict[str, Any]:
    columns: dict[str, Any] = {"recording": calls.recording, "label": calls.label}
    columns |= {name: getattr(calls, name) for name in (*_BOX, "novelty")}
    # By number: a class may be called as any other column is.
    scores = np.empty((len(calls), 0)) if calls.class_scores is None else calls.class_scores
    return columns | {f"class {i}": np.ascontiguousarray(s) for i, s in enumerate(scores.T)}


def _call_table(table: "pa.Table", classes: tuple[str, ...]) -> CallTable:
    begin_s, end_s, low_hz, high_hz, novelty = (
        table.column(name).to_numpy() for name in (*_BOX, "novelty")
    )
    scores = [table.column(f"class {i}").to_numpy() for i in range(len(classes))]
    return CallTable(
        tuple(table.column("recording").to_pylist()),
        begin_s,
        end_s,
        low_hz,
        high_hz,
        label=tuple(table.column("label").to_pylist()),
        novelty=novelty,
        class_scores=np.column_stack(scores) if scores else None,
        classes=classes,
    )
