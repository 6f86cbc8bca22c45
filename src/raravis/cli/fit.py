"""``raravis fit``: learn the listed species."""

from typing import TYPE_CHECKING, Annotated

import typer

from raravis.cli._console import DebugOption, JsonOption, QuietOption
from raravis.cli._study import (
    StudyArgument,
    WorkersOption,
    changed_study,
    perform,
)

if TYPE_CHECKING:
    from raravis.cli._console import ProgressBars
    from raravis.study import Done, Study

__all__ = ["fit"]


def fit(
    study: StudyArgument,
    *,
    with_decisions: Annotated[
        bool | None,
        typer.Option(
            "--with-decisions/--without-decisions",
            help="Learn from what people decided on the review page as well.",
            show_default=False,
        ),
    ] = None,
    workers: WorkersOption = None,
    as_json: JsonOption = False,
    quiet: QuietOption = False,
    debug: DebugOption = False,
) -> None:
    """Learn what each listed species sounds like, from the lists of whole recordings.

    With decisions, a call that was decided on teaches what it is, and a class that was named on the
    review page becomes a known one; the study keeps to that until told otherwise. Nothing is done
    if recordings, lists, decisions and settings are those that the model learned from.

    Example: raravis fit mystudy
    """

    def work(progress: "ProgressBars") -> "tuple[Study, Done]":
        from raravis.review.learning import read_decisions
        from raravis.study import steps

        wanted = {None: {}, True: {"decisions": "use"}, False: {"decisions": "ignore"}}
        opened = changed_study(study, wanted[with_decisions])
        found = steps.fit(opened, decided=read_decisions, workers=workers, progress=progress)
        return opened, found

    perform(study, work, as_json=as_json, quiet=quiet, debug=debug)
