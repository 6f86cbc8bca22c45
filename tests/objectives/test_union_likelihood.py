"""The likelihood of a union against sums over every assignment of classes to instances."""

from itertools import product

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.testing import assert_allclose, assert_array_equal
from scipy.optimize import approx_fprime

from raravis import BagLabels, Bags
from raravis._subsets import _logarithmic, _scaled
from raravis.errors import InputError
from raravis.objectives import UnionLikelihood


def drawn(seed, *, sizes=(3, 1, 4, 2, 0), n_classes=3, spread=2.0, unknown=0.2):
    """Random log-probabilities of bags, and labels that some assignment makes true."""
    rng = np.random.default_rng(seed)
    bags = Bags.from_list([np.zeros((n, 1)) for n in sizes], n_features=1)
    scores = spread * rng.standard_normal((bags.n_instances, n_classes + 1))
    log_p = scores - np.log(np.exp(scores).sum(axis=1, keepdims=True))
    status = np.full((bags.n_bags, n_classes), -1)
    classes = rng.integers(0, n_classes + 1, bags.n_instances)
    known = classes > 0
    status[bags.bag_index[known], classes[known] - 1] = 1
    status[rng.random(status.shape) < unknown] = 0
    return bags, BagLabels.from_status(status, range(n_classes)), log_p


def by_enumeration(bags, labels, log_p, *, missed=0.0):
    """Posterior and log-likelihood from every assignment."""
    Q, log_likelihood = np.zeros_like(log_p), np.zeros(bags.n_bags)
    for b in range(bags.n_bags):
        rows = np.flatnonzero(bags.bag_index == b)
        weight_of = {}
        for y in product(range(labels.n_classes + 1), repeat=len(rows)):
            listed = set(y) - {0}
            status = labels.status[b]
            if any(status[c - 1] == -1 for c in listed):
                continue
            lacking = sum(s == 1 and c + 1 not in listed for c, s in enumerate(status))
            weight_of[y] = np.exp(log_p[rows, list(y)].sum()) * missed**lacking
        total = sum(weight_of.values())
        log_likelihood[b] = np.log(total)
        for y, weight in weight_of.items():
            Q[rows, list(y)] += weight / total
    return Q, log_likelihood


@settings(max_examples=40, deadline=None)
@given(seed=st.integers(0, 10**6))
def test_it_is_the_sum_over_all_assignments(seed):
    bags, labels, log_p = drawn(seed)
    Q, log_likelihood = by_enumeration(bags, labels, log_p)
    found = UnionLikelihood.from_bags(bags, labels).posterior(log_p)
    assert_allclose(found.instances, Q, atol=1e-12)
    assert_allclose(found.log_likelihood, log_likelihood, atol=1e-12)


@settings(max_examples=20, deadline=None)
@given(seed=st.integers(0, 10**6))
def test_the_gradient_of_the_likelihood_is_posterior_less_prior(seed):
    """Fisher's identity: what makes EM and gradient ascent climb the same hill."""
    bags, labels, log_p = drawn(seed)
    union = UnionLikelihood.from_bags(bags, labels)

    def value(flat):
        scores = flat.reshape(log_p.shape)
        log_q = scores - np.log(np.exp(scores).sum(axis=1, keepdims=True))
        return union.posterior(log_q).log_likelihood.sum()

    numerical = approx_fprime(log_p.ravel(), value, 1e-7).reshape(log_p.shape)
    assert_allclose(union.posterior(log_p).instances - np.exp(log_p), numerical, atol=1e-5)


