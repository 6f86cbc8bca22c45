"""CallTable: what it takes, what it refuses, and the tables made of it."""

import math
import pickle
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.formats.made import tables

from raravis.errors import InputError
from raravis.formats import CallTable

LAWS = settings(max_examples=50, deadline=None)


def calls(**values: Any) -> CallTable:
    """Two calls, one of each of two recordings."""
    usual = {"recording": ["a", "b"], "begin_s": [0, 1], "end_s": [1, 2]}
    return CallTable(**{**usual, **values})


def test_what_is_not_given_is_unknown() -> None:
    plain = calls()
    assert len(plain) == 2
    assert np.isnan(plain.low_hz).all()
    assert np.isnan(plain.high_hz).all()
    assert plain.label == (None, None)
    assert (plain.novelty, plain.class_scores, plain.classes, plain.channel) == (
        None,
        None,
        (),
        None,
    )
    assert dict(plain.extra) == {}
    assert repr(plain) == "CallTable(2 calls in 2 recordings, 0 labelled)"


def test_scores_bring_an_unknown_novelty() -> None:
    found = calls(class_scores=[[1], [2]], classes=["wren"])
    assert found.novelty is not None
    assert np.isnan(found.novelty).all()
    assert found != calls(class_scores=[[1], [2]], classes=["wren"], novelty=[0, math.nan])


def test_nothing_of_it_changes() -> None:
    begin = np.array([0.0, 1.0])
    extra = {"By": ["x", "y"]}
    found = calls(begin_s=begin, novelty=[0, 1], extra=extra)
    begin[0], extra["By"] = 0.5, ["z", "z"]
    assert found.begin_s[0] == 0
    assert found.extra["By"] == ("x", "y")
    for array in (found.begin_s, found.end_s, found.low_hz, found.novelty):
        assert array is not None
        with pytest.raises(ValueError, match="read-only"):
            array[0] = 1
    with pytest.raises(TypeError):
        found.extra["By"] = ()  # type: ignore[index]
    with pytest.raises(TypeError):
        hash(found)


def test_equal_is_equal_in_everything() -> None:
    assert calls() == calls()
    assert calls() != "calls"
    for other in (
        {"label": ["wren", None]},
        {"novelty": [0, 1]},
        {"channel": [1, 1]},
        {"low_hz": [0, math.nan]},
        {"extra": {"By": ["", ""]}},
        {"recording": ["a", "c"]},
    ):
        assert calls() != calls(**other)


@pytest.mark.parametrize(
    ("values", "message"),
    [
        ({"recording": "ab"}, "recording is the text 'ab'"),
        ({"recording": ["a", ""]}, r"recording\[1\] is empty"),
        ({"recording": ["a", 2]}, r"recording\[1\] is 2; give text, for example '2'"),
        ({"recording": ["a", "\ud800"]}, "no file can hold as UTF-8"),
        ({"begin_s": [0]}, "begin_s has 1 rows, but recording has 2"),
        ({"begin_s": [[0], [1]]}, "begin_s has shape"),
        ({"begin_s": [0, "x"]}, "begin_s holds something that is no number"),
        ({"begin_s": [0, 3]}, "Call 1 .of 'b'. has begin_s=3.0 and end_s=2.0"),
        ({"begin_s": [-1, 0]}, "Call 0"),
        ({"end_s": [1, math.nan]}, "Call 1"),
        ({"end_s": [1, math.inf]}, "Call 1"),
        ({"low_hz": [5, 5], "high_hz": [5, 4]}, "Call 1 .* low_hz=5.0 and high_hz=4.0"),
        ({"low_hz": [-1, 0]}, "Call 0"),
        ({"high_hz": [1, math.inf]}, "Call 1"),
        ({"label": "wren"}, "label is the text"),
        ({"label": ["wren"]}, "label has 1 rows"),
        ({"label": ["wren", ""]}, r"label\[1\] is empty; give a name, or None"),
        ({"label": ["wren", 3]}, r"label\[1\] is 3"),
        ({"novelty": [1]}, "novelty has 1 rows"),
        ({"class_scores": [[1], [2]]}, r"shape \(2, 1\), but there are 2 calls and 0 classes"),
        ({"classes": ["wren"]}, "class_scores has shape"),
        ({"class_scores": [[1, 2]] * 2, "classes": ["a", "a"]}, "names one twice"),
        ({"channel": [0, 1]}, "channels count from 1"),
        ({"channel": [1, 1.5]}, "channels count from 1"),
        ({"extra": {"By": ["x"]}}, r"extra\['By'\] has 1 rows"),
        ({"extra": {"By": [1, 2]}}, r"extra\['By'\]\[0\] is 1"),
        ({"extra": {"": ["x", "y"]}}, r"extra\[0\] is empty"),
    ],
)
def test_what_is_refused(values: dict[str, Any], message: str) -> None:
    with pytest.raises(InputError, match=message):
        calls(**values)


def test_a_call_may_be_a_point() -> None:
    assert len(calls(begin_s=[1, 2], low_hz=[5, 0], high_hz=[5, math.nan])) == 2


# ---------------------------------------------------------------------- other tables


@LAWS
@given(table=tables())
def test_another_process_gets_the_same(table: CallTable) -> None:
    again = pickle.loads(pickle.dumps(table))
    assert again == table
    assert not again.begin_s.flags.writeable


@LAWS
@given(table=tables(), data=st.data())
def test_parts_put_together_are_the_whole(table: CallTable, data: st.DataObject) -> None:
    cut = data.draw(st.integers(0, len(table)))
    parts = [table.take(slice(None, cut)), table.take(slice(cut, None))]
    assert CallTable.concat(parts) == table


@LAWS
@given(table=tables())
def test_recordings_take_the_table_apart(table: CallTable) -> None:
    parts = table.by_recording()
    assert tuple(parts) == table.recordings
    for name, part in parts.items():
        assert part == table.for_recording(name)
        assert set(part.recording) == {name}
    assert sum(map(len, parts.values())) == len(table)


def test_tables_of_different_columns_go_together() -> None:
    one = calls(class_scores=[[1], [2]], classes=["wren"], channel=[2, 2], extra={"By": ["x", "y"]})
    two = calls(class_scores=[[3, 4], [5, 6]], classes=["owl", "wren"], novelty=[0, 1])
    both = CallTable.concat([one, two])
    nan = math.nan
    assert both.classes == ("wren", "owl")
    assert both.class_scores is not None
    np.testing.assert_array_equal(both.class_scores, [[1, nan], [2, nan], [4, 3], [6, 5]])
    np.testing.assert_array_equal(both.novelty, [nan, nan, 0, 1])
    np.testing.assert_array_equal(both.channel, [2, 2, 1, 1])
    assert dict(both.extra) == {"By": ("x", "y", "", "")}


def test_nothing_put_together_is_nothing() -> None:
    assert CallTable.concat([]) == CallTable.empty()
    assert len(CallTable.empty(["wren"])) == 0
    assert CallTable.empty(["wren"]).classes == ("wren",)


def test_no_calls_of_a_recording_that_has_none() -> None:
    assert len(calls().for_recording("c")) == 0
    assert calls().take([1, 0]).recording == ("b", "a")
    with pytest.raises(InputError, match="There is no call at position 2: there are 2 calls"):
        calls().take([2])
