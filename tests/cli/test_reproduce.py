"""``raravis reproduce`` as a user runs it."""

import csv
import json
import os
import re
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import pytest
from tests.experiments.made import made_birds, made_figures, made_table
from typer.testing import CliRunner

import raravis.experiments
from raravis.cli.main import app
from raravis.datasets import DatasetError
from raravis.experiments import TABLES, TableResult
from raravis.progress import Progress

runner = CliRunner()

Calls = list[dict[str, Any]]
MADE = {"mnist": made_table, "hja": made_birds, "bags": made_figures}


def reproduce(*arguments: str, folder: Path) -> Any:
    return runner.invoke(app, ["reproduce", *arguments, "--out", str(folder)])


@pytest.fixture
def calls(monkeypatch: pytest.MonkeyPatch) -> Calls:
    """Let results made by hand stand for runs; what was asked of each is kept."""
    asked: Calls = []

    def run_table(name: str, *, progress: Callable[..., None], **settings: Any) -> TableResult:
        progress(Progress(name, 1, 1))
        asked.append({"name": name, **settings})
        return MADE[name]()

    monkeypatch.setattr(raravis.experiments, "run_table", run_table)
    return asked


def stop_at(
    monkeypatch: pytest.MonkeyPatch, results: Sequence[TableResult | BaseException]
) -> None:
    waiting = iter(results)

    def run_table(name: str, **settings: Any) -> TableResult:
        result = next(waiting)
        if isinstance(result, BaseException):
            raise result
        return result

    monkeypatch.setattr(raravis.experiments, "run_table", run_table)


def test_terminal_shows_figures_published_ones_and_who_wins(calls: Calls, tmp_path: Path) -> None:
    told = reproduce("mnist", folder=tmp_path / "new")
    assert (told.exit_code, told.stderr) == (0, "")
    found = made_table()
    for cell in found.cells:
        assert cell.paper is not None
        difference = f"{cell.auc_mean - cell.paper:+.3f}".replace("-", "\N{MINUS SIGN}")
        mark = "win" if cell.wins else "loss"
        assert f"{cell.auc_mean:.3f} ± {cell.auc_se:.3f}  {difference} {mark}" in told.stdout
    for name, model in found.models.items():
        row = f"{name} +{model.mean:.3f} +{model.se:.3f} +{model.wins} of 6 +10 "
        assert re.search(row, told.stdout)
    assert "Empty-label bags help: holds; on average +0.012 (95% interval" in told.stdout
    assert told.stdout.endswith((tmp_path / "new" / "report.html").as_uri() + "\n")
    assert "\x1b" not in told.stdout


