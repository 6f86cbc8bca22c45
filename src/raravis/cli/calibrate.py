"""``raravis calibrate``: find the threshold from which on a call is novel."""

from typing import TYPE_CHECKING, Annotated

import typer

from raravis.cli._console import DebugOption, JsonOption, QuietOption
from raravis.cli._study import (
    StudyArgument,
    WorkersOption,
    changed_study,
    given,
    perform,
)

if TYPE_CHECKING:
    from raravis.cli._console import ProgressBars
    from raravis.study import Done, Study

__all__ = ["calibrate"]


def calibrate(
    study: StudyArgument,
    *,
    miss_rate: Annotated[
        float | None,
        typer.Option(
            metavar="SHARE", help="Listed species that may lose all calls.", show_default=False
        ),
    ] = None,
    workers: WorkersOption = None,
    as_json: JsonOption = False,
    quiet: QuietOption = False,
    debug: DebugOption = False,
) -> None:
    """Find the threshold from which on a call is novel.

    With a miss rate, it is found on recordings that the model did not learn from, fold by fold:
    for each species, a recording in which it is listed keeps a call of it, but for this share.
    Without, it is the model's own.

    Example: raravis calibrate mystudy --miss-rate 0.1
    """

    def work(progress: "ProgressBars") -> "tuple[Study, Done]":
        from raravis.review.control import noting_control
        from raravis.review.learning import read_decisions
        from raravis.study import steps

        opened = changed_study(study, given(miss_rate=miss_rate))
        found = steps.calibrate(opened, decided=read_decisions, workers=workers, progress=progress)
        return opened, noting_control(opened, found)

    perform(study, work, as_json=as_json, quiet=quiet, debug=debug)
