"""Thresholds from reviewed instances: what counts, and what is said where there is none."""

import re

import numpy as np
import pytest
from tests.problems import random_problem

from raravis import KernelScorer
from raravis.calibration import (
    NoThreshold,
    apply_threshold,
    one_a_bag,
    threshold_for_precision,
    threshold_for_recall,
)
from raravis.calibration.ranks import passes
from raravis.errors import InputError


def test_only_known_reviews_count_for_recall():
    scores = np.arange(60.0)
    found = threshold_for_recall(scores, scores >= 30, alpha=0.1, date="2026-05-01")
    assert (found.value, found.n, found.rule, found.level) == (32.0, 30, "known_recall", 0.9)
    fewer = threshold_for_recall(scores, scores >= 30, alpha=0.1, confidence=0.9)
    assert (fewer.value, fewer.confidence) == (30.0, 0.9)
    assert "with confidence 0.9 a share of at least 0.9" in fewer.guarantee


def test_known_instances_of_a_bag_weigh_one_together():
    # 19 bags of one known instance each, and one bag of fifty, all of them low.
    scores = np.concatenate([np.arange(19.0), np.full(50, -5.0)])
    bags = np.concatenate([np.arange(19), np.full(50, 19)])
    known = np.ones(69, dtype=bool)
    found = threshold_for_recall(scores, known, alpha=0.1, bag_index=bags)
    assert (found.value, found.n, found.rule) == (0.0, 20, "bag_known_recall")
    assert threshold_for_recall(scores, known, alpha=0.1).value == -5.0
    assert "of a new bag" in found.guarantee


def test_names_of_bags_do_not_matter():
    rng = np.random.default_rng(0)
    scores, bags = rng.random(50), rng.integers(0, 20, 50)
    named = [f"bag {i}" for i in bags]
    known = scores > 0.2
    assert (
        threshold_for_recall(scores, known, bag_index=bags).value
        == threshold_for_recall(scores, known, bag_index=named).value
    )


@pytest.mark.parametrize("bag_index", [None, np.arange(8)])
def test_too_few_known_reviews(bag_index):
    found = threshold_for_recall(np.arange(8.0), np.ones(8), alpha=0.1, bag_index=bag_index)
    assert isinstance(found, NoThreshold)
    assert (found.n, found.needed, found.missing) == (8, 9, 1)
    none = threshold_for_recall(np.arange(8.0), np.zeros(8), bag_index=bag_index)
    assert (none.n, none.needed) == (0, 9)


def test_more_reviews_do_not_help_where_scores_are_ruled_out():
    scores = np.append(np.full(5, -np.inf), np.arange(15.0))
    found = threshold_for_recall(scores, np.ones(20), alpha=0.1)
    assert (bool(found), found.n, found.needed) == (False, 20, None)
    assert "-inf" in found.reason
    assert threshold_for_recall(scores, np.ones(20), alpha=0.3).value == 0.0


def test_a_confidence_about_bags_is_refused():
    with pytest.raises(InputError, match="those of one bag are not"):
        threshold_for_recall([1.0, 2.0], [1, 1], confidence=0.9, bag_index=[0, 0])


def test_the_highest_threshold_that_passes_is_taken():
    scores = np.arange(200.0)
    known = scores >= 80
    found = threshold_for_precision(scores, known, precision=0.8, confidence=0.9)
    below = int((scores < found.value).sum())
    assert passes(80, below, 0.8, 0.1 / 16)
    assert "with confidence 0.9 at least 80% of instances below" in found.guarantee
    assert (found.rule, found.level, found.n) == ("novel_precision", 0.8, 200)


def test_candidates_are_tested_from_the_lowest_up_to_the_first_failure():
    # Novel below 40, known from 40 to 59, novel again: the last candidate would pass.
    scores = np.arange(400.0)
    known = (scores >= 40) & (scores < 60)
    found = threshold_for_precision(scores, known, candidates=[30, 60, 390])
    assert found.value == 30.0
    assert threshold_for_precision(scores, known, candidates=[390]).value == 390.0
    assert threshold_for_precision(scores, known, candidates=[30, 1e9]).value == 30.0
    assert not threshold_for_precision(scores, known, candidates=[5, 30])


def test_too_few_reviews_for_any_precision():
    found = threshold_for_precision(np.arange(10.0), np.zeros(10))
    assert isinstance(found, NoThreshold)
    assert found.n == 10
    assert "even if all were novel" in found.reason
    again = threshold_for_precision(np.arange(float(found.needed)), np.zeros(found.needed))
    assert again
    assert not threshold_for_precision(np.arange(found.needed - 1.0), np.zeros(found.needed - 1))


def test_how_many_reviews_would_do_is_about_right():
    rng = np.random.default_rng(0)

    def reviews(n):
        novel = rng.random(n) < 0.9
        return rng.random(n), ~novel

    found = threshold_for_precision(*reviews(60), precision=0.8)
    assert isinstance(found, NoThreshold)
    assert found.needed > 60
    assert "if shares stay as they are" in found.reason
    assert threshold_for_precision(*reviews(4 * found.needed), precision=0.8)


def test_no_number_of_reviews_helps_where_too_few_are_novel():
    rng = np.random.default_rng(0)
    found = threshold_for_precision(rng.random(500), rng.random(500) < 0.5, precision=0.8)
    assert (bool(found), found.needed) == (False, None)
    assert re.search("more reviews would not help", found.reason)


def test_one_instance_of_each_bag_is_drawn():
    bags = np.repeat(["a", "b", "c"], [100, 1, 50])
    for seed in range(20):
        drawn = one_a_bag(bags, seed=seed)
        assert bags[drawn].tolist() == ["a", "b", "c"]
    assert len({tuple(one_a_bag(bags, seed=seed)) for seed in range(20)}) > 10
    scores = np.arange(151.0)
    found = threshold_for_precision(scores, scores >= 999, bag_index=bags)
    assert (bool(found), found.n) == (False, 3)
    every = threshold_for_precision(scores, scores >= 999, bag_index=np.arange(151))
    assert (every.n, "one instance drawn from a random bag" in every.guarantee) == (151, True)


def test_a_threshold_from_reviews_fits_the_model_it_was_found_for():
    bags, labels = random_problem(0, n_bags=40)
    model = KernelScorer().fit(bags, labels)
    scores = model.score_samples(bags)
    found = threshold_for_recall(scores, scores > 0, model=model)
    assert apply_threshold(model, found).offset_ == found.value
    with pytest.raises(InputError, match="another model"):
        apply_threshold(KernelScorer(lam=0.5).fit(bags, labels), found)


@pytest.mark.parametrize("find", [threshold_for_recall, threshold_for_precision])
@pytest.mark.parametrize(
    ("scores", "known", "message"),
    [
        ([1.0, 2.0], [1], "scores has 2 values and known has 1"),
        ([1.0, np.nan], [1, 0], "NaN"),
        ([], [], "known is empty"),
        ([1.0, 2.0], ["yes", "no"], "pass numbers"),
        ([1.0, 2.0, 3.0], [0, 1, 2], "True for known"),
    ],
)
def test_reviews_are_checked(find, scores, known, message):
    with pytest.raises(InputError, match=message):
        find(scores, known)


def test_options_are_checked():
    with pytest.raises(InputError, match="precision is 1"):
        threshold_for_precision([1.0], [1], precision=1)
    with pytest.raises(InputError, match="confidence is None"):
        threshold_for_precision([1.0], [1], confidence=None)
    with pytest.raises(InputError, match="bag_index has 1"):
        threshold_for_recall([1.0, 2.0], [1, 1], bag_index=[0])
