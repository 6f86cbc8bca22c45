"""What the verbs of a study share: their options, and the study that they are about."""

import os
from collections.abc import Callable, Mapping
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from raravis.cli._console import ProgressBars, print_json, reporting
from raravis.errors import InputError

if TYPE_CHECKING:
    from raravis.audio import FeatureRecipe
    from raravis.study import Done, Study

__all__ = [
    "LabelsOption",
    "StudyArgument",
    "WorkersOption",
    "changed_study",
    "given",
    "new_study",
    "perform",
    "plain",
    "wishes",
]

StudyArgument = Annotated[
    Path, typer.Argument(metavar="STUDY", help="The folder of the study.", show_default=False)
]
WorkersOption = Annotated[
    int | None,
    typer.Option(
        "--workers",
        metavar="N",
        help="Processes to work in; one for each core unless told otherwise.",
        show_default=False,
    ),
]
LabelsOption = Annotated[
    Path | None,
    typer.Option(
        "--labels",
        metavar="TABLE",
        help="The species heard in each recording: a CSV with columns recording and species.",
        show_default=False,
    ),
]


def given(**options: Any) -> dict[str, Any]:
    """Return the options that were given at all; the others leave a study as it is."""
    return {name: value for name, value in options.items() if value is not None}


def wishes(
    *,
    labels: Path | None,
    features: str | None,
    windows: float | None,
    boxes: Path | None,
    model: str | None,
    known_labels: str | None,
    miss_rate: float | None,
    truth: Path | None,
    seed: int | None,
) -> dict[str, Any]:
    """Return the settings that the options of ``init`` and ``run`` ask for."""
    if windows is not None and boxes is not None:
        raise InputError("--windows and --boxes exclude each other; give one of them.")
    wanted = given(
        labels=labels,
        window_s=windows,
        boxes=boxes,
        model=model,
        known_labels=known_labels,
        miss_rate=miss_rate,
        truth=truth,
        seed=seed,
        feature_kind=features,
    )
    if windows is not None or boxes is not None:
        wanted["segmentation"] = "boxes" if windows is None else "windows"
    return wanted


def changed_study(folder: Path, changes: Mapping[str, Any]) -> "Study":
    """Open a study, with some settings changed and written down."""
    from raravis.study import Study

    study = Study.open(folder)
    settings = study.settings.changed(**_stored(folder, changes, study.settings.feature_recipe))
    return study if settings == study.settings else Study.create(folder, settings)


def new_study(folder: Path, recordings: Path | None, changes: Mapping[str, Any]) -> "Study":
    """Make a study, or open the one that is there, with the settings that were given."""
    from raravis.study import Settings, Study

    if recordings is not None and not recordings.is_dir():
        what = "is a file" if recordings.exists() else "is not there"
        raise InputError(f"the folder of recordings {recordings} {what}; name a folder.")
    if (folder / "study.toml").is_file():
        return changed_study(folder, {**changes, **given(recordings=recordings)})
    if recordings is None:
        raise InputError(
            f"{folder} is no study yet; name the folder of the recordings before --out, as in "
            "raravis run RECORDINGS --labels species.csv --out STUDY."
        )
    from raravis.audio import FeatureRecipe

    changes = {**changes, "recordings": recordings}
    return Study.create(folder, Settings(**_stored(folder, changes, FeatureRecipe())))


def _stored(folder: Path, changes: Mapping[str, Any], recipe: "FeatureRecipe") -> dict[str, Any]:
    """Return settings as a study keeps them."""
    found: dict[str, Any] = {
        name: _place(value, folder) if isinstance(value, Path) else value
        for name, value in changes.items()
    }
    kind = found.pop("feature_kind", None)
    return found if kind is None else {**found, "feature_recipe": replace(recipe, kind=kind)}


def _place(path: Path, folder: Path) -> str:
    """Return a path as a study keeps it: one given relative to here, relative to the study.

    A study and its recordings can then be moved together.
    """
    text = str(path)
    if not path.is_absolute():
        try:
            text = os.path.relpath(path.absolute(), folder.resolve())
        except ValueError:
            text = str(path.absolute())  # on another drive
    try:
        text.encode()
    except UnicodeEncodeError as error:
        raise InputError(
            f"the path {text!r} has a character that no text file can hold; rename it."
        ) from error
    return Path(text).as_posix()


# ---------------------------------------------------------------------- how a verb runs


def perform(
    folder: Path,
    work: Callable[[ProgressBars], "tuple[Study, Done]"],
    *,
    as_json: bool,
    quiet: bool,
    debug: bool,
) -> None:
    """Do one step with progress on the terminal, and say what it did and what comes next."""
    from raravis.cli._told import tell

    with reporting(debug=debug):
        with ProgressBars(shown=not quiet and not as_json, remaining=True) as progress:
            study, done = work(progress)
        if as_json:
            print_json({"command": done.verb, "study": str(folder), **plain(done)})
        elif not quiet:
            tell(study, (done,))


def plain(done: "Done") -> dict[str, Any]:
    """Return what a step did, as JSON can hold it."""
    return {"new": done.new, **done.facts, "problems": dict(done.problems)}
