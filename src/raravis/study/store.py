"""The folder of a study: where everything stands, and what has been made from what."""

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from os import PathLike
from pathlib import Path
from typing import Any

from raravis.study.errors import StudyError
from raravis.study.files import read_json, remove_drafts, write_json
from raravis.study.journal import add_entry, read_journal
from raravis.study.lock import locked
from raravis.study.settings import Settings, read_settings, write_settings

__all__ = ["Study"]

_SETTINGS = "study.toml"


@dataclass(frozen=True)
class Study:
    """A study on disk, with its settings as they were when it was opened.

    | | |
    |---|---|
    | ``study.toml`` | the settings |
    | ``recordings.parquet`` | the recordings found, each with the SHA-256 of its content |
    | ``segments/``, ``features/`` | a file for each content and recipe |
    | ``labels.json`` | the species listed for each recording, and names that match none |
    | ``models/`` | models, each with a note of what it learned from |
    | ``runs/`` | scored calls: one folder for each model and its options |
    | ``decisions.sqlite`` | what people decided on the review page |
    | ``steps/`` | which step was last done from what |
    | ``journal.jsonl`` | what was done, and when |
    | ``results/``, ``report.html`` | for people and their programs |
    """

    folder: Path
    settings: Settings

    @classmethod
    def open(cls, folder: str | PathLike[str]) -> "Study":
        """Open a study that is there."""
        path = Path(folder)
        if not _is_there(path / _SETTINGS):
            what = "holds no study.toml" if path.is_dir() else "is not there"
            raise StudyError(
                f"{path} is not a study: it {what}. Make one with raravis init RECORDINGS --out "
                f"{path}, or name the folder of one."
            )
        return cls(path, read_settings(path / _SETTINGS))

    @classmethod
    def create(cls, folder: str | PathLike[str], settings: Settings) -> "Study":
        """Write the settings of a study, new or not; whatever else is in its folder stays."""
        path = Path(folder)
        if path.exists() and not path.is_dir():
            raise StudyError(f"{path} is a file; name a folder for the study.")
        study = cls(path, settings)
        if not study.exists or read_settings(study.settings_path) != settings:
            _refuse_strange_folder(path)
            write_settings(settings, study.settings_path)
        return study

    @property
    def exists(self) -> bool:
        """Whether the settings are on disk."""
        return _is_there(self.settings_path)

    # ------------------------------------------------------------------ places

    @property
    def settings_path(self) -> Path:
        """Where the settings stand."""
        return self.folder / _SETTINGS

    @property
    def recordings_folder(self) -> Path:
        """Where the recordings are, as the settings name it; relative to the study's folder."""
        return self.folder / Path(self.settings.recordings).expanduser()

    @property
    def recordings_path(self) -> Path:
        """The table of what the last scan found."""
        return self.folder / "recordings.parquet"

    @property
    def labels_path(self) -> Path:
        """The species listed for each recording, as last read."""
        return self.folder / "labels.json"

    @property
    def models_folder(self) -> Path:
        """Models, each with a note of what it learned from."""
        return self.folder / "models"

    @property
    def runs_folder(self) -> Path:
        """Scored calls: a folder for each model and its options."""
        return self.folder / "runs"

    @property
    def results_folder(self) -> Path:
        """Tables for people and their programs."""
        return self.folder / "results"

    @property
    def report_path(self) -> Path:
        """The page that shows the results."""
        return self.folder / "report.html"

    @property
    def decisions_path(self) -> Path:
        """What people decided on the review page."""
        return self.folder / "decisions.sqlite"

    @property
    def journal_path(self) -> Path:
        """What was done, and when."""
        return self.folder / "journal.jsonl"

    def given_path(self, setting: str) -> Path:
        """Return a path that a setting names; a relative one starts at the study's folder."""
        return self.folder / Path(setting).expanduser()

    # ------------------------------------------------------------------ work

    @contextmanager
    def working(self, verb: str) -> Iterator[None]:
        """Hold the study's lock, and sweep up what a killed run has left half written."""
        with locked(self.folder / ".lock", verb=verb):
            remove_drafts(self.folder)
            yield

    def note(self, verb: str, **facts: Any) -> None:
        """Add a line to the journal."""
        add_entry(self.journal_path, {"verb": verb, **facts})

    def journal(self) -> list[dict[str, Any]]:
        """Return what was done, oldest first."""
        return read_journal(self.journal_path)

    def stamp(self, step: str) -> dict[str, Any]:
        """Return what a step was last done from; nothing if it never was."""
        return read_json(self._stamp_path(step)) or {}

    def set_stamp(self, step: str, content: Mapping[str, Any]) -> None:
        """Note that a step is done; the last thing that it does."""
        write_json(dict(content), self._stamp_path(step))

    def _stamp_path(self, step: str) -> Path:
        return self.folder / "steps" / f"{step}.json"


def _is_there(path: Path) -> bool:
    try:
        return path.is_file()
    except OSError as error:
        raise StudyError(
            f"{path} cannot be read ({error.strerror or error}); give yourself the right to read "
            "the study folder, or name another one."
        ) from error


def _refuse_strange_folder(path: Path) -> None:
    """Keep a study from being poured into a folder that holds something else."""
    if not path.is_dir() or (path / _SETTINGS).exists():
        return
    ours = {".lock", "steps", "journal.jsonl", "results", "report.html"}
    strange = [
        p.name for p in path.iterdir() if p.name not in ours and not p.name.endswith(".part")
    ]
    if strange:
        raise StudyError(
            f"{path} is not empty (it holds {strange[0]!r}) and is no study; name a new folder, or "
            "that of a study."
        )
