"""Draw what a simulated expert's decisions are worth: ``draw_expert.py RESULT.json TARGET.svg``.

RESULT.json is what ``expert.py --json`` wrote. Prints the table of the guide as well.
"""

import json
import math
import sys
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from html import escape
from pathlib import Path
from typing import Any

ORDERS = {
    "random": ("random order", "#6b7280", "5 4"),
    "novel": ("most novel first", "#b45309", "2 3"),
    "discovery": ("discovery order", "#0f766e", "none"),
}
MEASURES = {
    "classes found": "new classes found",
    "AUC": "novelty AUC",
    "own name": "rightly named",
}
DATA = {"syllables": "Bird syllables", "HJA": "HJA birdsong"}
_WIDTH, _HEIGHT, _LEFT, _TOP, _GAP_X, _GAP_Y = 250, 170, 58, 78, 70, 74

Curves = dict[tuple[str, str, str], list[tuple[int, float, float, float]]]


@dataclass(frozen=True)
class _Panel:
    """Where one plot stands and what it reaches over."""

    left: float
    top: float
    low: float
    high: float
    last: int

    def x(self, n: float) -> float:
        return self.left + _WIDTH * n / self.last

    def y(self, value: float) -> float:
        return self.top + _HEIGHT * (self.high - value) / (self.high - self.low)


def main() -> None:
    """Read, draw, print."""
    source, target = map(Path, sys.argv[1:3])
    curves = read_curves(json.loads(source.read_text(encoding="utf-8")))
    target.write_text(draw(curves), encoding="utf-8")
    print(table(curves))


def read_curves(report: Any) -> Curves:
    """Return decisions, mean, least and greatest, by data, order and measure."""
    found: Curves = {}
    for figure in report["figures"]:
        data, order, step, what = figure["name"].split(" | ")
        point = (int(step.split()[0]), figure["value"], figure["low"], figure["high"])
        found.setdefault((data, order, what), []).append(point)
    return found


def draw(curves: Curves) -> str:
    """Draw a row for each data set and a column for each measure, as SVG of its own."""
    width = _LEFT + 3 * _WIDTH + 2 * _GAP_X + 24
    height = _TOP + 2 * _HEIGHT + _GAP_Y + 60
    plots = "".join(
        _plot(curves, data, what, row, column)
        for row, data in enumerate(DATA)
        for column, what in enumerate(MEASURES)
    )
    return f"""<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width} {height}" role="img"
 aria-labelledby="title text" font-family="system-ui, sans-serif" font-size="13" fill="#22262b">
<title id="title">What decisions are worth, by the order that calls are reviewed in</title>
<desc id="text">Classes found, novelty AUC and calls rightly named against decisions made, on two
data sets, in three orders; lines: means over seeds, bands: least to greatest.</desc>
<rect width="{width}" height="{height}" rx="8" fill="#ffffff"/>
{_legend()}{plots}
</svg>
"""


def _legend() -> str:
    parts = []
    for k, (name, colour, dash) in enumerate(ORDERS.values()):
        x = _LEFT + 190 * k
        parts.append(
            f'<path d="M{x} 26h34" stroke="{colour}" stroke-width="2.4" stroke-dasharray="{dash}"/>'
            f'<text x="{x + 42}" y="30">{escape(name)}</text>'
        )
    return "".join(parts)


def _plot(curves: Curves, data: str, what: str, row: int, column: int) -> str:
    lines = {order: curves[data, order, what] for order in ORDERS if (data, order, what) in curves}
    values = [v for points in lines.values() for point in points for v in point[1:]]
    low, high, step = _round_range(min(values), max(values))
    panel = _Panel(
        _LEFT + column * (_WIDTH + _GAP_X),
        _TOP + row * (_HEIGHT + _GAP_Y),
        low,
        high,
        max(point[0] for points in lines.values() for point in points),
    )
    title = f"{DATA[data]}: {MEASURES[what]}"
    head = f'<text x="{panel.left}" y="{panel.top - 12}" font-weight="600">{escape(title)}</text>'
    return head + "".join([*_grid(panel, step), *_bands(panel, lines), *_lines(panel, lines)])


def _round_range(low: float, high: float) -> tuple[float, float, float]:
    rough = max(high - low, 1e-3) / 4
    power = 10.0 ** math.floor(math.log10(rough))
    step = next(size * power for size in (1, 2, 5, 10) if size * power >= rough)
    return step * math.floor(low / step), step * math.ceil(high / step), step


def _grid(panel: _Panel, step: float) -> Iterator[str]:
    n = round((panel.high - panel.low) / step)
    for k in range(n + 1):
        value = panel.low + k * step
        y = panel.y(value)
        yield f'<path d="M{panel.left} {y:.1f}h{_WIDTH}" stroke="#e2e0da"/>'
        yield (
            f'<text x="{panel.left - 8}" y="{y + 4:.1f}" text-anchor="end" fill="#59616b">'
            f"{value:.3g}</text>"
        )
    bottom = panel.top + _HEIGHT
    for made in range(0, panel.last + 1, 40):
        yield (
            f'<text x="{panel.x(made):.1f}" y="{bottom + 18}" text-anchor="middle" '
            f'fill="#59616b">{made}</text>'
        )
    yield (
        f'<text x="{panel.left + _WIDTH / 2}" y="{bottom + 36}" text-anchor="middle" '
        'fill="#59616b">decisions</text>'
    )


def _bands(panel: _Panel, lines: dict[str, Any]) -> Iterator[str]:
    for order, points in lines.items():
        upper = [f"{panel.x(n):.1f} {panel.y(high):.1f}" for n, _, _, high in points]
        lower = [f"{panel.x(n):.1f} {panel.y(low):.1f}" for n, _, low, _ in reversed(points)]
        outline = "M" + "L".join([*upper, *lower]) + "Z"
        yield f'<path d="{outline}" fill="{ORDERS[order][1]}" opacity="0.1"/>'


def _lines(panel: _Panel, lines: dict[str, Any]) -> Iterator[str]:
    for order, points in lines.items():
        _, colour, dash = ORDERS[order]
        path = "M" + "L".join(f"{panel.x(n):.1f} {panel.y(mean):.1f}" for n, mean, _, _ in points)
        yield (
            f'<path d="{path}" fill="none" stroke="{colour}" stroke-width="2.4" '
            f'stroke-dasharray="{dash}"/>'
        )


def table(curves: Curves, steps: Sequence[int] = (0, 20, 40, 80, 160)) -> str:
    """Return the means as a table in Markdown."""
    head = "| data | order | measure | " + " | ".join(map(str, steps)) + " |"
    rows = [head, "|---|---|---|" + "---|" * len(steps)]
    for (data, order, what), points in curves.items():
        means = {n: mean for n, mean, _, _ in points}
        digits = 1 if what == "classes found" else 3
        cells = " | ".join(f"{means[n]:.{digits}f}" for n in steps if n in means)
        rows.append(f"| {DATA[data]} | {ORDERS[order][0]} | {what} | {cells} |")
    return "\n".join(rows)


if __name__ == "__main__":
    main()
