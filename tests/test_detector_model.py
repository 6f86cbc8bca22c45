"""The parts of the detector's model against closed forms and finite differences."""

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from scipy.optimize import approx_fprime, minimize
from scipy.special import expit, logit
from tests.problems import random_problem

from raravis.class_model import class_model_gamma
from raravis.detector_model import Correction, geometric_mean, learn_detector_model
from raravis.kernels import Gaussian
from raravis.objectives import UnionLikelihood
from raravis.solvers import KernelLogistic, TreeForest


def log_probabilities(seed, n=50, n_columns=4):
    rng = np.random.default_rng(seed)
    return np.log(rng.dirichlet(np.full(n_columns, 0.5), n).clip(1e-6))


def odds(log_p):
    return np.logaddexp.reduce(log_p[:, 1:], axis=1) - log_p[:, 0]


def learned(bags, labels, **options):
    gamma = class_model_gamma("gaussian", bags)
    return learn_detector_model(
        bags,
        UnionLikelihood.from_bags(bags, labels),
        kernel=KernelLogistic(Gaussian(gamma)),
        forest=TreeForest(n_trees=10),
        **options,
    )


def test_the_geometric_mean_of_one_opinion_is_that_opinion():
    log_p = log_probabilities(0)
    proper = log_p - np.logaddexp.reduce(log_p, axis=1, keepdims=True)
    assert_allclose(geometric_mean([log_p]), proper, atol=1e-12)
    assert_allclose(geometric_mean([log_p, log_p, log_p]), proper, atol=1e-12)


def test_the_geometric_mean_is_normalised_and_does_not_mind_the_order():
    one, two = log_probabilities(1), log_probabilities(2)
    mean = geometric_mean([one, two])
    assert_allclose(np.exp(mean).sum(axis=1), 1.0)
    assert_allclose(mean, geometric_mean([two, one]), atol=1e-12)


def test_a_correction_moves_the_odds_as_it_says():
    log_p = log_probabilities(3)
    corrected = Correction(intercept=-0.7, slope=1.8)(log_p)
    assert_allclose(np.exp(corrected).sum(axis=1), 1.0)
    assert_allclose(odds(corrected), -0.7 + 1.8 * odds(log_p), rtol=1e-9)
    # The order of the known classes stays.
    assert_array_equal(corrected[:, 1:].argmax(axis=1), log_p[:, 1:].argmax(axis=1))


def test_no_correction_changes_nothing():
    log_p = log_probabilities(4)
    proper = log_p - np.logaddexp.reduce(log_p, axis=1, keepdims=True)
    assert_allclose(Correction()(log_p), proper, atol=1e-12)


def test_a_correction_finds_what_distorted_the_odds():
    log_p = log_probabilities(5, n=4000)
    truth = expit(0.8 + 0.6 * odds(log_p))
    found = Correction.learn(log_p, truth)
    assert_allclose([found.intercept, found.slope], [0.8, 0.6], atol=1e-3)


def test_a_correction_is_where_an_independent_solver_ends():
    log_p = log_probabilities(6)
    noise = np.random.default_rng(6).standard_normal(len(log_p))
    known = expit(0.3 + 0.5 * odds(log_p) + noise)

    def loss(at):
        z = at[0] + at[1] * odds(log_p)
        return float(np.mean(known * np.logaddexp(0, -z) + (1 - known) * np.logaddexp(0, z)))

    best = minimize(loss, [0.0, 1.0], method="Nelder-Mead", options={"xatol": 1e-8, "fatol": 1e-12})
    found = Correction.learn(log_p, known)
    assert loss([found.intercept, found.slope]) == pytest.approx(best.fun, abs=1e-8)
    assert_allclose(approx_fprime([found.intercept, found.slope], loss), 0.0, atol=1e-4)


@pytest.mark.parametrize("known", [0.0, 1.0])
def test_a_correction_stays_finite_where_all_is_certain(known):
    log_p = log_probabilities(7)
    found = Correction.learn(log_p, np.full(len(log_p), known))
    assert np.isfinite(found(log_p)).all()
    assert ((odds(found(log_p)) > 0) == bool(known)).all()


def test_even_odds_agree_with_what_bag_labels_imply():
    """The mean probability of known is that of the last pupil under the labels, by construction."""
    bags, labels = random_problem(0, n_bags=60, n_classes=3)
    model = learned(bags, labels)
    doubting, pupil = (judge.instances.log_probabilities(bags.instances) for judge in model.judges)
    union = UnionLikelihood.from_bags(bags, labels)
    implied = 1.0 - union.posterior(pupil).instances[:, 0].mean()
    # The forest of the correction was out of bag, this one is not: about is all that holds.
    corrected = expit(odds(model.alone(geometric_mean([doubting, pupil])))).mean()
    assert logit(corrected) == pytest.approx(logit(implied), abs=0.4)


def test_progress_counts_up_to_its_total():
    bags, labels = random_problem(1, n_bags=20)
    heard = []
    learned(bags, labels, progress=heard.append)
    total = heard[0].total
    assert [p.done for p in heard] == list(range(1, total + 1))
