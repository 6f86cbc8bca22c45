"""``raravis score``: say of every call what it is and how novel."""

from typing import TYPE_CHECKING

from raravis.cli._console import DebugOption, JsonOption, QuietOption
from raravis.cli._study import (
    StudyArgument,
    WorkersOption,
    perform,
)

if TYPE_CHECKING:
    from raravis.cli._console import ProgressBars
    from raravis.study import Done, Study

__all__ = ["score"]


def score(
    study: StudyArgument,
    *,
    workers: WorkersOption = None,
    as_json: JsonOption = False,
    quiet: QuietOption = False,
    debug: DebugOption = False,
) -> None:
    """Say of every call which species it is and how novel, and write the tables of results.

    results/ then holds calls.csv and calls.parquet, and a Raven table and an Audacity file for each
    recording.

    Example: raravis score mystudy
    """

    def work(progress: "ProgressBars") -> "tuple[Study, Done]":
        from raravis.review.control import noting_control
        from raravis.study import Study, steps

        opened = Study.open(study)
        found = steps.score(opened, workers=workers, progress=progress)
        return opened, noting_control(opened, found)

    perform(study, work, as_json=as_json, quiet=quiet, debug=debug)
