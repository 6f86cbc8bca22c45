"""``raravis reproduce``: the paper's tables and figures, run again beside the published numbers."""

import difflib
import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal, TypeAlias

import typer
from rich import box
from rich.console import Console
from rich.table import Table
from rich.text import Text

from raravis.cli._console import (
    INTERRUPTED,
    DebugOption,
    JsonOption,
    ProgressBars,
    QuietOption,
    print_json,
    reporting,
)
from raravis.errors import InputError

if TYPE_CHECKING:
    from raravis.experiments import TableResult

__all__ = ["reproduce"]

ALL = "all"
REPORT = "report.html"

_Mode: TypeAlias = Literal["full", "quiet", "json"]

_STYLES = {"win": "green", "loss": "yellow", "": ""}
# Characters that the label sets and one model take in a table, so that it fits the terminal.
_FIRST_COLUMNS, _MODEL_COLUMN = 36, 27


@dataclass(frozen=True)
class _Places:
    """Where results go; None where one is not wanted."""

    folder: Path
    html: Path
    csv: Path | None
    markdown: Path | None

    def check(self) -> None:
        """Refuse, before any work, what cannot be written or has no place for the figures."""
        from raravis._html.document import check_file, check_folder

        check_folder(self.folder, kind="results")
        check_file(self.html, kind="report")
        for file, kind in ((self.csv, "CSV"), (self.markdown, "Markdown")):
            if file is not None:
                check_file(file, kind=kind)
        if self.markdown is not None and self.markdown.exists():
            from raravis.experiments.report import fill_markdown

            fill_markdown(self.markdown.read_text(encoding="utf-8"), [])

    def set_aside(self) -> None:
        """Put what earlier runs have finished out of sight; nobody loses hours by an option."""
        if self.journal.exists():
            self.journal.replace(self.journal.with_name(f"{self.journal.name}.old"))

    @property
    def journal(self) -> Path:
        # One for all tables: the claim about filtration takes the figures of the unfiltered ones.
        return self.folder / "journal.jsonl"

    def result(self, table: str) -> Path:
        return self.folder / f"{table}.json"


# Of the protocol; the default is that of the table.
TrainBags = Annotated[int | None, typer.Option(metavar="N", min=1, help="Training bags (digits).")]
TestBags = Annotated[int | None, typer.Option(metavar="N", min=1, help="Test bags (digits).")]
BagSize = Annotated[int | None, typer.Option(metavar="N", min=1, help="Instances a bag (digits).")]
Beta = Annotated[float | None, typer.Option(metavar="X", help="Dirichlet concentration (digits).")]
TrainFraction = Annotated[
    float | None, typer.Option(metavar="X", help="Share of the bags for training (birds).")
]

# Of the run.
Tables = Annotated[
    list[str] | None,
    typer.Argument(metavar="TABLE...", help="Tables by name, or all; --list names them."),
]
List = Annotated[bool, typer.Option("--list", help="Name the tables and models, and stop.")]
Repeats = Annotated[int | None, typer.Option(metavar="N", min=1, help="Repeats of each label set.")]
Jobs = Annotated[
    int, typer.Option(metavar="N", help="Processes at once, -1 for one a core; same figures.")
]
Quick = Annotated[bool, typer.Option("--quick", help="A small form, to see that all of it runs.")]
Models = Annotated[
    list[str] | None, typer.Option("--model", metavar="NAME", help="A model; may be repeated.")
]
Seed = Annotated[int, typer.Option(metavar="N", help="The same seed gives the same figures.")]
DataHome = Annotated[Path | None, typer.Option(metavar="DIR", help="Folder of the data sets.")]

# Of what is written.
Out = Annotated[Path, typer.Option(metavar="DIR", help="Folder for results, made if need be.")]
CsvFile = Annotated[Path | None, typer.Option(metavar="FILE", help="Write all cells as CSV too.")]
HtmlFile = Annotated[
    Path | None, typer.Option(metavar="FILE", help="The report, if not DIR/report.html.")
]
MarkdownFile = Annotated[
    Path | None,
    typer.Option(metavar="FILE", help="Write the figures as Markdown, or fill a document."),
]
NoResume = Annotated[bool, typer.Option("--no-resume", help="Set aside what was finished in DIR.")]
AcceptOlder = Annotated[
    bool,
    typer.Option("--accept-older", help="Keep figures in DIR that other versions have made."),
]


