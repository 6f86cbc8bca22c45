"""The shell completes verbs and options of the installed program."""

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

PROGRAM = shutil.which("raravis", path=Path(sys.executable).parent)
FOLDER = str(Path(sys.executable).parent)


def said(*command: str, **variables: str) -> str:
    env = {
        **os.environ,
        "PATH": f"{FOLDER}{os.pathsep}{os.environ['PATH']}",
        # Otherwise the shell that runs the tests is asked, and there may be none.
        "_TYPER_COMPLETE_TEST_DISABLE_SHELL_DETECTION": "1",
        **variables,
    }
    done = subprocess.run(command, capture_output=True, text=True, check=True, env=env)  # noqa: S603
    assert done.stderr == ""
    return done.stdout


@pytest.mark.parametrize(
    ("line", "wanted"),
    [
        ("raravis d", {"demo", "doctor"}),
        ("raravis conv", {"convert"}),
        ("raravis convert --fo", {"--force"}),
        ("raravis convert a b --to r", {"raven"}),
        ("raravis xyz", set()),
    ],
)
def test_bash(line: str, wanted: set[str]) -> None:
    bash = shutil.which("bash")
    assert bash is not None
    script = said("raravis", "--show-completion", "bash")
    words = " ".join(f"'{word}'" for word in line.split())
    asked = f"""{script}
        COMP_WORDS=({words}); COMP_CWORD=$(( ${{#COMP_WORDS[@]}} - 1 ))
        _raravis_completion raravis
        printf '%s\\n' "${{COMPREPLY[@]}}"
    """
    assert set(said(bash, "-c", asked).split()) == wanted


@pytest.mark.parametrize(
    ("shell", "variables"),
    [
        ("zsh", {"_TYPER_COMPLETE_ARGS": "raravis d"}),
        (
            "fish",
            {"_TYPER_COMPLETE_ARGS": "raravis d", "_TYPER_COMPLETE_FISH_ACTION": "get-args"},
        ),
        (
            "powershell",
            {"_TYPER_COMPLETE_ARGS": "raravis d", "_TYPER_COMPLETE_WORD_TO_COMPLETE": "d"},
        ),
    ],
)
def test_what_other_shells_are_told(shell: str, variables: dict[str, str]) -> None:
    assert "_RARAVIS_COMPLETE" in said("raravis", "--show-completion", shell)
    told = said("raravis", _RARAVIS_COMPLETE=f"complete_{shell}", **variables)
    assert "demo" in told
    assert "doctor" in told
    assert "convert" not in told
