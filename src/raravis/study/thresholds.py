"""Where novel begins: the model's own threshold, or one that promises how much it may miss."""

from typing import Any

from raravis.progress import Progress, ProgressCallback
from raravis.study.models import Lesson, make_model, model_offset
from raravis.study.results import ModelNote
from raravis.study.runs import Cutoff
from raravis.study.store import Study

__all__ = ["cutoff_of", "known_calibration", "own_threshold", "promised_threshold"]

_VERSION = 1
_N_FOLDS = 5


def own_threshold(study: Study, note: ModelNote) -> dict[str, Any]:
    """Return where the model itself draws the line, on the scale of novelty."""
    novelty = 0.0 - model_offset(study, note.key)
    return {**_asked(study, note), "novelty": novelty, "promise": "", "reason": ""}


def promised_threshold(
    study: Study,
    note: ModelNote,
    lesson: Lesson,
    *,
    workers: int,
    progress: ProgressCallback | None = None,
) -> dict[str, Any]:
    """Find the threshold that misses no more than the settings allow.

    Returns ``novelty`` and ``promise``, a sentence; where there are too few recordings for a
    promise, the model's own threshold with the ``reason``.
    """
    from raravis.calibration import Threshold, cross_calibrate

    def report(step: Progress) -> None:
        if progress is not None:
            progress(Progress("calibration", step.done, step.total))

    own = own_threshold(study, note)
    n_bags = lesson.bags.n_bags
    if n_bags < _N_FOLDS:
        return {**own, "reason": f"{n_bags} recordings have a list; label {_N_FOLDS} or more."}
    found = cross_calibrate(
        make_model(study.settings).set_params(n_jobs=workers),
        lesson.bags,
        lesson.labels,
        alpha=study.settings.miss_rate or 0.0,
        n_folds=_N_FOLDS,
        use="refit",
        random_state=study.settings.seed,
        progress=report,
    ).calibration
    if isinstance(found, Threshold):
        return {**own, "novelty": -found.value, "promise": found.guarantee}
    return {**own, "reason": found.reason}


def known_calibration(study: Study, note: ModelNote) -> dict[str, Any] | None:
    """Return what is kept for this model and these settings, or None."""
    found = study.stamp("calibrate")
    return found if _asked(study, note).items() <= found.items() else None


def cutoff_of(calibration: dict[str, Any]) -> Cutoff:
    """Return the threshold and its promise."""
    return Cutoff(calibration["novelty"], calibration["promise"])


def _asked(study: Study, note: ModelNote) -> dict[str, Any]:
    return {"version": _VERSION, "model": note.key, "miss_rate": study.settings.miss_rate}
