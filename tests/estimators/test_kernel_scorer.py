"""KernelScorer as its users meet it: good input, bad input, and what must not matter."""

import warnings
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.base import clone
from sklearn.exceptions import ConvergenceWarning, NotFittedError
from sklearn.utils.estimator_checks import parametrize_with_checks
from tests.problems import random_problem

from raravis import NOVEL, BagLabels, Bags, KernelScorer, load, save
from raravis.errors import InputError, RaravisWarning
from raravis.kernels import Gaussian

#: Checks of scikit-learn that cannot pass, and why.
EXPECTED_FAILURES: dict[str, str] = {}


@parametrize_with_checks(
    [KernelScorer(), KernelScorer("linear", tuning="cross_validation", tol=0.1)],
    expected_failed_checks=lambda _: EXPECTED_FAILURES,
)
def test_scikit_learn_checks(estimator, check):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        warnings.simplefilter("ignore", RaravisWarning)
        check(estimator)


def toy(seed=0, n_bags=40):
    return random_problem(seed, n_bags=n_bags, n_classes=3)


def fitted(**options):
    bags, labels = toy()
    return KernelScorer(**options).fit(bags, labels), bags, labels


# ---------------------------------------------------------------- the public surface


def test_the_public_methods_agree_with_one_another():
    model, bags, _ = fitted()
    scores = model.class_scores(bags)
    assert scores.shape == (bags.n_instances, 3)
    assert_array_equal(model.score_samples(bags), scores.max(axis=1))
    assert_array_equal(model.decision_function(bags), model.score_samples(bags) - model.offset_)
    known = model.predict(bags) == 1
    assert_array_equal(known, model.decision_function(bags) >= 0)
    names = model.annotate(bags)
    assert_array_equal(known, [name is not NOVEL for name in names])
    assert_array_equal(names[known], model.classes_[scores.argmax(axis=1)[known]])
    assert_array_equal(model.predict_bags(bags), bags.bag_max(scores) >= 0)


def test_training_scores_are_those_of_the_solver():
    """What the sparse model computes for its training bags is what the descent ended with."""
    model, bags, _ = fitted(tol=1e-6)
    ends = np.column_stack([d.scores for d in model.score_functions_.descents])
    assert_allclose(model.class_scores(bags), ends, atol=1e-9)
    assert model.n_support_ < bags.n_instances


def test_labels_of_the_scored_bags_restrict_the_classes():
    model, bags, labels = fitted()
    free, bound = model.score_samples(bags), model.score_samples(bags, bag_labels=labels)
    assert (bound <= free).all()
    listed_nothing = [set()] * bags.n_bags
    assert (model.score_samples(bags, bag_labels=listed_nothing) == -np.inf).all()
    assert {*model.annotate(bags, bag_labels=listed_nothing)} == {NOVEL}
    nobody_looked = [None] * bags.n_bags
    assert_array_equal(model.score_samples(bags, bag_labels=nobody_looked), free)
    only_zero = model.score_samples(bags, bag_labels=[{0}] * bags.n_bags)
    assert_array_equal(only_zero, model.class_scores(bags)[:, 0])


def test_it_finds_the_class_that_nobody_listed():
    rng = np.random.default_rng(0)
    centres = np.array([[0.0, 0.0], [3.0, 0.0], [0.0, 3.0]])

    def draw(n):
        kinds = [rng.integers(0, 3, 4) for _ in range(n)]
        bags = Bags.from_list([centres[k] + 0.4 * rng.standard_normal((4, 2)) for k in kinds])
        return bags, [set(k.tolist()) - {2} for k in kinds], np.concatenate(kinds)

    bags, labels, _ = draw(60)
    new, _, truth = draw(60)
    annotated = KernelScorer().fit(bags, labels).annotate(new)
    expected = [NOVEL if t == 2 else t for t in truth]
    assert np.mean([a == e for a, e in zip(annotated, expected, strict=True)]) > 0.95


# ---------------------------------------------------------------- what must not matter


@settings(max_examples=10)
@given(seed=st.integers(0, 100))
def test_order_of_bags_and_of_instances_does_not_matter(seed):
    bags, labels = toy(seed % 5)
    rng = np.random.default_rng(seed)
    order = rng.permutation(bags.n_bags)
    shuffled = Bags.from_list([rng.permutation(bags[i]) for i in order])
    options = {"gamma": 1.0, "lam": 0.05, "tol": 1e-9}
    one = KernelScorer(**options).fit(bags, labels)
    two = KernelScorer(**options).fit(shuffled, labels.take(order).to_sets())
    assert_allclose(two.objective_, one.objective_, rtol=1e-6)
    assert_allclose(two.class_scores(bags), one.class_scores(bags), atol=1e-3)


