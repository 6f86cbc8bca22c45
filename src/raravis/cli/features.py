"""``raravis features``: describe every sound by numbers."""

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

__all__ = ["features"]


def features(
    study: StudyArgument,
    *,
    workers: WorkersOption = None,
    as_json: JsonOption = False,
    quiet: QuietOption = False,
    debug: DebugOption = False,
) -> None:
    """Describe every sound by numbers, so that sounds can be compared.

    Recordings that are done are skipped. Which features stands in study.toml.

    Example: raravis features mystudy
    """

    def work(progress: "ProgressBars") -> "tuple[Study, Done]":
        from raravis.study import Study, steps

        opened = Study.open(study)
        return opened, steps.features(opened, workers=workers, progress=progress)

    perform(study, work, as_json=as_json, quiet=quiet, debug=debug)
