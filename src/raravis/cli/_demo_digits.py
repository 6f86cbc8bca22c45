"""``raravis demo --digits``: the method on images that ship with scikit-learn."""

from pathlib import Path
from typing import TYPE_CHECKING, Any

import typer
from rich import box
from rich.console import Console
from rich.table import Table

from raravis.cli._console import ProgressBars, print_json
from raravis.errors import InputError
from raravis.progress import Progress

if TYPE_CHECKING:
    from raravis.demo import DigitsDemo

__all__ = ["demonstrate_digits"]

Shown = tuple[str, str, str]


def demonstrate_digits(hidden: str, seed: int, out: Path, *, as_json: bool, quiet: bool) -> None:
    """Run the demo on digits and say what it found."""
    found, page = _run(_digits(hidden), seed, out, shown=not quiet)
    if as_json:
        print_json(_summary(found) | {"page": str(page)})
    elif quiet:
        typer.echo(page)
    else:
        _print_report(found, page)


def _run(
    hidden: tuple[int, ...], seed: int, out: Path, *, shown: bool
) -> tuple["DigitsDemo", Path]:
    with ProgressBars(shown=shown) as progress:
        progress(Progress("loading", 0, 1))
        from raravis.demo import check_folder, render_page, run_digits, write_page

        progress(Progress("loading", 1, 1))
        check_folder(out)
        found = run_digits(hidden=hidden, seed=seed, progress=progress)
    return found, write_page(render_page(found), out)


def _summary(found: "DigitsDemo") -> dict[str, Any]:
    from raravis.demo import summary

    return summary(found)


def _digits(text: str) -> tuple[int, ...]:
    """Read digits with commas between.

    >>> _digits("3, 8")
    (3, 8)
    """
    words = [word.strip() for word in text.split(",")]
    if not all(len(word) == 1 and word.isdecimal() for word in words):
        raise InputError(
            f"--hidden is {text!r}; pass one to nine different digits with commas between, such "
            "as --hidden 3,8."
        )
    return tuple(int(word) for word in words)


def _print_report(found: "DigitsDemo", page: Path) -> None:
    from raravis.demo import hidden_share, join_words

    console = Console(highlight=False)
    console.print(f"\nHandwritten digits; the bags hold {join_words(found.hidden)}, unlisted.")
    console.print(_table(found))
    console.print(
        "Novelty is how far an instance stays below the threshold with every listed digit. The "
        f"most novel test images: {hidden_share(found, found.most_novel)} The most known: "
        f"{hidden_share(found, found.most_known)}\n"
    )
    console.print(
        f"The page with the pictures is {page}; open it in a browser:\n{page.absolute().as_uri()}",
        soft_wrap=True,
        markup=False,
    )


def _table(found: "DigitsDemo") -> Table:
    table = Table(box=box.SIMPLE, show_header=False, pad_edge=False, collapse_padding=True)
    table.add_column()
    table.add_column(justify="right")
    table.add_column(style="dim")
    for title, rows in (
        ("AUC, known against novel", _areas(found)),
        ("Decisions of KernelScorer", _decisions(found)),
        ("Time", _times(found)),
    ):
        table.add_row(title, style="bold")
        for name, figure, note in rows:
            table.add_row(f"  {name}", figure, note)
        table.add_section()
    return table


def _areas(found: "DigitsDemo") -> list[Shown]:
    interval = f"{found.auc.level:.0%} interval {found.auc.low:.3f} to {found.auc.high:.3f}"
    ours = ("KernelScorer", f"{found.auc.estimate:.3f}", interval)
    rivals = [(r.name, f"{r.auc.estimate:.3f}", f"on {r.note}") for r in found.rivals]
    return [ours, *rivals]


def _decisions(found: "DigitsDemo") -> list[Shown]:
    novel, test = found.detection.novel, found.test.bags
    return [
        ("annotation accuracy", f"{found.accuracy:.3f}", f"of {test.n_instances:,} test instances"),
        ("novel precision", f"{novel.precision:.3f}", "of those called novel"),
        ("novel recall", f"{novel.recall:.3f}", f"of {novel.n:,} instances of hidden digits"),
    ]


def _times(found: "DigitsDemo") -> list[Shown]:
    train, test = found.train.bags, found.test.bags
    given = f"{train.n_instances:,} instances in {train.n_bags} bags"
    return [
        ("fit", f"{found.seconds.fit:.1f} s", given),
        ("score", f"{found.seconds.score:.1f} s", f"{test.n_instances:,} instances"),
    ]
