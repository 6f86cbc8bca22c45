"""``raravis doctor``: what it finds, and what it says of that."""

import json
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner

from raravis import __version__
from raravis.cli import _checkup
from raravis.cli._checkup import Package, check_up, packages
from raravis.cli.main import app

runner = CliRunner()


def test_everything_that_is_installed_works() -> None:
    found = check_up()
    assert {
        ability.name: ability.detail for ability in found.abilities if ability.status == "fails"
    } == {}
    assert found.abilities[0].status == "works"
    assert found.well
    assert found.cores >= 1


def test_packages_are_those_that_raravis_asks_for() -> None:
    found = {package.name: package for package in packages()}
    assert found["numpy"].needed_by == "core"
    assert found["numpy"].status == "ok"
    assert found["matplotlib"].needed_by == "plot"


@pytest.mark.parametrize(
    ("requirement", "status"),
    [
        ("numpy>=1.26", "ok"),
        ("numpy", "ok"),
        ("numpy>=1.26,<99", "ok"),
        ("numpy >= 1.9.10", "ok"),
        ("numpy>=99", "old"),
        ("no-such-package-here>=1", "missing"),
    ],
)
def test_versions_are_compared_as_numbers(requirement: str, status: str) -> None:
    (package,) = packages([requirement])
    assert (package.needed_by, package.status) == ("core", status)


def test_extras_are_told_apart() -> None:
    listed = ["numpy[x]>=1.26; extra == 'one'", 'scipy>=1; extra == "two-b"', "not a requirement !"]
    assert [(found.name, found.needed_by) for found in packages(listed)] == [
        ("numpy", "one"),
        ("scipy", "two-b"),
    ]


# ---------------------------------------------------------------------- what is said


def works() -> str:
    return "as it should"


def breaks() -> str:
    raise OSError("libsound.so: cannot open\nin two lines")


@pytest.fixture
def made_up(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setattr(
        _checkup,
        "_ABILITIES",
        (("walk", (), works), ("fly", ("no-such-package-here",), breaks)),
    )
    monkeypatch.setattr(
        _checkup,
        "packages",
        lambda: (
            Package("numpy", "core", ">=1.26", "2.0"),
            Package("wings", "flight", ">=2", "1.5"),
            Package("tail", "flight", ">=1", None),
        ),
    )
    monkeypatch.setenv("RARAVIS_DATA", str(tmp_path))
    (tmp_path / "mnist").mkdir()
    (tmp_path / "mnist" / "train-labels-idx1-ubyte.gz").write_bytes(b"")


@pytest.mark.usefixtures("made_up")
def test_the_report(tmp_path: Path) -> None:
    told = runner.invoke(app, ["doctor"])
    assert told.exit_code == 0
    assert told.stdout.startswith(f"raravis {__version__}, Python 3.")
    for line in (
        "  core      numpy             2.0",
        "  flight    wings             1.5           too old, needs >=2",
        "  flight    tail              -             missing, needs >=1",
        '            to install: pip install "raravis[flight]"',
        "  fly                 not installed: no-such-package-here",
        f"  MNIST         {tmp_path} (1 of 4 files)",
    ):
        assert f"\n{line}\n" in told.stdout
    assert "\n  walk                works: as it should, 0.0 s\n" in told.stdout


@pytest.mark.usefixtures("made_up")
def test_the_report_as_json(tmp_path: Path) -> None:
    told: dict[str, Any] = json.loads(runner.invoke(app, ["doctor", "--json"]).stdout)
    assert told["well"] is True
    assert [package["status"] for package in told["packages"]] == ["ok", "old", "missing"]
    assert [ability["status"] for ability in told["abilities"]] == ["works", "not installed"]
    places = {place["name"]: place for place in told["places"]}
    assert places["RARAVIS_DATA"]["path"] == str(tmp_path)
    assert "may be written" in places["RARAVIS_DATA"]["detail"]


@pytest.mark.usefixtures("made_up")
def test_what_is_broken_is_said_and_shows_in_the_exit_status(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(_checkup, "_ABILITIES", (("swim", (), breaks),))
    told = runner.invoke(app, ["doctor"])
    assert told.exit_code == 1
    assert "\n  swim                fails: OSError: libsound.so: cannot open\n" in told.stdout


@pytest.mark.usefixtures("made_up")
def test_a_core_package_that_is_too_old_is_an_illness(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(_checkup, "packages", lambda: (Package("numpy", "core", ">=3", "2.0"),))
    assert runner.invoke(app, ["doctor"]).exit_code == 1


@pytest.mark.usefixtures("made_up")
@pytest.mark.parametrize("there", ["a file", "nothing", "no name"])
def test_a_data_folder_that_is_none(
    there: str, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    named = tmp_path / "data"
    if there == "a file":
        named.write_text("x")
    monkeypatch.setenv("RARAVIS_DATA", "" if there == "no name" else str(named))
    wanted = {"a file": "no folder", "nothing": "not there yet", "no name": "not set"}[there]
    assert f"({wanted})" in runner.invoke(app, ["doctor"]).stdout
