"""``raravis segment``: find the sounds in every recording."""

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

__all__ = ["segment"]


def segment(
    study: StudyArgument,
    *,
    workers: WorkersOption = None,
    as_json: JsonOption = False,
    quiet: QuietOption = False,
    debug: DebugOption = False,
) -> None:
    """Find the sounds in every recording: when they are, and at which frequencies.

    Recordings that are done are skipped. How sounds are found stands in study.toml.

    Example: raravis segment mystudy
    """

    def work(progress: "ProgressBars") -> "tuple[Study, Done]":
        from raravis.study import Study, steps

        opened = Study.open(study)
        return opened, steps.segment(opened, workers=workers, progress=progress)

    perform(study, work, as_json=as_json, quiet=quiet, debug=debug)
