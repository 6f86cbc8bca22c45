"""``raravis run``: from a folder of recordings to annotated calls and a report, at once."""

from typing import TYPE_CHECKING

import typer

from raravis.cli._console import (
    DebugOption,
    JsonOption,
    ProgressBars,
    QuietOption,
    print_json,
    reporting,
)
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
from raravis.cli._study import LabelsOption, WorkersOption, new_study, plain, wishes

if TYPE_CHECKING:
    from raravis.study import Done, Study

__all__ = ["run"]


def run(
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
    """Take a folder of recordings and a table of species to annotated calls and a report.

    Does everything that init, segment, features, label, fit, calibrate, score and report do. What
    is done and current is skipped, so the same command goes on where a run was stopped, and takes
    in new recordings. The results are in STUDY/results, the page is STUDY/report.html.

    Example: raravis run --labels species.csv --out mystudy recordings
    """
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
    with reporting(debug=debug):
        with ProgressBars(shown=not quiet and not as_json, remaining=True) as progress:
            from raravis.review.learning import read_decisions
            from raravis.study import steps

            study = new_study(out, recordings, wanted)
            done = steps.run(study, decided=read_decisions, workers=workers, progress=progress)
        _tell(study, done, as_json=as_json, quiet=quiet)


def _tell(study: "Study", done: "tuple[Done, ...]", *, as_json: bool, quiet: bool) -> None:
    from raravis.cli._told import tell

    if as_json:
        steps = {step.verb: plain(step) for step in done}
        report = str(study.report_path)
        print_json({"command": "run", "study": str(study.folder), "steps": steps, "report": report})
    elif quiet:
        typer.echo(study.report_path)
    else:
        tell(study, done)
