"""Algorithm 1 as printed."""

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from tests.problems import random_problem

from raravis.errors import InputError
from raravis.gram import GramRows
from raravis.kernels import Gaussian
from raravis.objectives import MaxHinge
from raravis.solvers import solve_alternating


def problem(seed=0, budget=1 << 30):
    bags, labels = random_problem(seed, n_bags=20)
    return MaxHinge.from_bags(bags, labels, lam=1e-2), GramRows(
        Gaussian(0.6), bags.instances, budget=budget
    )


def test_a_seed_gives_one_answer_and_another_seed_another():
    objective, rows = problem()
    first, again, other = (
        solve_alternating(objective, rows, n_rounds=3, seed=s)[0].weights for s in (1, 1, 2)
    )
    assert_array_equal(first, again)
    assert np.abs(first - other).max() > 1e-6


def test_more_restarts_never_end_higher():
    objective, rows = problem(3)
    one, five = (solve_alternating(objective, rows, n_rounds=4, n_restarts=n) for n in (1, 5))
    for a, b in zip(one, five, strict=True):
        assert b.value <= a.value


def test_result_is_consistent():
    objective, rows = problem(2)
    for c, end in enumerate(solve_alternating(objective, rows, n_rounds=6)):
        assert_allclose(end.scores, rows.table @ end.weights, atol=1e-9)
        value = objective.value(c, end.scores, float(end.weights @ end.scores))
        assert_allclose(end.value, value, rtol=1e-9)
        assert end.n_iter <= 6
        assert end.converged == (end.reason == "witnesses settled")


def test_a_budget_below_the_gram_matrix_is_refused():
    objective, rows = problem(0, budget=2000)
    with pytest.raises(InputError, match=r"memory_budget or use solver='cccp'"):
        solve_alternating(objective, rows)


def test_no_restart_is_refused():
    objective, rows = problem()
    with pytest.raises(InputError, match="n_restarts is 0"):
        solve_alternating(objective, rows, n_restarts=0)
