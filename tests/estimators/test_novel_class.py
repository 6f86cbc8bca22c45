"""NovelClassClassifier as its users meet it: good input, bad input, and what must not matter."""

import json
import warnings
import zipfile
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.base import clone
from sklearn.exceptions import ConvergenceWarning, NotFittedError
from sklearn.naive_bayes import GaussianNB
from sklearn.utils.estimator_checks import parametrize_with_checks
from tests.problems import random_problem

from raravis import NOVEL, BagLabels, Bags, NovelClassClassifier, load, save
from raravis._provenance import seen_in_training
from raravis._state import State
from raravis.errors import InputError, ModelFileError, RaravisWarning
from raravis.estimators._soft_models import restored_model, storable_model
from raravis.kernels import Gaussian
from raravis.metrics import auc
from raravis.solvers import KernelLogistic, TreeForest

#: Checks of scikit-learn that cannot pass, and why.
EXPECTED_FAILURES: dict[str, str] = {}
BOTH = pytest.mark.parametrize("m_step", ["kernel", "forest"])


@parametrize_with_checks(
    [NovelClassClassifier(), NovelClassClassifier("forest", n_trees=5, max_rounds=2)],
    expected_failed_checks=lambda _: EXPECTED_FAILURES,
)
def test_scikit_learn_checks(estimator, check):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", RaravisWarning)
        check(estimator)


def toy(seed=0, n_bags=40):
    return random_problem(seed, n_bags=n_bags, n_classes=3)


def fitted(*args, **options):
    bags, labels = toy()
    return NovelClassClassifier(*args, **options).fit(bags, labels), bags, labels


# ---------------------------------------------------------------- the public surface


@BOTH
def test_the_public_methods_agree_with_one_another(m_step):
    model, bags, labels = fitted(m_step)
    for told, context in ((None, False), (labels, False), (None, True), (labels, True)):
        how = {"bag_labels": told, "context": context}
        P = model.posterior(bags, **how)
        assert P.shape == (bags.n_instances, 4)
        assert_allclose(P.sum(axis=1), 1.0)
        score = model.score_samples(bags, **how)
        with np.errstate(divide="ignore"):
            odds = np.log(P[:, 1:].sum(axis=1) / P[:, 0].clip(np.finfo(float).tiny))
        assert_allclose(score, odds, atol=1e-9)
        assert_array_equal(model.decision_function(bags, **how), score - model.offset_)
        known = model.predict(bags, **how) == 1
        assert_array_equal(known, P[:, 0] <= 0.5)
        names = model.annotate(bags, **how)
        assert_array_equal(known, [name is not NOVEL for name in names])
        assert_array_equal(names[known], model.classes_[P[:, 1:].argmax(axis=1)[known]])
    P = model.posterior(bags)
    assert_allclose(model.class_scores(bags), np.log(P[:, 1:] / P[:, :1]), atol=1e-9)
    assert_array_equal(model.predict_bags(bags), model.bag_posterior(bags) >= 0.5)


@BOTH
def test_labels_of_the_scored_bags_are_obeyed(m_step):
    model, bags, labels = fitted(m_step)
    P = model.posterior(bags, bag_labels=labels)
    expected = labels.present[bags.bag_index]
    assert (P[:, 1:][~expected] == 0).all()
    # Each listed class is expected to have about an instance or more.
    totals = np.add.reduceat(P[:, 1:], bags.offsets[:-1])
    assert totals[labels.present].min() > 0.99
    nothing = [set()] * bags.n_bags
    assert (model.score_samples(bags, bag_labels=nothing) == -np.inf).all()
    assert {*model.annotate(bags, bag_labels=nothing)} == {NOVEL}
    nobody_looked = [None] * bags.n_bags
    assert_allclose(model.posterior(bags, bag_labels=nobody_looked), model.posterior(bags))
    with pytest.warns(RaravisWarning, match="not learned .*'crow'"):
        strange = model.posterior(bags, bag_labels=[{"crow"}] * bags.n_bags)
    assert_array_equal(strange[:, 0], 1.0)


