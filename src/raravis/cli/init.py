"""``raravis init``: make a study of a folder of recordings."""

from typing import TYPE_CHECKING

from raravis.cli._console import DebugOption, JsonOption, QuietOption
from raravis.cli._options import (
    BoxesOption,
    FeaturesOption,
    KnownLabelsOption,
    MissRateOption,
    ModelOption,
    OutOption,
    RecordingsArgument,
    SeedOption,
    TruthOption,
    WindowOption,
)
from raravis.cli._study import LabelsOption, WorkersOption, new_study, perform, wishes

if TYPE_CHECKING:
    from raravis.cli._console import ProgressBars
    from raravis.study import Done, Study

__all__ = ["init"]


def init(
    recordings: RecordingsArgument = None,
    *,
    out: OutOption,
    labels: LabelsOption = None,
    features: FeaturesOption = None,
    windows: WindowOption = None,
    boxes: BoxesOption = None,
    model: ModelOption = None,
    known_labels: KnownLabelsOption = None,
    miss_rate: MissRateOption = None,
    truth: TruthOption = None,
    seed: SeedOption = None,
    workers: WorkersOption = None,
    as_json: JsonOption = False,
    quiet: QuietOption = False,
    debug: DebugOption = False,
) -> None:
    """Make a study of a folder of recordings, and look into every file.

    The settings are written to STUDY/study.toml, where they may be edited. Of a study that is
    there, the settings given are changed.

    Example: raravis init --out mystudy recordings
    """

    def work(progress: "ProgressBars") -> "tuple[Study, Done]":
        from raravis.study import steps

        wanted = wishes(
            labels=labels,
            features=features,
            windows=windows,
            boxes=boxes,
            model=model,
            known_labels=known_labels,
            miss_rate=miss_rate,
            truth=truth,
            seed=seed,
        )
        made = new_study(out, recordings, wanted)
        return made, steps.init(made, workers=workers, progress=progress)

    perform(out, work, as_json=as_json, quiet=quiet, debug=debug)
