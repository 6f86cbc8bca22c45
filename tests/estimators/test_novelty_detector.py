"""NoveltyDetector as its users meet it: four ways of asking, bad input, what must not matter."""

import json
import warnings
import zipfile
from pathlib import Path

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.base import clone
from sklearn.exceptions import NotFittedError
from sklearn.utils.estimator_checks import parametrize_with_checks
from tests.problems import random_problem

from raravis import NOVEL, Bags, NovelClassClassifier, NoveltyDetector, load, save
from raravis._provenance import seen_in_training
from raravis.errors import InputError, ModelFileError, RaravisWarning
from raravis.metrics import auc

#: The four ways of asking: with the labels of the scored bags or not, in context or not.
WAYS = pytest.mark.parametrize(("told", "context"), [(t, c) for t in (0, 1) for c in (False, True)])


@parametrize_with_checks([NoveltyDetector(n_trees=5)])
def test_scikit_learn_checks(estimator, check):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", RaravisWarning)
        check(estimator)


def toy(seed=0, n_bags=40):
    return random_problem(seed, n_bags=n_bags, n_classes=3)


def fitted(**options):
    bags, labels = toy()
    return NoveltyDetector(**{"n_trees": 20, **options}).fit(bags, labels), bags, labels


# ---------------------------------------------------------------- the public surface


@WAYS
def test_the_public_methods_agree_with_one_another(told, context):
    model, bags, labels = fitted()
    how = {"bag_labels": labels if told else None, "context": context}
    P = model.posterior(bags, **how)
    assert_allclose(P.sum(axis=1), 1.0)
    score = model.score_samples(bags, **how)
    assert_array_equal(model.decision_function(bags, **how), score - model.offset_)
    known = model.predict(bags, **how) == 1
    assert_array_equal(known, score >= 0)
    names = model.annotate(bags, **how)
    assert_array_equal(known, [name is not NOVEL for name in names])
    assert_array_equal(names[known], model.classes_[P[:, 1:].argmax(axis=1)[known]])
    if not told:
        held = model.bag_posterior(bags, context=context)
        assert_array_equal(model.predict_bags(bags, context=context), held >= 0.5)


def test_bags_are_judged_as_a_whole_unless_told_otherwise():
    model, bags, _ = fitted()
    assert_array_equal(model.predict_bags(bags), model.predict_bags(bags, context=True))
    truth = toy()[1].present
    assert (model.predict_bags(bags) == truth).mean() > 0.8


def test_labels_of_the_scored_bags_are_obeyed():
    model, bags, labels = fitted()
    P = model.posterior(bags, bag_labels=labels, context=True)
    listed = labels.present[bags.bag_index]
    assert (P[:, 1:][~listed] == 0).all()
    totals = np.add.reduceat(P[:, 1:], bags.offsets[:-1])
    assert totals[labels.present].min() > 0.99
    assert {*model.annotate(bags, bag_labels=[set()] * bags.n_bags)} == {NOVEL}
    with pytest.warns(RaravisWarning, match="not learned .*'crow'"):
        strange = model.posterior(bags, bag_labels=[{"crow"}] * bags.n_bags)
    assert_array_equal(strange[:, 0], 1.0)


def kinds_of_bags(rng, n, *, pure):
    """Instances of three kinds, the last never listed; pure bags hold one kind each."""
    centres = np.array([[0.0, 0.0], [3.0, 0.0], [0.0, 3.0]])
    kinds = np.repeat(rng.integers(0, 3, n), 5) if pure else rng.integers(0, 3, 5 * n)
    X = centres[kinds] + (0.9 if pure else 0.5) * rng.standard_normal((5 * n, 2))
    labels = [set(row.tolist()) - {2} for row in kinds.reshape(n, 5)]
    return Bags.from_arrays(X, np.repeat(np.arange(n), 5)), labels, kinds


def test_it_finds_the_class_that_nobody_listed_and_decides_without_being_told_where():
    rng = np.random.default_rng(0)
    bags, labels, _ = kinds_of_bags(rng, 60, pure=False)
    new, told, truth = kinds_of_bags(rng, 60, pure=False)
    model = NoveltyDetector(n_trees=40).fit(bags, labels)
    expected = [NOVEL if t == 2 else t for t in truth]
    for options in ({}, {"context": True}, {"bag_labels": told}):
        found = model.annotate(new, **options)
        assert np.mean([a == e for a, e in zip(found, expected, strict=True)]) > 0.93


def test_the_rest_of_a_bag_is_evidence():
    rng = np.random.default_rng(0)
    bags, labels, _ = kinds_of_bags(rng, 80, pure=True)
    new, _, truth = kinds_of_bags(rng, 60, pure=True)
    model = NoveltyDetector(n_trees=40).fit(bags, labels)
    alone, aware = (auc(truth != 2, model.score_samples(new, context=c)) for c in (False, True))
    assert 1 - aware < 0.6 * (1 - alone)


