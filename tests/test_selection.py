"""Choosing settings from bag labels: against plain loops, under any backend, and its tie-breaks."""

import warnings
from collections import Counter

import joblib
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.testing import assert_allclose
from sklearn.exceptions import ConvergenceWarning
from tests.problems import random_problem

from raravis import BagLabels, KernelScorer
from raravis.errors import InputError
from raravis.kernels import Gaussian
from raravis.score_functions import SolverSettings, learn_score_functions
from raravis.selection import deal_folds, select

GAMMAS, LAMS = (0.3, 3.0), (0.3, 0.03, 0.003)
TIGHT = SolverSettings(tol=1e-8)


def problem(seed=0, n_bags=24):
    return random_problem(seed, n_bags=n_bags, n_classes=3)


def chosen(criterion, seed=0, **options):
    bags, labels = problem(seed)
    grid = {"gammas": GAMMAS, "lams": LAMS, "settings": TIGHT}
    return select(bags, labels, Gaussian, criterion=criterion, **(grid | options))


# ---------------------------------------------------------------- folds


@settings(deadline=None)
@given(
    sets=st.lists(st.frozensets(st.integers(0, 4)), min_size=4, max_size=40),
    n_folds=st.integers(2, 4),
    seed=st.integers(0, 50),
)
def test_folds_hold_every_bag_once_and_the_rarest_class_evenly(sets, n_folds, seed):
    labels = BagLabels.from_sets(sets, classes=range(5))
    fold = deal_folds(labels, n_folds, seed=seed)
    assert fold.shape == (len(sets),)
    assert set(fold.tolist()) <= set(range(n_folds))
    counts = labels.present.sum(axis=0)
    for c in np.flatnonzero(counts == min(counts[counts > 0], default=0)):
        holding = Counter(fold[labels.present[:, c]].tolist())
        of_this_class = [holding.get(f, 0) for f in range(n_folds)]
        assert max(of_this_class) - min(of_this_class) <= 1 or (counts == counts[c]).sum() > 1


def test_folds_follow_the_seed():
    _, labels = problem()
    first, again, other = (deal_folds(labels, 3, seed=s) for s in (0, 0, 1))
    assert (first == again).all()
    assert (first != other).any()


@pytest.mark.parametrize("n_folds", [0, 1, 5])
def test_folds_that_cannot_be(n_folds):
    labels = BagLabels.from_sets([{"a"}, set(), {"a"}, set()])
    with pytest.raises(InputError, match=f"n_folds is {n_folds}, .*use tuning='rule'"):
        deal_folds(labels, n_folds)


# ---------------------------------------------------------------- criteria


def test_the_papers_criterion_counts_training_pairs_of_the_wrong_sign():
    bags, labels = problem()
    points = {(p.gamma, p.lam): p for p in chosen("training_error").points}
    assert list(points) == [(g, lam) for g in GAMMAS for lam in LAMS]
    for (gamma, lam), point in points.items():
        model = KernelScorer(gamma=gamma, lam=lam, tol=1e-8, scaling="none").fit(bags, labels)
        # Those of the smooth problem: a bag whose best score is 0 has no wrong sign.
        best = bags.bag_max(model.class_scores(bags))
        y = labels.status[bags.sizes > 0]
        assert point.error == (best[bags.sizes > 0] * y < 0).sum()


def test_among_equal_training_errors_the_widest_kernel_wins_then_the_strongest_regularisation():
    found = chosen("training_error", gammas=(400.0, 100.0, 200.0), lams=(1e-4, 1e-3, 1e-2))
    equal = [p for p in found.points if p.error == found.best.error]
    # Narrow kernels learn every training bag by heart: this is why there is a tie-break.
    assert len(equal) > 3
    assert found.best.error == 0
    assert found.best.gamma == 100.0
    assert found.best.lam == max(p.lam for p in equal if p.gamma == 100.0)


