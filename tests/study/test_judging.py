"""How a model judges calls: with the lists of their recordings, and under a promise."""

from typing import Any

import numpy as np
import pytest

from raravis import BagLabels, Bags, KernelScorer, NoveltyDetector
from raravis.study.judging import judge_calls

RNG = np.random.default_rng(0)
PLACES = {"wren": [0.0, 0.0], "owl": [4.0, 0.0], "unheard": [2.0, 4.0]}
HEARD = [["wren", "unheard"], ["owl", "unheard"], ["wren", "owl"], ["unheard"]] * 8
BAGS = Bags.from_list(
    [np.array([PLACES[one] for one in heard]) + 0.1 * RNG.random(2) for heard in HEARD]
)
LISTED = BagLabels.from_sets([set(heard) - {"unheard"} for heard in HEARD], keys=BAGS.keys)
TRUTH = [one for heard in HEARD for one in heard]


@pytest.fixture(scope="module", params=[KernelScorer, NoveltyDetector])
def model(request: pytest.FixtureRequest) -> Any:
    return request.param(random_state=0).fit(BAGS, LISTED)


@pytest.mark.parametrize("options", [{}, {"context": True}, {"promised": True}])
@pytest.mark.parametrize("listed", [None, LISTED])
def test_known_calls_have_their_class_and_novel_ones_rank_above(
    model: Any, listed: BagLabels | None, options: dict[str, bool]
) -> None:
    found = judge_calls(model, BAGS, listed, **options)
    is_known = np.array([one != "unheard" for one in TRUTH])
    names = [model.classes_[column] for column in found.classes]
    assert [n for n, known in zip(names, is_known, strict=True) if known] == [
        one for one in TRUTH if one != "unheard"
    ]
    assert np.isfinite(found.novelty).all()
    assert np.isfinite(found.scores).all()
    assert found.novelty[is_known].max() < found.novelty[~is_known & ~found.certain].min()
    alone = np.array([heard == ["unheard"] for heard in HEARD])[BAGS.bag_index]
    assert np.array_equal(found.certain, alone if listed is not None else np.zeros_like(alone))


def test_a_list_rules_classes_out(model: Any) -> None:
    wrong = BagLabels.from_sets([{"owl"}], classes=model.classes_, keys=["a"])
    found = judge_calls(model, Bags.from_list([[PLACES["wren"]]], ["a"]), wrong)
    assert model.classes_[found.classes[0]] == "owl"
    assert model.classes_[found.scores[0].argmax()] == "wren", "scores tell what it sounds like"


def test_under_a_promise_a_call_counts_by_itself() -> None:
    model = NoveltyDetector().fit(BAGS, LISTED)
    found = judge_calls(model, BAGS, LISTED, promised=True, context=True)
    assert np.allclose(found.novelty, -model.score_samples(BAGS))
