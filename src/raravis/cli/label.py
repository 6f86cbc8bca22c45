"""``raravis label``: read the species listed for each recording."""

from typing import TYPE_CHECKING, Annotated

import typer

from raravis.cli._console import DebugOption, JsonOption, QuietOption
from raravis.cli._study import (
    LabelsOption,
    StudyArgument,
    WorkersOption,
    changed_study,
    given,
    perform,
)

if TYPE_CHECKING:
    from raravis.cli._console import ProgressBars
    from raravis.study import Done, Study

__all__ = ["label"]


def label(
    study: StudyArgument,
    *,
    labels: LabelsOption = None,
    recording_column: Annotated[
        str | None,
        typer.Option(metavar="NAME", help="The column of recordings.", show_default=False),
    ] = None,
    species_column: Annotated[
        str | None,
        typer.Option(metavar="NAME", help="The column of species.", show_default=False),
    ] = None,
    separator: Annotated[
        str | None,
        typer.Option(metavar="TEXT", help="Stands between species.", show_default=False),
    ] = None,
    workers: WorkersOption = None,
    as_json: JsonOption = False,
    quiet: QuietOption = False,
    debug: DebugOption = False,
) -> None:
    """Read which species were heard in which recording.

    A table with the columns recording and species: names separated by ;, and an empty cell where
    somebody listened and heard none. Recordings that are not in it are scored, not learned from.

    Example: raravis label mystudy --labels species.csv
    """

    def work(progress: "ProgressBars") -> "tuple[Study, Done]":
        from raravis.study import steps

        opened = changed_study(
            study,
            given(
                labels=labels,
                recording_column=recording_column,
                species_column=species_column,
                separator=separator,
            ),
        )
        return opened, steps.label(opened, workers=workers, progress=progress)

    perform(study, work, as_json=as_json, quiet=quiet, debug=debug)
