"""``raravis report``: write the page that shows the results."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from raravis.cli._console import DebugOption, JsonOption, QuietOption
from raravis.cli._study import (
    StudyArgument,
    changed_study,
    given,
    perform,
)

if TYPE_CHECKING:
    from raravis.cli._console import ProgressBars
    from raravis.study import Done, Study

__all__ = ["report"]


def report(
    study: StudyArgument,
    *,
    truth: Annotated[
        Path | None,
        typer.Option(metavar="TABLE", help="Sounds that somebody has noted.", show_default=False),
    ] = None,
    as_json: JsonOption = False,
    quiet: QuietOption = False,
    debug: DebugOption = False,
) -> None:
    """Write one page that shows the results: pictures and sounds of the most novel calls.

    The page needs nothing else and can be sent to somebody. With noted sounds (a Raven table, an
    Audacity file, a CSV, or a folder of them) it says how right the results are.

    Example: raravis report mystudy
    """

    def work(progress: "ProgressBars") -> "tuple[Study, Done]":
        from raravis.study import steps

        opened = changed_study(study, given(truth=truth))
        return opened, steps.report(opened, progress=progress)

    perform(study, work, as_json=as_json, quiet=quiet, debug=debug)
