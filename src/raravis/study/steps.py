"""The steps of a study, one after the other or all at once.

Every step takes the study's lock, looks at the recordings anew, skips what is done and current, and
may be killed at any moment: what it had finished is kept, and the same step goes on from there.
"""

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

from raravis.audio import feature_terms
from raravis.progress import Progress, ProgressCallback
from raravis.study.decided import DecisionReader
from raravis.study.errors import StudyError
from raravis.study.features import Instances, gather, known_problems, make_features
from raravis.study.judging import CONTEXT_FROM
from raravis.study.labels import StudyLabels, known_labels, make_labels
from raravis.study.models import (
    Lesson,
    fit_model,
    known_model,
    load_model,
    prepare_lesson,
)
from raravis.study.output import results_are_current, write_results
from raravis.study.per_recording import Made
from raravis.study.recordings import Scan, find_recordings
from raravis.study.results import ModelNote, StudyResults
from raravis.study.runs import (
    Cutoff,
    Scored,
    call_table,
    current_run,
    find_candidates,
    load_results,
    run_key,
    score_calls,
    write_run,
)
from raravis.study.segments import make_segments
from raravis.study.store import Study
from raravis.study.thresholds import (
    cutoff_of,
    known_calibration,
    own_threshold,
    promised_threshold,
)
from raravis.study.workers import checked_workers

__all__ = [
    "Done",
    "calibrate",
    "features",
    "fit",
    "init",
    "label",
    "report",
    "run",
    "score",
    "segment",
]


# A species listed for fewer recordings than this is hardly learned.
_FEW_BAGS = 3


@dataclass(frozen=True)
class Done:
    """What a step has done.

    Parameters
    ----------
    verb : str
    new : bool
        Whether anything was computed; else all was done and current.
    facts : mapping
        Counts and names, as JSON can hold them.
    problems : mapping of str to str
        What is wrong with which recording.
    """

    verb: str
    new: bool
    facts: Mapping[str, Any]
    problems: Mapping[str, str] = field(default_factory=dict)


class _Bench:
    """A study with its lock held: the recordings as they are now, and what was read of them."""

    def __init__(
        self,
        study: Study,
        workers: int,
        progress: ProgressCallback | None,
        decided: DecisionReader | None,
    ) -> None:
        self.study = study
        self.workers = workers
        self.progress = progress
        self.decided = decided

    @cached_property
    def scan(self) -> Scan:
        found = find_recordings(self.study, workers=self.workers, progress=self.progress)
        if not found.recordings:
            raise StudyError(
                f"there is no recording in {self.study.recordings_folder}; name the folder that "
                f"holds them: raravis init RECORDINGS --out {self.study.folder}."
            )
        return found

    @cached_property
    def instances(self) -> Instances:
        return gather(self.study, self.scan)

    @cached_property
    def labels(self) -> StudyLabels:
        return make_labels(self.study, self.scan)

    @cached_property
    def lesson(self) -> Lesson:
        decided: Mapping[int, str | None] = {}
        if self.study.settings.decisions == "use" and self.decided is not None:
            decided = self.decided(self.study, call_table(self.instances))
        return prepare_lesson(self.study, self.instances, self.labels, decided)


@contextmanager
def _bench(
    study: Study,
    verb: str,
    workers: int | None,
    progress: ProgressCallback | None,
    decided: DecisionReader | None = None,
) -> Iterator[_Bench]:
    count = checked_workers(workers)
    with study.working(verb):
        yield _Bench(study, count, progress, decided)


# ---------------------------------------------------------------------- one step


def init(
    study: Study, *, workers: int | None = None, progress: ProgressCallback | None = None
) -> Done:
    """Look into every recording."""
    with _bench(study, "init", workers, progress) as bench:
        return _init(bench)


def segment(
    study: Study, *, workers: int | None = None, progress: ProgressCallback | None = None
) -> Done:
    """Find the sounds in every recording."""
    with _bench(study, "segment", workers, progress) as bench:
        return _segment(bench)


def features(
    study: Study, *, workers: int | None = None, progress: ProgressCallback | None = None
) -> Done:
    """Describe every sound by its features."""
    with _bench(study, "features", workers, progress) as bench:
        return _features(bench)


def label(
    study: Study, *, workers: int | None = None, progress: ProgressCallback | None = None
) -> Done:
    """Read the species listed for each recording."""
    with _bench(study, "label", workers, progress) as bench:
        return _label(bench)


