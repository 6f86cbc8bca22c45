"""What an experiment found, as rows and sentences: for terminal, page and spreadsheet alike."""

import csv
import io
import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, TypeAlias

from raravis.experiments.results import (
    JSON,
    BagPictures,
    BagRow,
    Cell,
    Comparison,
    DataTable,
    Figure,
    RocFigure,
    RocLine,
    RocPanel,
    TableResult,
)

__all__ = [
    "Entry",
    "Row",
    "comparison_sentence",
    "csv_text",
    "describe",
    "duration",
    "entry",
    "figure_tables",
    "from_json",
    "label_set",
    "model_descriptions",
    "number",
    "published_mean",
    "rows",
    "settings",
    "signed",
    "summary_rows",
    "value_text",
    "with_error",
]

PLUS_MINUS = "\N{PLUS-MINUS SIGN}"
MINUS = "\N{MINUS SIGN}"
DASH = "\N{EN DASH}"

# Colour never says it alone: what beats the published figure is called so.
_MARKS = {True: "win", False: "loss", None: ""}
_CSV_COLUMNS = (
    "table",
    "known",
    "novel",
    "model",
    "auc_mean",
    "auc_se",
    "n",
    "paper",
    "difference",
    "win",
    "seconds",
)

Texts: TypeAlias = tuple[str, ...]


@dataclass(frozen=True)
class Row:
    """A label set with what every model reached on it; ``published`` is in words."""

    known: str
    novel: str
    published: str
    cells: Mapping[str, Cell]


@dataclass(frozen=True)
class Entry:
    """A cell in words; ``mark`` says win or loss, and nothing where nothing is published."""

    figure: str
    difference: str
    mark: str


def rows(result: TableResult) -> tuple[Row, ...]:
    """Group the cells of a table by label set, in their order.

    >>> found = TableResult("hja", "Birds", {}, (Cell((1, 4), (2,), "kernel", (0.9,), 0.85),))
    >>> [(row.known, row.published) for row in rows(found)]
    [('1, 4', '0.85')]
    """
    groups: dict[Any, list[Cell]] = {}
    for cell in result.cells:
        groups.setdefault((cell.known, cell.novel), []).append(cell)
    return tuple(
        Row(
            known=label_set(known),
            novel="" if novel is None else label_set(novel),
            published=_published(cells),
            cells={cell.model: cell for cell in cells},
        )
        for (known, novel), cells in groups.items()
    )


def entry(cell: Cell | None) -> Entry:
    """Put a cell in words; all are empty where the model was not run on the label set."""
    if cell is None:
        return Entry("", "", "")
    return Entry(
        figure=with_error(cell.auc_mean, cell.auc_se),
        difference="" if cell.paper is None or not cell.n else signed(cell.auc_mean - cell.paper),
        mark=_MARKS[cell.wins],
    )


def summary_rows(result: TableResult) -> tuple[Texts, ...]:
    """Say of every model: name, mean, standard error, wins, repeats and time."""
    return tuple(
        (
            name,
            number(model.mean),
            number(model.se),
            f"{model.wins} of {model.n_paper}" if model.n_paper else "",
            _repeats(cell.n for cell in result.cells if cell.model == name),
            duration(model.seconds),
        )
        for name, model in result.models.items()
    )


def published_mean(result: TableResult) -> float:
    """Return the mean of the published figures over label sets; NaN where there are none."""
    papers = {
        (cell.known, cell.novel): cell.paper for cell in result.cells if cell.paper is not None
    }
    return sum(papers.values()) / len(papers) if papers else math.nan


def comparison_sentence(found: Comparison) -> str:
    """Say what a paired comparison claims, its interval, and whether it holds.

    >>> comparison_sentence(Comparison("A beats B", 0.02, 0.01, 0.03, 0.95, 9, True))
    'A beats B: holds; on average +0.020 (95% interval +0.010 to +0.030, 9 pairs).'
    """
    claim = found.claim[:1].upper() + found.claim[1:]
    verdict = "holds" if found.holds else "not shown"
    interval = f"{found.level:.0%} interval {signed(found.low)} to {signed(found.high)}"
    if math.isnan(found.low):
        interval = "too few for an interval"
    return (
        f"{claim}: {verdict}; on average {signed(found.difference)} ({interval}, {found.n} pairs)."
    )


def figure_tables(figure: Figure) -> tuple[DataTable, ...]:
    """Say in tables what a figure shows, for where nothing can be drawn."""
    if isinstance(figure, DataTable):
        return (figure,)
    if isinstance(figure, RocFigure):
        return tuple(
            DataTable(
                f"Area under the curve, {panel.title}",
                ("model", "AUC"),
                tuple((line.model, number(line.auc)) for line in panel.curves),
            )
            for panel in figure.panels
        )
    described = tuple(
        (row.key, label_set(row.labels) or "(nothing)", label_set(row.truth)) for row in figure.rows
    )
    return (DataTable("Example bags", ("bag", "label set", "instances"), described),)


def csv_text(results: Iterable[TableResult]) -> str:
    """Return one line for every table, label set and model; classes stand with ; between."""
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow(_CSV_COLUMNS)
    for result in results:
        writer.writerows(_csv_row(result.table, cell) for cell in result.cells)
    return text.getvalue()


def from_json(told: Mapping[str, JSON]) -> TableResult:
    """Read the stable form; pictures, which it leaves out, stay out."""
    return TableResult(
        table=told["table"],
        title=told.get("title", told["table"]),
        protocol=told["protocol"],
        cells=tuple(_read_cell(cell) for cell in told["cells"]),
        comparisons=tuple(Comparison(**_nans(item)) for item in told.get("comparisons", ())),
        figures={name: _read_figure(item) for name, item in told.get("figures", {}).items()},
        seconds=told["seconds"],
        versions=told["versions"],
        complete=told.get("complete", True),
    )


