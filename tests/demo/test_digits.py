"""What the demo computes, on the real digits."""

import numpy as np
import pytest
from sklearn.metrics import roc_auc_score

from raravis import NOVEL
from raravis.demo import DigitsDemo, run_digits
from raravis.demo.digits import _first_images
from raravis.errors import InputError
from raravis.progress import Progress


def test_known_and_novel_are_told_apart(found: DigitsDemo) -> None:
    # 0.97 to 0.99 over seeds when this was written.
    assert found.auc.estimate > 0.93
    assert found.auc.low < found.auc.estimate < found.auc.high
    assert found.accuracy > 0.85
    assert found.detection.novel.recall > 0.6
    assert found.detection.novel.precision > 0.7


def test_figures_agree_with_scikit_learn_and_with_counting(found: DigitsDemo) -> None:
    known = ~np.isin(found.test.instance_labels, [3, 8])
    assert found.auc.estimate == pytest.approx(roc_auc_score(known, found.scores))
    assert found.exact.auc == pytest.approx(found.auc.estimate)
    said_novel = np.array([a is NOVEL for a in found.annotations])
    assert found.detection.novel.recall == pytest.approx(said_novel[~known].mean())
    assert found.accuracy == pytest.approx(found.right.mean())


def test_the_comparison_is_below_and_ordered_by_what_it_was_told(found: DigitsDemo) -> None:
    unlabelled, told = found.rivals
    assert unlabelled.auc.estimate < told.auc.estimate < found.auc.estimate


def test_no_test_image_was_trained_on(found: DigitsDemo) -> None:
    assert not set(found.train.instance_ids.tolist()) & set(found.test.instance_ids.tolist())


def test_hidden_digits_are_in_the_bags_but_in_no_list(found: DigitsDemo) -> None:
    assert {3, 8} <= set(found.train.instance_labels.tolist())
    assert found.train.labels.classes == (0, 1, 2, 4, 5, 6, 7, 9)
    assert found.model.classes_.tolist() == [0, 1, 2, 4, 5, 6, 7, 9]


def test_extremes_are_extreme_and_show_no_image_twice(found: DigitsDemo) -> None:
    for shown in (found.most_novel, found.most_known):
        assert len(shown) == 30
        assert len(set(found.test.instance_ids[shown].tolist())) == 30
    assert found.novelty[found.most_novel[0]] == found.novelty.max()
    assert np.all(np.diff(found.novelty[found.most_novel]) <= 0)
    assert np.all(np.diff(found.novelty[found.most_known]) >= 0)
    elsewhere = ~np.isin(found.test.instance_ids, found.test.instance_ids[found.most_novel])
    assert found.novelty[elsewhere].max() <= found.novelty[found.most_novel].min()


def test_gravest_mistakes_are_mistakes_far_from_the_threshold(found: DigitsDemo) -> None:
    assert not found.right[found.gravest].any()
    worst = np.abs(found.novelty[~found.right]).max()
    assert np.abs(found.novelty[found.gravest[0]]) == worst


def test_first_images_keeps_the_order_and_drops_repeats() -> None:
    image_of = np.array([7, 5, 7, 9])
    assert _first_images(np.array([2, 3, 0, 1]), image_of).tolist() == [2, 3, 1]


def test_progress_tells_of_every_stage_to_its_end() -> None:
    told: list[Progress] = []
    run_digits(hidden=(0, 2, 3, 4, 5, 6, 7, 8, 9), seed=1, progress=told.append)
    last = {step.stage: step for step in told}
    assert {"classes", "comparison"} <= set(last)
    assert all(step.done == step.total for step in last.values())


@pytest.mark.parametrize(
    "hidden", [(), (3, 3), (10,), (-1,), "38", 3, (1.5,), (True,), tuple(range(10)), ("3",)]
)
def test_hidden_digits_that_cannot_be(hidden: object) -> None:
    with pytest.raises(InputError, match="one to nine different digits from 0 to 9"):
        run_digits(hidden=hidden)


@pytest.mark.parametrize("seed", [-1, 1.0, True, "0", None])
def test_seed_that_cannot_be(seed: object) -> None:
    with pytest.raises(InputError, match=r"seed is .*whole number, at least 0"):
        run_digits(seed=seed)