# ---------------------------------------------------------------- what must not matter


def test_any_number_of_workers_and_the_same_seed_give_the_same_bits():
    bags, labels = toy()
    one, two, other = (
        NoveltyDetector(n_trees=10, n_jobs=n, random_state=seed).fit(bags, labels)
        for n, seed in ((1, 0), (2, 0), (1, 5))
    )
    for context in (False, True):
        expected = one.posterior(bags, context=context)
        assert_array_equal(two.posterior(bags, context=context), expected)
        assert not np.array_equal(other.posterior(bags, context=context), expected)


def test_names_of_classes_do_not_matter():
    bags, labels = toy()
    renamed = labels.rename({0: "owl", 1: "wren", 2: "crow"})
    one, two = (NoveltyDetector(n_trees=10).fit(bags, y) for y in (labels, renamed))
    column = 1 + [*two.classes_].index("wren")
    assert_allclose(one.posterior(bags)[:, 2], two.posterior(bags)[:, column])


def test_what_is_scored_beside_a_bag_does_not_matter():
    model, bags, _ = fitted()
    whole = model.posterior(bags, context=True)
    first = bags.offsets[:-1]
    for b in (0, 7, bags.n_bags - 1):
        alone = model.posterior(bags.take([b]), context=True)
        assert_allclose(alone, whole[first[b] : bags.offsets[b + 1]], atol=1e-3)


def test_clone_starts_afresh():
    model, bags, _ = fitted()
    with pytest.raises(NotFittedError):
        clone(model).predict(bags)


# ---------------------------------------------------------------- degenerate but legal


@WAYS
def test_sane_answers_at_the_edges(told, context):
    model, bags, _ = fitted()
    nothing = Bags.from_list([np.empty((0, 3))])
    how = {"context": context, "bag_labels": [{0}] if told else None}
    assert model.score_samples(nothing, **how).shape == (0,)
    assert model.annotate(nothing, **how).shape == (0,)
    assert model.predict_bags(nothing).tolist() == [[0, 0, 0]]
    single = Bags.from_list([bags[0][:1]])
    assert model.posterior(single, **how).sum() == pytest.approx(1.0)
    far = Bags.from_list([[[1e9, -1e9, 1e9], [-1e9, 1e9, 1e9]]])
    assert np.isfinite(model.posterior(far, **how)).all()


def test_a_single_instance_is_judged_much_as_among_others():
    """Alone in its bag it has no context, but an idea of how common each class is."""
    model, bags, _ = fitted()
    singles = Bags.from_list([row[None] for row in bags.instances])
    alone, with_context = (model.score_samples(singles, context=c) for c in (False, True))
    assert_array_equal(alone, model.score_samples(bags))
    assert np.corrcoef(alone, with_context)[0, 1] > 0.9


def test_few_bags_one_class_and_no_bag_without_a_label():
    bags, labels = toy()
    listed = labels.present.any(axis=1)
    options = {"n_trees": 10}
    no_empty = NoveltyDetector(**options).fit(bags.take(listed), labels.take(listed))
    assert np.isfinite(no_empty.posterior(bags)).all()
    everywhere = NoveltyDetector(**options).fit(bags, [{"a"}] * bags.n_bags)
    assert (everywhere.predict_bags(bags) == 1).mean() > 0.9
    rare = [{*s, "rare"} if i == 0 else s for i, s in enumerate(labels.to_sets())]
    assert np.isfinite(NoveltyDetector(**options).fit(bags, rare).posterior(bags)).all()
    alone = NoveltyDetector(**options).fit([[[0.0], [1.0]]], [{"a"}])
    assert alone.posterior([[[0.5]]]).shape == (1, 2)


def test_constant_features():
    bags = Bags.from_list([np.ones((3, 2)), np.ones((2, 2))])
    model = NoveltyDetector(n_trees=10).fit(bags, [{"a"}, set()])
    assert len(np.unique(model.posterior(bags)[:, 0])) == 1


def test_more_labels_than_instances_are_refused_by_name_or_softened():
    rng = np.random.default_rng(0)
    bags = Bags.from_list([rng.standard_normal((n, 3)) for n in (40, 3, 1, 0)])
    labels = [set(range(30)), {1, 2}, {1, 2}, {5}]
    with pytest.raises(InputError, match="bag 2 lists 2 classes but has 1 instances"):
        NoveltyDetector().fit(bags, labels)
    model = NoveltyDetector(n_trees=10, impossible="soften").fit(bags, labels)
    assert np.isfinite(model.posterior(bags, bag_labels=labels, context=True)).all()


