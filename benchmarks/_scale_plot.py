"""Time and AUC by number of instances, as SVG: plain text, no library."""

import math
from collections.abc import Sequence
from pathlib import Path
from typing import Any

_WIDTH, _HEIGHT, _LEFT, _GAP, _TOP, _BOTTOM = 320, 260, 60, 90, 30, 40
_COLOURS = ("#1b5e20", "#b71c1c", "#0d47a1", "#6a1b9a")
_DASHES = ("none", "7 3", "2 3", "8 3 2 3")


def plot(rows: Sequence[tuple[str, int, Any]], target: Path) -> None:
    """Write two panels: seconds to fit, and AUC."""
    names = list(dict.fromkeys(name for name, _, _ in rows))
    seconds = [max(run["seconds"], 1e-3) for _, _, run in rows]
    low, high = math.floor(math.log10(min(seconds))), math.ceil(math.log10(max(seconds)))
    first = _panel(rows, names, _LEFT, "seconds to fit", (low, high), log=True)
    aucs = [run["auc"] for _, _, run in rows]
    span = (math.floor(10 * min(aucs)) / 10, 1.0)
    second = _panel(rows, names, _LEFT + _WIDTH + _GAP, "AUC, known against novel", span, log=False)
    places = [_LEFT + sum(60 + 7 * len(name) for name in names[:i]) for i in range(len(names))]
    legend = "".join(_entry(name, i, places[i]) for i, name in enumerate(names))
    width, height = _LEFT + 2 * _WIDTH + _GAP + 30, _TOP + _HEIGHT + _BOTTOM + 30
    target.parent.mkdir(parents=True, exist_ok=True)
    target.write_text(
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width} {height}" '
        f'font-family="sans-serif" font-size="12" role="img"><title>Time to fit and AUC by number '
        f'of instances</title><rect width="100%" height="100%" fill="white"/>{first}{second}'
        f"{legend}</svg>\n",
        encoding="utf-8",
    )


def _panel(
    rows: Sequence[tuple[str, int, Any]],
    names: Sequence[str],
    left: float,
    title: str,
    span: tuple[float, float],
    *,
    log: bool,
) -> str:
    def at(n: int, run: Any) -> str:
        value = math.log10(max(run["seconds"], 1e-3)) if log else run["auc"]
        x = left + _WIDTH * (math.log10(n) - 3) / 3
        y = _TOP + _HEIGHT * (1 - (value - span[0]) / (span[1] - span[0]))
        return f"{x:.1f},{y:.1f}"

    lines = [
        f'<polyline fill="none" stroke="{_COLOURS[i]}" stroke-width="2" '
        f'stroke-dasharray="{_DASHES[i]}" '
        f'points="{" ".join(at(n, run) for who, n, run in rows if who == name)}"/>'
        for i, name in enumerate(names)
    ]
    frame = (
        f'<rect x="{left}" y="{_TOP}" width="{_WIDTH}" height="{_HEIGHT}" fill="none" '
        f'stroke="#888"/>'
    )
    return frame + "".join(lines) + _axes(left, title, span, log)


def _axes(left: float, title: str, span: tuple[float, float], log: bool) -> str:
    marks = [f'<text x="{left}" y="{_TOP - 10}">{title}</text>']
    for power in range(3, 7):
        x = left + _WIDTH * (power - 3) / 3
        marks.append(
            f'<text x="{x}" y="{_TOP + _HEIGHT + 16}" text-anchor="middle">10^{power}</text>'
        )
    n_steps = round(span[1] - span[0]) if log else round(10 * (span[1] - span[0]))
    for i in range(n_steps + 1):
        y = _TOP + _HEIGHT * (1 - i / n_steps)
        text = f"{10.0 ** (span[0] + i):g}" if log else f"{span[0] + i / 10:.1f}"
        marks.append(f'<text x="{left - 6}" y="{y + 4}" text-anchor="end">{text}</text>')
    return "".join(marks)


def _entry(name: str, i: int, x: float) -> str:
    y = _TOP + _HEIGHT + 42
    return (
        f'<line x1="{x}" x2="{x + 28}" y1="{y - 4}" y2="{y - 4}" stroke="{_COLOURS[i]}" '
        f'stroke-width="2" stroke-dasharray="{_DASHES[i]}"/>'
        f'<text x="{x + 34}" y="{y}">{name}</text>'
    )
