"""The figures as Markdown, for a document that is filled by a run and not by hand."""

from collections.abc import Iterable, Mapping, Sequence

from raravis.errors import InputError
from raravis.experiments.results import JSON, Cell, DataTable, TableResult
from raravis.experiments.terminal import (
    comparison_sentence,
    duration,
    entry,
    figure_tables,
    from_json,
    model_descriptions,
    number,
    published_mean,
    rows,
    settings,
    summary_rows,
    value_text,
)

__all__ = ["BEGIN", "END", "fill_markdown", "markdown_tables"]

BEGIN = "<!-- begin: figures, written by raravis reproduce -->"
END = "<!-- end: figures -->"


def markdown_tables(results: Iterable[TableResult | Mapping[str, JSON]]) -> str:
    """Return every table as Markdown, from results or from their JSON.

    >>> from raravis.experiments import Cell, TableResult
    >>> found = TableResult("hja", "Birds", {}, (Cell((1, 4), None, "kernel", (0.9,), 0.85),))
    >>> markdown_tables([found]) == markdown_tables([found.to_json()])
    True
    """
    read = [item if isinstance(item, TableResult) else from_json(item) for item in results]
    parts = [_versions(read), *map(_section, read), _descriptions(read)]
    return "\n\n".join(part for part in parts if part) + "\n"


def fill_markdown(text: str, results: Iterable[TableResult | Mapping[str, JSON]]) -> str:
    r"""Replace what stands between the two markers of a document; all else stays as it is.

    >>> from raravis.experiments import TableResult
    >>> found = TableResult("bags", "Example bags", {})
    >>> filled = fill_markdown(f"# Mine\n\n{BEGIN}\nold\n{END}\n", [found])
    >>> filled.startswith("# Mine"), "old" in filled, "Example bags" in filled
    (True, False, True)
    """
    before, begin, rest = text.partition(BEGIN)
    _, end, after = rest.partition(END)
    if not begin or not end:
        raise InputError(
            f"the document has not both of the lines {BEGIN!r} and {END!r}; put them where the "
            "figures are to stand, one below the other."
        )
    return f"{before}{begin}\n\n{markdown_tables(results)}\n{end}{after}"


def _versions(results: Sequence[TableResult]) -> str:
    found = {name: version for result in results for name, version in result.versions.items()}
    # Not the wall time: a run that goes on from an earlier one has next to none.
    seconds = sum(cell.seconds for result in results for cell in result.cells)
    listed = ", ".join(f"{name} {version}" for name, version in found.items())
    return f"Computed in {duration(seconds)} of one core with {listed}." if listed else ""


def _section(found: TableResult) -> str:
    parts = [f"### {found.title}\n\n`raravis reproduce {found.table}`"]
    if not found.complete:
        parts.append("**Interrupted: of the finished repeats only.**")
    parts += [f"- {comparison_sentence(item)}" for item in found.comparisons]
    if found.cells:
        parts += [_models(found), _by_set(found)]
    for figure in found.figures.values():
        parts += [_data_table(table) for table in figure_tables(figure)]
    parts += [_protocol(found)] if found.protocol else []
    return "\n\n".join(parts)


def _models(found: TableResult) -> str:
    head = ("model", "mean AUC", "standard error", "wins", "repeats", "time")
    return _table(head, summary_rows(found))


def _by_set(found: TableResult) -> str:
    models = tuple(found.models)
    lines = [
        (row.known, row.published, *(_entry(row.cells.get(model)) for model in models))
        for row in rows(found)
    ]
    means = (number(model.mean) for model in found.models.values())
    lines.append(("**mean**", number(published_mean(found)), *means))
    return _table(("known classes", "published", *models), lines)


def _entry(cell: Cell | None) -> str:
    told = entry(cell)
    return f"{told.figure} {told.mark}".strip()


def _data_table(table: DataTable) -> str:
    lines = [tuple(value_text(value) for value in row) for row in table.rows]
    return f"{table.title}\n\n{_table(table.columns, lines)}"


def _protocol(found: TableResult) -> str:
    return f"Settings: {'; '.join(f'{name} {told}' for name, told in settings(found).items())}."


def _descriptions(results: Sequence[TableResult]) -> str:
    told = model_descriptions(results)
    return f"### Models\n\n{_table(('model', 'what it is'), list(told.items()))}" if told else ""


def _table(head: Sequence[str], lines: Iterable[Sequence[str]]) -> str:
    ruled = [_line(head), _line(["---"] * len(head))]
    return "\n".join([*ruled, *(_line(line) for line in lines)])


def _line(values: Sequence[str]) -> str:
    escaped = (value.replace("|", r"\|") for value in values)
    return f"| {' | '.join(escaped)} |"
