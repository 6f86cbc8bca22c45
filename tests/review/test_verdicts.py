"""What holds, given the log: undo, several reviewers, agreement and conflict."""

from itertools import count
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from raravis.review import Act, CallIndex, CallKey, Verdict, Verdicts

A, B = CallKey("a", 0.0, 1.0), CallKey("b", 0.0, 1.0)


def act(number: int, kind: Any = "known", name: str | None = None, **more: Any) -> Act:
    fields = {"reviewer": "Ada", "note": "", "undoes": None, "calls": (A,), **more}
    fields |= {"ticket": f"t{number}", "at": "", "model": "", "queue": ""}
    return Act(id=number, kind=kind, class_name=name, **fields)


def test_the_last_word_of_a_reviewer_counts_and_undo_brings_back_the_one_before() -> None:
    found = Verdicts([act(1, name="wren"), act(2, name="owl")])
    assert found.settled(A) == Verdict("class", "owl")
    assert found.update([act(3, "undo", undoes=2, calls=())]) == {A}
    assert found.settled(A) == Verdict("class", "wren")
    found.update([act(4, "undo", undoes=1, calls=())])
    assert (found.settled(A), found.standing(A), list(found)) == (None, "open", [])


@pytest.mark.parametrize(
    ("mine", "theirs", "standing", "settled"),
    [
        (("known", "wren"), ("new", "wren"), "agreed", Verdict("class", "wren")),
        (("known", "wren"), ("known", "owl"), "conflict", None),
        (("known", "wren"), ("not_target", None), "conflict", None),
        (("known", "wren"), ("uncertain", None), "single", Verdict("class", "wren")),
        (("not_target", None), ("not_target", None), "agreed", Verdict("not_target")),
        (("uncertain", None), ("uncertain", None), "uncertain", None),
    ],
)
def test_agreement_and_conflict(mine: Any, theirs: Any, standing: str, settled: Any) -> None:
    found = Verdicts([act(1, *mine), act(2, *theirs, reviewer="Bo")])
    assert (found.standing(A), found.settled(A)) == (standing, settled)
    assert set(found.opinions(A)) == {"Ada", "Bo"}
    assert found.counts() == {standing: 1}


def test_notes_decide_nothing_and_new_classes_are_offered_until_undone() -> None:
    found = Verdicts([act(1, "note", note="hear twice"), act(2, "new", "tui", calls=(A, B))])
    assert [n.note for n in found.notes(A)] == ["hear twice"]
    assert found.new_classes() == ("tui",)
    assert found.by_verdict() == {Verdict("class", "tui"): 2}
    last = found.undoable("Ada")
    assert last is not None
    assert last.id == 2
    found.update([act(3, "undo", undoes=2, calls=())])
    assert found.new_classes() == ()
    assert [a.id for a in found.recent("Ada", 5)] == [1]
    assert found.undoable("Bo") is None


@settings(max_examples=60)
@given(
    st.lists(st.tuples(st.sampled_from("ABC"), st.sampled_from(["wren", "owl", None]))), st.data()
)
def test_undoing_everything_in_any_order_leaves_nothing(said: Any, data: Any) -> None:
    numbers = count(1)
    acts = [
        act(next(numbers), "known" if name else "uncertain", name, reviewer=who)
        for who, name in said
    ]
    found = Verdicts(acts)
    shuffled = data.draw(st.permutations(acts))
    for undone in shuffled:
        found.update([act(next(numbers), "undo", undoes=undone.id, calls=())])
    assert list(found) == []
    assert found.counts() == {}


def test_a_call_is_found_again_after_a_new_segmentation() -> None:
    old = CallKey("a", 1.0, 2.0, 1000.0, 3000.0)
    index = CallIndex(
        [
            CallKey("a", 1.1, 2.1, 1000.0, 3200.0),
            CallKey("a", 1.0, 2.0, 5000.0, 7000.0),
            CallKey("b", 1.0, 2.0, 1000.0, 3000.0),
        ]
    )
    assert index.find(old) == 0
    assert index.find(old._replace(begin_s=1.8, end_s=4.0)) == -1
    assert index.find(old._replace(recording="c")) == -1
    assert CallIndex([]).find(old) == -1
