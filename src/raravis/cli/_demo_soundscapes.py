"""``raravis demo``: a study of made-up recordings."""

from pathlib import Path
from typing import TYPE_CHECKING

import typer
from rich import box
from rich.console import Console
from rich.table import Table

from raravis.cli._console import ProgressBars, print_json
from raravis.progress import Progress

if TYPE_CHECKING:
    from raravis.demo.soundscapes import SoundscapeDemo
    from raravis.metrics import Interval

__all__ = ["demonstrate_soundscapes"]


def demonstrate_soundscapes(
    hidden: str | None, seed: int, out: Path, *, as_json: bool, quiet: bool
) -> None:
    """Run the demo on made-up recordings and say what it found."""
    with ProgressBars(shown=not quiet and not as_json, remaining=True) as progress:
        progress(Progress("loading", 0, 1))
        from raravis.demo.soundscapes import HIDDEN, run_soundscapes, summary

        progress(Progress("loading", 1, 1))
        found = run_soundscapes(
            out, hidden=HIDDEN if hidden is None else hidden, seed=seed, progress=progress
        )
    if as_json:
        print_json(summary(found))
    elif quiet:
        typer.echo(found.report)
    else:
        _tell(found)


def _tell(found: "SoundscapeDemo") -> None:
    results, console = found.results, Console(highlight=False)
    console.print(
        f"\n{len(results.recordings)} made-up recordings, "
        f"{sum(it.duration_s for it in results.recordings) / 60:.0f} minutes; the lists of "
        f"{len(results.species)} of them never name the {found.hidden}."
    )
    console.print(_table(found))
    ours = sum(kind == found.hidden for kind in found.most_novel)
    console.print(
        f"Of the {len(found.most_novel)} most novel calls, {ours} are of the {found.hidden}.\n"
    )
    console.print(
        f"The tables are in {results.study.results_folder}.\n"
        f"The report with pictures and sounds is {found.report}; open it in a browser:\n"
        f"{found.report.absolute().as_uri()}",
        soft_wrap=True,
        markup=False,
    )


def _table(found: "SoundscapeDemo") -> Table:
    verdict, results = found.verdict, found.results
    rows = {
        "Calls of known species against those of the hidden one": [
            ("AUC", *_area(verdict.auc)),
            ("AUC, no list given", *_area(verdict.unlabelled_auc)),
        ],
        f"Decisions of {results.model.kind}": [
            (
                "annotation accuracy",
                f"{verdict.accuracy:.3f}",
                f"of {verdict.n_known + verdict.n_novel:,} calls of any species",
            ),
            ("novel precision", f"{verdict.precision:.3f}", "of those called novel"),
            ("novel recall", f"{verdict.recall:.3f}", f"of {verdict.n_novel:,} hidden calls"),
        ],
        "Time": [
            ("make recordings", f"{found.seconds.recordings:.1f} s", ""),
            ("study", f"{found.seconds.study:.1f} s", f"{len(results.calls):,} calls found"),
        ],
    }
    table = Table(box=box.SIMPLE, show_header=False, pad_edge=False, collapse_padding=True)
    table.add_column()
    table.add_column(justify="right")
    table.add_column(style="dim")
    for title, lines in rows.items():
        table.add_row(title, style="bold")
        for name, figure, note in lines:
            table.add_row(f"  {name}", figure, note)
        table.add_section()
    return table


def _area(interval: "Interval | None") -> tuple[str, str]:
    if interval is None:
        return "", "too few recordings to tell"
    return (
        f"{interval.estimate:.3f}",
        f"{interval.level:.0%} interval {interval.low:.3f} to {interval.high:.3f}",
    )
