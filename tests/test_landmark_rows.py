"""Landmark features in place of the Gram matrix, and the hinge model on them."""

import numpy as np
import pytest
from numpy.testing import assert_allclose
from sklearn.metrics import roc_auc_score
from tests.problems import random_problem

import raravis
from raravis import KernelScorer
from raravis.errors import InputError, RaravisWarning
from raravis.estimators import kernel_scorer
from raravis.gram import GramRows
from raravis.kernels import Gaussian
from raravis.landmark_rows import LandmarkRows
from raravis.landmarks import LandmarkChoice
from raravis.scale import mixture_chunks


def _mixture(n=1500, draw=0):
    return next(mixture_chunks(n, n_classes=4, n_novel=2, rows_a_chunk=n, draw=draw))


def test_with_every_instance_a_landmark_rows_are_those_of_the_gram_matrix():
    X = np.random.default_rng(0).standard_normal((40, 3))
    full, ours = GramRows(Gaussian(0.4), X), LandmarkRows.of(Gaussian(0.4), X, 40)
    left, right = np.array([3, 5]), np.arange(40)
    assert_allclose(ours.between(left, right), full.between(left, right), atol=1e-6)
    theirs, mine = np.zeros(40), np.zeros(40)
    full.add_rows(left, np.array([0.5, -2.0]), theirs)
    ours.add_rows(left, np.array([0.5, -2.0]), mine)
    assert_allclose(mine, theirs, atol=1e-6)
    W = np.random.default_rng(1).standard_normal((40, 2))
    assert_allclose(ours.times(W), full.times(W), atol=1e-5)
    blocks = np.hstack([block for _, block in ours.blocks(left)])
    assert_allclose(blocks, full.between(left, right), atol=1e-6)
    part = ours.subset(left)
    assert_allclose(
        part.between(np.array([0]), np.array([1])), full.between(left[:1], left[1:]), atol=1e-6
    )


def test_the_full_set_of_landmarks_gives_the_full_model():
    bags, labels = random_problem(3, n_bags=40, n_features=4)
    full = KernelScorer(tol=1e-5).fit(bags, labels)
    ours = KernelScorer(tol=1e-5, n_landmarks=bags.n_instances).fit(bags, labels)
    assert ours.objective_ == pytest.approx(full.objective_, rel=1e-3)
    assert_allclose(ours.score_samples(bags), full.score_samples(bags), atol=2e-2)


@pytest.mark.parametrize("choice", LandmarkChoice.__args__)
def test_few_landmarks_rank_nearly_as_well(choice, tmp_path):
    train, test = _mixture(), _mixture(draw=1)
    y = test.instance_labels < 4
    full = KernelScorer().fit(train.bags, train.labels)
    ours = KernelScorer(n_landmarks=200, landmarks=choice, n_jobs=2).fit(train.bags, train.labels)
    assert ours.n_landmarks_ == ours.n_support_ == 200
    a, b = (roc_auc_score(y, m.score_samples(test.bags)) for m in (full, ours))
    assert b > a - 0.02
    alone = KernelScorer(n_landmarks=200, landmarks=choice).fit(train.bags, train.labels)
    assert np.array_equal(alone.score_samples(test.bags), ours.score_samples(test.bags))
    raravis.save(ours, tmp_path / "m.raravis")
    loaded = raravis.load(tmp_path / "m.raravis")
    assert loaded.n_landmarks_ == 200
    assert np.array_equal(loaded.score_samples(test.bags), ours.score_samples(test.bags))


def test_auto_goes_by_size_and_says_so(monkeypatch):
    train = _mixture(500)
    assert KernelScorer().fit(train.bags, train.labels).n_landmarks_ is None
    monkeypatch.setattr(kernel_scorer, "_MOST_FULL", 400)
    monkeypatch.setattr(kernel_scorer, "_LANDMARKS", 60)
    with pytest.warns(RaravisWarning, match="500 training instances .* 60 landmarks"):
        model = KernelScorer().fit(train.bags, train.labels)
    assert model.n_landmarks_ == 60
    assert KernelScorer(n_landmarks=None).fit(train.bags, train.labels).n_landmarks_ is None
    with pytest.raises(InputError, match="solver='cccp'"):
        KernelScorer(solver="alternating", n_landmarks=5).fit(train.bags, train.labels)
    with pytest.raises(InputError, match="n_landmarks is 0"):
        KernelScorer(n_landmarks=0).fit(train.bags, train.labels)
