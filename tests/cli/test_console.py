"""How errors, warnings, interruptions and progress reach the user."""

import io
import json
import sys
import warnings

import pytest
import typer

from raravis.cli._console import ProgressBars, print_json, reporting
from raravis.errors import InputError, RaravisWarning
from raravis.progress import Progress


class Terminal(io.StringIO):
    def isatty(self) -> bool:
        return True


def test_an_error_is_one_line_and_status_2(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(typer.Exit) as stopped, reporting():
        raise InputError("this is wrong; do that.")
    assert stopped.value.exit_code == 2
    assert capsys.readouterr() == ("", "error: this is wrong; do that.\n")


def test_debug_adds_where_the_error_arose(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(typer.Exit) as stopped, reporting(debug=True):
        raise InputError("this is wrong; do that.")
    told = capsys.readouterr().err
    assert stopped.value.exit_code == 2
    assert "Traceback" in told
    assert "test_console.py" in told
    assert told.endswith("error: this is wrong; do that.\n")


def test_an_error_of_our_own_making_is_not_hidden() -> None:
    with pytest.raises(ZeroDivisionError), reporting():
        1 / 0  # noqa: B018


def test_an_interruption_is_one_word_and_status_130(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(typer.Exit) as stopped, reporting():
        raise KeyboardInterrupt
    assert stopped.value.exit_code == 130
    assert capsys.readouterr() == ("", "interrupted\n")


def test_a_warning_is_one_line_and_the_usual_way_returns(
    capsys: pytest.CaptureFixture[str],
) -> None:
    usual = warnings.showwarning
    with reporting():
        warnings.simplefilter("always")
        warnings.warn("two classes are left out.", RaravisWarning, stacklevel=1)
    assert capsys.readouterr() == ("", "warning: two classes are left out.\n")
    assert warnings.showwarning is usual


def test_json_is_json_and_refuses_what_is_not(capsys: pytest.CaptureFixture[str]) -> None:
    print_json({"a": [1, None]})
    assert json.loads(capsys.readouterr().out) == {"a": [1, None]}
    with pytest.raises(ValueError, match="not JSON compliant"):
        print_json({"a": float("nan")})


@pytest.mark.parametrize(
    ("out", "err", "shown", "drawn"),
    [
        (Terminal, Terminal, True, True),
        (Terminal, Terminal, False, False),
        (io.StringIO, Terminal, True, False),
        (Terminal, io.StringIO, True, False),
    ],
)
def test_progress_is_drawn_on_terminals_only(
    monkeypatch: pytest.MonkeyPatch,
    out: type[io.StringIO],
    err: type[io.StringIO],
    shown: bool,
    drawn: bool,
) -> None:
    monkeypatch.setenv("TERM", "xterm")
    monkeypatch.setattr(sys, "stdout", out())
    monkeypatch.setattr(sys, "stderr", err())
    with ProgressBars(shown=shown) as progress:
        progress(Progress("classes", 1, 8))
        progress(Progress("classes", 8, 8))
        progress(Progress("scores", 1, 1))
    assert progress.stages == ("classes", "scores")
    assert ("classes" in sys.stderr.getvalue()) == drawn
    assert sys.stdout.getvalue() == ""
