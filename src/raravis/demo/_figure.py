"""The ROC figure, drawn as inline SVG."""

from collections.abc import Sequence
from dataclasses import dataclass
from html import escape
from typing import TypeVar

import numpy as np
import numpy.typing as npt

from raravis.metrics import RocCurve

__all__ = ["Line", "roc_figure"]

_SIZE = 320.0
_LEFT, _TOP, _RIGHT, _BOTTOM = 56.0, 14.0, 16.0, 50.0
_TICKS = (0.0, 0.2, 0.4, 0.6, 0.8, 1.0)

FloatArray = npt.NDArray[np.float64]
Place = TypeVar("Place", float, FloatArray)


@dataclass(frozen=True)
class Line:
    """A curve with the class of its style."""

    curve: RocCurve
    style: str


def roc_figure(lines: Sequence[Line], point: tuple[float, float], *, title: str, text: str) -> str:
    """Draw curves from behind to front, and the point (fpr, tpr) where the model decides.

    ``text`` describes the figure to those who do not see it.
    """
    width, height = _LEFT + _SIZE + _RIGHT, _TOP + _SIZE + _BOTTOM
    drawn = "\n".join(f'<path class="{line.style}" d="{_path(line.curve)}"/>' for line in lines)
    return f"""<svg class="roc" viewBox="0 0 {width:g} {height:g}" role="img"
 aria-labelledby="roc-title roc-text">
<title id="roc-title">{escape(title)}</title>
<desc id="roc-text">{escape(text)}</desc>
{_grid()}
<path class="chance" d="M{_x(0.0):g} {_y(0.0):g}L{_x(1.0):g} {_y(1.0):g}"/>
{drawn}
<circle class="point" cx="{_x(point[0]):.1f}" cy="{_y(point[1]):.1f}" r="5.5"/>
<text class="axis" x="{_x(0.5):g}" y="{height - 8:g}" text-anchor="middle"
>novel instances called known</text>
<text class="axis" transform="translate(14 {_y(0.5):g}) rotate(-90)" text-anchor="middle"
>known instances called known</text>
</svg>"""


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


def _path(curve: RocCurve) -> str:
    corners = _corners(np.column_stack([_x(curve.fpr), _y(curve.tpr)]).round(1))
    return "M" + "L".join(f"{x:g} {y:g}" for x, y in corners.tolist())


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
