"""``raravis convert``: calls from one format to another."""

from pathlib import Path
from typing import Annotated

import typer

from raravis.cli._console import DebugOption, JsonOption, QuietOption, print_json, reporting

__all__ = ["convert"]

_FORMATS = ("raven", "audacity", "birdnet", "csv", "parquet")
_SHOWN = 5


def _formats(typed: str) -> list[str]:
    """Return what the shell may complete."""
    return [name for name in _FORMATS if name.startswith(typed)]


def convert(
    source: Annotated[
        Path,
        typer.Argument(
            metavar="IN", help="A file of calls, or a folder with some.", show_default=False
        ),
    ],
    target: Annotated[
        Path,
        typer.Argument(
            metavar="OUT",
            help="A file, or a folder for a file a recording.",
            show_default=False,
        ),
    ],
    *,
    to: Annotated[
        str | None,
        typer.Option(
            metavar="FORMAT",
            help="raven, audacity, birdnet, csv or parquet; by default as OUT ends.",
            show_default=False,
            autocompletion=_formats,
        ),
    ] = None,
    force: Annotated[bool, typer.Option("--force", help="Replace files that are there.")] = False,
    as_json: JsonOption = False,
    quiet: QuietOption = False,
    debug: DebugOption = False,
) -> None:
    """Write calls in another format: Raven, Audacity, BirdNET, CSV or Parquet.

    What IN holds is told by its content. Audacity keeps times, frequencies and labels only, and
    one recording a file; the others keep everything.

    Example: raravis convert calls.csv ravens --to raven
    """
    with reporting(debug=debug):
        from raravis.formats import convert as convert_calls

        done = convert_calls(source, target, to=to, overwrite=force)  # type: ignore[arg-type]
    if as_json:
        print_json(
            {
                "calls": done.calls,
                "recordings": list(done.recordings),
                "format": done.format,
                "written": [str(path) for path in done.written],
                "ignored": list(done.ignored),
            }
        )
    elif quiet:
        typer.echo(target)
    else:
        typer.echo(
            f"{done.calls} calls of {len(done.recordings)} recordings as {done.format}, in "
            f"{len(done.written)} files:"
        )
        for path in done.written[:_SHOWN]:
            typer.echo(f"  {path}")
        if len(done.written) > _SHOWN:
            typer.echo(f"  and {len(done.written) - _SHOWN} more")
        if done.ignored:
            typer.echo(f"{len(done.ignored)} files there hold no calls, such as {done.ignored[0]}")