@settings(max_examples=20, deadline=None)
@given(seed=st.integers(0, 10**6))
def test_order_does_not_matter(seed):
    bags, labels, log_p = drawn(seed, sizes=(6, 5, 3))
    rng = np.random.default_rng(seed)
    columns = rng.permutation(labels.n_classes)
    rows = np.concatenate([rng.permutation(np.flatnonzero(bags.bag_index == b)) for b in range(3)])
    other = BagLabels.from_status(labels.status[:, columns], range(labels.n_classes))
    wide = np.concatenate([[0], columns + 1])
    one = UnionLikelihood.from_bags(bags, labels).posterior(log_p)
    two = UnionLikelihood.from_bags(bags, other).posterior(log_p[rows][:, wide])
    assert_allclose(two.log_likelihood, one.log_likelihood, rtol=1e-10, atol=1e-12)
    assert_allclose(two.instances, one.instances[rows][:, wide], atol=1e-10)


def test_bags_that_say_nothing_and_bags_that_say_all():
    bags, _, log_p = drawn(0, sizes=(3, 3, 0, 0))
    labels = BagLabels.from_sets([None, set(), None, set()], classes=range(3))
    found = UnionLikelihood.from_bags(bags, labels).posterior(log_p)
    assert_allclose(found.instances[:3], np.exp(log_p[:3]), atol=1e-12)
    assert_array_equal(found.instances[3:], [[1.0, 0.0, 0.0, 0.0]] * 3)
    assert_allclose(found.log_likelihood, [0.0, log_p[3:, 0].sum(), 0.0, 0.0], atol=1e-12)


@pytest.mark.parametrize("spread", [1.0, 30.0, 1000.0])
def test_large_bags_and_extreme_probabilities_stay_finite(spread):
    bags, labels, log_p = drawn(1, sizes=(500, 12, 500), n_classes=12, spread=1.0)
    log_p *= spread
    found = UnionLikelihood.from_bags(bags, labels).posterior(log_p)
    assert np.isfinite(found.log_likelihood).all()
    assert_allclose(found.instances.sum(axis=1), 1.0, atol=1e-9)
    assert found.instances.min() >= 0.0


@pytest.mark.parametrize("spread", [1.0, 5.0, 40.0])
def test_scaled_and_logarithmic_passes_agree(spread):
    rng = np.random.default_rng(0)
    for n, m in ((6, 4), (5, 5), (40, 3)):
        L = spread * rng.standard_normal((n, m + 1))
        q, total, safe = _scaled(L.copy(), 0.0)
        assert safe
        expected, log_total = _logarithmic(L, 0.0)
        assert_allclose(total, log_total, rtol=1e-10)
        assert_allclose(q, expected, atol=1e-9)


def test_an_assignment_that_only_logarithms_can_tell():
    """Two labels for two instances, each far beyond the smallest double from its label."""
    L = np.array([[0.0, -2000.0, -1500.0], [0.0, -1000.0, -1800.0]])
    bags = Bags.from_list([np.zeros((2, 1))])
    union = UnionLikelihood.from_bags(bags, BagLabels.from_sets([{"a", "b"}]))
    found = union.posterior(L)
    assert_allclose(found.log_likelihood, [-2500.0])
    assert_allclose(found.instances, [[0, 0, 1], [0, 1, 0]], atol=1e-12)


def test_any_number_of_workers_gives_the_same_bits():
    bags, labels, log_p = drawn(2, sizes=(60,) * 40, n_classes=9)
    union = UnionLikelihood.from_bags(bags, labels)
    one, two = (union.posterior(log_p, n_jobs=n) for n in (1, 2))
    assert_array_equal(one.instances, two.instances)
    assert_array_equal(one.log_likelihood, two.log_likelihood)


# ---------------------------------------------------------------- more labels than instances


def test_an_impossible_bag_is_named():
    bags = Bags.from_list([np.zeros((2, 1)), np.zeros((1, 1)), np.zeros((0, 1))], keys=list("abc"))
    labels = BagLabels.from_sets([{1, 2}, {1, 2}, {3}])
    words = r"bag 'b' lists 2 classes but has 1 instances \(so do 1 other bags\)"
    with pytest.raises(InputError, match=words):
        UnionLikelihood.from_bags(bags, labels)