def label_set(classes: Sequence[Any]) -> str:
    """Return classes with commas between.

    >>> label_set((0, 1, "wren"))
    '0, 1, wren'
    """
    return ", ".join(str(item) for item in classes)


def number(value: float) -> str:
    """Return three digits behind the point, or a dash for what is not known."""
    return DASH if math.isnan(value) else f"{value:.3f}"


def with_error(mean: float, error: float) -> str:
    """Return a mean with its standard error, where there is one.

    >>> with_error(0.91, 0.004), with_error(0.91, math.nan)
    ('0.910 ± 0.004', '0.910')
    """
    return number(mean) if math.isnan(error) else f"{number(mean)} {PLUS_MINUS} {number(error)}"


def signed(value: float) -> str:
    """Return three digits with their sign.

    >>> signed(0.0421), signed(0)
    ('+0.042', '+0.000')
    """
    return DASH if math.isnan(value) else f"{value:+.3f}".replace("-", MINUS)


def duration(seconds: float) -> str:
    """Return a time in the unit that suits it.

    >>> duration(3.21), duration(75), duration(3720)
    ('3.2 s', '1 min 15 s', '1 h 2 min')
    """
    if seconds < 60:
        return f"{seconds:.1f} s"
    minutes, rest = divmod(round(seconds), 60)
    if minutes < 60:
        return f"{minutes} min {rest} s"
    hours, minutes = divmod(minutes, 60)
    return f"{hours} h {minutes} min"


def describe(value: JSON) -> str:
    """Return a setting in words.

    >>> describe({"lam": 0.1, "sets": [1, 2], "pca": None, "scaled": True})
    'lam: 0.1; sets: 1, 2; pca: none; scaled: yes'
    """
    if isinstance(value, Mapping):
        items = {name: describe(item) for name, item in value.items()}
        if len(items) > 1 and len(set(items.values())) == 1:
            return f"{next(iter(items.values()))} each"
        return "; ".join(f"{name}: {item}" for name, item in items.items())
    if isinstance(value, list | tuple):
        return ", ".join(describe(item) for item in value)
    return {None: "none", True: "yes", False: "no"}[value] if _is_word(value) else str(value)


def settings(result: TableResult) -> dict[str, str]:
    """Return the protocol in words; what its models are is told by ``model_descriptions``."""
    return {
        name.replace("_", " "): describe(value)
        for name, value in result.protocol.items()
        if name != "models"
    }


def model_descriptions(results: Iterable[TableResult]) -> dict[str, str]:
    """Return what the protocols say of their models, by name."""
    told: dict[str, str] = {}
    for result in results:
        told |= result.protocol.get("models", {})
    return told


def value_text(value: object) -> str:
    """Return an entry of a table in words; four digits are enough of a number.

    >>> value_text(0.123456), value_text(7), value_text(None)
    ('0.1235', '7', '')
    """
    if isinstance(value, float):
        return f"{value:.4g}"
    return "" if value is None else str(value)


def _is_word(value: JSON) -> bool:
    return value is None or isinstance(value, bool)


def _published(cells: Sequence[Cell]) -> str:
    values = dict.fromkeys(cell.paper for cell in cells if cell.paper is not None)
    return " / ".join(f"{value:.2f}" for value in values)


def _repeats(counts: Iterable[int]) -> str:
    found = sorted(counts)
    few, many = found[0], found[-1]
    return str(few) if few == many else f"{few} to {many}"


def _csv_row(table: str, cell: Cell) -> list[object]:
    difference = math.nan if cell.paper is None else cell.auc_mean - cell.paper
    novel = () if cell.novel is None else cell.novel
    return [
        table,
        ";".join(map(str, cell.known)),
        ";".join(map(str, novel)),
        cell.model,
        *(_csv_number(value) for value in (cell.auc_mean, cell.auc_se)),
        cell.n,
        "" if cell.paper is None else cell.paper,
        _csv_number(difference),
        "" if cell.wins is None else int(cell.wins),
        round(cell.seconds, 3),
    ]


def _csv_number(value: float) -> float | str:
    return "" if math.isnan(value) else round(value, 6)


def _nans(told: Mapping[str, JSON]) -> dict[str, Any]:
    return {name: math.nan if value is None else value for name, value in told.items()}


def _read_cell(told: Mapping[str, JSON]) -> Cell:
    novel = told.get("novel")
    return Cell(
        known=tuple(told["known"]),
        novel=None if novel is None else tuple(novel),
        model=told["model"],
        aucs=tuple(math.nan if value is None else value for value in told["aucs"]),
        paper=told["paper"],
        seconds=told.get("seconds", 0.0),
    )


def _read_figure(told: Mapping[str, JSON]) -> Figure:
    if told["kind"] == "table":
        lines = tuple(tuple(row) for row in told["rows"])
        return DataTable(told["title"], tuple(told["columns"]), lines)
    if told["kind"] == "roc":
        return RocFigure(tuple(_read_panel(panel) for panel in told["panels"]))
    return BagPictures(
        tuple(
            BagRow(row["key"], tuple(row["labels"]), (), tuple(row["truth"]))
            for row in told["rows"]
        )
    )


def _read_panel(told: Mapping[str, JSON]) -> RocPanel:
    curves = tuple(
        RocLine(
            line["model"],
            tuple(line["fpr"]),
            tuple(line["tpr"]),
            math.nan if line["auc"] is None else line["auc"],
        )
        for line in told["curves"]
    )
    return RocPanel(told["title"], curves)