@BOTH
def test_the_rest_of_a_bag_is_evidence(m_step):
    """Bags of one kind each: an instance between two kinds is told apart by its company."""
    rng = np.random.default_rng(0)
    centres = np.array([[0.0, 0.0], [2.0, 0.0], [0.0, 3.0]])

    def draw(n):
        kinds = np.repeat(rng.integers(0, 3, n), 5)
        X = centres[kinds] + 0.8 * rng.standard_normal((5 * n, 2))
        return Bags.from_arrays(X, np.repeat(np.arange(n), 5)), kinds

    bags, kinds = draw(90)
    labels = [{int(k)} - {2} for k in kinds[::5]]
    model = NovelClassClassifier(m_step).fit(bags, labels)
    new, truth = draw(60)
    alone, aware = (auc(truth != 2, model.score_samples(new, context=c)) for c in (False, True))
    assert 1 - aware < 0.5 * (1 - alone)
    assert aware > 0.97
    held = model.bag_posterior(new, context=True)
    assert ((held[:, 0] > 0.5) == (truth[::5] == 0)).mean() > 0.9
    assert_array_equal(model.predict_bags(new, context=True), held >= 0.5)


def test_more_labels_than_instances_are_softened_when_scoring():
    model, bags, _ = fitted()
    one = Bags.from_list([bags[0][:1], np.empty((0, 3))])
    P = model.posterior(one, bag_labels=[{0, 1, 2}, {0}])
    assert P.shape == (1, 4)
    assert P[0, 0] < 1e-2


def test_bag_posteriors_follow_from_instance_posteriors():
    model, bags, labels = fitted()
    P = model.posterior(bags)
    none = np.multiply.reduceat(1 - P[:, 1:], bags.offsets[:-1])
    assert_allclose(model.bag_posterior(bags), 1 - none, atol=1e-12)
    assert_array_equal(model.bag_posterior(bags, bag_labels=labels), labels.present)
    # What is known of one class bears on another: instances cannot be of both.
    status = labels.status.copy()
    status[:, 1] = 0
    partly = BagLabels.from_status(status, labels.classes)
    held = model.bag_posterior(bags, bag_labels=partly)
    assert_array_equal(held[:, [0, 2]], labels.present[:, [0, 2]])
    single = np.flatnonzero((bags.sizes == 1) & labels.present[:, 0])
    assert_array_equal(held[single, 1], 0.0)
    assert ((held[:, 1] > 0.5) == labels.present[:, 1]).mean() > 0.8


@BOTH
def test_it_finds_the_class_that_nobody_listed(m_step):
    rng = np.random.default_rng(0)
    centres = np.array([[0.0, 0.0], [3.0, 0.0], [0.0, 3.0]])

    def draw(n):
        kinds = [rng.integers(0, 3, 4) for _ in range(n)]
        bags = Bags.from_list([centres[k] + 0.4 * rng.standard_normal((4, 2)) for k in kinds])
        return bags, [set(k.tolist()) - {2} for k in kinds], np.concatenate(kinds)

    bags, labels, _ = draw(60)
    new, told, truth = draw(60)
    model = NovelClassClassifier(m_step).fit(bags, labels)
    expected = [NOVEL if t == 2 else t for t in truth]
    for options in ({}, {"bag_labels": told}):
        found = model.annotate(new, **options)
        assert np.mean([a == e for a, e in zip(found, expected, strict=True)]) > 0.95


# ---------------------------------------------------------------- what must not matter


@settings(max_examples=8, deadline=None)
@given(seed=st.integers(0, 100))
def test_order_of_bags_and_of_instances_does_not_matter(seed):
    bags, labels = toy(seed % 5)
    rng = np.random.default_rng(seed)
    order = rng.permutation(bags.n_bags)
    shuffled = Bags.from_list([rng.permutation(bags[i]) for i in order])
    step = KernelLogistic(Gaussian(0.5), lam=1e-3, dtype=np.float64, max_steps=50)
    one, two = (
        NovelClassClassifier(step, init="uniform", tol=1e-6).fit(x, y)
        for x, y in ((bags, labels), (shuffled, labels.take(order).to_sets()))
    )
    assert_allclose(two.posterior(bags), one.posterior(bags), atol=0.02)


@BOTH
def test_names_and_places_of_classes_do_not_matter(m_step):
    bags, labels = toy()
    renamed = labels.rename({0: "owl", 1: "wren", 2: "crow"})
    one, two = (NovelClassClassifier(m_step).fit(bags, y) for y in (labels, renamed))
    assert_allclose(
        one.posterior(bags)[:, 2], two.posterior(bags)[:, 1 + [*two.classes_].index("wren")]
    )


@pytest.mark.parametrize("m_step", ["kernel", "forest", GaussianNB()])
def test_any_number_of_workers_and_the_same_seed_give_the_same_bits(m_step):
    bags, labels = toy()
    one, two, other = (
        NovelClassClassifier(m_step, n_landmarks=30, n_jobs=n, random_state=seed).fit(bags, labels)
        for n, seed in ((1, 0), (2, 0), (1, 5))
    )
    assert_array_equal(one.posterior(bags), two.posterior(bags))
    assert not np.array_equal(one.posterior(bags), other.posterior(bags))


