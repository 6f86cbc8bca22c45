import pickle

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from raravis.audio import Segments, fixed_windows
from raravis.errors import InputError

numbers = st.floats(0, 1e5, width=32)
boxes = st.lists(st.tuples(numbers, numbers, numbers, numbers), max_size=12).map(
    lambda rows: Segments(
        [min(r[:2]) for r in rows],
        [max(r[:2]) for r in rows],
        [min(r[2:]) for r in rows],
        [max(r[2:]) for r in rows],
    )
)


@given(boxes)
def test_segments_are_in_order_read_only_and_equal_to_themselves(segments):
    rows = list(zip(segments.begin_s, segments.low_hz, segments.end_s, strict=True))
    assert rows == sorted(rows)
    assert segments == segments.take(slice(None))
    assert pickle.loads(pickle.dumps(segments)) == segments
    with pytest.raises(ValueError, match="read-only"):
        segments.begin_s[:] = 0


@given(boxes, st.randoms(use_true_random=False))
def test_the_order_on_the_way_in_makes_no_difference(segments, random):
    order = list(range(len(segments)))
    random.shuffle(order)
    columns = (segments.begin_s, segments.end_s, segments.low_hz, segments.high_hz)
    assert Segments(*(column[order] for column in columns)) == segments


@pytest.mark.parametrize(
    ("columns", "message"),
    [
        (([2.0], [1.0], [0], [1]), "segment 0 has begin_s 2 and end_s 1"),
        (([0], [1], [5], [4]), "segment 0 has low_hz 5 and high_hz 4"),
        (([-1], [1], [0], [1]), r"begin_s of segment 0 is -1\.0"),
        (([np.nan], [1], [0], [1]), "begin_s of segment 0 is nan"),
        (([0, 1], [1], [0], [1]), "one of each for every segment"),
        (([[0]], [1], [0], [1]), "begin_s has shape"),
        ((["x"], [1], [0], [1]), "begin_s holds something that is no number"),
    ],
)
def test_boxes_that_are_none_are_refused(columns, message):
    with pytest.raises(InputError, match=message):
        Segments(*columns)


def test_segments_are_not_equal_to_other_things():
    assert Segments.empty() != 3
    assert repr(Segments.empty()) == "Segments(0 segments)"
    assert len(Segments.empty().take([])) == 0


@given(st.floats(0, 500), st.floats(1, 60), st.floats(0.1, 1))
@settings(deadline=None)
def test_windows_cover_all_and_none_lies_in_the_one_before(duration_s, window_s, share):
    hop_s = window_s * share
    windows = fixed_windows(duration_s, window_s, hop_s, nyquist_hz=8000)
    if duration_s == 0:
        assert len(windows) == 0
        return
    assert windows.begin_s[0] == 0
    assert windows.end_s[-1] == pytest.approx(duration_s)
    assert (windows.begin_s < duration_s).all()
    assert np.allclose(np.diff(windows.begin_s), hop_s)
    assert (windows.duration_s <= window_s + 1e-9).all()
    assert (windows.begin_s[1:] <= windows.end_s[:-1] + 1e-9).all()
    assert (np.diff(windows.end_s) > -1e-9).all()


@pytest.mark.parametrize(
    ("arguments", "message"),
    [((5, 0, 1), "window_s is 0"), ((5, 1, -1), "hop_s is -1"), ((-5, 1, 1), "duration_s is -5")],
)
def test_windows_that_make_no_sense_are_refused(arguments, message):
    with pytest.raises(InputError, match=message):
        fixed_windows(*arguments, nyquist_hz=8000)
