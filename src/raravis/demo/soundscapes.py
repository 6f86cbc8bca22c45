"""Made-up recordings from which one species is left out of every list: a study of them finds it."""

import csv
import io
from collections import Counter
from dataclasses import dataclass
from os import PathLike
from pathlib import Path
from time import perf_counter
from typing import Any

from raravis._html.document import check_folder
from raravis.datasets import Soundscapes, make_soundscapes
from raravis.datasets.voices import SPECIES
from raravis.errors import InputError
from raravis.formats import write_calls
from raravis.progress import Progress, ProgressCallback
from raravis.study import Settings, Study, StudyResults, steps
from raravis.study.files import write_bytes, write_json
from raravis.study.truth import Verdict, judge, match_notes

__all__ = ["HIDDEN", "N_LISTED", "N_RECORDINGS", "SoundscapeDemo", "run_soundscapes", "summary"]

N_RECORDINGS = 60
N_LISTED = 50
DURATION_S = 20.0
HIDDEN = "Copper triller"

_MARK = "demo.json"
_OURS = ("recordings", "species.csv", "truth.csv", "study")


@dataclass(frozen=True)
class Seconds:
    """How long each part took."""

    recordings: float
    study: float
    total: float


@dataclass(frozen=True, eq=False)
class SoundscapeDemo:
    """Everything that the demo finds.

    Parameters
    ----------
    hidden : str
        The species that no list names.
    seed : int
    folder : Path
        Holds ``recordings``, ``species.csv`` (the lists), ``truth.csv`` (every call; the study does
        not learn from it) and ``study``.
    made : Soundscapes
    results : StudyResults
    verdict : Verdict
    most_novel : tuple of str or None
        What the most novel calls are: a species, or None for a sound that is none.
    groups : tuple of (str, int, str or None, int)
        Of each candidate new class its name, the number of its calls, what most of them are, and
        how many that is.
    seconds : Seconds
    """

    hidden: str
    seed: int
    folder: Path
    made: Soundscapes
    results: StudyResults
    verdict: Verdict
    most_novel: tuple[str | None, ...]
    groups: tuple[tuple[str, int, str | None, int], ...]
    seconds: Seconds

    @property
    def report(self) -> Path:
        """Where the report is."""
        return self.results.study.report_path


def run_soundscapes(
    folder: str | PathLike[str],
    *,
    hidden: str = HIDDEN,
    seed: int = 0,
    workers: int | None = None,
    progress: ProgressCallback | None = None,
) -> SoundscapeDemo:
    """Make recordings, list their species but for one, run a study, and see whether it finds it.

    Parameters
    ----------
    folder : path
        Made if need be. What an earlier demo left there is used again where it still holds.
    hidden : str
        One of the species of `raravis.datasets.make_soundscapes`.
    seed : int
    workers : int, optional
        Processes; one for each core by default.
    progress : function of a ``raravis.progress.Progress``, optional
    """
    target = Path(folder)
    _check(target, hidden)
    started = perf_counter()
    if progress is not None:
        progress(Progress("recordings", 0, N_RECORDINGS))
    write_json({"made by": "raravis demo", "hidden": hidden, "seed": seed}, target / _MARK)
    made = make_soundscapes(
        target / "recordings", n_recordings=N_RECORDINGS, duration_s=DURATION_S, seed=seed
    )
    write_bytes(_lists(made, hidden), target / "species.csv")
    write_calls(made.calls, target / "truth.csv")
    ready = perf_counter()
    settings = Settings(
        recordings="../recordings", labels="../species.csv", truth="../truth.csv", seed=seed
    )
    study = Study.create(target / "study", settings)
    steps.run(study, workers=workers, progress=progress)
    seconds = Seconds(ready - started, perf_counter() - ready, perf_counter() - started)
    return _found(hidden, seed, made, StudyResults.load(study), seconds)


def summary(demo: SoundscapeDemo) -> dict[str, Any]:
    """Return the outcome as what JSON can hold; all but ``seconds`` follows from the seed."""
    verdict, results = demo.verdict, demo.results
    return {
        "command": "demo",
        "data": "soundscapes",
        "hidden": demo.hidden,
        "seed": demo.seed,
        "recordings": len(results.recordings),
        "labelled": len(results.species),
        "species": list(results.model.classes),
        "model": results.model.kind,
        "calls": len(results.calls),
        "novel": int(results.novel.sum()),
        "auc": _interval(verdict.auc),
        "auc_unlabelled": _interval(verdict.unlabelled_auc),
        "annotation_accuracy": round(verdict.accuracy, 6),
        "novel_precision": round(verdict.precision, 6),
        "novel_recall": round(verdict.recall, 6),
        "most_novel": list(demo.most_novel),
        "candidates": [
            {"name": name, "calls": n, "most_are": what, "of_them": share}
            for name, n, what, share in demo.groups
        ],
        "report": str(demo.report),
        "seconds": {name: round(value, 3) for name, value in vars(demo.seconds).items()},
    }


def _check(target: Path, hidden: str) -> None:
    names = [one.name for one in SPECIES]
    if hidden not in names:
        raise InputError(
            f"hidden is {hidden!r}, which is no species of the demo; pass one of "
            f"{', '.join(names)}."
        )
    check_folder(target, kind="demo")
    there = [name for name in _OURS if (target / name).exists()]
    if there and not (target / _MARK).exists():
        raise InputError(
            f"{target} holds {there[0]!r}, which the demo has not made and would overwrite; name "
            "another folder with --out."
        )


def _lists(made: Soundscapes, hidden: str) -> bytes:
    """Return the table of species; the last recordings are not in it."""
    text = io.StringIO()
    table = csv.writer(text, lineterminator="\n")
    table.writerow(["recording", "species"])
    for name in made.recordings[:N_LISTED]:
        table.writerow([name, ";".join(one for one in made.species[name] if one != hidden)])
    return text.getvalue().encode()


def _found(
    hidden: str, seed: int, made: Soundscapes, results: StudyResults, seconds: Seconds
) -> SoundscapeDemo:
    verdict = judge(results)
    if verdict is None or verdict.auc is None:
        raise InputError(
            f"with the seed {seed} no call of {hidden!r} was found, or no other; pass another seed."
        )
    match = match_notes(results.calls, made.calls).tolist()
    kinds = [made.calls.label[note] if note >= 0 else None for note in match]
    groups = []
    for group in results.candidates:
        members = group.members.tolist()
        (what, count), *_ = Counter(kinds[call] for call in members).most_common(1)
        groups.append((group.name, len(members), what, count))
    top = results.by_novelty[:20].tolist()
    return SoundscapeDemo(
        hidden=hidden,
        seed=seed,
        folder=results.study.folder.parent,
        made=made,
        results=results,
        verdict=verdict,
        most_novel=tuple(kinds[call] for call in top),
        groups=tuple(groups),
        seconds=seconds,
    )


def _interval(interval: Any) -> dict[str, float] | None:
    if interval is None:
        return None
    return {name: round(getattr(interval, name), 6) for name in ("estimate", "low", "high")}
