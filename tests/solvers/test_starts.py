"""Starts against plain loops, and the estimate for large data."""

import numpy as np
import pytest
from numpy.testing import assert_allclose
from tests.problems import random_problem

from raravis.gram import GramRows
from raravis.kernels import Gaussian
from raravis.objectives import MaxHinge
from raravis.solvers import starts


def problem(seed=0, **options):
    bags, labels = random_problem(seed, n_bags=18, n_classes=3)
    rows = GramRows(Gaussian(0.5), bags.instances, **options)
    return bags, labels, rows, MaxHinge.from_bags(bags, labels, lam=0.1)


@pytest.mark.parametrize("budget", [1 << 20, 5000])
def test_contrast_is_that_of_a_plain_loop(budget):
    bags, labels, rows, objective = problem(budget=budget)
    K = Gaussian(0.5).block(bags.instances, bags.instances)
    found = starts.contrast_scores(objective, rows)
    for x in range(bags.n_instances):
        for c in range(3):
            means = []
            for sign in (1, -1):
                others = [
                    K[x, bags.offsets[i] : bags.offsets[i + 1]].max()
                    for i in range(bags.n_bags)
                    if labels.status[i, c] == sign and i != bags.bag_index[x]
                ]
                means.append(np.mean(others) if others else 0.0)
            assert_allclose(found[x, c], means[0] - means[1], atol=1e-12)


def test_the_estimate_knows_every_class_and_comes_close(monkeypatch):
    _, _, rows, objective = problem(3)
    exact = starts.contrast_scores(objective, rows)
    monkeypatch.setattr(starts, "_MAX_CONTRAST", rows.n // 2)
    monkeypatch.setattr(starts, "_MIN_PER_CLASS", 3)
    chosen = starts._chosen_bags(objective, 0)
    assert len(chosen) < len(objective.starts)
    assert ((objective.status[chosen] > 0).sum(axis=0) >= 3).all()
    estimate = starts.contrast_scores(objective, rows)
    assert np.corrcoef(exact.ravel(), estimate.ravel())[0, 1] > 0.8


def test_random_weights_have_unit_norm_and_follow_the_seed():
    _, _, rows, objective = problem()
    one, same, other = (starts.random_scores(objective, rows, seed=s) for s in (1, 1, 2))
    assert_allclose(one, same)
    assert np.abs(one - other).max() > 1e-3
    weights = np.linalg.solve(rows.table, one)
    assert_allclose(np.linalg.norm(weights, axis=0), 1.0, rtol=1e-6)
