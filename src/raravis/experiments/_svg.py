"""A dot plot of models against published figures, as inline SVG, and its signs."""

import math
from collections.abc import Iterable, Sequence
from html import escape

from raravis.experiments.results import Cell
from raravis.experiments.terminal import Row, number

__all__ = ["MARK_STYLE", "dot_plot", "line_sample", "mark_sample"]

# Models differ by shape and by dash, so that a print in black and white can be read as well.
_SHAPES = (
    '<circle r="4.5"/>',
    '<path d="M-4 -4H4V4H-4Z"/>',
    '<path d="M0 -5.6L5.6 0L0 5.6L-5.6 0Z"/>',
    '<path d="M0 -5L5 4H-5Z"/>',
    '<path d="M0 5L5 -4H-5Z"/>',
    '<path d="M-4.5 -1.6H-1.6V-4.5H1.6V-1.6H4.5V1.6H1.6V4.5H-1.6V1.6H-4.5Z"/>',
    '<path d="M-5 -2.2V2.2H5V-2.2Z"/>',
    '<path d="M-2.2 -5H2.2V5H-2.2Z"/>',
)
_DASHES = ("none", "7 3", "2 3", "8 3 2 3", "12 4", "1 4", "5 2 1 2")
_COLOURS = ("--right", "--wrong", "--accent", "--soft")
_N_STYLES = 16

MARK_STYLE = "\n".join(
    f".mark-{i} {{ stroke: var({_COLOURS[i % 4]}); "
    f"fill: var({_COLOURS[i % 4] if i < len(_SHAPES) else '--ground'}); }}\n"
    f".line-{i} {{ fill: none; stroke: var({_COLOURS[i % 4]}); stroke-width: 2; "
    f"stroke-dasharray: {_DASHES[i % len(_DASHES)]}; }}"
    for i in range(_N_STYLES)
)

_PLOT = 470.0
_TOP, _BOTTOM, _RIGHT = 10.0, 46.0, 20.0
_LINE, _PAD = 11.0, 9.0
_LETTER, _TEXT_LINE = 6.7, 14.0
_WRAP = 34


def dot_plot(rows: Sequence[Row], models: Sequence[str], *, name: str, title: str) -> str:
    """Draw a row for each label set: every model's mean with its error, and what is published.

    ``name`` sets the ids of this figure apart from those of others on the page.
    """
    scale = _Scale(rows, len(models))
    width, height = scale.left + _PLOT + _RIGHT, scale.bottom + _BOTTOM
    drawn = "\n".join(_row(row, i, models, scale) for i, row in enumerate(rows))
    return f"""<svg class="dots" viewBox="0 0 {width:g} {height:g}" role="img"
 style="min-width: {0.75 * width:.0f}px" aria-labelledby="{name}-title {name}-text">
<title id="{name}-title">{escape(title)}</title>
<desc id="{name}-text">{escape(_told(rows, models))}</desc>
{_grid(scale)}
{drawn}
<text class="axis" x="{scale.left + _PLOT / 2:g}" y="{height - 8:g}" text-anchor="middle"
>AUC, mean over repeats; bars: one standard error each way</text>
</svg>"""


def mark_sample(i: int) -> str:
    """Draw the sign of model number ``i`` for a legend; the text beside it says whose it is."""
    sign = _mark(i, 11, 8)
    return f'<svg class="sample" viewBox="0 0 22 16" aria-hidden="true">{sign}</svg>'


def line_sample(i: int) -> str:
    """Draw a stroke of line number ``i`` for a legend."""
    stroke = f'<path class="line-{i % _N_STYLES}" d="M1 7H41"/>'
    return f'<svg viewBox="0 0 42 14" aria-hidden="true">{stroke}</svg>'


class _Scale:
    """Where values and rows stand."""

    def __init__(self, rows: Sequence[Row], n_models: int) -> None:
        labels = [wrap(row.known) for row in rows]
        deepest = max(map(len, labels), default=1)
        longest = max((len(line) for lines in labels for line in lines), default=0)
        self.height = max(2 * _LINE, n_models * _LINE, deepest * _TEXT_LINE) + _PAD
        self.bottom = _TOP + len(rows) * self.height
        self.left = 16 + _LETTER * longest
        self.low = _floor(_values(rows))

    def x(self, value: float) -> float:
        return self.left + _PLOT * (value - self.low) / (1 - self.low)

    def ticks(self) -> list[float]:
        n = round((1 - self.low) * 20)
        step = 1 if n <= 10 else 2
        return [1 - i / 20 for i in range(0, n + 1, step)]