def test_names_of_classes_do_not_matter():
    bags, labels = toy()
    renamed = labels.rename({0: "owl", 1: "wren", 2: "crow"})
    one, two = (KernelScorer().fit(bags, y) for y in (labels, renamed))
    assert_array_equal(
        one.class_scores(bags)[:, 1], two.class_scores(bags)[:, list(two.classes_).index("wren")]
    )


def test_every_bag_twice_is_the_same_problem():
    bags, labels = toy()
    twice = Bags.concat([bags, bags], keys="renumber")
    both = BagLabels.from_status(np.vstack([labels.status] * 2), labels.classes)
    options = {"gamma": 1.0, "lam": 0.02, "tol": 1e-9}
    start = np.random.default_rng(0).standard_normal((bags.n_instances, 3))
    one = KernelScorer(init=start, **options).fit(bags, labels)
    two = KernelScorer(init=np.vstack([start, start]), **options).fit(twice, both)
    assert_allclose(two.objective_, one.objective_, rtol=1e-6)


def test_unlabelled_and_empty_bags_add_nothing_to_the_loss():
    bags, labels = toy()
    more = Bags.concat([bags, Bags.from_list([bags[0], np.empty((0, 3))])], keys="renumber")
    wider = [*labels.to_sets(), None, set()]
    options = {"gamma": 1.0, "lam": 0.02, "tol": 1e-8, "scaling": "none"}
    one = KernelScorer(**options).fit(bags, labels)
    two = KernelScorer(**options).fit(more, wider)
    assert_allclose(two.class_scores(bags), one.class_scores(bags), atol=1e-5)
    assert (two.predict_bags(more)[-1] == 0).all()


@pytest.mark.parametrize("tuning", ["rule", "training_error", "cross_validation"])
@pytest.mark.parametrize("solver", ["cccp", "alternating"])
def test_any_number_of_workers_and_the_same_seed_give_the_same_bits(tuning, solver):
    bags, labels = toy(n_bags=16)
    options = {"tuning": tuning, "solver": solver, "max_rounds": 3, "tol": 0.05}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        one, two = (KernelScorer(n_jobs=n, **options).fit(bags, labels) for n in (1, 2))
    assert (one.gamma_, one.lam_) == (two.gamma_, two.lam_)
    assert_array_equal(one.class_scores(bags), two.class_scores(bags))


def test_random_starts_follow_the_seed():
    bags, labels = toy()
    options = {"init": "random", "n_restarts": 2}
    one, same, other = (
        KernelScorer(random_state=s, **options).fit(bags, labels).class_scores(bags)
        for s in (1, 1, 7)
    )
    assert_array_equal(one, same)
    assert not np.array_equal(one, other)


def test_a_given_start_is_used():
    bags, labels = toy()
    start = np.random.default_rng(0).standard_normal((bags.n_instances, 3))
    assert KernelScorer(init=start).fit(bags, labels).converged_.all()
    with pytest.raises(InputError, match=r"init is an array of shape \(2, 3\)"):
        KernelScorer(init=start[:2]).fit(bags, labels)


def test_float32_stays_float32_and_close():
    bags, labels = toy()
    narrow = bags.with_instances(bags.instances.astype(np.float32))
    one, two = KernelScorer().fit(bags, labels), KernelScorer().fit(narrow, labels)
    assert two.score_functions_.support.dtype == np.float32
    assert_allclose(two.class_scores(narrow), one.class_scores(bags), atol=0.05)


def test_a_precomputed_gram_matrix_is_the_same_model():
    bags, labels = toy()
    new, _ = toy(9)
    kernel = Gaussian(0.5)
    options = {"gamma": 0.5, "lam": 0.01, "scaling": "none", "tol": 1e-8}
    direct = KernelScorer(**options).fit(bags, labels)
    gram = bags.with_instances(kernel.block(bags.instances, bags.instances))
    given_rows = new.with_instances(kernel.block(new.instances, bags.instances))
    indirect = KernelScorer("precomputed", **options).fit(gram, labels)
    assert_allclose(indirect.class_scores(given_rows), direct.class_scores(new), atol=1e-5)
    with pytest.raises(InputError, match="pass the square Gram matrix"):
        KernelScorer("precomputed").fit(bags, labels)


@pytest.mark.parametrize("kernel", ["laplacian", "polynomial", "linear", lambda a, b: a @ b.T])
def test_other_kernels_learn_too(kernel):
    bags, labels = toy()
    model = KernelScorer(kernel, max_rounds=10, tol=0.01)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        given = model.fit(bags, labels).predict_bags(bags)
    assert (given == labels.present).mean() > 0.6


