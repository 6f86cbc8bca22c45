"""The exact solver: against an independent one, for descent, and for what must not matter."""

import cvxpy as cp
import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from tests.problems import random_problem

from raravis import BagLabels, Bags
from raravis.gram import GramRows
from raravis.kernels import Gaussian, Linear
from raravis.objectives import MaxHinge
from raravis.solvers import solve_alternating, solve_cccp
from raravis.solvers.cccp import _ClassDescent, _exhaust
from raravis.solvers.starts import contrast_scores, random_scores

KERNELS = [Gaussian(0.4), Gaussian(5.0), Linear()]


def independent_optimum(objective, c, K, witnesses):
    """Minimise the convex problem of fixed positive witnesses with a general conic solver."""
    root = np.linalg.cholesky(K + 1e-11 * np.eye(len(K)))
    v = cp.Variable(len(K))
    f = root @ v
    y = objective.status[:, c]
    ends = np.append(objective.starts[1:], objective.n_instances)
    losses = []
    for i, (start, end) in enumerate(zip(objective.starts, ends, strict=True)):
        if y[i] > 0:
            losses.append(cp.pos(1 - f[witnesses[i]]))
        elif y[i] < 0:
            losses.append(cp.pos(1 + cp.max(f[start:end])))
    value = 0.5 * objective.lam * cp.sum_squares(v) + objective.loss_weight * cp.sum(losses)
    problem = cp.Problem(cp.Minimize(value))
    problem.solve(solver=cp.CLARABEL, tol_gap_abs=1e-12, tol_gap_rel=1e-11, tol_feas=1e-11)
    return problem.value


def inner_solution(objective, c, rows, witnesses, tol):
    """What one round of the exact solver reaches for these witnesses."""
    descent = _ClassDescent(objective, c, rows, tol, 1)
    start = np.zeros(rows.n)
    start[witnesses] = 1.0
    result = _exhaust(descent.run(start))
    y = objective.status[:, c]
    hinge = np.where(
        y > 0,
        np.maximum(0, 1 - result.scores[witnesses]),
        (y < 0) * np.maximum(0, 1 + objective.bag_maxima(result.scores)),
    )
    squared = float(result.weights @ result.scores)
    return 0.5 * objective.lam * squared + objective.loss_weight * float(hinge.sum())


@pytest.mark.parametrize("kernel", KERNELS, ids=str)
@pytest.mark.parametrize("lam", [1e-3, 1e-2, 1e-1, 1.0])
@pytest.mark.parametrize("seed", range(3))
def test_inner_solution_against_an_independent_solver(kernel, lam, seed):
    bags, labels = random_problem(seed)
    rows = GramRows(kernel, bags.instances)
    objective = MaxHinge.from_bags(bags, labels, lam=lam)
    for c in range(labels.n_classes):
        witnesses = objective.witnesses(np.random.default_rng(seed).standard_normal(rows.n))
        reached = inner_solution(objective, c, rows, witnesses, tol=1e-8)
        optimum = independent_optimum(objective, c, rows.table, witnesses)
        assert_allclose(reached, optimum, rtol=1e-6)


def test_weights_sit_in_their_box_and_a_negative_bag_shares_one():
    bags, labels = random_problem(7, n_bags=20)
    rows = GramRows(Gaussian(1.0), bags.instances)
    objective = MaxHinge.from_bags(bags, labels, lam=1e-2)
    for c, end in enumerate(solve_cccp(objective, rows, contrast_scores(objective, rows))):
        total = np.add.reduceat(end.weights, objective.starts)
        y = objective.status[:, c]
        assert (total * y >= 0).all()
        assert (np.abs(total) <= objective.box * (1 + 1e-9)).all()


@pytest.mark.parametrize("start", [contrast_scores, random_scores])
@pytest.mark.parametrize("seed", range(8))
def test_the_objective_never_rises(start, seed):
    bags, labels = random_problem(seed, n_bags=25, n_classes=3)
    rows = GramRows(Gaussian(0.8), bags.instances)
    objective = MaxHinge.from_bags(bags, labels, lam=3e-3)
    for end in solve_cccp(objective, rows, start(objective, rows, seed=seed)):
        assert (np.diff(end.objective) <= 0).all()
        assert end.converged
        assert end.n_iter == len(end.objective)


def test_reported_scores_and_objective_are_those_of_the_weights():
    bags, labels = random_problem(5)
    rows = GramRows(Gaussian(0.8), bags.instances)
    objective = MaxHinge.from_bags(bags, labels, lam=1e-2)
    for c, end in enumerate(solve_cccp(objective, rows, contrast_scores(objective, rows))):
        scores = rows.table @ end.weights
        assert_allclose(end.scores, scores, atol=1e-10)
        value = objective.value(c, scores, float(end.weights @ scores))
        assert_allclose(end.value, value, rtol=1e-10)