@pytest.mark.parametrize("columns", ["60", "80", "200"])
def test_no_figure_is_cut_whatever_the_width(
    calls: Calls, tmp_path: Path, columns: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("COLUMNS", columns)
    told = reproduce("mnist", folder=tmp_path)
    lines = told.stdout.split("The report is")[0].splitlines()
    assert max(map(len, lines)) <= int(columns)
    assert "…" not in told.stdout
    assert len(re.findall(r" (?:win|loss)\b", told.stdout)) == len(made_table().cells)


def test_results_that_are_not_areas_are_shown_as_tables(calls: Calls, tmp_path: Path) -> None:
    told = reproduce("bags", folder=tmp_path)
    assert told.exit_code == 0
    for text in ("Area under the curve, Y = 2, 3", "Example bags", "Counts | of each", "<a>"):
        assert text in told.stdout


def test_json_is_alone_on_stdout_and_the_same_as_in_the_folder(
    calls: Calls, tmp_path: Path
) -> None:
    one = reproduce("mnist", "--json", folder=tmp_path)
    assert one.stderr == ""
    assert json.loads(one.stdout) == made_table().to_json()
    assert json.loads((tmp_path / "mnist.json").read_text()) == made_table().to_json()
    many = reproduce("mnist", "hja", "--json", folder=tmp_path)
    assert [told["table"] for told in json.loads(many.stdout)["tables"]] == ["mnist", "hja"]


def test_quiet_prints_only_where_the_report_is(calls: Calls, tmp_path: Path) -> None:
    told = reproduce("mnist", "--quiet", folder=tmp_path)
    assert (told.stdout, told.stderr) == (f"{tmp_path / 'report.html'}\n", "")


def test_files_asked_for_are_written_and_drafts_are_not_left(calls: Calls, tmp_path: Path) -> None:
    files = [tmp_path / "a" / name for name in ("all.csv", "page.html", "text.md")]
    options = ("--csv", str(files[0]), "--html", str(files[1]), "--markdown", str(files[2]))
    told = reproduce("mnist", "hja", *options, folder=tmp_path / "b")
    assert told.exit_code == 0
    assert sorted(path.name for path in (tmp_path / "a").iterdir()) == sorted(
        file.name for file in files
    )
    assert {path.name for path in (tmp_path / "b").iterdir()} == {"mnist.json", "hja.json"}
    with files[0].open(newline="") as lines:
        assert {line["table"] for line in csv.DictReader(lines)} == {"mnist", "hja"}
    assert files[1].read_text(encoding="utf-8").startswith("<!DOCTYPE html>")
    assert "### Birdsong" in files[2].read_text(encoding="utf-8")


def test_all_runs_every_table_once(calls: Calls, tmp_path: Path, monkeypatch: Any) -> None:
    for name in TABLES:
        monkeypatch.setitem(MADE, name, made_birds)
    told = reproduce("hja", "all", "--quiet", folder=tmp_path)
    assert told.exit_code == 0
    assert [call["name"] for call in calls] == list(TABLES)


def test_options_reach_the_engine_each_table_its_own(calls: Calls, tmp_path: Path) -> None:
    text = (
        "mnist hja mnist --repeats 3 --jobs 2 --quick --model kernel --model knn --seed 7 "
        f"--data-home {tmp_path} --train-bags 50 --beta 0.2 --train-fraction 0.6"
    )
    assert reproduce(*text.split(), folder=tmp_path).exit_code == 0
    digits, birds = calls
    assert digits["options"] == {"n_train_bags": 50, "beta": 0.2}
    assert birds["options"] == {"train_fraction": 0.6}
    assert (digits["repeats"], digits["jobs"], digits["seed"], digits["quick"]) == (3, 2, 7, True)
    assert digits["models"] == ["kernel", "knn"]
    assert digits["data_home"] == tmp_path
    assert digits["journal"] == tmp_path / "journal.jsonl"


def test_without_options_the_tables_take_their_own(calls: Calls, tmp_path: Path) -> None:
    reproduce("mnist", folder=tmp_path)
    (call,) = calls
    assert (call["repeats"], call["models"], call["options"]) == (None, None, {})


def test_figures_of_other_code_are_taken_only_on_request(calls: Calls, tmp_path: Path) -> None:
    reproduce("mnist", folder=tmp_path)
    reproduce("mnist", "--accept-older", folder=tmp_path)
    assert [call["accept_older"] for call in calls] == [False, True]


def test_no_resume_sets_aside_what_was_finished(calls: Calls, tmp_path: Path) -> None:
    (tmp_path / "journal.jsonl").write_text("old")
    reproduce("mnist", folder=tmp_path)
    assert (tmp_path / "journal.jsonl").exists()
    reproduce("mnist", "--no-resume", folder=tmp_path)
    assert not (tmp_path / "journal.jsonl").exists()
    assert (tmp_path / "journal.jsonl.old").read_text() == "old"


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ((), "error: no table is named; pass one or more of cooccurrence, bags,"),
        (("mnits",), "or all. Did you mean mnist?"),
        (("mnist", "birds"), "error: the table is 'birds'; pass one or more of"),
        (("hja", "--bag-size=5"), "error: --bag-size is no option of hja; it is one of mnist,"),
        (("mnist", "--repeats=0"), "Invalid value for '--repeats'"),
    ],
)
def test_bad_arguments(
    calls: Calls, tmp_path: Path, arguments: tuple[str, ...], message: str
) -> None:
    told = reproduce(*arguments, folder=tmp_path / "new")
    assert (told.exit_code, told.stdout) == (2, "")
    assert message in told.stderr
    assert calls == []
    assert not (tmp_path / "new").exists()


def test_the_engines_own_refusals_reach_the_user(tmp_path: Path) -> None:
    told = reproduce("mnist", "--model", "kernle", folder=tmp_path)
    assert told.exit_code == 2
    assert "'kernle'" in told.stderr
    assert "kernel" in told.stderr
    assert told.stderr.count("\n") == 1