def reproduce(
    *,
    tables: Tables = None,
    listed: List = False,
    repeats: Repeats = None,
    jobs: Jobs = 1,
    quick: Quick = False,
    model: Models = None,
    seed: Seed = 0,
    out: Out = Path("raravis-reproduce"),
    csv: CsvFile = None,
    html: HtmlFile = None,
    markdown: MarkdownFile = None,
    no_resume: NoResume = False,
    accept_older: AcceptOlder = False,
    data_home: DataHome = None,
    train_bags: TrainBags = None,
    test_bags: TestBags = None,
    bag_size: BagSize = None,
    beta: Beta = None,
    train_fraction: TrainFraction = None,
    as_json: JsonOption = False,
    quiet: QuietOption = False,
    debug: DebugOption = False,
) -> None:
    """Run tables and figures of the paper again, beside the published numbers.

    Prints a table for each, and writes JSON and one HTML report to a folder. What is finished when
    you press Ctrl-C is kept there; the same command again goes on from it.

    Example: raravis reproduce --quick mnist hja
    """
    unsaid = {
        "n_train_bags": train_bags,
        "n_test_bags": test_bags,
        "bag_size": bag_size,
        "beta": beta,
        "train_fraction": train_fraction,
    }
    settings: dict[str, Any] = {
        "repeats": repeats,
        "jobs": jobs,
        "quick": quick,
        "models": model or None,
        "seed": seed,
        "data_home": data_home,
        "accept_older": accept_older,
        "options": {name: value for name, value in unsaid.items() if value is not None},
    }
    places = _Places(out, html or out / REPORT, csv, markdown)
    with reporting(debug=debug):
        if listed:
            _print_list(as_json=as_json)
            return
        names = _table_names(tables or [])
        _check_options(names, settings["options"])
        places.check()
        if no_resume:
            places.set_aside()
        mode: _Mode = "json" if as_json else "quiet" if quiet else "full"
        results = _run(names, places, settings, mode=mode)
        _conclude(results, names, places, mode=mode)


def _run(
    names: Sequence[str],
    places: _Places,
    settings: Mapping[str, Any],
    *,
    mode: _Mode,
) -> list["TableResult"]:
    """Run one table after the other; an interruption ends the list early."""
    results: list[TableResult] = []
    try:
        for name in names:
            results.append(_run_table(name, places, settings, shown=mode != "quiet"))
            if mode == "full":
                _print_table(results[-1])
            if not results[-1].complete:
                break
    except KeyboardInterrupt:
        # What was finished before still counts, and the caller sees that tables are missing.
        pass
    if results:
        _write(results, places)
    return results


def _run_table(
    name: str, places: _Places, settings: Mapping[str, Any], *, shown: bool
) -> "TableResult":
    from raravis._html.document import write_text
    from raravis.experiments import TABLES, run_table

    options = {key: v for key, v in settings["options"].items() if key in TABLES[name].options}
    asked = {**settings, "options": options}
    with ProgressBars(shown=shown, remaining=True) as progress:
        found = run_table(name, journal=places.journal, progress=progress, **asked)
    text = json.dumps(found.to_json(), indent=2, allow_nan=False)
    write_text(text + "\n", places.result(name), kind="result")
    return found


def _conclude(
    results: Sequence["TableResult"], names: Sequence[str], places: _Places, *, mode: _Mode
) -> None:
    """Say where the results are, or that they are not all there."""
    if mode == "json":
        _print_results(results, single=len(names) == 1)
    elif results and mode == "quiet":
        typer.echo(places.html)
    elif results:
        typer.echo(f"\nThe report is {places.html}; open it in a browser:")
        typer.echo(places.html.absolute().as_uri())
    done = sum(found.complete for found in results)
    if done < len(names):
        typer.echo(
            f"interrupted: {done} of {len(names)} tables complete. What is finished is kept in "
            f"{places.folder}; give the same command again to go on from there.",
            err=True,
        )
        raise typer.Exit(INTERRUPTED)


def _write(results: Sequence["TableResult"], places: _Places) -> None:
    from raravis._html.document import write_text
    from raravis.experiments.report import fill_markdown, markdown_tables, render_report
    from raravis.experiments.terminal import csv_text

    write_text(render_report(results), places.html, kind="report")
    if places.csv is not None:
        write_text(csv_text(results), places.csv, kind="CSV")
    if places.markdown is not None:
        known = places.markdown.exists()
        text = (
            fill_markdown(places.markdown.read_text(encoding="utf-8"), results)
            if known
            else markdown_tables(results)
        )
        write_text(text, places.markdown, kind="Markdown")