def test_progress_is_told_and_clone_starts_afresh():
    bags, labels = toy()
    heard = []
    model = KernelScorer().fit(bags, labels, progress=heard.append)
    assert [(p.stage, p.done, p.total) for p in heard] == [("classes", i, 3) for i in (1, 2, 3)]
    with pytest.raises(NotFittedError):
        clone(model).predict(bags)


# ---------------------------------------------------------------- degenerate but legal


def test_a_class_in_every_bag_and_a_single_class():
    bags, _ = toy()
    model = KernelScorer().fit(bags, [{"a"}] * bags.n_bags)
    assert (model.predict_bags(bags) == 1).all()
    half = [{"a"} if i % 2 else set() for i in range(bags.n_bags)]
    assert KernelScorer().fit(bags, half).classes_.tolist() == ["a"]


def test_classes_that_no_bag_has_are_left_out_with_a_word():
    bags, labels = toy()
    wider = labels.with_classes([*labels.classes, "ghost"], missing="absent")
    with pytest.warns(RaravisWarning, match="1 classes are listed by no bag.*'ghost'"):
        model = KernelScorer().fit(bags, wider)
    assert model.classes_.tolist() == [0, 1, 2]


def test_constant_features_and_duplicate_rows():
    bags = Bags.from_list([np.ones((3, 2)), np.ones((2, 2))])
    model = KernelScorer().fit(bags, [{"a"}, set()])
    assert np.isfinite(model.class_scores(bags)).all()
    assert len(np.unique(model.class_scores(bags))) == 1


def test_two_thousand_classes():
    rng = np.random.default_rng(0)
    bags = Bags.from_list(rng.standard_normal((200, 1, 8)))
    labels = [set(range(10 * i, 10 * i + 10)) for i in range(200)]
    model = KernelScorer(tol=0.1).fit(bags, labels)
    assert model.class_scores(bags).shape == (200, 2000)
    best = model.class_scores(bags).argmax(axis=1)
    assert (best // 10 == np.arange(200)).mean() > 0.7  # each class is seen once; chance is 0.005


def test_nothing_to_score():
    model, _, _ = fitted()
    nothing = Bags.from_list([np.empty((0, 3))])
    assert model.score_samples(nothing).shape == (0,)
    assert model.annotate(nothing).shape == (0,)
    assert model.predict_bags(nothing).tolist() == [[0, 0, 0]]


def test_a_class_missing_from_a_fold_is_survived():
    bags, labels = toy(n_bags=12)
    rare = BagLabels.from_sets(
        [{*s, "rare"} if i == 0 else s for i, s in enumerate(labels.to_sets())]
    )
    model = KernelScorer(tuning="cross_validation", tol=0.05).fit(bags, rare)
    assert len(model.selection_.points) == 25
    assert model.gamma_ == model.selection_.best.gamma


# ---------------------------------------------------------------- refused


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"lam": -1.0}, "lam is -1.0; pass a finite number above 0, or 'auto'"),
        ({"lam": 0}, "lam is 0"),
        ({"gamma": float("nan")}, "gamma is nan"),
        ({"gamma": "wide"}, "gamma is 'wide'.*or 'auto', or 'median'"),
        ({"gamma": True}, "gamma is True"),
        ({"kernel": "rbf"}, "kernel is 'rbf'; the names known are gaussian"),
        ({"kernel": 7}, "kernel is 7"),
        ({"scaling": "unit"}, "scaling is 'unit'; pass one of minmax"),
        ({"solver": "sgd"}, "solver is 'sgd'; pass one of cccp, alternating"),
        ({"init": "zero"}, "init is 'zero'; pass one of contrast, random"),
        ({"tuning": "guess"}, "tuning is 'guess'; pass 'rule'"),
        ({"n_restarts": 0}, "n_restarts is 0; pass a whole number, at least 1"),
        ({"max_rounds": 2.5}, "max_rounds is 2.5"),
        ({"tol": 0.0}, "tol is 0.0"),
        ({"random_state": -3}, "random_state is -3"),
        ({"memory_budget": 10}, "one Gram row of .* takes"),
        ({"solver": "alternating", "memory_budget": 5000}, "raise memory_budget|Raise"),
    ],
)
def test_bad_parameters(options, words):
    bags, labels = toy()
    with pytest.raises(InputError, match=words):
        KernelScorer(**options).fit(bags, labels)