def fit(
    study: Study,
    *,
    decided: DecisionReader | None = None,
    workers: int | None = None,
    progress: ProgressCallback | None = None,
) -> Done:
    """Learn the listed species from the labelled recordings.

    ``decided`` is asked for what people have decided, if the settings say to use that.
    """
    with _bench(study, "fit", workers, progress, decided) as bench:
        return _fit(bench)


def calibrate(
    study: Study,
    *,
    decided: DecisionReader | None = None,
    workers: int | None = None,
    progress: ProgressCallback | None = None,
) -> Done:
    """Find the threshold that the settings ask for."""
    with _bench(study, "calibrate", workers, progress, decided) as bench:
        return _calibrate(bench)


def score(
    study: Study, *, workers: int | None = None, progress: ProgressCallback | None = None
) -> Done:
    """Say of every call what it is and how novel, and write the tables of results."""
    with _bench(study, "score", workers, progress) as bench:
        return _score(bench)


def report(study: Study, *, progress: ProgressCallback | None = None) -> Done:
    """Write the page that shows the results."""
    with _bench(study, "report", 1, progress) as bench:
        return _report(bench)


def run(
    study: Study,
    *,
    decided: DecisionReader | None = None,
    workers: int | None = None,
    progress: ProgressCallback | None = None,
) -> tuple[Done, ...]:
    """Take every step from the recordings to the report."""
    # The table of species comes first: what is wrong with it is told before hours of work.
    steps = (_label, _segment, _features, _fit, _calibrate, _score, _report)
    with _bench(study, "run", workers, progress, decided) as bench:
        return tuple(step(bench) for step in steps)


# ---------------------------------------------------------------------- what the steps do


def _init(bench: _Bench) -> Done:
    facts = {"folder": str(bench.study.recordings_folder), **_scan_facts(bench)}
    return _noted(bench, Done("init", bool(bench.scan.n_read), facts, _bad(bench)))


def _segment(bench: _Bench) -> Done:
    made = make_segments(bench.study, bench.scan, workers=bench.workers, progress=bench.progress)
    return _of_files(bench, "segment", "segments", made)


def _features(bench: _Bench) -> Done:
    made = make_features(bench.study, bench.scan, workers=bench.workers, progress=bench.progress)
    terms = feature_terms(bench.study.settings.feature_recipe)
    return _of_files(bench, "features", "calls", made, terms=terms)


def _of_files(bench: _Bench, verb: str, rows: str, made: Made, **more: str) -> Done:
    facts = {
        **more,
        **_scan_facts(bench),
        rows: sum(made.n_rows.values()),
        "new_files": made.n_made,
    }
    problems = _bad(bench) | {it.recording: it.what for it in made.problems}
    done = Done(verb, bool(made.n_made or bench.scan.n_read), facts, problems)
    return _noted(bench, done)


def _scan_facts(bench: _Bench) -> dict[str, Any]:
    return {
        "recordings": len(bench.scan.recordings),
        "usable": len(bench.scan.usable),
        "hours": round(sum(it.duration_s for it in bench.scan.usable) / 3600, 4),
    }


def _bad(bench: _Bench) -> dict[str, str]:
    return {it.name: it.detail if it.detail else it.status for it in bench.scan.bad}


def _label(bench: _Bench) -> Done:
    before = known_labels(bench.study)
    labels = bench.labels
    facts = {
        "species": list(labels.classes),
        "labelled": len(labels.species),
        "empty": sum(not listed for listed in labels.species.values()),
        "unlabelled": len(bench.scan.recordings) - len(labels.species),
        "unmatched": list(labels.unmatched),
        "ambiguous": list(labels.ambiguous),
    }
    new = before is None or before.key != labels.key
    return _noted(bench, Done("label", new, facts))


def _fit(bench: _Bench) -> Done:
    study, lesson = bench.study, bench.lesson
    note = known_model(study, lesson.key)
    new = note is None
    if note is None:
        # A bar that stands at 0 while the first class is learned is better than none.
        _tell(bench, Progress("classes", 0, lesson.labels.n_classes))
        note = fit_model(study, lesson, workers=bench.workers, progress=bench.progress)
    if study.stamp("fit").get("model") != note.key:
        study.set_stamp("fit", {"model": note.key})
    facts = {
        "model": note.key,
        "kind": note.kind,
        "species": list(note.classes),
        "recordings": note.n_bags,
        "calls": note.n_instances,
        "decisions": note.n_decisions,
        "seconds": note.seconds,
        "rare": _rare(lesson),
    }
    return _noted(bench, Done("fit", new, facts))