def _table_names(asked: Sequence[str]) -> list[str]:
    from raravis.experiments import TABLES

    if ALL in asked:
        return list(TABLES)
    accepted = f"pass one or more of {', '.join(TABLES)}, or {ALL}."
    if not asked:
        raise InputError(f"no table is named; {accepted}")
    for name in asked:
        if name not in TABLES:
            close = difflib.get_close_matches(name, [*TABLES, ALL], n=1, cutoff=0.5)
            hint = f" Did you mean {close[0]}?" if close else ""
            raise InputError(f"the table is {name!r}; {accepted}{hint}")
    return list(dict.fromkeys(asked))


def _check_options(names: Sequence[str], options: Mapping[str, Any]) -> None:
    """Refuse an option that none of the tables has; the others each take what they have."""
    from raravis.experiments import TABLES

    for option in options:
        if not any(option in TABLES[name].options for name in names):
            having = [name for name, spec in TABLES.items() if option in spec.options]
            flag = "--" + option.removeprefix("n_").replace("_", "-")
            raise InputError(
                f"{flag} is no option of {', '.join(names)}; it is one of {', '.join(having)}."
            )


def _print_results(results: Sequence["TableResult"], *, single: bool) -> None:
    told = [found.to_json() for found in results]
    print_json(told[0] if single and told else {"tables": told})


def _print_list(*, as_json: bool) -> None:
    from raravis.experiments import MODELS, TABLES

    if as_json:
        tables = [{"name": name, "title": spec.title} for name, spec in TABLES.items()]
        models = [{"name": name, "title": spec.description} for name, spec in MODELS.items()]
        print_json({"tables": tables, "models": models})
        return
    console = Console(highlight=False)
    for title, items in (
        ("Tables", {name: spec.title for name, spec in TABLES.items()}),
        ("Models", {name: spec.description for name, spec in MODELS.items()}),
    ):
        table = Table(title, "", box=box.SIMPLE_HEAD, pad_edge=False)
        for name, text in items.items():
            table.add_row(name, text)
        console.print(table)


def _print_table(found: "TableResult") -> None:
    from raravis.experiments.terminal import comparison_sentence, duration, figure_tables

    console = Console(highlight=False)
    console.print(Text(f"\n{found.title}", style="bold"), Text(f"({found.table})", style="dim"))
    if found.cells:
        for table in _by_set(found, console.width):
            console.print(table)
        console.print(_summary(found))
    for figure in found.figures.values():
        for told in figure_tables(figure):
            console.print(Text(f"\n{told.title}"))
            console.print(_plain_table(told.columns, told.rows))
    for comparison in found.comparisons:
        console.print(Text(comparison_sentence(comparison)))
    console.print(Text(f"{duration(found.seconds)} in all.", style="dim"))


def _by_set(found: "TableResult", width: int) -> Iterable[Table]:
    """Make as many tables, some models in each, as the width of the terminal asks for."""
    from raravis.experiments.terminal import rows

    models = list(found.models)
    n_beside = max(1, (width - _FIRST_COLUMNS) // _MODEL_COLUMN)
    for start in range(0, len(models), n_beside):
        chosen = models[start : start + n_beside]
        table = Table(box=box.SIMPLE_HEAD, pad_edge=False)
        table.add_column("known")
        table.add_column("published", justify="right")
        for model in chosen:
            table.add_column(model, no_wrap=True)
        for row in rows(found):
            cells = (_entry(row.cells.get(model)) for model in chosen)
            table.add_row(Text(row.known), row.published, *cells)
        yield table


def _entry(cell: Any) -> Text:
    from raravis.experiments.terminal import entry

    told = entry(cell)
    return Text.assemble(
        told.figure,
        f"  {told.difference} " if told.difference else "",
        (told.mark, _STYLES[told.mark]),
    )


def _summary(found: "TableResult") -> Table:
    from raravis.experiments.terminal import number, published_mean, summary_rows

    table = Table(box=box.SIMPLE_HEAD, pad_edge=False)
    table.add_column("over the label sets")
    for name in ("mean", "se", "wins", "repeats", "time"):
        table.add_column(name, justify="right")
    for row in summary_rows(found):
        table.add_row(*row)
    if any(cell.paper is not None for cell in found.cells):
        table.add_section()
        table.add_row("published", number(published_mean(found)))
    return table


def _plain_table(columns: Sequence[str], lines: Iterable[Sequence[Any]]) -> Table:
    from raravis.experiments.terminal import value_text

    table = Table(box=box.SIMPLE_HEAD, pad_edge=False)
    for name in columns:
        table.add_column(Text(str(name)))
    for line in lines:
        table.add_row(*(Text(value_text(value)) for value in line))
    return table