# ---------------------------------------------------------------- refused


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"lam": -1.0}, "lam is -1.0; pass a finite number above 0"),
        ({"gamma": "wide"}, "gamma is 'wide'.*or 'auto'"),
        ({"scaling": "unit"}, "scaling is 'unit'; pass one of minmax"),
        ({"n_landmarks": 0}, "n_landmarks is 0; pass a whole number"),
        ({"n_trees": 2.5}, "n_trees is 2.5"),
        ({"impossible": "drop"}, "impossible is 'drop'"),
        ({"random_state": -3}, "random_state is -3"),
    ],
)
def test_bad_parameters(options, words):
    bags, labels = toy()
    with pytest.raises(InputError, match=words):
        NoveltyDetector(**options).fit(bags, labels)


def test_bad_data():
    model, bags, _ = fitted()
    with pytest.raises(InputError, match="X has 2 features, but NoveltyDetector is expecting"):
        model.score_samples([np.ones((4, 2))])
    with pytest.raises(InputError, match="no class can be learned"):
        NoveltyDetector().fit(bags, [None] * bags.n_bags)
    with pytest.raises(InputError, match="NaN"):
        NoveltyDetector().fit([[[np.nan]]], [{"a"}])


# ---------------------------------------------------------------- on disk


def test_a_saved_model_answers_alike(tmp_path):
    model, bags, labels = fitted(n_trees=7, n_landmarks=20)
    save(model, tmp_path / "model.raravis")
    again = load(tmp_path / "model.raravis")
    for told in (None, labels):
        for context in (False, True):
            how = {"bag_labels": told, "context": context}
            assert_array_equal(again.posterior(bags, **how), model.posterior(bags, **how))
    assert_array_equal(again.predict_bags(bags), model.predict_bags(bags))
    assert again.get_params() == model.get_params()
    assert_array_equal(seen_in_training(again, bags), True)


def test_a_file_of_the_first_version_is_read_for_ever():
    """The file is committed; tests/fixtures/make_novelty_detector_v1.py says what was in it."""
    fixtures = Path(__file__).parents[1] / "fixtures"
    rng = np.random.default_rng(2013)
    bags = Bags.from_list(rng.standard_normal((12, 3, 2)) + np.arange(12)[:, None, None] % 3)
    model = load(fixtures / "novelty_detector_v1.raravis")
    assert set(model.classes_) == {"wren", ("owl", 1)}
    expected = np.load(fixtures / "novelty_detector_v1_posterior.npy", allow_pickle=False)
    assert_allclose(model.posterior(bags, context=True), expected, rtol=1e-6, atol=1e-8)


@pytest.mark.parametrize("value", [None, [1.0], [1.0, float("nan")], ["a", "b"]])
def test_a_correction_that_is_none_is_refused(tmp_path, value):
    model, _, _ = fitted(n_trees=3)
    state = model.__raravis_state__()
    with pytest.raises(ModelFileError, match="expected an intercept and a slope"):
        NoveltyDetector.__raravis_restore__(
            type(state)(state.params, {**state.fitted, "alone": value}, state.arrays)
        )


def test_the_manifest_is_plain_json(tmp_path):
    model, _, _ = fitted(n_trees=3)
    save(model, tmp_path / "model.raravis")
    with zipfile.ZipFile(tmp_path / "model.raravis") as archive:
        assert "NoveltyDetector" in json.dumps(json.loads(archive.read("manifest.json")))


# ---------------------------------------------------------------- real data


@pytest.mark.data
def test_birdsong_at_automatic_settings(real_data):
    """Two of the paper's label sets, one split each; figures of a full run are in docs."""
    from raravis.datasets import fetch_hja_birdsong

    data = fetch_hja_birdsong(data_home=real_data)
    for known in ((5, 7, 9, 11), (1, 2, 3, 4, 5, 6, 7, 8)):
        train, test = data.restrict(known).split((0.7, 0.3), seed=1)
        model = NoveltyDetector(n_jobs=2).fit(train.bags, train.labels)
        truth = test.known(known)
        alone = auc(truth, model.score_samples(test.bags))
        aware = auc(truth, model.score_samples(test.bags, context=True))
        told = auc(truth, model.score_samples(test.bags, context=True, bag_labels=test.labels))
        plain = NovelClassClassifier().fit(train.bags, train.labels)
        assert alone > auc(truth, plain.score_samples(test.bags))
        assert alone > 0.9
        assert aware > alone
        assert told > 0.94
        right = model.annotate(test.bags, context=True) == np.array(
            [c if c in known else NOVEL for c in test.instance_labels.tolist()], dtype=object
        )
        assert right.mean() > 0.78
