"""The demo's outcome as plain values."""

import json
from dataclasses import replace

import pytest

from raravis.demo import DigitsDemo, hidden_share, join_words, summary
from raravis.metrics import KindFigures


def test_summary_is_json_and_holds_the_figures(found: DigitsDemo) -> None:
    told = json.loads(json.dumps(summary(found), allow_nan=False))
    assert told["hidden"] == [3, 8]
    assert told["auc"]["estimate"] == pytest.approx(found.auc.estimate, abs=1e-6)
    assert told["model"]["gamma"] == pytest.approx(found.model.gamma_, abs=1e-6)
    assert [len(told[kind]) for kind in ("most_novel", "most_known")] == [30, 30]
    assert told["data"]["train_instances"] == 4000


def test_instances_carry_score_class_truth_and_verdict(found: DigitsDemo) -> None:
    for instance in summary(found)["most_novel"]:
        expected = "novel" if instance["digit"] in (3, 8) else instance["digit"]
        assert instance["right"] == (instance["said"] == expected)
    assert not any(instance["right"] for instance in summary(found)["gravest_mistakes"])


def test_a_figure_that_is_not_defined_is_null(found: DigitsDemo) -> None:
    nothing = KindFigures(precision=float("nan"), recall=0.0, f1=0.0, n=5)
    none_called_novel = replace(found, detection=replace(found.detection, novel=nothing))
    assert summary(none_called_novel)["novel"]["precision"] is None


def test_share_of_hidden_digits_in_words(found: DigitsDemo) -> None:
    positions = [int((~found.known).argmax()), int(found.known.argmax())]
    assert hidden_share(found, found.most_known[:0].copy()).startswith("None of the 0")
    one = hidden_share(found, found.most_known[:0].dtype.type(positions))
    assert one == "One of the 2 is of a hidden digit (3 or 8)."


@pytest.mark.parametrize(
    ("items", "words"), [([], ""), ([3], "3"), ([3, 8], "3 and 8"), ([0, 1, 2], "0, 1 and 2")]
)
def test_lists_in_words(items: list[int], words: str) -> None:
    assert join_words(items) == words
