"""The model of a study: what it learns from, where it is kept, and when it is out of date."""

from collections.abc import Mapping
from dataclasses import dataclass, fields
from datetime import UTC, datetime
from pathlib import Path
from time import perf_counter
from typing import Any

from raravis.bags import Bags
from raravis.errors import ModelFileError
from raravis.labels import BagLabels
from raravis.progress import ProgressCallback
from raravis.study.decided import teach
from raravis.study.errors import StudyError
from raravis.study.features import Instances, feature_recipe_key
from raravis.study.files import digest, read_json, storing, write_json
from raravis.study.labels import StudyLabels
from raravis.study.results import ModelNote
from raravis.study.settings import Settings
from raravis.study.store import Study

__all__ = [
    "Lesson",
    "fit_model",
    "known_model",
    "load_model",
    "make_model",
    "model_offset",
    "prepare_lesson",
]

_VERSION = 1


@dataclass(frozen=True, eq=False)
class Lesson:
    """What a model is to learn from, and the key of the model that comes of it.

    Parameters
    ----------
    bags : Bags
        The labelled recordings, then a bag for each decided call.
    labels : BagLabels
    n_recordings, n_decisions : int
    key : str
    """

    bags: Bags
    labels: BagLabels
    n_recordings: int
    n_decisions: int
    key: str


def make_model(settings: Settings) -> Any:
    """Return the model that the settings ask for, not fitted yet."""
    from raravis.estimators.kernel_scorer import KernelScorer
    from raravis.estimators.novelty_detector import NoveltyDetector

    if settings.model == "KernelScorer":
        return KernelScorer(random_state=settings.seed)
    # A list may well name more species than calls were found of.
    return NoveltyDetector(random_state=settings.seed, impossible="soften")


# ---------------------------------------------------------------------- what to learn from


def prepare_lesson(
    study: Study,
    instances: Instances,
    labels: StudyLabels,
    decided: Mapping[int, str | None] | None = None,
) -> Lesson:
    """Gather what the model learns from; refuse what no model can be learned from.

    ``decided`` says by position what people took calls for: a class, or None for none.
    """
    listed = [i for i, it in enumerate(instances.recordings) if it.name in labels.species]
    bags = instances.bags.take(listed)
    known = labels.for_bags([instances.recordings[i].name for i in listed])
    if decided:
        bags, known = teach(bags, known, instances, decided)
    _require_lesson(study, bags, known)
    content = {
        "version": _VERSION,
        "model": _parameters(make_model(study.settings)),
        "features": feature_recipe_key(study),
        "bags": bags.fingerprint(),
        "classes": list(known.classes),
        "status": known.status.tolist(),
    }
    return Lesson(bags, known, len(listed), len(decided or ()), digest(content)[:24])


def _require_lesson(study: Study, bags: Bags, labels: BagLabels) -> None:
    heard = labels.present[bags.sizes > 0].any()
    if not bags.n_instances or not heard:
        what = "holds a sound" if not bags.n_instances else "with a listed species holds a sound"
        raise StudyError(
            f"no recording of {study.folder} that is in the table of species {what}; look at "
            "recordings and segments, or lower high_db in study.toml to find fainter sounds."
        )


def _parameters(model: Any) -> dict[str, str]:
    """Return a model's settings as text; how many workers it has changes no answer."""
    found = {name: str(value) for name, value in sorted(model.get_params(deep=False).items())}
    return {"kind": type(model).__name__, **found, "n_jobs": ""}


# ---------------------------------------------------------------------- the files of a model


def fit_model(
    study: Study, lesson: Lesson, *, workers: int, progress: ProgressCallback | None = None
) -> ModelNote:
    """Learn from a lesson, and keep the model with a note of what it is."""
    import raravis

    started = perf_counter()
    model = make_model(study.settings).set_params(n_jobs=workers)
    model.fit(lesson.bags, lesson.labels, progress=progress)
    model.set_params(n_jobs=None)
    parameters = _parameters(model)
    note = ModelNote(
        key=lesson.key,
        kind=parameters.pop("kind"),
        classes=tuple(map(str, model.classes_)),
        n_bags=lesson.n_recordings,
        n_instances=lesson.bags.n_instances - lesson.n_decisions,
        n_decisions=lesson.n_decisions,
        fitted_at=datetime.now(UTC).isoformat(timespec="seconds"),
        seconds=round(perf_counter() - started, 3),
        parameters={name: value for name, value in parameters.items() if value},
    )
    path = _model_path(study, lesson.key)
    with storing(path):
        path.parent.mkdir(parents=True, exist_ok=True)
        raravis.save(model, path)
    # The note comes last: where it stands, the model is complete.
    about = {"features": feature_recipe_key(study), "offset": float(model.offset_)}
    write_json({**about, **_note_values(note)}, _note_path(path))
    return note


def known_model(study: Study, key: str) -> ModelNote | None:
    """Return the note of a model that is there, or None."""
    path = _model_path(study, key)
    found = read_json(_note_path(path))
    if found is None or not path.is_file():
        return None
    values = {field.name: found[field.name] for field in fields(ModelNote)}
    return ModelNote(**{**values, "classes": tuple(values["classes"])})


def model_offset(study: Study, key: str) -> float:
    """Return the score from which on a model takes a call for known, of its own accord."""
    return float((read_json(_note_path(_model_path(study, key))) or {})["offset"])


def load_model(study: Study, key: str, *, workers: int | None = None) -> Any:
    """Read a model; one whose file is damaged is put away, so that it is learned anew."""
    import raravis

    path = _model_path(study, key)
    _require_same_features(study, path)
    try:
        model = raravis.load(path)
    except ModelFileError as error:
        path.unlink(missing_ok=True)
        raise StudyError(
            f"{error} It has been removed; give the command raravis fit {study.folder} to learn "
            "it again."
        ) from error
    return model.set_params(n_jobs=workers)


def _require_same_features(study: Study, path: Path) -> None:
    note = read_json(_note_path(path)) or {}
    if note.get("features") != feature_recipe_key(study):
        raise StudyError(
            f"the model {path.stem} learned from features of another recipe than the one in "
            f"{study.settings_path}; give the command raravis fit {study.folder} to learn anew."
        )


def _note_values(note: ModelNote) -> dict[str, Any]:
    values = {field.name: getattr(note, field.name) for field in fields(ModelNote)}
    return {**values, "classes": list(note.classes), "parameters": dict(note.parameters)}


def _model_path(study: Study, key: str) -> Path:
    return study.models_folder / f"{key}.raravis"


def _note_path(model: Path) -> Path:
    return model.with_suffix(".json")
