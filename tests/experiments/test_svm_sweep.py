"""The refit-per-nu sweep and its honest sibling on problems with a known answer."""

import numpy as np
import pytest
from sklearn.svm import OneClassSVM

from raravis import BagLabels, Bags
from raravis.experiments.protocols import Trial
from raravis.experiments.svm_sweep import single_curve, sweep_curve, trapezoid


def _trial(rng, *, distance, n=60):
    """Known instances around 0 and novel ones `distance` away; training on both."""
    X = np.vstack([rng.normal(0, 0.3, (n, 2)), rng.normal(distance, 0.3, (n, 2))])
    known = np.repeat([True, False], n)
    bags = Bags.from_list([X[:n], X[n:]])
    Z = np.vstack([rng.normal(0, 0.3, (n, 2)), rng.normal(distance, 0.3, (n, 2))])
    labels = BagLabels.from_sets([{"a"}, set()], classes=["a"])
    return Trial(bags, labels, known, Bags.from_list([Z]), known, seed=0)


def test_trapezoid_by_hand():
    curve = trapezoid([0.5, 0.25], [1.0, 0.5])
    assert curve.fpr.tolist() == [0.0, 0.25, 0.5, 1.0]
    assert curve.auc == pytest.approx(0.25 * 0.25 + 0.75 * 0.25 + 0.5)
    assert trapezoid([], []).auc == 0.5
    assert trapezoid([0.0], [1.0]).auc == 1.0


def test_points_are_joined_in_the_order_of_their_rates_whatever_the_nu():
    assert trapezoid([0.6, 0.2], [0.7, 0.9]).auc == trapezoid([0.2, 0.6], [0.9, 0.7]).auc


def test_far_novel_instances_are_told_apart_by_both():
    trial = _trial(np.random.default_rng(0), distance=6.0)
    assert single_curve(trial).auc == 1.0
    # Every refit accepts no novel instance, and the loosest nearly every known one.
    assert sweep_curve(trial).auc > 0.97


def test_instances_that_do_not_differ_are_at_chance():
    trial = _trial(np.random.default_rng(1), distance=0.0, n=400)
    assert single_curve(trial, factors=(1.0,)).auc == pytest.approx(0.5, abs=0.06)
    assert sweep_curve(trial, factors=(1.0,)).auc == pytest.approx(0.5, abs=0.06)


def test_each_refit_is_a_point_that_scikit_learn_predicts():
    trial = _trial(np.random.default_rng(2), distance=1.0)
    curve = sweep_curve(trial, factors=(1.0,), nus=(0.3,))
    train = trial.train.instances
    low, span = train.min(axis=0), np.ptp(train, axis=0)
    from raravis.kernels import automatic_gamma

    gamma = automatic_gamma("gaussian", (train - low) / span, trial.train.bag_index, seed=0)
    svm = OneClassSVM(gamma=gamma, nu=0.3).fit(((train - low) / span)[trial.train_known])
    accepted = svm.predict((trial.test.instances - low) / span) > 0
    known = trial.test_known
    assert curve.fpr[1] == pytest.approx(accepted[~known].mean(), abs=0.02)
    assert curve.tpr[1] == pytest.approx(accepted[known].mean(), abs=0.02)


def test_the_best_gamma_is_chosen_by_the_test_area():
    trial = _trial(np.random.default_rng(3), distance=0.7)
    areas = [sweep_curve(trial, factors=(factor,)).auc for factor in (0.1, 1.0, 10.0)]
    assert sweep_curve(trial, factors=(0.1, 1.0, 10.0)).auc == max(areas)
    assert len(set(areas)) > 1
