"""ROC curves, drawn as inline SVG."""

from collections.abc import Sequence
from dataclasses import dataclass
from html import escape
from typing import TypeVar

import numpy as np
import numpy.typing as npt

__all__ = ["Line", "roc_figure"]

_SIZE = 320.0
_LEFT, _TOP, _RIGHT, _BOTTOM = 56.0, 14.0, 16.0, 50.0
_TICKS = (0.0, 0.2, 0.4, 0.6, 0.8, 1.0)

FloatArray = npt.NDArray[np.float64]
Place = TypeVar("Place", float, FloatArray)


@dataclass(frozen=True)
class Line:
    """The points of a curve, from (0, 0) to (1, 1), with the class of its style."""

    fpr: npt.ArrayLike
    tpr: npt.ArrayLike
    style: str


def roc_figure(
    lines: Sequence[Line],
    point: tuple[float, float] | None = None,
    *,
    title: str,
    text: str,
    name: str = "roc",
) -> str:
    """Draw curves from behind to front, and the point (fpr, tpr) where a model decides.

    ``text`` describes the figure to those who do not see it; ``name`` sets its ids apart from those
    of other figures on the page.
    """
    width, height = _LEFT + _SIZE + _RIGHT, _TOP + _SIZE + _BOTTOM
    drawn = "\n".join(f'<path class="{line.style}" d="{_path(line)}"/>' for line in lines)
    return f"""<svg class="roc" viewBox="0 0 {width:g} {height:g}" role="img"
 aria-labelledby="{name}-title {name}-text">
<title id="{name}-title">{escape(title)}</title>
<desc id="{name}-text">{escape(text)}</desc>
{_grid()}
<path class="chance" d="M{_x(0.0):g} {_y(0.0):g}L{_x(1.0):g} {_y(1.0):g}"/>
{drawn}
{_point(point)}
<text class="axis" x="{_x(0.5):g}" y="{height - 8:g}" text-anchor="middle"
>novel instances called known</text>
<text class="axis" transform="translate(14 {_y(0.5):g}) rotate(-90)" text-anchor="middle"
>known instances called known</text>
</svg>"""


def _point(place: tuple[float, float] | None) -> str:
    if place is None:
        return ""
    return f'<circle class="point" cx="{_x(place[0]):.1f}" cy="{_y(place[1]):.1f}" r="5.5"/>'


def _grid() -> str:
    marks = []
    for tick in _TICKS:
        x, y = _x(tick), _y(tick)
        marks.append(
            f'<path class="grid" d="M{x:g} {_y(0.0):g}V{_y(1.0):g}M{_x(0.0):g} {y:g}H{_x(1.0):g}"/>'
            f'<text x="{x:g}" y="{_y(0.0) + 17:g}" text-anchor="middle">{tick:g}</text>'
            f'<text x="{_x(0.0) - 8:g}" y="{y + 4:g}" text-anchor="end">{tick:g}</text>'
        )
    return "\n".join(marks)


def _path(line: Line) -> str:
    corners = _corners(np.column_stack([_x(_floats(line.fpr)), _y(_floats(line.tpr))]).round(1))
    return "M" + "L".join(f"{x:g} {y:g}" for x, y in corners.tolist())


def _floats(values: npt.ArrayLike) -> FloatArray:
    return np.asarray(values, dtype=np.float64)


def _corners(points: FloatArray) -> FloatArray:
    """Leave out points that repeat, or that lie on the straight line between their neighbours."""
    moves = np.append(True, np.any(np.diff(points, axis=0) != 0, axis=1))
    distinct = points[moves]
    steps = np.diff(distinct, axis=0)
    # The cross product of the step before and the step after is 0 where the line goes straight on.
    turns = np.abs(steps[:-1, 0] * steps[1:, 1] - steps[:-1, 1] * steps[1:, 0]) > 1e-9
    kept: FloatArray = distinct[np.concatenate([[True], turns, [True]])]
    return kept


def _x(fpr: Place) -> Place:
    return _LEFT + _SIZE * fpr


def _y(tpr: Place) -> Place:
    return _TOP + _SIZE * (1 - tpr)
