"""The guide, followed to the letter on real field recordings."""

import csv
import re
import shlex
import shutil
from pathlib import Path

import pytest
from typer.testing import CliRunner

from raravis.cli.main import app

GUIDE = Path(__file__).parents[2] / "docs" / "recordings.md"


@pytest.fixture
def desk(real_data: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder with what the guide says one needs."""
    (tmp_path / "recordings").mkdir()
    (tmp_path / "notes").mkdir()
    for path in (real_data / "soundscapes").glob("*.wav"):
        shutil.copyfile(path, tmp_path / "recordings" / path.name)
    shutil.copyfile(real_data / "soundscapes" / "spinetail.txt", tmp_path / "notes/spinetail.txt")
    table = re.search(r"```csv\n(.*?)```", GUIDE.read_text(encoding="utf-8"), re.S)
    assert table is not None
    (tmp_path / "species.csv").write_text(table[1], encoding="utf-8")
    monkeypatch.chdir(tmp_path)
    return tmp_path


@pytest.mark.data
def test_the_guide_to_the_letter(desk: Path) -> None:
    commands = re.findall(r"^    raravis (.*)$", GUIDE.read_text(encoding="utf-8"), re.M)
    assert len(commands) == 15
    runner = CliRunner()
    for command in commands:
        told = runner.invoke(app, shlex.split(command))
        assert told.exit_code == 0, f"raravis {command}: {told.output}"
        assert told.stderr == ""
    for study in ("mystudy", "windows", "boxes"):
        with (desk / study / "results" / "calls.csv").open(encoding="utf-8", newline="") as file:
            rows = list(csv.DictReader(file))
        assert {row["label"] for row in rows} <= {"SP", "CRER", "novel"}
        assert {"SP", "CRER"} <= rows[0].keys()
        assert (desk / study / "report.html").stat().st_size > 100_000
    assert (desk / "mystudy/results/raven/spinetail.wav.selections.txt").is_file()
    assert "How right it is" in (desk / "mystudy/report.html").read_text(encoding="utf-8")
