"""A small folder of recordings with a table of species, and a study of it."""

import csv
import shutil
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import pytest

from raravis.datasets import Soundscapes, make_soundscapes
from raravis.datasets.voices import SPECIES
from raravis.formats import write_calls
from raravis.study import Settings, Study, steps

HIDDEN = "Copper triller"
HEARD = tuple(one for one in SPECIES if one.name in {"Amber whistler", "Ember buzzer", HIDDEN})


@dataclass(frozen=True)
class Field:
    """Recordings on disk, what is listed for them, and the truth."""

    folder: Path
    made: Soundscapes

    @property
    def recordings(self) -> Path:
        return self.folder / "recordings"

    @property
    def table(self) -> Path:
        return self.folder / "species.csv"

    @property
    def truth(self) -> Path:
        return self.folder / "truth.csv"

    def copy(self, target: Path) -> "Field":
        shutil.copytree(self.folder, target)
        return Field(target, self.made)

    def study(self, folder: Path | None = None, **settings: object) -> Study:
        chosen = {"recordings": str(self.recordings), "labels": str(self.table)}
        return Study.create(folder or self.folder / "study", Settings(**(chosen | settings)))


@pytest.fixture(scope="session")
def pristine(tmp_path_factory: pytest.TempPathFactory) -> Field:
    """Recordings that nobody may change."""
    folder = tmp_path_factory.mktemp("field")
    made = make_soundscapes(
        folder / "recordings", n_recordings=14, duration_s=6, species=HEARD, snr_db=(16, 25)
    )
    with (folder / "species.csv").open("w", newline="", encoding="utf-8") as file:
        table = csv.writer(file)
        table.writerow(["recording", "species"])
        for name in made.recordings[:12]:
            listed = [one for one in made.species[name] if one != HIDDEN]
            table.writerow([name, ";".join(listed)])
    write_calls(made.calls, folder / "truth.csv")
    return Field(folder, made)


@pytest.fixture(scope="session")
def finished(pristine: Field, tmp_path_factory: pytest.TempPathFactory) -> Study:
    """A study that has been run, which nobody may change."""
    study = pristine.study(tmp_path_factory.mktemp("finished") / "study", truth=str(pristine.truth))
    steps.run(study, workers=1)
    return study


@pytest.fixture
def field(pristine: Field, tmp_path: Path) -> Field:
    """Recordings of one's own."""
    return pristine.copy(tmp_path / "field")


@pytest.fixture
def copy_of(finished: Study, tmp_path: Path) -> Callable[[], Study]:
    """A function that returns a finished study of one's own."""

    def copy() -> Study:
        target = tmp_path / "copy"
        shutil.copytree(finished.folder, target)
        return Study.open(target)

    return copy


def contents(folder: Path) -> dict[str, bytes]:
    """Return every file below a folder, by its name."""
    return {
        path.relative_to(folder).as_posix(): path.read_bytes()
        for path in sorted(folder.rglob("*"))
        if path.is_file()
    }
