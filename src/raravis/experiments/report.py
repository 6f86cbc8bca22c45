"""One HTML page of all that was run again: figures, numbers, settings; it needs nothing else."""

from collections.abc import Iterable, Mapping, Sequence
from html import escape
from typing import Any

from raravis._html import document as html
from raravis._html.pictures import data_uri
from raravis._html.roc import Line, roc_figure
from raravis._html.style import STYLE as SHARED
from raravis.experiments._svg import MARK_STYLE, dot_plot, line_sample, mark_sample
from raravis.experiments.report_markdown import fill_markdown, markdown_tables
from raravis.experiments.results import (
    BagPictures,
    BagRow,
    Cell,
    DataTable,
    Figure,
    RocFigure,
    RocPanel,
    TableResult,
)
from raravis.experiments.terminal import (
    Row,
    comparison_sentence,
    duration,
    entry,
    label_set,
    model_descriptions,
    number,
    published_mean,
    rows,
    settings,
    summary_rows,
    value_text,
    with_error,
)

__all__ = ["fill_markdown", "markdown_tables", "render_report"]

STYLE = (
    SHARED
    + """
h3 { margin: 1.8rem 0 0.5rem; font-size: 1.02rem; font-weight: 650; break-after: avoid; }
a { color: var(--right); }
nav ul { display: flex; flex-wrap: wrap; gap: 0.3rem 1.4rem; margin: 1rem 0 0; padding: 0;
  list-style: none; }
section + section { padding-top: 1.6rem; border-top: 1px solid var(--line); }
.notice { padding: 0.6rem 0.9rem; border: 1.5px dashed var(--wrong); border-radius: 0.5rem; }
.scroll { margin: 0 0 1rem; }
.scroll:focus-visible { outline: 2px solid var(--right); outline-offset: 2px; }
.numbers { width: auto; min-width: min(100%, 30rem); }
.numbers th, .numbers td { padding-right: 1.4rem; }
.numbers thead th { white-space: nowrap; }
.numbers tbody th { min-width: 7rem; }
.numbers th:first-child { position: sticky; left: 0; background: var(--ground); }
.bags + .scroll, .panels + .scroll { margin-top: 1.6rem; }
.numbers td.text { min-width: 6.5rem; white-space: normal; font-size: 0.88rem; }
.numbers td > span { display: block; font-size: 0.86rem; color: var(--soft); }
.numbers .win { color: var(--right); font-weight: 600; }
.numbers .loss { color: var(--wrong); }
.numbers tfoot th, .numbers tfoot td { border-bottom: 0; font-weight: 600; }
.dots { display: block; width: 100%; max-width: 52rem; height: auto; fill: var(--soft);
  font: 12px system-ui, sans-serif; }
.dots .grid { fill: none; stroke: var(--grid); stroke-width: 1; }
.dots .axis { fill: var(--text); }
.dots .band { fill: var(--grid); fill-opacity: 0.45; }
.dots .published, .sample .published { fill: none; stroke: var(--text); stroke-width: 2;
  stroke-dasharray: 4 2.5; }
.whisker { stroke-width: 1.6; }
.legends { display: flex; flex-wrap: wrap; gap: 0.2rem 1.3rem; margin: 0 0 0.6rem; padding: 0;
  list-style: none; font-size: 0.92rem; }
.legends li { display: flex; align-items: center; gap: 0.35rem; }
.sample { width: 1.4rem; height: 1rem; }
.panels { display: grid; gap: 1.6rem 2.4rem; align-items: start;
  grid-template-columns: repeat(auto-fit, minmax(min(20rem, 100%), 1fr)); }
.panel { max-width: 30rem; margin: 0; break-inside: avoid; }
.panel h4 { margin: 0 0 0.4rem; font-size: 0.95rem; font-weight: 600; }
.panel table { margin-top: 0.6rem; }
details { margin-top: 1.4rem; }
summary { cursor: pointer; font-weight: 600; }
details .facts { margin-top: 0.8rem; }
@media print {
  .scroll { overflow: visible; }
  .numbers { font-size: 7.5pt; }
  .numbers th, .numbers td { padding: 0.2rem 0.6rem 0.2rem 0; }
  tr, .dots { break-inside: avoid; }
  .dots { min-width: 0 !important; }
  nav { display: none; }
}
"""
    + MARK_STYLE
)


def render_report(results: Sequence[TableResult]) -> str:
    """Return the page as text; it refers to nothing outside itself.

    >>> from raravis.experiments import Cell, TableResult
    >>> found = TableResult("hja", "Birds", {}, (Cell((1, 4), None, "kernel", (0.9,), 0.85),))
    >>> "+0.050" in render_report([found])
    True
    """
    return html.document(
        title="The paper's tables, run again",
        kicker="raravis reproduce",
        lead=_lead(results),
        body="\n".join([_overview(results), *map(_section, results), _versions(results)]),
        footer=(
            "A win is a mean above the published figure. Published figures are rounded to two "
            "digits, and their splits and seeds are not known: differences of 0.01 say little."
        ),
        style=STYLE,
    )


