"""What every verb shares: options, progress, warnings, and how errors reach the user.

Results go to stdout; progress, warnings and errors go to stderr. The exit status is 0 if all went
well, 2 for input that cannot be used, 130 after Ctrl-C.
"""

import json
import sys
import traceback
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from types import TracebackType
from typing import Annotated, Any, Self

import typer
from rich import progress as bars
from rich.console import Console

from raravis.errors import RaravisError
from raravis.progress import Progress

__all__ = [
    "DebugOption",
    "JsonOption",
    "ProgressBars",
    "QuietOption",
    "print_json",
    "reporting",
]

BAD_INPUT = 2
INTERRUPTED = 130

JsonOption = Annotated[bool, typer.Option("--json", help="Print one JSON object and nothing else.")]
QuietOption = Annotated[
    bool, typer.Option("--quiet", "-q", help="Print only where the result is; show no progress.")
]
DebugOption = Annotated[
    bool, typer.Option("--debug", help="Show where in the code an error arose.")
]


def print_json(value: dict[str, Any]) -> None:
    """Print an object as JSON on stdout."""
    typer.echo(json.dumps(value, indent=2, allow_nan=False))


@contextmanager
def reporting(*, debug: bool = False) -> Iterator[None]:
    """Turn errors, warnings and Ctrl-C within into one line on stderr and an exit status."""
    with warnings.catch_warnings():
        warnings.showwarning = _show_warning  # type: ignore[assignment]  # it is called by position
        try:
            yield
        except RaravisError as error:
            if debug:
                traceback.print_exc()
            _say("error", str(error))
            raise typer.Exit(BAD_INPUT) from error
        except KeyboardInterrupt as error:
            if debug:
                traceback.print_exc()
            typer.echo("interrupted", err=True)
            raise typer.Exit(INTERRUPTED) from error


class ProgressBars:
    """Draw a bar for every stage that a ``raravis.progress.Progress`` tells of.

    Call it with each one, within a ``with`` block. Unless stdout and stderr are both a terminal,
    or if it is not ``shown``, nothing is drawn. ``remaining`` adds the time left, as estimated.
    """

    def __init__(self, *, shown: bool = True, remaining: bool = False) -> None:
        visible = shown and sys.stdout.isatty() and sys.stderr.isatty()
        self._tasks: dict[str, bars.TaskID] = {}
        self._drawn = bars.Progress(
            bars.TextColumn("{task.description:<12}"),
            bars.BarColumn(bar_width=32),
            bars.MofNCompleteColumn(),
            bars.TimeElapsedColumn(),
            *([bars.TextColumn("left"), bars.TimeRemainingColumn()] if remaining else []),
            console=Console(stderr=True),
            transient=True,
            disable=not visible,
        )

    def __enter__(self) -> Self:
        self._drawn.start()
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        where: TracebackType | None,
    ) -> None:
        self._drawn.stop()

    def __call__(self, progress: Progress) -> None:
        """Move the bar of this stage; the first call makes it."""
        if progress.stage not in self._tasks:
            self._tasks[progress.stage] = self._drawn.add_task(progress.stage)
        self._drawn.update(
            self._tasks[progress.stage], completed=progress.done, total=progress.total
        )

    @property
    def stages(self) -> tuple[str, ...]:
        """The stages told of so far."""
        return tuple(self._tasks)


def _show_warning(message: Warning | str, *_where: object) -> None:
    """Write a warning without the line of code that raised it, as ``warnings.showwarning``."""
    _say("warning", str(message))


def _say(kind: str, text: str) -> None:
    typer.echo(f"{kind}: {text}", err=True)
