"""EM and its M-steps: what climbs, what must not matter, and what each fits."""

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from scipy.optimize import check_grad
from sklearn.ensemble import RandomForestRegressor
from sklearn.linear_model import LogisticRegression
from sklearn.naive_bayes import GaussianNB
from tests.problems import random_problem

from raravis.errors import InputError
from raravis.kernels import Gaussian, Linear
from raravis.landmarks import LandmarkMap
from raravis.objectives import UnionLikelihood
from raravis.solvers.em import expectation_maximisation, log_floored, uniform_start
from raravis.solvers.soft_adapter import SoftAdapter
from raravis.solvers.soft_forest import TreeForest
from raravis.solvers.soft_logistic import KernelLogistic


def problem(seed=0, n_bags=40, n_classes=3):
    bags, labels = random_problem(seed, n_bags=n_bags, n_classes=n_classes)
    union = UnionLikelihood.from_bags(bags, labels)
    start = union.posterior(uniform_start(bags.n_instances, n_classes)).instances
    return bags, labels, union, start


def logistic(**options):
    return KernelLogistic(Gaussian(0.3), **{"lam": 1e-3, "dtype": np.float64} | options)


# ---------------------------------------------------------------- the rounds


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("max_steps", [1, 5, 200])
def test_the_penalised_likelihood_never_falls(dtype, max_steps):
    for seed in range(3):
        bags, _, union, start = problem(seed)
        fitter = logistic(dtype=dtype, max_steps=max_steps).prepare(bags.instances, bags.bag_index)
        values = []

        def keep(_number, fit, _posterior, union=union, values=values):
            total = union.posterior(fit.log_p).log_likelihood.sum()
            values.append(total / len(fit.log_p) - fit.penalty)

        found = expectation_maximisation(
            union, fitter, start, max_rounds=100, tol=1e-6, on_round=keep
        )
        assert len(values) > 5
        assert np.diff(values).min() >= -1e-7
        assert_allclose(found.path, values, atol=1e-6)
        assert found.converged


def test_it_ends_where_the_gradient_of_the_likelihood_is_zero():
    """Fisher's identity: posterior less prior, through the features, balances the penalty."""
    bags, _, union, start = problem()
    fitter = logistic(max_steps=50).prepare(bags.instances, bags.bag_index)
    found = expectation_maximisation(union, fitter, start, max_rounds=3000, tol=1e-13)
    error = (found.posterior - np.exp(found.fit.log_p)) / len(start)
    gradient = fitter.phi.T @ error - 1e-3 * found.fit.warm[:-1]
    assert np.abs(gradient).max() < 1e-5


def test_the_rounds_go_on_from_the_last_fit():
    bags, _, union, start = problem()
    fitter = logistic(max_steps=2).prepare(bags.instances, bags.bag_index)
    six = expectation_maximisation(union, fitter, start, max_rounds=6)
    fit, Q = None, start
    for _ in range(6):
        fit = fitter.fit(Q, fit)
        Q = union.posterior(fit.log_p).instances
    assert_array_equal(six.fit.warm, fit.warm)
    assert not six.converged
    assert six.reason == "round limit"


def test_starts_and_floors():
    start = np.exp(uniform_start(2, 4, novel_weight=0.1))
    assert_allclose(start.sum(axis=1), 1.0)
    assert_allclose(start[:, 0] / start[:, 1], 0.1)
    floored = np.exp(log_floored(np.array([[0.0, 1.0, 0.0], [0.2, 0.3, 0.5]]), 0.01))
    assert_allclose(floored.sum(axis=1), 1.0)
    assert_allclose(floored[0, 0] / floored[0, 1], 0.01)
    assert_allclose(floored[1], [0.2, 0.3, 0.5])


# ---------------------------------------------------------------- kernel logistic


def test_the_gradient_is_that_of_the_value():
    rng = np.random.default_rng(0)
    X, Q = rng.standard_normal((30, 3)), rng.dirichlet(np.ones(4), 30)
    Q *= rng.random((30, 1))  # weights of instances need not be one
    fitter = logistic(n_landmarks=10, lam=0.1).prepare(X, np.arange(30))
    for seed in range(3):
        flat = np.random.default_rng(seed).standard_normal(11 * 4)
        error = check_grad(
            lambda w: fitter.value_and_gradient(w, Q)[0],
            lambda w: fitter.value_and_gradient(w, Q)[1],
            flat,
        )
        assert error < 1e-5


def test_hard_labels_give_scikit_learns_logistic_regression():
    rng = np.random.default_rng(0)
    X = rng.standard_normal((60, 3))
    y = rng.integers(0, 3, 60)
    lam = 0.01
    step = KernelLogistic(Linear(), lam=lam, max_steps=2000, dtype=np.float64)
    fit = step.prepare(X, np.arange(60)).fit(np.eye(3)[y], None)
    wide = np.column_stack([X, np.ones(60)])  # our constant is a feature like any other
    peer = LogisticRegression(C=1 / (lam * 60), fit_intercept=False, tol=1e-8, max_iter=2000)
    expected = peer.fit(wide, y).predict_log_proba(wide)
    assert_allclose(fit.log_p, expected, atol=1e-3)


def test_training_probabilities_are_those_of_the_model():
    bags, _, _, start = problem()
    for dtype, atol in ((np.float64, 1e-6), (np.float32, 0.01)):
        fit = logistic(dtype=dtype).prepare(bags.instances, bags.bag_index).fit(start, None)
        assert_allclose(fit.model.log_probabilities(bags.instances), fit.log_p, atol=atol)