def _rare(lesson: Lesson) -> list[str]:
    """Return the species that are listed for too few recordings to be told from what is around."""
    n_bags = lesson.labels.present.sum(axis=0).tolist()
    return [
        str(name) for name, n in zip(lesson.labels.classes, n_bags, strict=True) if n < _FEW_BAGS
    ]


def _calibrate(bench: _Bench) -> Done:
    study = bench.study
    note = _fitted(study)
    found = known_calibration(study, note)
    new = found is None
    if found is None and study.settings.miss_rate is None:
        found = own_threshold(study, note)
    elif found is None:
        _require_current(bench, note)
        found = promised_threshold(
            study, note, bench.lesson, workers=bench.workers, progress=bench.progress
        )
    if new:
        study.set_stamp("calibrate", found)
    facts = {name: found[name] for name in ("miss_rate", "novelty", "promise", "reason")}
    return _noted(bench, Done("calibrate", new, facts))


def _require_current(bench: _Bench, note: ModelNote) -> None:
    """Refuse to calibrate a model on recordings and labels other than those it learned from."""
    if bench.lesson.key != note.key:
        raise StudyError(
            f"the model of {bench.study.folder} is out of date: recordings, labels or settings "
            f"have changed since; give the command raravis fit {bench.study.folder} first."
        )


def _score(bench: _Bench) -> Done:
    study = bench.study
    note = _fitted(study)
    cutoff = _cutoff(bench, note)
    problems = known_problems(study, bench.scan)
    key = run_key(study, bench.instances, bench.labels, note, cutoff, problems)
    new = current_run(study) != key
    if new:
        _tell(bench, Progress("scores", 0, 1))
        write_run(
            study,
            key,
            _scored(bench, note, cutoff),
            recordings=bench.scan.recordings,
            feature_files=bench.instances.files,
            labels=bench.labels,
            note=note,
            cutoff=cutoff,
            problems=problems,
        )
        study.set_stamp("score", {"run": key})
        _tell(bench, Progress("scores", 1, 1))
    results = load_results(study)
    written = not results_are_current(results)
    if written:
        write_results(results)
    return _noted(bench, Done("score", new or written, _score_facts(results), problems))


def _scored(bench: _Bench, note: ModelNote, cutoff: Cutoff) -> Scored:
    model = load_model(bench.study, note.key, workers=bench.workers)
    given = bench.labels if bench.study.settings.known_labels == "use" else None
    context = note.n_bags >= CONTEXT_FROM
    calls = score_calls(model, bench.instances, given, cutoff, context=context)
    return Scored(calls, find_candidates(model, bench.instances, calls))


def _cutoff(bench: _Bench, note: ModelNote) -> Cutoff:
    found = known_calibration(bench.study, note)
    if found is None and bench.study.settings.miss_rate is not None:
        raise StudyError(
            f"the threshold of {bench.study.folder} is not calibrated for its model; give the "
            f"command raravis calibrate {bench.study.folder} first."
        )
    return cutoff_of(found or own_threshold(bench.study, note))


def _score_facts(results: StudyResults) -> dict[str, Any]:
    groups = [{"name": it.name, "calls": len(it.members)} for it in results.candidates]
    return {
        **results.about(),
        "candidates": groups,
        "threshold": results.threshold,
        "promise": results.promise,
        "results": str(results.study.results_folder),
    }


def _report(bench: _Bench) -> Done:
    from raravis.study.report import report_is_current, write_report

    results = load_results(bench.study)
    new = not report_is_current(results)
    if new:
        write_report(results, progress=bench.progress)
    path = bench.study.report_path
    facts = {"report": str(path), "megabytes": round(path.stat().st_size / 1e6, 2)}
    return _noted(bench, Done("report", new, facts))


def _fitted(study: Study) -> ModelNote:
    key = study.stamp("fit").get("model")
    note = known_model(study, key) if isinstance(key, str) else None
    if note is None:
        raise StudyError(
            f"{study.folder} has no model yet; give the command raravis fit {study.folder} first."
        )
    return note


def _noted(bench: _Bench, done: Done) -> Done:
    """Write into the journal what was computed; a step that found all done leaves no trace."""
    if done.new:
        facts = {**done.facts, "problems": len(done.problems)}
        bench.study.note(done.verb, **facts)
    return done


def _tell(bench: _Bench, progress: Progress) -> None:
    if bench.progress is not None:
        bench.progress(progress)
