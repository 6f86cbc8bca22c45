"""``raravis convert`` as a user runs it."""

import json
from pathlib import Path

import pytest
from typer.testing import CliRunner

from raravis.cli.main import app
from raravis.formats import CallTable, read_raven, write_calls

runner = CliRunner()

CALLS = CallTable(["a.wav", "b.wav"], [0, 1], [1, 2], label=["wren", None])


@pytest.fixture
def source(tmp_path: Path) -> Path:
    write_calls(CALLS, tmp_path / "calls.csv")
    return tmp_path / "calls.csv"


def test_a_file(source: Path, tmp_path: Path) -> None:
    out = tmp_path / "calls.selections.txt"
    told = runner.invoke(app, ["convert", str(source), str(out)])
    assert told.exit_code == 0
    assert told.stdout == f"2 calls of 2 recordings as raven, in 1 files:\n  {out}\n"
    assert read_raven(out) == CALLS


def test_a_folder_as_json(source: Path, tmp_path: Path) -> None:
    out = tmp_path / "labels"
    told = runner.invoke(app, ["convert", str(source), str(out), "--to", "audacity", "--json"])
    assert json.loads(told.stdout) == {
        "calls": 2,
        "recordings": ["a.wav", "b.wav"],
        "format": "audacity",
        "written": [str(out / "a.wav.labels.txt"), str(out / "b.wav.labels.txt")],
        "ignored": [],
    }


def test_quiet_says_where(source: Path, tmp_path: Path) -> None:
    told = runner.invoke(app, ["convert", str(source), str(tmp_path / "a.parquet"), "--quiet"])
    assert told.stdout == f"{tmp_path / 'a.parquet'}\n"


def test_what_cannot_be_done_is_one_line(source: Path, tmp_path: Path) -> None:
    told = runner.invoke(app, ["convert", str(source), str(source)])
    assert told.exit_code == 2
    assert told.stderr.startswith("error: ")
    assert told.stderr.count("\n") == 1
    out = tmp_path / "b.csv"
    assert runner.invoke(app, ["convert", str(source), str(out)]).exit_code == 0
    assert runner.invoke(app, ["convert", str(source), str(out)]).exit_code == 2
    assert runner.invoke(app, ["convert", str(source), str(out), "--force"]).exit_code == 0
