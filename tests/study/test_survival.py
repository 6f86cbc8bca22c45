"""What can happen to a run: kill -9, a full disk, no right to write, somebody else at work."""

import shutil
import signal
import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest
from tests.study import killing
from tests.study.conftest import Field, contents
from typer.testing import CliRunner

from raravis.cli.main import app
from raravis.study import Study, StudyResults, steps

pytestmark = pytest.mark.skipif(
    not hasattr(signal, "SIGKILL"), reason="this system has no kill -9 and no limits on files"
)


def test_killed_again_and_again_it_comes_to_the_same_results(
    finished: Study, pristine: Field, tmp_path: Path
) -> None:
    study = pristine.study(tmp_path / "study", truth=str(pristine.truth))
    whole = contents(finished.results_folder)
    kills = 0
    while True:
        # A kill before a file is put in its place costs that file, one after that does not.
        status = killing.in_a_process(
            killing.run_until_write, study.folder, 3 + 3 * kills, kills % 2 == 1
        )
        for name, content in contents(study.folder / "results").items():
            assert name.endswith(".part") or content == whole[name], f"{name} is half written"
        if status == 0:
            break
        assert status == -signal.SIGKILL
        kills += 1
    assert kills >= 8
    assert contents(study.results_folder) == whole
    assert not list(study.folder.rglob("*.part")), "drafts of the dead are swept up"
    assert not any(step.new for step in steps.run(study, workers=1))


def test_a_full_disk_costs_nothing_that_is_done(
    finished: Study, pristine: Field, tmp_path: Path
) -> None:
    study = pristine.study(tmp_path / "study", truth=str(pristine.truth))
    told = tmp_path / "told"
    seen = set()
    for n_bytes in (2_000, 12_000, 1_000_000):
        status = killing.in_a_process(killing.run_with_little_space, study.folder, n_bytes, told)
        assert status == 0
        error = told.read_text(encoding="utf-8")
        assert "there is no space left for it (File too large)" in error
        assert "What is finished is kept." in error
        seen.add(error.split()[0])
    assert len(seen) == 3, "every time it came further"
    assert str(study.report_path) in seen
    done = {step.verb: step.new for step in steps.run(study, workers=1)}
    assert [verb for verb, new in done.items() if new] == ["report"]
    assert contents(study.results_folder) == contents(finished.results_folder)


@pytest.fixture
def public() -> Iterator[Path]:
    """A folder that everybody may look into; pytest's own are for their owner alone."""
    folder = Path(tempfile.mkdtemp())
    folder.chmod(0o755)
    yield folder
    for path in folder.rglob("*"):
        if path.is_dir():
            path.chmod(0o755)
    shutil.rmtree(folder)


def test_a_folder_that_may_not_be_written(finished: Study, public: Path, tmp_path: Path) -> None:
    shutil.copytree(finished.folder, public / "study")
    for path in (public / "study", *(public / "study").rglob("*")):
        path.chmod(0o555 if path.is_dir() else 0o444)
    before = contents(public / "study")
    status = killing.in_a_process(killing.run_as_nobody, public / "study", tmp_path / "told")
    assert status == 0
    error = (tmp_path / "told").read_text(encoding="utf-8")
    assert "may not be written (Permission denied)" in error
    assert "give yourself the right to write in the study folder" in error
    assert contents(public / "study") == before


def test_a_study_that_may_not_even_be_looked_into(
    finished: Study, public: Path, tmp_path: Path
) -> None:
    shutil.copytree(finished.folder, public / "study")
    (public / "study").chmod(0o000)
    status = killing.in_a_process(killing.run_as_nobody, public / "study", tmp_path / "told")
    assert status == 0
    assert "cannot be read (Permission denied" in (tmp_path / "told").read_text(encoding="utf-8")


def test_two_runs_at_once(field: Field) -> None:
    study = field.study()
    with study.working("run"):
        told = CliRunner().invoke(app, ["run", "--out", str(study.folder)])
    assert told.exit_code == 2
    assert "is being worked on by raravis run (process" in told.stderr
    assert "wait until that has ended, or stop it" in told.stderr
    told = CliRunner().invoke(app, ["run", "--out", str(study.folder), "--workers", "1"])
    assert told.exit_code == 0


def test_damaged_files_are_made_again(finished: Study, tmp_path: Path) -> None:
    shutil.copytree(finished.folder, tmp_path / "study")
    study = Study.open(tmp_path / "study")
    for folder in ("segments", "features", "steps"):
        damaged = sorted((study.folder / folder).iterdir())[0]
        damaged.write_bytes(damaged.read_bytes()[:40])
    (study.folder / "labels.json").write_bytes(b"{")
    (study.folder / "recordings.parquet").write_bytes(b"PAR1")
    steps.run(study, workers=1)
    assert contents(study.results_folder) == contents(finished.results_folder)
    run = StudyResults.load(study).run
    (study.runs_folder / run / "calls.parquet").write_bytes(b"PAR1")
    with pytest.raises(Exception, match="are damaged; give the command raravis score"):
        StudyResults.load(study)
    steps.run(study, workers=1)
    assert StudyResults.load(study).run == run


def test_a_damaged_model_is_learned_again(finished: Study, tmp_path: Path) -> None:
    shutil.copytree(finished.folder, tmp_path / "study")
    study = Study.open(tmp_path / "study")
    model = next(study.models_folder.glob("*.raravis"))
    model.write_bytes(model.read_bytes()[:-200] + bytes(200))
    shutil.rmtree(study.runs_folder)
    with pytest.raises(Exception, match="It has been removed; give the command raravis fit"):
        steps.score(study, workers=1)
    steps.run(study, workers=1)
    assert contents(study.results_folder) == contents(finished.results_folder)