def test_float32_is_close():
    model, bags, labels = fitted()
    narrow = bags.with_instances(bags.instances.astype(np.float32))
    other = NovelClassClassifier().fit(narrow, labels)
    assert_allclose(other.posterior(narrow), model.posterior(bags), rtol=0, atol=0.06)


def test_progress_is_told_and_clone_starts_afresh():
    bags, labels = toy()
    heard = []
    model = NovelClassClassifier("forest", n_trees=3).fit(bags, labels, progress=heard.append)
    assert [(p.stage, p.done, p.total) for p in heard] == [("rounds", i, 5) for i in range(1, 6)]
    with pytest.raises(NotFittedError):
        clone(model).predict(bags)


# ---------------------------------------------------------------- how it is fitted


def test_the_penalised_likelihood_rises():
    model, _, _ = fitted()
    assert model.n_iter_ == len(model.path_) > 3
    assert (np.diff(model.path_) >= 0).all()
    assert model.converged_


def test_a_limit_of_rounds_that_the_user_did_not_set_is_told(monkeypatch):
    bags, labels = toy()
    monkeypatch.setattr("raravis.class_model._MOST_ROUNDS_CLIMBING", 3)
    with pytest.warns(ConvergenceWarning, match="still rose after 3 rounds"):
        model = NovelClassClassifier(tol=1e-9).fit(bags, labels)
    assert not model.converged_
    assert not NovelClassClassifier(max_rounds=2).fit(bags, labels).converged_


def test_starts():
    bags, labels = toy()
    uniform, favours, given, kernel = (
        NovelClassClassifier("forest", n_trees=10, max_rounds=1, **options).fit(bags, labels)
        for options in (
            {"init": "uniform"},
            {"init": "uniform", "novel_weight": 0.1},
            {"init": np.full((bags.n_instances, 4), 0.25)},
            {"init": "kernel"},
        )
    )
    assert_array_equal(uniform.posterior(bags), given.posterior(bags))
    assert favours.posterior(bags)[:, 0].mean() < uniform.posterior(bags)[:, 0].mean()
    assert not np.array_equal(kernel.posterior(bags), uniform.posterior(bags))
    with pytest.raises(InputError, match=r"init is an array of shape \(2, 4\)"):
        NovelClassClassifier(init=np.ones((2, 4))).fit(bags, labels)


@pytest.mark.parametrize(
    "m_step", [GaussianNB(), TreeForest(n_trees=20), KernelLogistic(Gaussian(0.5), lam=1e-3)]
)
def test_other_m_steps(m_step):
    model, bags, labels = fitted(m_step)
    assert (model.predict_bags(bags) == labels.present).mean() > 0.7


@pytest.mark.parametrize("kernel", ["laplacian", "polynomial", "linear", lambda a, b: a @ b.T])
def test_other_kernels_learn_too(kernel):
    model, bags, labels = fitted(kernel=kernel, lam=1e-3)
    assert (model.predict_bags(bags) == labels.present).mean() > 0.7


# ---------------------------------------------------------------- degenerate but legal


@BOTH
def test_sane_answers_at_the_edges(m_step):
    model, bags, _ = fitted(m_step, n_trees=10)
    nothing = Bags.from_list([np.empty((0, 3))])
    assert model.score_samples(nothing).shape == (0,)
    assert model.annotate(nothing).shape == (0,)
    assert model.predict_bags(nothing).tolist() == [[0, 0, 0]]
    assert model.posterior(nothing, bag_labels=[{0}]).shape == (0, 4)
    single = Bags.from_list([bags[0][:1]])
    assert_allclose(model.posterior(single)[0], model.posterior(bags)[0])
    far = Bags.from_list([[[1e9, -1e9, 1e9]]])
    assert np.isfinite(model.posterior(far)).all()


@BOTH
def test_few_bags_and_one_class(m_step):
    bags, labels = toy()
    options = {"n_trees": 10}
    listed = labels.present.any(axis=1)
    no_empty = NovelClassClassifier(m_step, **options).fit(bags.take(listed), labels.take(listed))
    assert no_empty.posterior(bags).shape == (bags.n_instances, 4)
    everywhere = NovelClassClassifier(m_step, **options).fit(bags, [{"a"}] * bags.n_bags)
    assert (everywhere.predict_bags(bags) == 1).mean() > 0.9
    rare = [{*s, "rare"} if i == 0 else s for i, s in enumerate(labels.to_sets())]
    model = NovelClassClassifier(m_step, **options).fit(bags, rare)
    assert np.isfinite(model.posterior(bags)).all()
    alone = NovelClassClassifier(m_step, **options).fit([[[0.0], [1.0]]], [{"a"}])
    assert alone.posterior([[[0.5]]]).shape == (1, 2)


