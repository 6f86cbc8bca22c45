"""``raravis fit``: learn the listed species."""

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

__all__ = ["fit"]


def fit(
    study: StudyArgument,
    *,
    workers: WorkersOption = None,
    as_json: JsonOption = False,
    quiet: QuietOption = False,
    debug: DebugOption = False,
) -> None:
    """Learn what each listed species sounds like, from the lists of whole recordings.

    Nothing is done if recordings, lists and settings are those that the model learned from.

    Example: raravis fit mystudy
    """

    def work(progress: "ProgressBars") -> "tuple[Study, Done]":
        from raravis.study import Study, steps

        opened = Study.open(study)
        return opened, steps.fit(opened, workers=workers, progress=progress)

    perform(study, work, as_json=as_json, quiet=quiet, debug=debug)