def _lead(results: Sequence[TableResult]) -> str:
    links = "".join(
        f'<li><a href="#table-{escape(found.table)}">{escape(found.table)}</a></li>'
        for found in results
    )
    return (
        '<p class="lead">Each table and figure of the 2013 paper on novelty detection under '
        "multi-instance multi-label learning, computed again beside its published numbers. AUC is "
        "the chance that an instance of a known class scores above a novel one.</p>"
        f'<nav aria-label="Tables"><ul>{links}</ul></nav>'
    )


def _overview(results: Sequence[TableResult]) -> str:
    lines = [_overview_row(found) for found in results if found.cells]
    if not lines:
        return ""
    head = ("Table", "Model", "Mean AUC", "Published", "Wins", "Time")
    table = _numbers("The first model of each table, over its label sets", head, lines)
    return f"<section><h2>At a glance</h2>{table}</section>"


def _overview_row(found: TableResult) -> tuple[str, ...]:
    name, model = next(iter(found.models.items()))
    return (
        found.table,
        name,
        with_error(model.mean, model.se),
        number(published_mean(found)),
        f"{model.wins} of {model.n_paper}" if model.n_paper else "",
        duration(found.seconds),
    )


def _section(found: TableResult) -> str:
    parts = [
        f'<section id="table-{escape(found.table)}"><h2>{escape(found.title)}</h2>',
        _notice(found),
        *(f"<p>{escape(comparison_sentence(item))}</p>" for item in found.comparisons),
        _models(found) if found.cells else "",
        *(_figure(figure, f"{found.table}-{key}") for key, figure in found.figures.items()),
        _settings(found),
        "</section>",
    ]
    return "\n".join(part for part in parts if part)


def _notice(found: TableResult) -> str:
    if found.complete:
        return ""
    return (
        '<p class="notice">Interrupted: these figures are of the repeats that were finished. The '
        "same command goes on from there.</p>"
    )


def _models(found: TableResult) -> str:
    listed, models = rows(found), tuple(found.models)
    plot = dot_plot(
        listed, models, name=f"dots-{found.table}", title="AUC of each model by label set"
    )
    return (
        _summary(found)
        + f"<h3>By label set</h3>{_legend(found, models)}{_scroll(plot, 'Dot plot')}"
        + _scroll(_by_set(found, listed, models), "Table by label set")
    )


def _summary(found: TableResult) -> str:
    head = ("Model", "Mean AUC", "Standard error", "Wins", "Repeats", "Time")
    told = model_descriptions([found])
    if not told:
        return _numbers("Each model over all label sets", head, summary_rows(found))
    lines = [(*row, told.get(row[0], "")) for row in summary_rows(found)]
    return _numbers("Each model over all label sets", (*head, "What it is"), lines, text=True)


def _legend(found: TableResult, models: Sequence[str]) -> str:
    items = [f"<li>{mark_sample(i)}{escape(model)}</li>" for i, model in enumerate(models)]
    if any(cell.paper is not None for cell in found.cells):
        line = '<path class="published" d="M11 0V16"/>'
        sample = f'<svg class="sample" viewBox="0 0 22 16" aria-hidden="true">{line}</svg>'
        items.append(f"<li>{sample}published</li>")
    return f'<ul class="legends">{"".join(items)}</ul>'


def _by_set(found: TableResult, listed: Sequence[Row], models: Sequence[str]) -> str:
    novel = any(row.novel for row in listed)
    names = ["Known", *(["Novel"] if novel else []), "Published", *models]
    head = "".join(f'<th scope="col">{escape(name)}</th>' for name in names)
    body = "".join(_set_row(row, models, novel=novel) for row in listed)
    means = "".join(f'<td class="number">{number(m.mean)}</td>' for m in found.models.values())
    span = ' colspan="2"' if novel else ""
    return (
        '<table class="numbers"><caption>Mean AUC and standard error over repeats; below, the '
        f"difference from the published figure</caption><thead><tr>{head}</tr></thead>"
        f"<tbody>{body}</tbody>"
        f'<tfoot><tr><th scope="row"{span}>Mean</th>'
        f'<td class="number">{number(published_mean(found))}</td>{means}</tr></tfoot></table>'
    )


def _set_row(row: Row, models: Sequence[str], *, novel: bool) -> str:
    return (
        f'<tr><th scope="row">{escape(row.known)}</th>'
        + (f'<td class="text">{escape(row.novel)}</td>' if novel else "")
        + f'<td class="number">{row.published}</td>'
        + "".join(_cell(row.cells.get(model)) for model in models)
        + "</tr>"
    )


def _cell(cell: Cell | None) -> str:
    told = entry(cell)
    below = (
        f'<span class="{told.mark}">{told.difference} {told.mark}</span>' if told.difference else ""
    )
    return f'<td class="number">{told.figure}{below}</td>'