def test_an_impossible_bag_can_be_softened():
    bags, _, log_p = drawn(3, sizes=(1, 2, 0))
    labels = BagLabels.from_sets([{0, 1}, {0, 2}, {0}], classes=range(3))
    found = UnionLikelihood.from_bags(bags, labels, impossible="soften").posterior(log_p)
    Q, log_likelihood = by_enumeration(bags, labels, log_p, missed=1e-3)
    assert_allclose(found.instances[:1], Q[:1], atol=1e-12)
    assert_allclose(found.log_likelihood[[0, 2]], log_likelihood[[0, 2]], atol=1e-12)
    # A bag whose labels can be true is not softened.
    middle = bags.take([1])
    Q, log_likelihood = by_enumeration(middle, labels.take([1]), log_p[1:])
    assert_allclose(found.instances[1:], Q, atol=1e-12)
    assert_allclose(found.log_likelihood[1], log_likelihood[0], atol=1e-12)


# ---------------------------------------------------------------- many labels


@pytest.mark.parametrize(
    ("size", "spread", "worst", "mean", "value"),
    [(40, 3.0, 0.002, 1e-4, 0.01), (20, 4.0, 0.04, 1e-3, 0.1), (13, 3.0, 0.35, 0.02, 2.0)],
)
def test_messages_come_close_to_the_exact_answer_at_the_border(size, spread, worst, mean, value):
    for seed in range(4):
        rng = np.random.default_rng(seed)
        bags = Bags.from_list([np.zeros((size, 1))])
        scores = spread * rng.standard_normal((size, 14))
        log_p = scores - np.log(np.exp(scores).sum(axis=1, keepdims=True))
        labels = BagLabels.from_sets([set(range(13))])
        exact = UnionLikelihood.from_bags(bags, labels, max_exact=13).posterior(log_p)
        near = UnionLikelihood.from_bags(bags, labels).posterior(log_p)
        assert_allclose(near.instances.sum(axis=1), 1.0, atol=1e-9)
        difference = np.abs(near.instances - exact.instances)
        assert 0 < difference.max() < worst
        assert difference.mean() < mean
        assert abs(near.log_likelihood[0] - exact.log_likelihood[0]) < value


def test_thirty_labels_in_a_bag():
    n_labels = 30
    bags = Bags.from_list([np.zeros((60, 1)), np.zeros((30, 1)), np.zeros((10, 1))])
    rng = np.random.default_rng(0)
    scores = rng.standard_normal((100, n_labels + 1))
    clear = rng.permutation(n_labels)
    scores[np.arange(60, 90), clear + 1] += 20.0
    log_p = scores - np.log(np.exp(scores).sum(axis=1, keepdims=True))
    union = UnionLikelihood.from_bags(
        bags, BagLabels.from_sets([set(range(n_labels))] * 3), impossible="soften"
    )
    assert union.approximated.all()
    found = union.posterior(log_p)
    assert np.isfinite(found.log_likelihood).all()
    assert_allclose(found.instances.sum(axis=1), 1.0, atol=1e-9)
    # As many instances as labels, each clearly of one: nothing is left to be novel.
    assert_allclose(found.instances[np.arange(60, 90), clear + 1], 1.0, atol=1e-3)
    # Too few instances: all of them are needed.
    assert found.instances[90:, 0].max() < 0.05
    # Every label of the first bag is expected at least about once.
    assert found.instances[:60, 1:].sum(axis=0).min() > 0.98


def test_bad_input():
    bags, labels, log_p = drawn(0)
    union = UnionLikelihood.from_bags(bags, labels)
    with pytest.raises(InputError, match=r"shape \(10, 3\); pass \(10, 4\)"):
        union.posterior(log_p[:, :3])
    with pytest.raises(InputError, match="impossible is 'ignore'"):
        UnionLikelihood.from_bags(bags, labels, impossible="ignore")
    with pytest.raises(InputError, match="5 bags and labels of 2"):
        UnionLikelihood.from_bags(bags, labels.take([0, 1]))
    with pytest.raises(InputError, match="max_exact is 30"):
        UnionLikelihood.from_bags(bags, labels, max_exact=30)
