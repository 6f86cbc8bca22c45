"""Thresholds by folds: which copy scores what, the ensemble itself, and what is promised."""

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from tests.calibration.scored import CLASSES, FeatureScorer, witness_bags
from tests.problems import random_problem

from raravis import NOVEL, KernelScorer, load, save
from raravis.calibration import (
    FoldEnsemble,
    cross_calibrate,
    threshold_from_bags,
    threshold_of,
    witness_scores,
)
from raravis.calibration.cross import held_out_witnesses
from raravis.errors import InputError
from raravis.labels import as_labels


@pytest.fixture(scope="module")
def problem():
    return random_problem(4, n_bags=40, n_classes=3)


@pytest.fixture(scope="module")
def ensemble(problem):
    return FoldEnsemble(KernelScorer(), n_folds=4).fit(*problem)


def test_every_bag_is_scored_by_the_copy_that_never_saw_it(problem, ensemble):
    bags, labels = problem
    found = held_out_witnesses(ensemble, bags, labels)
    for fold, member in enumerate(ensemble.members_):
        held_out = np.flatnonzero(ensemble.folds_ == fold)
        part = witness_scores(member, bags.take(held_out), labels.take(held_out))
        assert_array_equal(found.scores[held_out], part.scores)
        again = KernelScorer().fit(
            bags.take(ensemble.folds_ != fold), labels.take(ensemble.folds_ != fold)
        )
        assert_array_equal(again.score_samples(bags), member.score_samples(bags))
    assert_array_equal(np.bincount(ensemble.folds_), [10] * 4)


def test_folds_do_not_depend_on_labels(problem, ensemble):
    bags, labels = problem
    swapped = labels.take(np.arange(40)[::-1]).to_sets()
    other = FoldEnsemble(KernelScorer(), n_folds=4).fit(bags, swapped)
    assert_array_equal(other.folds_, ensemble.folds_)


def test_the_highest_score_counts(problem, ensemble):
    bags, _ = problem
    each = np.array([member.class_scores(bags) for member in ensemble.members_])
    assert_array_equal(ensemble.class_scores(bags), each.max(axis=0))
    assert_array_equal(ensemble.score_samples(bags), each.max(axis=(0, 2)))
    assert_array_equal(ensemble.predict(bags), np.where(each.max(axis=(0, 2)) >= 0, 1, -1))
    novel = ensemble.annotate(bags) == NOVEL
    assert_array_equal(novel, ensemble.predict(bags) < 0)
    best = ensemble.class_scores(bags).argmax(axis=1)
    assert_array_equal(ensemble.annotate(bags)[~novel], ensemble.classes_[best][~novel])
    votes = sum(member.predict_bags(bags) for member in ensemble.members_)
    assert_array_equal(ensemble.predict_bags(bags), votes >= 2)


def test_bag_labels_restrict_the_ensemble_too(problem, ensemble):
    bags, _ = problem
    nothing = ensemble.annotate(bags, bag_labels=[set()] * 40)
    assert (nothing == NOVEL).all()
    first = ensemble.annotate(bags, bag_labels=[{0}] * 40)
    assert set(first) <= {0, NOVEL}


def test_an_ensemble_is_saved_with_its_threshold(problem, tmp_path):
    bags, labels = problem
    found = cross_calibrate(
        KernelScorer(), bags, labels, alpha=0.4, scope="all", n_folds=4, date="2026-05-01"
    )
    assert (found.calibration.rule, found.calibration.level) == ("cross_all_kept", 0.6)
    save(found.model, tmp_path / "model")
    loaded = load(tmp_path / "model")
    assert threshold_of(loaded) == found.calibration
    assert_array_equal(loaded.predict(bags), found.model.predict(bags))
    assert_array_equal(loaded.folds_, found.model.folds_)
    with pytest.raises(InputError, match="trained on"):
        threshold_from_bags(loaded, bags.take([0, 1]), labels.take([0, 1]))


def test_the_proven_threshold_is_the_lower_one(problem):
    bags, labels = problem
    options = {"alpha": 0.5, "scope": "all", "n_folds": 4}
    proven = cross_calibrate(KernelScorer(), bags, labels, **options).calibration
    hoped = cross_calibrate(KernelScorer(), bags, labels, use="refit", **options).calibration
    assert proven.value < hoped.value
    assert "proven for any number of bags" in proven.guarantee
    assert "not proven" in hoped.guarantee
    assert proven.data == hoped.data
    assert proven.model != hoped.model


def test_a_refitted_model_learns_from_all_bags(problem):
    bags, labels = problem
    found = cross_calibrate(KernelScorer(), bags, labels, alpha=0.3, scope="all", use="refit")
    plain = KernelScorer().fit(bags, labels)
    assert_array_equal(found.model.score_samples(bags), plain.score_samples(bags))
    assert found.model.offset_ == found.calibration.value


def test_too_few_bags_for_a_proof():
    bags = witness_bags(np.arange(180.0).reshape(60, 3))
    found = cross_calibrate(FeatureScorer(), bags, [set(CLASSES)] * 60, alpha=0.1)
    assert (bool(found.calibration), found.calibration.needed) == (False, 95)
    assert found.model.offset_ == 0.0
    one_each = cross_calibrate(FeatureScorer(), bags, [set(CLASSES)] * 60, n_folds=60)
    assert [c.value for c in one_each.calibration.per_class] == [15.0, 16.0, 17.0]
    refit = cross_calibrate(FeatureScorer(), bags, [set(CLASSES)] * 60, use="refit")
    assert_allclose([c.value for c in refit.calibration.per_class], [15.0, 16.0, 17.0])


def test_a_class_that_a_copy_has_not_learned_is_lost_there():
    bags = witness_bags(np.arange(60.0).reshape(20, 3))
    labels = as_labels([{"jay", "owl"}] * 19 + [{"wren"}], bags)
    ensemble = FoldEnsemble(FeatureScorer(), n_folds=4).fit(bags, labels)
    assert list(ensemble.classes_) == list(CLASSES)
    found = held_out_witnesses(ensemble, bags, labels)
    assert found.scores[19, 2] == -np.inf
    assert np.isfinite(found.scores[:, :2]).all()
    only = cross_calibrate(
        FeatureScorer(), bags, labels, alpha=0.3, n_folds=4, use="refit", classes=["jay", "owl"]
    )
    assert [c.label for c in only.calibration.per_class] == ["jay", "owl"]


def test_progress_is_told_fold_by_fold():
    bags = witness_bags(np.arange(60.0).reshape(20, 3))
    steps = []
    cross_calibrate(FeatureScorer(), bags, [set(CLASSES)] * 20, progress=steps.append)
    assert [(p.stage, p.done, p.total) for p in steps] == [("folds", k + 1, 5) for k in range(5)]


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"use": "both"}, "use is 'both'"),
        ({"scope": "share"}, "takes threshold_from_bags"),
        ({"n_folds": 1}, "n_folds is 1"),
        ({"n_folds": 21}, "n_folds is 21"),
        ({"alpha": 2}, "alpha is 2"),
        ({"classes": ["crow"]}, "does not know"),
    ],
)
def test_options_are_checked(options, message):
    bags = witness_bags(np.arange(60.0).reshape(20, 3))
    with pytest.raises(InputError, match=message):
        cross_calibrate(FeatureScorer(), bags, [set(CLASSES)] * 20, **options)