@BOTH
def test_constant_features_and_duplicate_rows(m_step):
    bags = Bags.from_list([np.ones((3, 2)), np.ones((2, 2))])
    model = NovelClassClassifier(m_step, n_trees=10).fit(bags, [{"a"}, set()])
    assert len(np.unique(model.posterior(bags)[:, 0])) == 1


@BOTH
def test_two_thousand_classes(m_step):
    rng = np.random.default_rng(0)
    bags = Bags.from_list(rng.standard_normal((200, 1, 8)))
    labels = [set(range(10 * i, 10 * i + 10)) for i in range(200)]
    model = NovelClassClassifier(m_step, n_trees=5, max_rounds=2, impossible="soften")
    scores = model.fit(bags, labels).class_scores(bags)
    assert scores.shape == (200, 2000)
    # Each class is seen once; chance is 0.005.
    assert (scores.argmax(axis=1) // 10 == np.arange(200)).mean() > 0.7


def test_thirty_labels_in_a_bag_and_more_labels_than_instances():
    rng = np.random.default_rng(0)
    bags = Bags.from_list([rng.standard_normal((n, 3)) for n in (40, 3, 1, 0)])
    labels = [set(range(30)), {1, 2}, {1, 2}, {5}]
    with pytest.raises(InputError, match="bag 2 lists 2 classes but has 1 instances"):
        NovelClassClassifier().fit(bags, labels)
    model = NovelClassClassifier(impossible="soften").fit(bags, labels)
    assert np.isfinite(model.posterior(bags, bag_labels=labels)).all()


def test_unlabelled_bags_are_used_and_all_unlabelled_ones_refused():
    bags, labels = toy()
    sets = labels.to_sets()
    half = [s if i % 2 else None for i, s in enumerate(sets)]
    model = NovelClassClassifier().fit(bags, half)
    alone = NovelClassClassifier().fit(
        bags.take(np.arange(1, 40, 2)), [s for i, s in enumerate(sets) if i % 2]
    )
    assert not np.allclose(model.posterior(bags), alone.posterior(bags), atol=1e-3)
    with pytest.raises(InputError, match="no class can be learned"):
        NovelClassClassifier().fit(bags, [None] * bags.n_bags)


# ---------------------------------------------------------------- refused


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"lam": -1.0}, "lam is -1.0; pass a finite number above 0"),
        ({"gamma": "wide"}, "gamma is 'wide'.*or 'auto'"),
        ({"kernel": "rbf"}, "kernel is 'rbf'; pass one of gaussian"),
        ({"kernel": "precomputed"}, "kernel is 'precomputed'; pass one of gaussian"),
        ({"kernel": 7}, "kernel is 7"),
        ({"m_step": "boost"}, "m_step is 'boost'; pass one of kernel, forest"),
        ({"m_step": 3}, "m_step is a int; pass one of kernel, forest"),
        ({"scaling": "unit"}, "scaling is 'unit'; pass one of minmax"),
        ({"init": "zero"}, "init is 'zero'; pass one of auto, uniform, kernel"),
        ({"landmarks": "best"}, "by 'best'; pass one of uniform"),
        ({"n_landmarks": 0}, "n_landmarks is 0; pass a whole number"),
        ({"n_trees": 2.5}, "n_trees is 2.5"),
        ({"max_rounds": 0}, "max_rounds is 0"),
        ({"tol": 0.0}, "tol is 0.0"),
        ({"novel_weight": 0.0}, "novel_weight is 0.0"),
        ({"impossible": "drop"}, "impossible is 'drop'"),
        ({"random_state": -3}, "random_state is -3"),
    ],
)
def test_bad_parameters(options, words):
    bags, labels = toy()
    with pytest.raises(InputError, match=words):
        NovelClassClassifier(**{"n_landmarks": 10, **options}).fit(bags, labels)


def test_scoring_other_features_is_refused():
    model, _, _ = fitted()
    with pytest.raises(InputError, match="X has 2 features, but NovelClassClassifier is expecting"):
        model.score_samples([np.ones((4, 2))])


# ---------------------------------------------------------------- on disk


