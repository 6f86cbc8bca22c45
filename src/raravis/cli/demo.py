"""``raravis demo``: from recordings to calls that nobody listed, on recordings made on the spot."""

from pathlib import Path
from typing import Annotated

import typer

from raravis.cli._console import DebugOption, JsonOption, QuietOption, reporting

__all__ = ["demo"]


def demo(
    *,
    hidden: Annotated[
        str | None,
        typer.Option(
            metavar="NAME",
            help="The species (or, with --digits, the digits) that no list names.",
            show_default=False,
        ),
    ] = None,
    seed: Annotated[
        int, typer.Option(metavar="N", help="The same seed gives the same figures.")
    ] = 0,
    out: Annotated[
        Path, typer.Option(metavar="DIR", help="Folder for what is made; made if need be.")
    ] = Path("raravis-demo"),
    digits: Annotated[
        bool, typer.Option("--digits", help="Take images of handwritten digits instead.")
    ] = False,
    as_json: JsonOption = False,
    quiet: QuietOption = False,
    debug: DebugOption = False,
) -> None:
    """Make recordings, leave one species out of every list, and find its calls.

    Makes twenty minutes of sound in which eight invented species call, lists for most recordings
    the species that are in them, but for one, and runs a study of them: raravis run. Says how well
    the calls of the species that nobody listed are found, and where the report is. Takes about a
    minute on two cores and needs no network.

    With --digits: learns handwritten digits from bags that never list two of them (3,8), finds
    those two, and writes a page with pictures.

    Example: raravis demo --hidden "Dusk horn" --out /tmp/dusk
    """
    with reporting(debug=debug):
        if digits:
            from raravis.cli._demo_digits import demonstrate_digits

            demonstrate_digits(
                "3,8" if hidden is None else hidden, seed, out, as_json=as_json, quiet=quiet
            )
        else:
            from raravis.cli._demo_soundscapes import demonstrate_soundscapes

            demonstrate_soundscapes(hidden, seed, out, as_json=as_json, quiet=quiet)