@pytest.mark.parametrize(
    ("labels", "words"),
    [
        (["ab", "c"], "bare string|is the string 'ab'"),
        ([{"a"}], "1 .*2 "),
        ([set(), set()], "no class can be learned"),
        ([None, None], "no class can be learned"),
        ([{"a"}, {float("nan")}], "NaN|nan"),
        (np.array([[0, 2], [1, 0]]), "2"),
        (None, "requires y to be passed"),
        ("ab", "The labels are 'ab'"),
    ],
)
def test_bad_labels(labels, words):
    bags = Bags.from_list([np.ones((2, 2)), np.zeros((1, 2))])
    with pytest.raises(InputError, match=words):
        KernelScorer().fit(bags, labels)


@pytest.mark.parametrize(
    ("data", "words"),
    [
        ([[[1.0, np.nan]], [[0.0, 1.0]]], "NaN"),
        ([[[1.0, np.inf]], [[0.0, 1.0]]], "infinit"),
        ([[["x", "y"]], [["z", "w"]]], "number|numeric|str"),
        (np.empty((0, 2)), r"0 sample\(s\)"),
        ([np.ones(3), np.ones(3)], "2-D|one instance|reshape|Reshape"),
        ([np.ones((2, 3)), np.ones((2, 4))], "bag 1 has 4 features, but bag 0 says 3"),
    ],
)
def test_bad_data(data, words):
    with pytest.raises(InputError, match=words):
        KernelScorer().fit(data, [{"a"}, set()])


def test_ids_must_match_between_labels_and_data():
    bags = Bags.from_arrays(np.arange(6.0).reshape(3, 2), ["r1", "r2", "r2"])
    with pytest.raises(InputError, match="r9"):
        KernelScorer().fit(bags, BagLabels.from_mapping({"r1": {"a"}, "r2": set(), "r9": set()}))
    with pytest.raises(InputError, match="r2"):
        KernelScorer().fit(bags, BagLabels.from_mapping({"r1": {"a"}}))


def test_data_without_instances_are_refused():
    with pytest.raises(InputError, match="no class can be learned"):
        KernelScorer().fit(Bags.from_list([np.empty((0, 2))]), [{"a"}])


def test_scoring_other_features_is_refused():
    model, _, _ = fitted()
    with pytest.raises(InputError, match="X has 2 features, but KernelScorer is expecting 3"):
        model.score_samples([np.ones((4, 2))])


def test_the_round_limit_warns_and_is_recorded():
    bags, labels = toy()
    with pytest.warns(ConvergenceWarning, match="raise max_rounds or tol"):
        model = KernelScorer(max_rounds=1, tol=1e-9, init="random").fit(bags, labels)
    assert not model.converged_.all()


# ---------------------------------------------------------------- on disk


@pytest.mark.parametrize("kernel", ["gaussian", "polynomial"])
def test_a_saved_model_scores_alike(tmp_path, kernel):
    model, bags, _ = fitted(kernel=kernel)
    save(model, tmp_path / "model.raravis")
    again = load(tmp_path / "model.raravis")
    assert_array_equal(again.class_scores(bags), model.class_scores(bags))
    assert_array_equal(again.annotate(bags), model.annotate(bags))
    assert again.get_params() == model.get_params()


def test_a_kernel_function_cannot_be_saved(tmp_path):
    model, _, _ = fitted(kernel=lambda a, b: a @ b.T, tol=0.1)
    with pytest.raises(InputError, match="only a model with a kernel given by name"):
        save(model, tmp_path / "model.raravis")
    assert not list(tmp_path.iterdir())


def test_a_file_of_the_first_version_is_read_for_ever():
    """The file is committed; tests/fixtures/make_model_v1.py says what was in it."""
    fixtures = Path(__file__).parents[1] / "fixtures"
    rng = np.random.default_rng(2013)
    bags = Bags.from_list(rng.standard_normal((12, 3, 2)) + np.arange(12)[:, None, None] % 3)
    model = load(fixtures / "kernel_scorer_v1.raravis")
    assert set(model.classes_) == {"wren", ("owl", 1)}
    scores = np.load(fixtures / "kernel_scorer_v1_scores.npy", allow_pickle=False)
    assert_allclose(model.class_scores(bags), scores, rtol=1e-10, atol=1e-12)


@pytest.mark.data
def test_birdsong_at_automatic_settings(real_data):
    """Two of the paper's label sets, one split each; figures of a full run are in docs."""
    from raravis.datasets import fetch_hja_birdsong
    from raravis.metrics import auc

    data = fetch_hja_birdsong(data_home=real_data)
    for known, published in (((5, 7, 9, 11), 0.90), ((1, 2, 3, 4, 5, 6, 7, 8), 0.89)):
        train, test = data.restrict(known).split((0.7, 0.3), seed=1)
        model = KernelScorer().fit(train.bags, train.labels)
        assert auc(test.known(known), model.score_samples(test.bags)) > published - 0.05
