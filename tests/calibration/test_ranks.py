"""Order statistics and binomial bounds against what they are defined by."""

from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.stats import beta, binom

from raravis.calibration.ranks import (
    check_share,
    confident_rank,
    conformal_rank,
    cross_rank,
    lower_bound,
    passes,
    risk_threshold,
    smallest_n,
)
from raravis.errors import InputError

shares = st.sampled_from(["0.01", "0.05", "0.1", "0.29", "0.5"])
counts = st.integers(1, 3000)


@given(n=counts, alpha=shares)
def test_a_conformal_rank_is_the_largest_whose_rate_is_allowed(n, alpha):
    k, exact = conformal_rank(n, float(alpha)), Fraction(alpha)
    assert Fraction(k, n + 1) <= exact < Fraction(k + 1, n + 1)


@settings(max_examples=50)
@given(n=counts, alpha=shares, confidence=st.sampled_from([0.5, 0.9, 0.99]))
def test_a_confident_rank_is_the_largest_whose_beta_tail_is_allowed(n, alpha, confidence):
    k, rate = confident_rank(n, float(alpha), confidence), float(alpha)
    assert k == 0 or beta.cdf(rate, k, n + 1 - k) >= confidence - 1e-6
    assert k == n or beta.cdf(rate, k + 1, n - k) < confidence + 1e-6


@given(n=counts, alpha=shares, n_folds=st.integers(2, 30))
def test_a_cross_rank_is_the_largest_with_a_mean_p_value_of_half_alpha(n, alpha, n_folds):
    k, folds, exact = cross_rank(n, float(alpha), n_folds), min(n, n_folds), Fraction(alpha)
    assert k == 0 or 2 * Fraction(k - 1 + folds, n + folds) <= exact
    assert 2 * Fraction(k + folds, n + folds) > exact
    assert k <= conformal_rank(n, float(alpha))


@given(
    scores=st.lists(st.integers(-4, 4), min_size=1, max_size=30),
    alpha=st.floats(0.02, 0.98),
    seed=st.integers(0, 99),
)
def test_a_risk_threshold_is_the_highest_of_the_values_that_loses_no_more(scores, alpha, seed):
    values = np.array(scores, dtype=float)
    weights = np.random.default_rng(seed).uniform(0, 1, len(values))
    n = len(values)
    found = risk_threshold(values, weights, n, alpha)
    risks = {t: (weights[values < t].sum() + 1) / (n + 1) for t in [-np.inf, *values]}
    allowed = [t for t, risk in risks.items() if risk <= alpha + 1e-9]
    assert found == max(allowed, default=-np.inf)


@given(n=st.integers(1, 200), share=st.floats(0.05, 0.95), data=st.data())
def test_a_lower_bound_is_where_the_binomial_tail_is_the_error(n, share, data):
    hits = data.draw(st.integers(0, n))
    bound = lower_bound(hits, n, 0.9)
    assert bound <= hits / n
    assert hits == 0 or binom.sf(hits - 1, n, bound) == pytest.approx(0.1)
    assert passes(hits, n, share, 0.1) == (share <= bound) or share == pytest.approx(bound)


@given(threshold=st.integers(1, 10**9), at_least=st.integers(1, 1000))
def test_smallest_n_finds_the_first(threshold, at_least):
    assert smallest_n(lambda n: n >= threshold, at_least=at_least) == max(threshold, at_least)


def test_smallest_n_gives_up_somewhere():
    assert smallest_n(lambda n: False, at_most=1000) == 1000


@pytest.mark.parametrize("bad", [0, 1, 0.0, 1.0, -0.1, 1.5, True, "0.1", None, float("nan")])
def test_only_shares_between_0_and_1_are_shares(bad):
    with pytest.raises(InputError, match=r"alpha is .*between 0 and 1"):
        check_share("alpha", bad)
    assert check_share("alpha", np.float32(0.5)) == 0.5