def test_missing_data_is_said_in_full(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    stop_at(monkeypatch, [DatasetError("mnist could not be downloaded; place the file by hand.")])
    told = reproduce("mnist", folder=tmp_path)
    assert (told.exit_code, told.stdout) == (2, "")
    assert told.stderr == "error: mnist could not be downloaded; place the file by hand.\n"


def test_places_that_cannot_be_written_are_refused_before_any_work(
    calls: Calls, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "file").touch()
    (tmp_path / "text.md").write_text("# No markers\n")
    for option, path, message in (
        ("--out", tmp_path / "file", "the folder for the results is"),
        ("--csv", tmp_path / "file" / "a.csv", "the folder for the CSV is"),
        ("--html", tmp_path, "which is a folder; name a file in it."),
        ("--markdown", tmp_path / "text.md", "put them where the figures are to stand"),
    ):
        told = runner.invoke(app, ["reproduce", "mnist", option, str(path)])
        assert (told.exit_code, told.stdout) == (2, "")
        assert message in told.stderr
    monkeypatch.setattr(os, "access", lambda path, mode: not mode & os.W_OK)
    told = reproduce("mnist", folder=tmp_path)
    assert told.exit_code == 2
    assert "nothing may be written in" in told.stderr
    assert calls == []


def test_ctrl_c_shows_what_is_finished_and_how_to_go_on(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    stop_at(monkeypatch, [made_birds(), made_table(complete=False)])
    told = reproduce("hja", "mnist", "bags", folder=tmp_path)
    assert told.exit_code == 130
    assert "Birdsong" in told.stdout
    assert "MNIST bags, <all> kept" in told.stdout
    assert told.stderr == (
        f"interrupted: 1 of 3 tables complete. What is finished is kept in {tmp_path}; give the "
        "same command again to go on from there.\n"
    )
    assert json.loads((tmp_path / "mnist.json").read_text())["complete"] is False
    assert "Interrupted: these figures" in (tmp_path / "report.html").read_text(encoding="utf-8")


def test_ctrl_c_between_tables_keeps_those_before(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    stop_at(monkeypatch, [made_birds(), KeyboardInterrupt()])
    told = reproduce("hja", "mnist", "--json", folder=tmp_path)
    assert told.exit_code == 130
    assert [item["table"] for item in json.loads(told.stdout)["tables"]] == ["hja"]
    assert "1 of 2 tables complete" in told.stderr
    stop_at(monkeypatch, [KeyboardInterrupt()])
    told = reproduce("mnist", folder=tmp_path / "new")
    assert (told.exit_code, told.stdout) == (130, "")
    assert not (tmp_path / "new" / "report.html").exists()


def test_list_names_tables_and_models() -> None:
    told = runner.invoke(app, ["reproduce", "--list"])
    assert told.exit_code == 0
    listed = json.loads(runner.invoke(app, ["reproduce", "--list", "--json"]).stdout)
    assert {item["name"] for item in listed["tables"]} == set(TABLES)
    for item in [*listed["tables"], *listed["models"]]:
        assert item["name"] in told.stdout
        assert item["title"]


def test_a_table_that_needs_no_data_runs_in_earnest(tmp_path: Path) -> None:
    told = reproduce("cooccurrence", "--json", folder=tmp_path)
    assert told.exit_code == 0, told.stderr
    figures = json.loads(told.stdout)["figures"]
    assert [row[-1] for row in figures["decisions"]["rows"]] == ["I", "I", "II", "novel"]


@pytest.mark.data
def test_birds_quick_end_to_end_and_again_from_the_journal(
    real_data: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("RARAVIS_DATA", str(real_data))
    arguments = ("hja", "--quick", "--repeats=1", "--model=kernel", "--json")
    told = reproduce(*arguments, folder=tmp_path)
    assert told.exit_code == 0, told.stderr
    first = json.loads(told.stdout)
    assert {"table", "protocol", "cells", "models", "seconds", "versions"} <= set(first)
    assert all(cell["auc_mean"] > cell["paper"] - 0.15 for cell in first["cells"])
    assert first["models"]["kernel"]["mean"] > 0.8
    again = json.loads(reproduce(*arguments, folder=tmp_path).stdout)
    assert again["cells"] == first["cells"]
    assert (tmp_path / "report.html").read_text(encoding="utf-8").startswith("<!DOCTYPE html>")


@pytest.mark.data
@pytest.mark.skipif(os.name == "nt", reason="needs process groups")
def test_ctrl_c_amid_workers_stops_them_and_the_next_run_computes_only_the_rest(
    real_data: Path, tmp_path: Path
) -> None:
    code = "import sys; from raravis.cli.main import main; sys.exit(main())"
    asked = ["hja", "--model=mahalanobis", "--repeats=6", "--jobs=2", "--quiet"]
    where = [f"--data-home={real_data}", f"--out={tmp_path}"]
    command = [sys.executable, "-c", code, "reproduce", *asked, *where]
    journal = tmp_path / "journal.jsonl"

    def keys() -> list[str]:
        lines = journal.read_text().splitlines() if journal.exists() else []
        return [json.loads(line)["key"] for line in lines]

    # As a terminal does it, the signal goes to every process of the group.
    with subprocess.Popen(  # noqa: S603
        command, start_new_session=True, stderr=subprocess.PIPE, text=True
    ) as running:
        end = time.monotonic() + 120
        while len(keys()) < 4 and running.poll() is None and time.monotonic() < end:
            time.sleep(0.01)
        os.killpg(running.pid, signal.SIGINT)
        _, told = running.communicate(timeout=240)
    assert running.returncode == 130
    assert told.startswith("interrupted: 0 of 1 tables complete. What is finished is kept in")
    kept = keys()
    assert 4 <= len(kept) < 60
    time.sleep(0.5)
    assert keys() == kept  # no worker goes on behind our back
    done = subprocess.run(command, check=False, timeout=240, capture_output=True)  # noqa: S603
    assert done.returncode == 0
    assert keys()[: len(kept)] == kept
    assert len(set(keys())) == len(keys()) == 60


def test_the_verb_loads_no_engine_before_it_is_needed() -> None:
    code = (
        "import sys; from raravis.cli.main import app; "
        "sys.exit('raravis.experiments' in sys.modules or 'numpy' in sys.modules)"
    )
    done = subprocess.run([sys.executable, "-c", code], check=False)  # noqa: S603
    assert done.returncode == 0