def wrap(text: str) -> list[str]:
    """Break a list of classes at its commas into lines of moderate length.

    >>> wrap("Hermit Thrush, Varied Thrush, Winter Wren")
    ['Hermit Thrush, Varied Thrush,', 'Winter Wren']
    """
    lines = [""]
    for word in text.split(", "):
        longer = f"{lines[-1]}, {word}" if lines[-1] else word
        if lines[-1] and len(longer) > _WRAP:
            lines[-1] += ","
            lines.append(word)
        else:
            lines[-1] = longer
    return lines


def _values(rows: Iterable[Row]) -> list[float]:
    cells = [cell for row in rows for cell in row.cells.values()]
    means = [cell.auc_mean - _error(cell) for cell in cells if cell.n]
    return means + [cell.paper for cell in cells if cell.paper is not None]


def _floor(values: Sequence[float]) -> float:
    """Return a round number below all values, at most 0.8."""
    lowest = min(values, default=0.5)
    return min(0.8, max(0.0, math.floor((lowest - 0.01) * 10) / 10))


def _error(cell: Cell) -> float:
    return 0.0 if math.isnan(cell.auc_se) else cell.auc_se


def _grid(scale: _Scale) -> str:
    marks = []
    for tick in scale.ticks():
        x = scale.x(tick)
        marks.append(
            f'<path class="grid" d="M{x:.1f} {_TOP:g}V{scale.bottom:g}"/>'
            f'<text x="{x:.1f}" y="{scale.bottom + 17:g}" text-anchor="middle">{tick:.3g}</text>'
        )
    return "\n".join(marks)


def _row(row: Row, i: int, models: Sequence[str], scale: _Scale) -> str:
    top = _TOP + i * scale.height
    band = (
        f'<rect class="band" x="0" y="{top:g}" width="{scale.left + _PLOT:g}" '
        f'height="{scale.height:g}"/>'
        if i % 2 == 0
        else ""
    )
    papers = dict.fromkeys(c.paper for c in row.cells.values() if c.paper is not None)
    published = "".join(
        f'<path class="published" d="M{scale.x(paper):.1f} {top + 2:g}v{scale.height - 4:g}"/>'
        for paper in papers
    )
    first = top + (scale.height - (len(models) - 1) * _LINE) / 2
    dots = "".join(
        _dot(row.cells[model], k, first + k * _LINE, scale)
        for k, model in enumerate(models)
        if model in row.cells and row.cells[model].n
    )
    return band + _label(row.known, top + scale.height / 2) + published + dots


def _label(text: str, middle: float) -> str:
    lines = wrap(text)
    start = middle + 4 - _TEXT_LINE / 2 * (len(lines) - 1)
    return "".join(
        f'<text class="axis" x="6" y="{start + _TEXT_LINE * k:g}">{escape(line)}</text>'
        for k, line in enumerate(lines)
    )


def _dot(cell: Cell, k: int, y: float, scale: _Scale) -> str:
    low, high = (scale.x(cell.auc_mean + side * _error(cell)) for side in (-1, 1))
    whisker = f'<path class="whisker mark-{k % _N_STYLES}" d="M{low:.1f} {y:g}H{high:.1f}"/>'
    return whisker + _mark(k, scale.x(cell.auc_mean), y)


def _mark(i: int, x: float, y: float) -> str:
    shape = _SHAPES[i % len(_SHAPES)]
    return f'<g class="mark-{i % _N_STYLES}" transform="translate({x:.1f} {y:g})">{shape}</g>'


def _told(rows: Sequence[Row], models: Sequence[str]) -> str:
    """Say the figures of the first model in words: the table below the plot holds all of them."""
    first = models[0]
    told = [
        f"{row.known}: {number(row.cells[first].auc_mean)}"
        + (f", published {row.published}" if row.published else "")
        for row in rows
        if first in row.cells
    ]
    return f"{len(models)} models on {len(rows)} label sets. {first} has " + "; ".join(told) + "."
