"""The settings that ``init`` and ``run`` take, all of them optional."""

from pathlib import Path
from typing import Annotated

import typer

__all__ = [
    "BoxesOption",
    "FeaturesOption",
    "KnownLabelsOption",
    "MissRateOption",
    "ModelOption",
    "OutOption",
    "RecordingsArgument",
    "SeedOption",
    "TruthOption",
    "WindowOption",
]

RecordingsArgument = Annotated[
    Path | None,
    typer.Argument(
        metavar="RECORDINGS",
        help="The folder of the recordings; not needed for a study that is there.",
        show_default=False,
    ),
]
OutOption = Annotated[
    Path, typer.Option("--out", metavar="STUDY", help="The folder of the study, new or not.")
]
FeaturesOption = Annotated[
    str | None,
    typer.Option(
        "--features",
        metavar="KIND",
        help="shape38 (the default) or birdnet.",
        show_default=False,
    ),
]
WindowOption = Annotated[
    float | None,
    typer.Option(
        "--windows",
        metavar="SECONDS",
        help="Cut recordings into windows instead of looking for sounds.",
        show_default=False,
    ),
]
BoxesOption = Annotated[
    Path | None,
    typer.Option(
        "--boxes",
        metavar="TABLE",
        help="Take sounds from a table (Raven, Audacity, BirdNET, CSV) instead.",
        show_default=False,
    ),
]
ModelOption = Annotated[
    str | None,
    typer.Option(
        "--model",
        metavar="NoveltyDetector|KernelScorer",
        help="What learns (default: NoveltyDetector).",
        show_default=False,
    ),
]
KnownLabelsOption = Annotated[
    str | None,
    typer.Option(
        "--known-labels",
        metavar="use|ignore",
        help="Whether a call can only be of a species listed for its recording (default: use).",
        show_default=False,
    ),
]
MissRateOption = Annotated[
    float | None,
    typer.Option(
        "--miss-rate",
        metavar="SHARE",
        help="Calibrate: listed species that may lose all their calls in a recording.",
        show_default=False,
    ),
]
TruthOption = Annotated[
    Path | None,
    typer.Option(
        "--truth",
        metavar="TABLE",
        help="Noted sounds by which the report judges the results.",
        show_default=False,
    ),
]
SeedOption = Annotated[
    int | None,
    typer.Option("--seed", metavar="N", help="Of whatever is drawn.", show_default=False),
]
