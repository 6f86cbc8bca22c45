"""Conformal p-values and selections against their definitions."""

import json

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.testing import assert_allclose, assert_array_equal
from scipy.stats import false_discovery_control

from raravis.calibration import novelty_p_values, select_novel
from raravis.errors import InputError

small = st.integers(-5, 5).map(float)


@given(
    scores=st.lists(small, max_size=10),
    reviewed=st.lists(st.tuples(small, st.booleans(), st.integers(0, 3)), min_size=1, max_size=30),
)
def test_p_values_count_bags_that_score_as_low(scores, reviewed):
    values, known, bags = (np.array(column) for column in zip(*reviewed, strict=True))
    if not known.any():
        with pytest.raises(InputError, match="no reviewed instance is known"):
            novelty_p_values(scores, values, known)
        return
    plain = [(1 + np.sum(values[known] <= s)) / (known.sum() + 1) for s in scores]
    assert_allclose(novelty_p_values(scores, values, known), plain)
    held = np.unique(bags[known])
    shares = [[np.mean(values[known & (bags == b)] <= s) for b in held] for s in scores]
    by_bag = [(1 + sum(row)) / (len(held) + 1) for row in shares]
    assert_allclose(novelty_p_values(scores, values, known, bag_index=bags), by_bag, atol=1e-8)


@given(st.integers(0, 1000), st.sampled_from(["positive", "any"]))
def test_a_selection_is_that_of_an_independent_implementation(seed, dependence):
    rng = np.random.default_rng(seed)
    scores = rng.standard_normal(30) - 2.5 * (rng.random(30) < 0.5)
    found = select_novel(
        scores, rng.standard_normal(150), np.ones(150), level=0.2, dependence=dependence
    )
    method = "bh" if dependence == "positive" else "by"
    adjusted = false_discovery_control(found.p_values, method=method)
    assert_array_equal(found.selected, adjusted <= 0.2 + 1e-9)
    assert_array_equal(found.selected, found.p_values <= found.cutoff)


def test_the_number_of_reviews_that_would_do():
    # Two of ten are below all known ones: 1 / (n + 1) has to come down to 0.1 * 2 / 10.
    scores = np.append(np.full(2, -9.0), np.full(8, 9.0))
    found = select_novel(scores, np.arange(20.0), np.ones(20))
    assert (bool(found), found.n, found.needed) == (False, 20, 49)
    assert "2 of 10 instances score below all 20" in found.reason
    assert not select_novel(scores, np.arange(48.0), np.ones(48))
    assert select_novel(scores, np.arange(49.0), np.ones(49)).selected.sum() == 2


def test_reviews_do_not_help_where_nothing_stands_out():
    found = select_novel([5.0, 6.0], np.arange(20.0), np.ones(20))
    assert (bool(found), found.cutoff, found.needed) == (False, 0.0, None)
    assert "more reviews would not help" in found.reason


def test_an_empty_batch():
    found = select_novel([], np.arange(20.0), np.ones(20))
    assert (bool(found), found.selected.shape, found.reason) == (
        False,
        (0,),
        "there are no instances to select from.",
    )


def test_a_selection_records_what_it_rests_on_as_json():
    reviewed, bags = np.arange(100.0), np.arange(100) // 2
    options = {"bag_index": bags, "date": "2026-05-01", "level": 0.2}
    found = select_novel([-1.0, 50.0], reviewed, np.ones(100), **options)
    record = json.loads(json.dumps(found.to_dict()))
    assert record["selected"] == [True, False]
    assert (record["n"], record["level"], record["date"]) == (50, 0.2, "2026-05-01")
    other = select_novel([-1.0, 50.0], reviewed + 1, np.ones(100), **options)
    assert found.data != other.data
    assert "at most 0.2 is known" in found.guarantee
    assert (
        "independently"
        not in select_novel([1.0], reviewed, np.ones(100), dependence="any").guarantee
    )


def test_options_are_checked():
    with pytest.raises(InputError, match="dependence is 'none'"):
        select_novel([1.0], [1.0], [1], dependence="none")
    with pytest.raises(InputError, match="level is 0"):
        select_novel([1.0], [1.0], [1], level=0)
    with pytest.raises(InputError, match="NaN"):
        select_novel([np.nan], [1.0], [1])
