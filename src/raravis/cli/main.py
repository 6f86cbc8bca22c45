"""The entry point: one program, one file a verb."""

from typing import Annotated

import typer

from raravis._version import __version__
from raravis.cli.calibrate import calibrate
from raravis.cli.convert import convert
from raravis.cli.demo import demo
from raravis.cli.doctor import doctor
from raravis.cli.features import features
from raravis.cli.fit import fit
from raravis.cli.init import init
from raravis.cli.label import label
from raravis.cli.report import report
from raravis.cli.reproduce import reproduce
from raravis.cli.review import review
from raravis.cli.run import run
from raravis.cli.score import score
from raravis.cli.segment import segment

__all__ = ["app", "main"]

app = typer.Typer(
    name="raravis",
    no_args_is_help=True,
    pretty_exceptions_enable=False,
    rich_markup_mode=None,
    context_settings={"help_option_names": ["-h", "--help"]},
    epilog="Example: raravis demo. For the options of a verb: raravis demo --help",
)


def _print_version(wanted: bool) -> None:
    if wanted:
        typer.echo(f"raravis {__version__}")
        raise typer.Exit


@app.callback()
def _program(
    version: Annotated[
        bool,
        typer.Option(
            "--version", callback=_print_version, is_eager=True, help="Print the version and stop."
        ),
    ] = False,
) -> None:
    """Novelty detection from weak labels.

    Learns from bags of instances which instances are of a listed class, and flags the others.
    """


app.command(short_help="See it at work on recordings made on the spot.")(demo)
app.command(short_help="From a folder of recordings to annotated calls, at once.")(run)
app.command(short_help="Make a study of a folder of recordings.")(init)
app.command(short_help="Find the sounds in every recording.")(segment)
app.command(short_help="Describe every sound by numbers.")(features)
app.command(short_help="Read the species listed for each recording.")(label)
app.command(short_help="Learn the listed species.")(fit)
app.command(short_help="Find the threshold from which on a call is novel.")(calibrate)
app.command(short_help="Say of every call what it is and how novel.")(score)
app.command(short_help="Write the page that shows the results.")(report)
app.command(short_help="Open a page to listen and decide on, that the model learns from.")(review)
app.command(short_help="Write calls in another format.")(convert)
app.command(short_help="Say what is installed and whether it works.")(doctor)
app.command(short_help="Run the paper's tables again, beside the published numbers.")(reproduce)


def main() -> None:
    """Run the program with the arguments of the command line."""
    app()
