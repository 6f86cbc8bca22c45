"""The ROC figure: what is left out does not change the curve."""

import re
from xml.etree import ElementTree as ET

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from raravis._html.roc import Line, _corners, roc_figure
from raravis.metrics import exact_roc

steps = st.lists(st.tuples(st.integers(0, 2), st.integers(0, 2)), min_size=1, max_size=30)


def heights(points: np.ndarray, x: np.ndarray) -> np.ndarray:
    return np.interp(x, points[:, 0], points[:, 1])


@given(steps)
def test_leaving_out_straight_points_keeps_the_curve(moves: list[tuple[int, int]]) -> None:
    # A curve ends beyond where it starts, as every ROC curve does.
    points = np.cumsum(np.array([(0, 0), *moves, (1, 1)], dtype=float), axis=0)
    kept = _corners(points)
    assert kept[0].tolist() == points[0].tolist()
    assert kept[-1].tolist() == points[-1].tolist()
    assert len(kept) <= len(points)
    between = np.arange(0, points[-1, 0], 0.25) + 0.125
    np.testing.assert_allclose(heights(kept, between), heights(points, between))


def test_curve_with_few_points() -> None:
    assert len(_corners(np.array([[0.0, 0.0], [0.0, 0.0], [1.0, 1.0]]))) == 2
    assert len(_corners(np.array([[0.0, 0.0], [1.0, 0.0], [2.0, 0.0], [2.0, 1.0]]))) == 3


def test_curve_and_point_stand_where_they_should() -> None:
    curve = exact_roc([True, True, False, False], [4.0, 2.0, 3.0, 1.0])
    text = roc_figure([Line(curve.fpr, curve.tpr, "exact")], (0.5, 1.0), title="ROC", text="a < b")
    svg = ET.fromstring(text)  # noqa: S314  (drawn a line above)
    (path,) = [item for item in svg.iter("path") if item.get("class") == "exact"]
    numbers = [float(value) for value in re.findall(r"[\d.]+", path.get("d", ""))]
    # Bottom left to top right, y counted downwards: up, right, up, right.
    assert numbers == [56, 334, 56, 174, 216, 174, 216, 14, 376, 14]
    circle = next(svg.iter("circle"))
    assert (circle.get("cx"), circle.get("cy")) == ("216.0", "14.0")
    assert next(svg.iter("desc")).text == "a < b"


@pytest.mark.parametrize("label", ["novel instances called known", "known instances called known"])
def test_axes_are_named(label: str) -> None:
    curve = exact_roc([True, False], [1.0, 0.0])
    assert label in roc_figure([Line(curve.fpr, curve.tpr, "exact")], (0.0, 1.0), title="", text="")