@BOTH
def test_a_saved_model_scores_alike(tmp_path, m_step):
    model, bags, labels = fitted(m_step, n_trees=7, n_landmarks=20)
    save(model, tmp_path / "model.raravis")
    again = load(tmp_path / "model.raravis")
    assert_array_equal(again.posterior(bags), model.posterior(bags))
    assert_array_equal(again.annotate(bags), model.annotate(bags))
    told = again.bag_posterior(bags, bag_labels=labels)
    assert_array_equal(told, model.bag_posterior(bags, bag_labels=labels))
    assert_array_equal(again.posterior(bags, context=True), model.posterior(bags, context=True))
    assert again.get_params() == model.get_params()
    assert_array_equal(again.path_, model.path_)
    assert again.converged_ == model.converged_
    assert_array_equal(seen_in_training(again, bags), True)


@pytest.mark.parametrize("options", [{"m_step": GaussianNB()}, {"kernel": lambda a, b: a @ b.T}])
def test_what_has_no_name_cannot_be_saved(tmp_path, options):
    model, _, _ = fitted(**options)
    with pytest.raises(InputError, match="saved"):
        save(model, tmp_path / "model.raravis")
    assert not list(tmp_path.iterdir())


@BOTH
def test_files_of_the_first_version_are_read_for_ever(m_step):
    """The files are committed; tests/fixtures/make_novel_class_v1.py says what was in them."""
    fixtures = Path(__file__).parents[1] / "fixtures"
    rng = np.random.default_rng(2013)
    bags = Bags.from_list(rng.standard_normal((12, 3, 2)) + np.arange(12)[:, None, None] % 3)
    model = load(fixtures / f"novel_class_{m_step}_v1.raravis")
    assert set(model.classes_) == {"wren", ("owl", 1)}
    expected = np.load(fixtures / f"novel_class_{m_step}_v1_posterior.npy", allow_pickle=False)
    assert_allclose(model.posterior(bags, context=True), expected, rtol=1e-8, atol=1e-10)
    with zipfile.ZipFile(fixtures / f"novel_class_{m_step}_v1.raravis") as archive:
        assert json.loads(archive.read("manifest.json"))["format_version"] == 1


@pytest.mark.parametrize(
    ("name", "change"),
    [
        ("left", lambda a: np.where(a >= 0, 0, a)),  # a walk that never ends
        ("right", lambda a: np.where(a >= 0, a + 10**6, a)),
        ("feature", lambda a: a + 100),
        ("leaf", lambda a: a + 10**6),
        ("first_node", lambda a: a + 10**6),
        ("first_node", lambda a: a[:0]),
    ],
)
def test_trees_that_point_elsewhere_are_refused(name, change):
    model, _, _ = fitted("forest", n_trees=3)
    values, arrays = storable_model(model.model_.instances)
    arrays[name] = change(arrays[name]).astype(arrays[name].dtype)
    state = State(fitted=values, arrays=arrays)
    with pytest.raises(ModelFileError, match=r"trees? of the model file"):
        restored_model(state, model._kernel, n_features=3, n_columns=4)


@pytest.mark.data
def test_birdsong_at_default_settings(real_data):
    """Two of the paper's label sets, one split each; figures of a full run are in docs."""
    from raravis.datasets import fetch_hja_birdsong

    data = fetch_hja_birdsong(data_home=real_data)
    for known, at_least in (((5, 7, 9, 11), 0.88), ((1, 2, 3, 4, 5, 6, 7, 8), 0.86)):
        train, test = data.restrict(known).split((0.7, 0.3), seed=1)
        model = NovelClassClassifier().fit(train.bags, train.labels)
        assert (np.diff(model.path_) >= 0).all()
        free = auc(test.known(known), model.score_samples(test.bags))
        told = auc(test.known(known), model.score_samples(test.bags, bag_labels=test.labels))
        aware = auc(test.known(known), model.score_samples(test.bags, context=True))
        assert at_least < free < aware
        assert free < told
        assert aware > 0.9
        assert told > 0.92


@pytest.mark.data
def test_a_forest_does_better_on_birdsong(real_data):
    from raravis.datasets import fetch_hja_birdsong

    known = (4, 6, 8, 10)
    train, test = fetch_hja_birdsong(data_home=real_data).restrict(known).split((0.7, 0.3), seed=1)
    kernel, forest = (
        NovelClassClassifier(m).fit(train.bags, train.labels) for m in ("kernel", "forest")
    )
    truth = test.known(known)
    assert auc(truth, forest.score_samples(test.bags)) > auc(truth, kernel.score_samples(test.bags))
