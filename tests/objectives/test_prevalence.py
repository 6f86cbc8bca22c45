"""What the rest of a bag says, against the exact answer of the urn by enumeration."""

from itertools import product

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from scipy.special import gammaln

from raravis import BagLabels, Bags
from raravis.errors import InputError
from raravis.objectives import BagPrevalence, UnionLikelihood
from raravis.objectives.prevalence import concentration


def by_enumeration(urn, log_p, allowed=lambda y: True):
    """Exact posterior of one bag under the Dirichlet prior."""
    n, n_classes = log_p.shape
    evidence = log_p - np.log(urn.marginal)
    q = np.zeros((n, n_classes))
    for y in product(range(n_classes), repeat=n):
        if allowed(y):
            counts = np.bincount(y, minlength=n_classes)
            log_urn = (gammaln(counts + urn.alpha) - gammaln(urn.alpha)).sum()
            weight = np.exp(evidence[np.arange(n), list(y)].sum() + log_urn)
            q[np.arange(n), list(y)] += weight
    return q / q[0].sum()


def drawn(seed, n=6, n_classes=3):
    rng = np.random.default_rng(seed)
    urn = BagPrevalence(alpha=rng.uniform(0.5, 2.0, n_classes), marginal=rng.dirichlet([5.0] * 3))
    return urn, np.log(rng.dirichlet([0.7] * n_classes, n) + 1e-9)


def test_it_comes_close_to_the_exact_posterior():
    errors, ignored = [], []
    for seed in range(30):
        urn, log_p = drawn(seed)
        exact = by_enumeration(urn, log_p)
        errors.append(np.abs(np.exp(urn.in_context(log_p, np.array([0, 6]))) - exact).mean())
        alone = log_p - np.log(urn.marginal) + np.log(urn.alpha)
        alone = np.exp(alone - np.logaddexp.reduce(alone, axis=1, keepdims=True))
        ignored.append(np.abs(alone - exact).mean())
    assert np.mean(errors) < 0.03
    assert np.mean(errors) < 0.4 * np.mean(ignored)


def test_labels_of_the_bag_bear_on_the_others():
    errors = []
    for seed in range(20):
        urn, log_p = drawn(seed)
        bags = Bags.from_list([np.zeros((6, 1))])
        union = UnionLikelihood.from_bags(bags, BagLabels.from_sets([{0}], classes=range(2)))
        adjusted = urn.in_context(log_p, bags.offsets, labels=union)
        exact = by_enumeration(urn, log_p, lambda y: 1 in y and 2 not in y)
        errors.append(np.abs(union.posterior(adjusted).instances - exact).mean())
    assert np.mean(errors) < 0.03


def test_a_single_instance_is_judged_by_the_prior_and_empty_bags_do_no_harm():
    urn, log_p = drawn(0, n=2)
    adjusted = urn.in_context(log_p, np.array([0, 1, 1, 2]))
    expected = np.exp(log_p) / urn.marginal * urn.alpha
    assert_allclose(np.exp(adjusted), expected / expected.sum(axis=1, keepdims=True))
    assert urn.in_context(log_p[:0], np.array([0, 0])).shape == (0, 3)


def test_order_and_other_bags_do_not_matter():
    urn, log_p = drawn(0, n=10)
    offsets = np.array([0, 4, 10])
    whole = urn.in_context(log_p, offsets)
    assert_allclose(urn.in_context(log_p[:4], np.array([0, 4])), whole[:4], atol=1e-3)
    turned = urn.in_context(log_p[::-1], np.array([0, 6, 10]))
    assert_allclose(turned[::-1], whole, atol=1e-9)


@pytest.mark.parametrize("truth", [0.5, 3.0, 20.0])
def test_the_concentration_is_found(truth):
    rng = np.random.default_rng(0)
    share = np.array([0.5, 0.3, 0.2])
    counts = np.array([rng.multinomial(15, rng.dirichlet(truth * share)) for _ in range(600)])
    assert_allclose(concentration(counts, share), truth, rtol=0.15)


def test_learning_anew_in_context_tells_bags_apart_more_sharply():
    """Doubt blurs the shares of bags: the concentration comes out too high, less so with rounds."""
    rng = np.random.default_rng(0)
    share, truth = np.array([0.4, 0.3, 0.3]), 1.0
    offsets = np.arange(0, 3001, 10)
    kinds = np.concatenate([rng.choice(3, 10, p=rng.dirichlet(truth * share)) for _ in range(300)])
    scores = 1.5 * np.eye(3)[kinds] + rng.standard_normal((3000, 3))
    P = np.exp(1.5 * scores) / np.exp(1.5 * scores).sum(axis=1, keepdims=True)
    blurred = BagPrevalence.learn(P, np.log(P), offsets).alpha.sum()
    renewed = BagPrevalence.learn(P, np.log(P), offsets, rounds=1).alpha.sum()
    assert truth < renewed < blurred / 2


def test_bags_of_one_instance_say_nothing_of_one_another():
    rng = np.random.default_rng(0)
    Q = rng.dirichlet(np.ones(3), 50)
    urn = BagPrevalence.learn(Q, np.log(Q), np.arange(51))
    assert urn.alpha.sum() == pytest.approx(1e4)
    with pytest.raises(InputError, match=r"shape \(50, 3\) and the log-probabilities \(50, 2\)"):
        BagPrevalence.learn(Q, np.log(Q[:, :2]), np.arange(51))


def test_learning_takes_the_shares_of_the_posterior_and_the_means_of_the_model():
    rng = np.random.default_rng(1)
    Q, P = rng.dirichlet(np.ones(3), 60), rng.dirichlet(np.ones(3), 60)
    urn = BagPrevalence.learn(Q, np.log(P), np.arange(0, 61, 6))
    assert_allclose(urn.alpha / urn.alpha.sum(), Q.mean(axis=0))
    assert_allclose(urn.marginal, P.mean(axis=0))
    never = np.column_stack([Q, np.zeros(60)])
    assert_array_equal(
        BagPrevalence.learn(never, np.log(never + 1e-12), np.arange(0, 61, 6)).alpha > 0, True
    )