def test_cross_validation_is_that_of_a_plain_loop():
    """No Gram matrix shared, every fold fitted and scored by itself."""
    bags, labels = problem(1)
    folds = deal_folds(labels, 3)
    for point in chosen("cross_validation", seed=1).points:
        maxima = np.full((bags.n_bags, 3), -np.inf)
        for fold in range(3):
            train, test = np.flatnonzero(folds != fold), np.flatnonzero(folds == fold)
            learned = learn_score_functions(
                bags.take(train),
                labels.take(train),
                Gaussian(point.gamma),
                lam=point.lam,
                settings=TIGHT,
            )
            maxima[test] = bags.take(test).bag_max(learned(bags.take(test).instances))
        errors = [
            np.mean([(maxima[y, c] <= 0).mean(), (maxima[~y, c] > 0).mean()])
            for c, y in enumerate(labels.present.T)
        ]
        hinge = np.maximum(0, 1 - labels.status * maxima).mean()
        assert_allclose(point.error, np.mean(errors), atol=1e-9)
        assert_allclose(point.hinge, hinge, rtol=1e-5)


def test_cross_validation_takes_the_lowest_error():
    found = chosen("cross_validation", seed=2)
    assert found.best in found.points
    assert found.best.error == min(p.error for p in found.points)


def test_a_class_that_only_one_fold_holds_is_missed_there_and_nowhere_expected():
    bags, labels = problem()
    rare = BagLabels.from_sets(
        [{*held, "rare"} if i == 3 else held for i, held in enumerate(labels.to_sets())]
    )
    found = select(bags, rare, Gaussian, gammas=(1.0,), lams=(0.03,), criterion="cross_validation")
    without = select(
        bags, labels, Gaussian, gammas=(1.0,), lams=(0.03,), criterion="cross_validation"
    )
    assert np.isfinite(found.best.hinge)
    # Missed always, given never: half an error on one class of four. The folds differ, so no more.
    assert found.best.error > 0.5 / 4
    assert without.best.error < 1


# ---------------------------------------------------------------- how it is run


@pytest.mark.parametrize("criterion", ["training_error", "cross_validation"])
@pytest.mark.parametrize("backend", ["threading", "loky"])
def test_any_joblib_backend_carries_it_to_the_same_bits(criterion, backend):
    alone = chosen(criterion)
    with joblib.parallel_config(backend, n_jobs=2):
        assert chosen(criterion, n_jobs=None) == alone


def test_a_backend_of_the_callers_own_is_used():
    from joblib._parallel_backends import ThreadingBackend

    seen = []

    class Counting(ThreadingBackend):
        def configure(self, *args, **options):
            seen.append(True)
            return super().configure(*args, **options)

    joblib.register_parallel_backend("counting", Counting)
    try:
        with joblib.parallel_config("counting", n_jobs=2):
            chosen("training_error", n_jobs=None)
    finally:
        del joblib.parallel.BACKENDS["counting"]
    assert seen


def test_progress_counts_settings_to_the_last():
    told = []
    chosen("training_error", progress=told.append)
    assert [(p.stage, p.done, p.total) for p in told] == [("settings", n, 6) for n in (3, 6)]


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"criterion": "guess"}, "criterion is 'guess'; pass one of training_error"),
        ({"criterion": "training_error", "gammas": ()}, "the grid is empty"),
        ({"criterion": "training_error", "lams": []}, "the grid is empty"),
    ],
)
def test_bad_requests(options, words):
    with pytest.raises(InputError, match=words):
        chosen(**options)


def test_the_estimator_keeps_every_setting_tried():
    bags, labels = problem()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        model = KernelScorer(lam=0.05, tuning="training_error", tol=0.05).fit(bags, labels)
    assert {p.lam for p in model.selection_.points} == {0.05}
    assert len({p.gamma for p in model.selection_.points}) == 5
    assert (model.gamma_, model.lam_) == (model.selection_.best.gamma, 0.05)
