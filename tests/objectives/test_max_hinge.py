"""The paper's objective against a plain reading of its formula, and its subgradient."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.testing import assert_allclose, assert_array_equal
from tests.problems import random_problem

from raravis import BagLabels, Bags
from raravis.kernels import Gaussian
from raravis.objectives import MaxHinge
from raravis.solvers.alternating import surrogate


def by_the_formula(bags, labels, lam, c, alpha, K):
    """lam/2 alpha'K alpha + 1/(N|Y|) sum_i max(0, 1 - y max_j f), one bag after another."""
    f = K @ alpha
    said = [i for i in range(bags.n_bags) if bags.sizes[i] and labels.status[i].any()]
    loss = 0.0
    for i in said:
        y = int(labels.status[i, c])
        best = max(f[bags.offsets[i] : bags.offsets[i + 1]])
        loss += max(0.0, 1.0 - y * best) if y else 0.0
    return 0.5 * lam * alpha @ K @ alpha + loss / (len(said) * labels.n_classes)


@given(seed=st.integers(0, 10_000), lam=st.floats(1e-4, 10.0), empty=st.booleans())
def test_value_is_the_formula(seed, lam, empty):
    bags, labels = random_problem(seed, empty=empty)
    K = Gaussian(0.3).block(bags.instances, bags.instances)
    alpha = np.random.default_rng(seed).standard_normal(bags.n_instances)
    objective = MaxHinge.from_bags(bags, labels, lam=lam)
    for c in range(labels.n_classes):
        value = objective.value(c, K @ alpha, float(alpha @ K @ alpha))
        assert_allclose(value, by_the_formula(bags, labels, lam, c, alpha, K), rtol=1e-10)


def test_unknown_labels_and_unlabelled_bags_change_nothing():
    bags, labels = random_problem(1)
    more = Bags.concat([bags, Bags.from_list([np.ones((4, 3)), np.zeros((2, 3))])], keys="renumber")
    wider = BagLabels.from_status(
        np.vstack([labels.status, np.zeros((2, 2), dtype=int)]), labels.classes
    )
    scores = np.random.default_rng(0).standard_normal(more.n_instances)
    few, many = (MaxHinge.from_bags(b, y, lam=0.1) for b, y in ((bags, labels), (more, wider)))
    assert few.loss_weight == many.loss_weight
    assert few.value(0, scores[: bags.n_instances], 1.0) == many.value(0, scores, 1.0)


@pytest.mark.parametrize("seed", range(5))
def test_subgradient_against_finite_differences(seed):
    """Away from its kinks the surrogate is smooth, and the subgradient is its gradient."""
    bags, labels = random_problem(seed)
    K = Gaussian(0.5).block(bags.instances, bags.instances)
    objective = MaxHinge.from_bags(bags, labels, lam=0.01)
    rng = np.random.default_rng(seed)
    alpha = rng.standard_normal(bags.n_instances)
    witnesses = objective.witnesses(K @ alpha)

    def at(where):
        return surrogate(objective, 0, K, where, witnesses, K[witnesses])

    _, gradient = at(alpha)
    step = 1e-6
    for direction in rng.standard_normal((5, bags.n_instances)):
        above, _ = at(alpha + step * direction)
        below, _ = at(alpha - step * direction)
        assert_allclose((above - below) / (2 * step), gradient @ direction, rtol=1e-5, atol=1e-8)


def test_the_surrogate_touches_the_objective_where_it_is_made():
    bags, labels = random_problem(3)
    K = Gaussian(0.5).block(bags.instances, bags.instances)
    objective = MaxHinge.from_bags(bags, labels, lam=0.05)
    alpha = np.random.default_rng(3).standard_normal(bags.n_instances)
    scores = K @ alpha
    witnesses = objective.witnesses(scores)
    value, _ = surrogate(objective, 1, K, alpha, witnesses, K[witnesses])
    assert_allclose(value, objective.value(1, scores, float(alpha @ scores)), rtol=1e-12)


def test_witness_is_the_first_of_equals():
    objective = MaxHinge(np.array([0, 3]), np.array([[1], [-1]], dtype=np.int8), 5, 1.0)
    assert_array_equal(objective.witnesses(np.array([2.0, 5.0, 5.0, 1.0, 1.0])), [1, 3])


def test_zero_one_errors_count_wrong_signs_only():
    objective = MaxHinge(np.array([0, 1, 2]), np.array([[1], [-1], [0]], dtype=np.int8), 3, 1.0)
    assert objective.zero_one_errors(np.array([[-0.1], [0.1], [9.0]])) == 2
    assert objective.zero_one_errors(np.array([[0.0], [0.0], [9.0]])) == 0
