"""The program as such: version, help, light start."""

import re
import shutil
import subprocess
import sys
from pathlib import Path

from typer.testing import CliRunner

import raravis
from raravis.cli.main import app

runner = CliRunner()


def test_version_of_the_installed_program() -> None:
    program = shutil.which("raravis", path=Path(sys.executable).parent)
    assert program is not None, "the console script is not installed"
    done = subprocess.run([program, "--version"], capture_output=True, text=True, check=True)  # noqa: S603
    assert done.stdout == f"raravis {raravis.__version__}\n"
    assert done.stderr == ""


def test_help_lists_every_verb_and_fits_80_columns() -> None:
    told = runner.invoke(app, ["--help"])
    assert told.exit_code == 0
    assert re.search(r"\n  demo +See it at work on recordings made on the spot\.\n", told.stdout)
    assert re.search(r"\n  reproduce +Run the paper's tables again, [^\n]+\.\n", told.stdout)
    assert "Example: raravis demo" in told.stdout
    assert max(map(len, told.stdout.splitlines())) <= 80


def test_every_verb_has_an_example_of_itself() -> None:
    for command in app.registered_commands:
        told = runner.invoke(app, [command.callback.__name__, "--help"])
        assert told.exit_code == 0
        assert f"Example: raravis {command.callback.__name__} " in told.stdout


def test_without_a_verb_the_help_is_shown() -> None:
    told = runner.invoke(app, [])
    assert told.exit_code == 2
    assert "Usage: raravis" in told.output


def test_unknown_verb() -> None:
    told = runner.invoke(app, ["dmeo"])
    assert told.exit_code == 2
    assert "No such command 'dmeo'" in told.stderr


def test_starting_the_program_loads_nothing_heavy() -> None:
    code = (
        "import sys, raravis.cli.main; "
        "heavy = {'numpy', 'scipy', 'sklearn', 'numba', 'pandas', 'pyarrow'} & set(sys.modules); "
        "sys.exit(', '.join(heavy) or 0)"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)  # noqa: S603
    assert (done.returncode, done.stderr) == (0, "")
