"""Starts against plain loops, and the estimate for large data."""

import numpy as np
import pytest
from numpy.testing import assert_allclose
from tests.problems import random_problem

from raravis import Bags
from raravis.gram import GramRows
from raravis.kernels import Gaussian
from raravis.labels import BagLabels
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
            larger = labels.status[bags.sizes > 1, c]
            told = {-1, 1} <= set(larger.tolist())
            means = []
            for sign in (1, -1):
                others = [
                    K[x, bags.offsets[i] : bags.offsets[i + 1]].max()
                    for i in range(bags.n_bags)
                    if labels.status[i, c] == sign
                    and i != bags.bag_index[x]
                    and not (told and bags.sizes[i] == 1)
                ]
                means.append(np.mean(others) if others else 0.0)
            assert_allclose(found[x, c], means[0] - means[1], atol=1e-12)


def test_decided_instances_on_one_side_do_not_make_the_rest_look_like_the_other() -> None:
    rng = np.random.default_rng(0)
    bags = Bags.from_list([rng.normal(size=(6, 2)) for _ in range(12)])
    status = np.where(np.arange(12) % 2, 1, -1)[:, None]
    single = [bags.instances[k][None] for k in range(40)]
    more = Bags.from_list([*bags, *single])
    wide = np.vstack([status, np.full((40, 1), -1)])
    kernel = Gaussian(0.5)
    plain, taught = (
        starts.contrast_scores(
            MaxHinge.from_bags(b, BagLabels.from_status(s.astype(np.int8), ("wren",)), lam=0.1),
            GramRows(kernel, b.instances),
        )
        for b, s in ((bags, status), (more, wide))
    )
    assert_allclose(taught[: bags.n_instances], plain, atol=1e-12)


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