def test_all_instances_as_landmarks_are_the_full_kernel():
    bags, _, _, start = problem()
    X = bags.instances
    full = logistic(n_landmarks=None, max_steps=500, lam=0.01).prepare(X, bags.bag_index)
    fit = full.fit(start, None)
    # By the representer theorem the stationary point is alpha = (Q - P) / (lam n).
    alpha = (start - np.exp(fit.log_p)) / (0.01 * len(X))
    K = Gaussian(0.3).block(X, X)
    scores = K @ alpha + alpha.sum(axis=0)
    log_p = scores - np.log(np.exp(scores).sum(axis=1, keepdims=True))
    assert_allclose(log_p, fit.log_p, atol=2e-3)


# ---------------------------------------------------------------- forest


def test_no_tree_judges_a_bag_that_it_has_seen():
    """Labels that are pure noise by bag can be repeated by heart, but not out of bag."""
    rng = np.random.default_rng(0)
    groups = np.repeat(np.arange(60), 5)
    X = rng.standard_normal((60, 4))[groups] + 1e-3 * rng.standard_normal((300, 4))
    Q = np.eye(2)[rng.integers(0, 2, 60)][groups]
    fit = TreeForest(floor=1e-6).prepare(X, groups).fit(Q, None)
    fair = np.mean(fit.log_p.argmax(axis=1) == Q.argmax(axis=1))
    by_heart = fit.model.log_probabilities(X).argmax(axis=1) == Q.argmax(axis=1)
    assert fair < 0.75
    assert by_heart.mean() > 0.95


def test_trees_are_those_of_scikit_learn():
    bags, _, _, start = problem()
    step = TreeForest(n_trees=7, bag_share=1.0)
    fit = step.prepare(bags.instances, bags.bag_index, seed=3).fit(start, None)
    X = bags.instances.astype(np.float32)
    # With every bag seen and leaves of one, each tree repeats the posterior.
    means = fit.model.means(X, np.ones((7, len(X)), dtype=bool))
    assert_allclose(means, start, atol=1e-6)
    new = np.random.default_rng(1).standard_normal((50, X.shape[1]))
    means = fit.model.means(new, np.ones((7, 50), dtype=bool))
    assert_allclose(means.sum(axis=1), 1.0, atol=1e-5)
    assert means.min() >= 0.0


def test_a_forest_learns_what_the_labels_say():
    bags, labels, union, start = problem(n_bags=80)
    fitter = TreeForest().prepare(bags.instances, bags.bag_index)
    found = expectation_maximisation(union, fitter, start, max_rounds=3)
    holds = bags.bag_max(np.exp(found.fit.log_p)[:, 1:]) > 0.5
    assert (holds == labels.present).mean() > 0.8
    assert len(found.path) == 3


@pytest.mark.parametrize("step", [TreeForest(n_trees=25), logistic(), SoftAdapter(GaussianNB())])
def test_workers_do_not_matter_and_seeds_do(step):
    bags, _, union, start = problem()
    ends = [
        expectation_maximisation(
            union,
            step.prepare(bags.instances, bags.bag_index, seed=seed, n_jobs=n_jobs),
            start,
            max_rounds=2,
            n_jobs=n_jobs,
        ).fit
        for seed, n_jobs in ((0, 1), (0, 2), (1, 1))
    ]
    assert_array_equal(ends[0].log_p, ends[1].log_p)
    new = bags.instances + 0.1
    one, two = (
        end.model.log_probabilities(new, n_jobs=n) for end, n in zip(ends[:2], (1, 2), strict=True)
    )
    assert_array_equal(one, two)
    if not isinstance(step, KernelLogistic):  # every instance is a landmark here
        assert not np.array_equal(ends[0].log_p, ends[2].log_p)


# ---------------------------------------------------------------- any estimator


@pytest.mark.parametrize(
    "estimator", [GaussianNB(), LogisticRegression(), RandomForestRegressor(10, random_state=0)]
)
@pytest.mark.parametrize("n_folds", [0, 4])
def test_estimators_of_scikit_learn_are_m_steps(estimator, n_folds):
    bags, labels, union, start = problem(n_bags=60)
    fitter = SoftAdapter(estimator, n_folds=n_folds).prepare(bags.instances, bags.bag_index)
    found = expectation_maximisation(union, fitter, start, max_rounds=4)
    log_p = found.fit.model.log_probabilities(bags.instances)
    assert_allclose(np.exp(log_p).sum(axis=1), 1.0)
    holds = bags.bag_max(np.exp(log_p)[:, 1:]) > 0.5
    assert (holds == labels.present).mean() > 0.7


def test_a_classifier_needs_two_classes():
    X, Q = np.zeros((4, 1)), np.eye(2)[[0, 0, 0, 0]]
    with pytest.raises(InputError, match="GaussianNB cannot"):
        SoftAdapter(GaussianNB(), n_folds=0).prepare(X, np.arange(4)).fit(Q, None)


def test_landmark_features_serve_any_kernel():
    X = np.random.default_rng(0).standard_normal((20, 3))
    phi = LandmarkMap.from_landmarks(Linear(), X)(X)
    assert_allclose(phi @ phi.T, X @ X.T, atol=1e-4)
