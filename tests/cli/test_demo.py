"""``raravis demo`` as a user runs it: on digits, and on made-up recordings."""

import json
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner

import raravis.demo
from raravis.cli.main import app
from raravis.demo import DigitsDemo, run_digits, soundscapes

runner = CliRunner()


@pytest.fixture(scope="module")
def found() -> DigitsDemo:
    return run_digits()


@pytest.fixture
def ready(found: DigitsDemo, monkeypatch: pytest.MonkeyPatch) -> None:
    """Let the verb report a run made before, where only the report is in question."""
    monkeypatch.setattr(raravis.demo, "run_digits", lambda **options: found)


def demo(*options: str, folder: Path) -> Any:
    return runner.invoke(app, ["demo", "--digits", "--out", str(folder), *options])


def timeless(text: str) -> dict[str, Any]:
    told = json.loads(text)
    assert told.pop("seconds")["fit"] > 0
    return told


def test_same_seed_same_json_here_and_in_a_process_of_its_own(tmp_path: Path) -> None:
    here = demo("--json", "--seed", "1", "--hidden", "8, 3", folder=tmp_path)
    assert here.exit_code == 0
    assert here.stderr == ""
    program = shutil.which("raravis", path=Path(sys.executable).parent)
    assert program is not None, "the console script is not installed"
    there = subprocess.run(  # noqa: S603
        [program, "demo", "--digits", "--json", "--seed", "1", "--out", str(tmp_path)],
        capture_output=True,
        text=True,
        check=True,
        timeout=300,
        env=os.environ | {"PYTHONIOENCODING": "ascii", "PYTHONHASHSEED": "7"},
    )
    assert there.stderr == ""
    told = timeless(here.stdout)
    assert timeless(there.stdout) == told
    assert told["seed"] == 1
    assert told["auc"]["estimate"] > 0.93
    assert Path(told["page"]).read_text(encoding="utf-8").startswith("<!DOCTYPE html>")


@pytest.mark.usefixtures("ready")
def test_report_holds_the_figures_and_ends_with_where_the_page_is(
    found: DigitsDemo, tmp_path: Path
) -> None:
    told = demo(folder=tmp_path)
    assert told.exit_code == 0
    assert told.stderr == ""
    lines = told.stdout.splitlines()
    assert lines[-1] == (tmp_path / "index.html").as_uri()
    for value in (found.auc.estimate, found.auc.low, found.accuracy, found.rivals[0].auc.estimate):
        assert f" {value:.3f}" in told.stdout
    for name in ("annotation accuracy", "novel precision", "novel recall", "One-class SVM", "fit"):
        assert name in told.stdout
    assert max(map(len, lines[:-2])) <= 80
    assert "\x1b" not in told.stdout


@pytest.mark.usefixtures("ready")
def test_quiet_prints_only_the_path_of_the_page(tmp_path: Path) -> None:
    told = demo("--quiet", folder=tmp_path / "new")
    assert told.stdout == f"{tmp_path / 'new' / 'index.html'}\n"
    assert told.stderr == ""