def _figure(figure: Figure, name: str) -> str:
    if isinstance(figure, RocFigure):
        panels = "".join(_panel(panel, f"{name}-{i}") for i, panel in enumerate(figure.panels))
        return f'<h3>ROC curves</h3><div class="panels">{panels}</div>'
    if isinstance(figure, BagPictures):
        return _bags(figure)
    return _data_table(figure)


def _panel(panel: RocPanel, name: str) -> str:
    lines = [Line(line.fpr, line.tpr, f"line-{i}") for i, line in enumerate(panel.curves)]
    told = "; ".join(f"{line.model}, area {number(line.auc)}" for line in panel.curves)
    # The first curve is drawn last, on top of the others.
    drawn = roc_figure(lines[::-1], title=panel.title, text=told, name=f"roc-{name}")
    body = "".join(
        f'<tr><td class="legend">{line_sample(i)}</td><th scope="row">{escape(line.model)}</th>'
        f'<td class="number">{number(line.auc)}</td></tr>'
        for i, line in enumerate(panel.curves)
    )
    head = "".join(f'<th scope="col">{name}</th>' for name in ("Line", "Model", "AUC"))
    return (
        f'<div class="panel"><h4>{escape(panel.title)}</h4>{drawn}<table>'
        f'<caption class="unseen">Areas under the curves: {escape(panel.title)}</caption>'
        f"<thead><tr>{head}</tr></thead><tbody>{body}</tbody></table></div>"
    )


def _bags(figure: BagPictures) -> str:
    strip = "\n".join(map(_bag, figure.rows))
    return (
        "<h3>Example bags</h3><p>The list belongs to the bag: which picture is which class is not "
        'told. A <span class="key">dashed frame</span> marks pictures of classes that no list '
        f'names.</p><div class="bags">{strip}</div>'
    )


def _bag(row: BagRow) -> str:
    images = "".join(_image(*item, row.labels) for item in zip(row.images, row.truth, strict=False))
    names = escape(label_set(row.labels)) or "nothing"
    key = row.key if isinstance(row.key, str) else f"Bag {row.key}"
    return (
        f'<figure class="bag"><figcaption>{escape(key)}, list: <b>{names}</b>'
        f'</figcaption><div class="grid10">{images}</div></figure>'
    )


def _image(pixels: Any, truth: object, labels: Sequence[object]) -> str:
    height, width = pixels.shape
    concealed = truth not in labels
    name = f"{truth}, not listed" if concealed else f"{truth}"
    # The data have bright strokes on black; the page, in either scheme, has dark ink on paper.
    frame = ' class="hidden"' if concealed else ""
    return (
        f'<span{frame}><img class="digit" width="{width}" height="{height}" '
        f'src="{data_uri(255 - pixels)}" alt="{escape(name)}"></span>'
    )


def _data_table(table: DataTable) -> str:
    lines = [tuple(value_text(value) for value in row) for row in table.rows]
    return _numbers(table.title, table.columns, lines)


def _numbers(
    caption: str, head: Sequence[str], lines: Iterable[Sequence[str]], *, text: bool = False
) -> str:
    """Make a table of numbers; ``text`` says that the last column is one of words."""
    kinds = ["number"] * (len(head) - 2) + ["text" if text else "number"]
    columns = "".join(f'<th scope="col">{escape(name)}</th>' for name in head)
    body = "".join(
        f'<tr><th scope="row">{escape(first)}</th>'
        + "".join(
            f'<td class="{kind}">{escape(value)}</td>'
            for kind, value in zip(kinds, rest, strict=True)
        )
        + "</tr>"
        for first, *rest in lines
    )
    table = (
        f'<table class="numbers"><caption>{escape(caption)}</caption><thead><tr>{columns}</tr>'
        f"</thead><tbody>{body}</tbody></table>"
    )
    return _scroll(table, caption)


def _scroll(content: str, name: str) -> str:
    # Reachable by the keyboard: what is wider than the page is scrolled with the arrow keys.
    return (
        f'<div class="scroll" tabindex="0" role="region" aria-label="{escape(name)}">'
        f"{content}</div>"
    )


def _settings(found: TableResult) -> str:
    times = {"everything": duration(found.seconds)}
    times |= {name: duration(model.seconds) for name, model in found.models.items()}
    tables = [_facts("Settings", settings(found))] if found.protocol else []
    tables.append(_facts("Times", times))
    return (
        f'<details open><summary>Settings and times</summary><div class="facts">{"".join(tables)}'
        "</div></details>"
    )


def _versions(results: Sequence[TableResult]) -> str:
    found = {name: version for result in results for name, version in result.versions.items()}
    if not found:
        return ""
    table = _facts("Library versions", found)
    return f'<section><h2>Versions</h2><div class="facts">{table}</div></section>'


def _facts(caption: str, facts: Mapping[str, str]) -> str:
    body = "".join(
        f'<tr><th scope="row">{escape(name)}</th><td>{escape(told)}</td></tr>'
        for name, told in facts.items()
    )
    return f"<table><caption>{escape(caption)}</caption><tbody>{body}</tbody></table>"