@pytest.mark.parametrize("n_rows_kept", [1, 7, 30])
def test_a_small_budget_gives_the_same_solution(n_rows_kept):
    bags, labels = random_problem(2, n_bags=30, n_classes=4)
    objective = MaxHinge.from_bags(bags, labels, lam=1e-2)
    whole = GramRows(Gaussian(0.8), bags.instances)
    budget = n_rows_kept * 8 * bags.n_instances
    lazy = GramRows(Gaussian(0.8), bags.instances, budget=budget)
    assert not lazy.complete
    start = contrast_scores(objective, whole)
    assert_allclose(contrast_scores(objective, lazy), start, atol=1e-12)
    expected = solve_cccp(objective, whole, start, tol=1e-9)
    for a, b in zip(expected, solve_cccp(objective, lazy, start, tol=1e-9), strict=True):
        assert_allclose(a.value, b.value, rtol=1e-8)
        assert_allclose(a.scores, b.scores, atol=1e-5)


@pytest.mark.parametrize("budget", [1 << 30, 9 * 8 * 80])
def test_any_number_of_workers_gives_the_same_bits(budget):
    bags, labels = random_problem(11, n_bags=26, n_classes=5)
    objective = MaxHinge.from_bags(bags, labels, lam=1e-2)
    ends = []
    for n_jobs in (1, 2, 3):
        rows = GramRows(Gaussian(0.8), bags.instances, budget=budget)
        start = contrast_scores(objective, rows)
        ends.append(solve_cccp(objective, rows, start, n_jobs=n_jobs))
    for other in ends[1:]:
        for a, b in zip(ends[0], other, strict=True):
            assert_array_equal(a.weights, b.weights)
            assert a.objective == b.objective


def test_float32_comes_close_and_ends():
    bags, labels = random_problem(4, n_bags=30)
    narrow = bags.with_instances(bags.instances.astype(np.float32))
    objective = MaxHinge.from_bags(bags, labels, lam=1e-2)
    ends = []
    for b in (bags, narrow):
        rows = GramRows(Gaussian(0.8), b.instances)
        ends.append(solve_cccp(objective, rows, contrast_scores(objective, rows), tol=1e-9))
    for a, b in zip(*ends, strict=True):
        assert_allclose(a.value, b.value, rtol=1e-4)


def test_both_solvers_agree_where_their_problems_coincide():
    """With one instance a bag there is nothing to fix: both minimise one convex function."""
    rng = np.random.default_rng(0)
    X = np.vstack([rng.standard_normal((12, 2)) + 1.5, rng.standard_normal((12, 2)) - 1.5])
    bags = Bags.from_matrix(X)
    labels = BagLabels.from_sets([{"a"}] * 12 + [set()] * 12)
    rows = GramRows(Gaussian(0.5), bags.instances)
    objective = MaxHinge.from_bags(bags, labels, lam=0.05)
    exact = solve_cccp(objective, rows, contrast_scores(objective, rows), tol=1e-10)[0]
    literal = solve_alternating(objective, rows, n_rounds=5, max_lbfgs_iter=5000)[0]
    # L-BFGS meets kinks and stops a little above the minimum; never below it.
    assert exact.value <= literal.value * (1 + 1e-9)
    assert_allclose(exact.value, literal.value, rtol=2e-2)


@pytest.mark.data
def test_descent_on_birdsong(real_data):
    """Monotone at every round, lower than Algorithm 1, and the same from the paper's start."""
    from raravis.datasets import fetch_hja_birdsong
    from raravis.scaling import Scaling

    data = fetch_hja_birdsong(data_home=real_data).restrict((1, 2, 4, 8))
    bags = data.bags.take(np.arange(0, 548, 6))
    bags = bags.with_instances(Scaling.learn(bags.instances, "minmax").apply(bags.instances))
    rows = GramRows(Gaussian(4.0), bags.instances)
    objective = MaxHinge.from_bags(bags, data.labels.take(np.arange(0, 548, 6)), lam=1e-3)
    literal = solve_alternating(objective, rows, n_rounds=5)
    for start in (contrast_scores, random_scores):
        ends = solve_cccp(objective, rows, start(objective, rows))
        for end, rival in zip(ends, literal, strict=True):
            assert (np.diff(end.objective) <= 0).all()
            assert end.converged
            assert end.value < rival.value