@pytest.mark.usefixtures("ready")
def test_page_goes_to_raravis_demo_unless_told_otherwise(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    assert runner.invoke(app, ["demo", "--digits", "--quiet"]).exit_code == 0
    assert [path.name for path in (tmp_path / "raravis-demo").iterdir()] == ["index.html"]


@pytest.mark.parametrize("hidden", ["3,x", "", "3,,8", "33", "-1", "3;8", "\N{SUPERSCRIPT TWO}"])
def test_hidden_digits_that_are_not_digits(hidden: str, tmp_path: Path) -> None:
    told = demo(f"--hidden={hidden}", folder=tmp_path / "new")
    assert told.exit_code == 2
    assert told.stdout == ""
    assert told.stderr.startswith(f"error: --hidden is {hidden!r}; pass one to nine different")
    assert told.stderr.count("\n") == 1
    assert not (tmp_path / "new").exists()


@pytest.mark.parametrize(
    ("option", "message"),
    [
        ("--hidden=3,3", "error: hidden is [3, 3]; pass one to nine different digits"),
        ("--hidden=0,1,2,3,4,5,6,7,8,9", "pass one to nine different digits"),
        ("--seed=-1", "error: seed is -1; pass a whole number, at least 0."),
        ("--seed=x", "Invalid value for '--seed'"),
        ("--colour=red", "No such option: --colour"),
    ],
)
def test_other_bad_options(option: str, message: str, tmp_path: Path) -> None:
    told = demo(option, folder=tmp_path)
    assert told.exit_code == 2
    assert told.stdout == ""
    assert message in told.stderr
    assert "Traceback" not in told.stderr


def test_a_folder_that_cannot_be_is_refused_before_any_work(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(raravis.demo, "run_digits", lambda **options: pytest.fail("it ran"))
    (tmp_path / "file").touch()
    told = demo(folder=tmp_path / "file")
    assert told.exit_code == 2
    assert "is not a folder; name one that is a folder" in told.stderr


def test_debug_shows_where_an_error_arose(tmp_path: Path) -> None:
    told = demo("--seed=-1", "--debug", folder=tmp_path)
    assert told.exit_code == 2
    assert "Traceback" in told.stderr
    assert told.stderr.endswith("error: seed is -1; pass a whole number, at least 0.\n")


def test_ctrl_c_leaves_one_word_and_no_page(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def interrupted(**options: object) -> DigitsDemo:
        raise KeyboardInterrupt

    monkeypatch.setattr(raravis.demo, "run_digits", interrupted)
    told = demo(folder=tmp_path / "new")
    assert (told.exit_code, told.stdout, told.stderr) == (130, "", "interrupted\n")
    assert not (tmp_path / "new").exists()


# ---------------------------------------------------------------------- made-up recordings


@pytest.fixture(scope="module")
def field(tmp_path_factory: pytest.TempPathFactory) -> Any:
    """A demo of fewer recordings than the real one."""
    folder = tmp_path_factory.mktemp("demo")
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(soundscapes, "N_RECORDINGS", 30)
        patch.setattr(soundscapes, "N_LISTED", 25)
        patch.setattr(soundscapes, "DURATION_S", 12.0)
        told = runner.invoke(app, ["demo", "--json", "--out", str(folder)])
        again = runner.invoke(app, ["demo", "--out", str(folder)])
    return folder, told, again


def test_the_hidden_species_is_found(field: Any) -> None:
    folder, told, _ = field
    assert told.exit_code == 0
    assert told.stderr == ""
    found = json.loads(told.stdout)
    assert found["hidden"] == "Copper triller"
    assert found["hidden"] not in found["species"]
    assert found["auc"]["estimate"] >= 0.95
    assert found["most_novel"][:5] == ["Copper triller"] * 5
    assert found["report"] == str(folder / "study" / "report.html")
    page = (folder / "study" / "report.html").read_text(encoding="utf-8")
    assert f"{found['auc']['estimate']:.3f}" in page
    lists = (folder / "species.csv").read_text(encoding="utf-8")
    assert "Dusk horn" in lists
    assert "Copper triller" not in lists


def test_the_same_again_in_words(field: Any) -> None:
    folder, told, again = field
    assert again.exit_code == 0
    found, lines = json.loads(told.stdout), again.stdout.splitlines()
    assert lines[-1] == (folder / "study" / "report.html").as_uri()
    for name in ("annotation_accuracy", "novel_precision", "novel_recall"):
        assert re.search(rf"{name.replace('_', ' ')} +{found[name]:.3f} ", again.stdout)
    assert max(map(len, lines[:-4])) <= 80


def test_what_the_demo_has_not_made_stays(tmp_path: Path) -> None:
    (tmp_path / "species.csv").write_text("mine", encoding="utf-8")
    told = runner.invoke(app, ["demo", "--out", str(tmp_path)])
    assert told.exit_code == 2
    assert "holds 'species.csv', which the demo has not made and would overwrite" in told.stderr
    assert [path.name for path in tmp_path.iterdir()] == ["species.csv"]


def test_a_species_that_is_none(tmp_path: Path) -> None:
    told = runner.invoke(app, ["demo", "--hidden", "owl", "--out", str(tmp_path / "new")])
    assert told.exit_code == 2
    assert "hidden is 'owl', which is no species of the demo; pass one of Amber" in told.stderr
    assert not (tmp_path / "new").exists()
