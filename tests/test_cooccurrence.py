"""The paper's toy table, and through it the surface that every estimator shares."""

import copy
import pickle
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn.base import clone
from sklearn.exceptions import NotFittedError
from sklearn.utils import get_tags
from sklearn.utils.estimator_checks import parametrize_with_checks

from raravis._novel import NOVEL, Novel
from raravis.bags import Bags
from raravis.errors import InputError, RaravisWarning
from raravis.estimators.base import BagNoveltyMixin
from raravis.estimators.cooccurrence import CooccurrenceScorer
from raravis.labels import BagLabels

UP, DOWN, SQUARE, LOZENGE = 0.0, 1.0, 2.0, 3.0
TOY = [
    [UP, UP, SQUARE, DOWN],
    [UP, UP, LOZENGE, DOWN],
    [SQUARE, SQUARE, SQUARE, LOZENGE, LOZENGE],
    [UP, UP, SQUARE],
]
TOY_LABELS = [{"I", "II"}, {"I"}, {"II"}, {"I", "II"}]


def bags_of(codes):
    """Bags of instances with a single feature, from lists of codes."""
    return Bags.from_list([np.reshape(bag, (-1, 1)) for bag in codes], n_features=1)


@pytest.fixture
def model():
    return CooccurrenceScorer().fit(bags_of(TOY), TOY_LABELS)


# The paper's table ----------------------------------------------------------------------


def test_rates_are_those_of_the_papers_table_as_fractions(model):
    rates = [
        [Fraction(int(c), int(n)) for c, n in zip(row, model.totals_, strict=True)]
        for row in model.counts_
    ]
    assert model.values_.ravel().tolist() == [UP, DOWN, SQUARE, LOZENGE]
    assert model.classes_.tolist() == ["I", "II"]
    assert rates == [
        [Fraction(1), Fraction(1, 2)],
        [Fraction(3, 4), Fraction(1, 4)],
        [Fraction(1, 2), Fraction(1)],
        [Fraction(1, 4), Fraction(1, 4)],
    ]
    np.testing.assert_array_equal(model.rates_, np.array(rates, dtype=float))


def test_the_papers_threshold_reaches_the_papers_conclusion(model):
    one_of_each = [[UP], [DOWN], [SQUARE], [LOZENGE]]
    assert model.annotate(one_of_each).tolist() == ["I", "I", "II", NOVEL]
    assert model.predict(one_of_each).tolist() == [1, 1, 1, -1]
    np.testing.assert_array_equal(model.score_samples(one_of_each), [1, 0.75, 1, 0.25])
    np.testing.assert_array_equal(model.decision_function(one_of_each), [0.25, 0, 0.25, -0.5])


def test_predicted_bags_are_the_training_labels(model):
    assert model.predict_bags(bags_of(TOY)).tolist() == [[1, 1], [1, 0], [0, 1], [1, 1]]


# Rates by their definition --------------------------------------------------------------

CODES = st.lists(st.lists(st.integers(0, 4), max_size=5), min_size=1, max_size=6)


@st.composite
def problems(draw):
    """Bags of small integers with present, absent and unknown labels of two classes."""
    codes = draw(CODES.filter(any))
    row = st.lists(st.sampled_from([-1, 0, 1]), min_size=2, max_size=2)
    status = draw(st.lists(row, min_size=len(codes), max_size=len(codes)))
    return codes, np.array(status)


def rate(codes, status, value, column):
    """The paper's sentence, word for word: both present or both absent, among known labels."""
    agree = [
        (value in bag) == (label == 1)
        for bag, label in zip(codes, status[:, column], strict=True)
        if label != 0
    ]
    return sum(agree) / len(agree) if agree else 0.0


@given(problems())
def test_rates_follow_the_definition_and_leave_unknown_labels_out(problem):
    codes, status = problem
    labels = BagLabels.from_status(status, ["a", "b"])
    model = CooccurrenceScorer().fit(bags_of(codes), labels)
    for value, rates in zip(model.values_.ravel(), model.rates_, strict=True):
        assert rates.tolist() == [rate(codes, status, value, column) for column in (0, 1)]


@given(problems(), st.randoms(use_true_random=False))
def test_order_of_bags_and_of_instances_does_not_matter(problem, random):
    codes, status = problem
    order = list(range(len(codes)))
    random.shuffle(order)
    shuffled = [random.sample(codes[i], len(codes[i])) for i in order]
    first = CooccurrenceScorer().fit(bags_of(codes), BagLabels.from_status(status, ["a", "b"]))
    second = CooccurrenceScorer().fit(
        bags_of(shuffled), BagLabels.from_status(status[order], ["a", "b"])
    )
    np.testing.assert_array_equal(first.rates_, second.rates_)


def test_repeating_every_bag_changes_no_rate(model):
    twice = CooccurrenceScorer().fit(bags_of(TOY * 2), TOY_LABELS * 2)
    np.testing.assert_array_equal(twice.rates_, model.rates_)
    np.testing.assert_array_equal(twice.counts_, 2 * model.counts_)


def test_values_are_whole_rows():
    bags = Bags.from_list([[[0.0, 1.0]], [[1.0, 0.0]], [[0.0, 0.0], [0.0, 1.0]]])
    model = CooccurrenceScorer().fit(bags, [{"a"}, set(), {"a"}])
    assert model.values_.tolist() == [[0, 0], [0, 1], [1, 0]]
    assert model.annotate([[0.0, 1.0], [1.0, 0.0], [1.0, 1.0]]).tolist() == ["a", NOVEL, NOVEL]


def test_signs_of_zero_are_one_value():
    model = CooccurrenceScorer().fit(bags_of([[0.0], [-0.0]]), [{"a"}, {"a"}])
    assert len(model.values_) == 1
    assert model.score_samples([[-0.0]]).tolist() == [1.0]


def test_an_unseen_value_scores_nothing_even_for_a_class_that_is_rare():
    model = CooccurrenceScorer().fit(bags_of([[1.0]] * 9 + [[2.0]]), [set()] * 9 + [{"rare"}])
    assert model.class_scores([[7.0]]).tolist() == [[0.0]]
    assert model.annotate([[7.0]]).tolist() == [NOVEL]


def test_a_class_of_which_nothing_is_known_scores_nothing():
    labels = BagLabels.from_status([[1, 0], [-1, 0]], ["a", "b"])
    model = CooccurrenceScorer().fit(bags_of([[1.0], [2.0]]), labels)
    assert model.rates_.tolist() == [[1.0, 0.0], [0.0, 0.0]]
    assert model.totals_.tolist() == [2, 0]


# The shared surface ---------------------------------------------------------------------


def test_scores_are_the_highest_class_scores_and_decisions_their_sign(model):
    bags = bags_of([*TOY, [9.0], []])
    scores = model.class_scores(bags)
    assert scores.shape == (bags.n_instances, 2)
    np.testing.assert_array_equal(model.score_samples(bags), scores.max(axis=1))
    decisions = model.decision_function(bags)
    np.testing.assert_array_equal(decisions, model.score_samples(bags) - model.offset_)
    np.testing.assert_array_equal(model.predict(bags), np.where(decisions >= 0, 1, -1))
    novel = np.array([label is NOVEL for label in model.annotate(bags)])
    np.testing.assert_array_equal(novel, model.predict(bags) == -1)


def test_empty_bags_hold_no_class(model):
    assert model.predict_bags(bags_of([[], [UP], []])).tolist() == [[0, 0], [1, 0], [0, 0]]
    assert model.score_samples(bags_of([[], []])).shape == (0,)
    assert model.annotate(bags_of([[]])).tolist() == []


def test_bag_labels_restrict_the_classes_of_their_own_bag(model):
    bags = bags_of([[UP, SQUARE], [], [UP, SQUARE], [UP, SQUARE]])
    listed = [{"II"}, {"I"}, None, set()]
    scores = model.score_samples(bags, bag_labels=listed)
    np.testing.assert_array_equal(scores, [0.5, 1, 1, 1, -np.inf, -np.inf])
    annotation = model.annotate(bags, bag_labels=listed).tolist()
    assert annotation == [NOVEL, "II", "I", "II", NOVEL, NOVEL]
    assert model.predict(bags, bag_labels=listed).tolist() == [-1, 1, 1, 1, -1, -1]


def test_bag_labels_take_every_form_that_fit_takes(model):
    bags = bags_of([[UP, SQUARE], [UP, SQUARE]])
    expected = model.score_samples(bags, bag_labels=[{"I"}, {"II"}])
    np.testing.assert_array_equal(expected, [1, 0.5, 0.5, 1])
    reordered = BagLabels.from_status([[-1, 1], [1, -1]], ["II", "I"])
    for form in (np.array([[1, 0], [0, 1]]), reordered, [["I"], ["II"]]):
        np.testing.assert_array_equal(model.score_samples(bags, bag_labels=form), expected)


def test_a_class_whose_presence_is_unknown_stays_allowed(model):
    labels = BagLabels.from_status([[0, -1], [-1, 0]], ["I", "II"])
    scores = model.score_samples([[UP], [UP]], bag_labels=labels)
    np.testing.assert_array_equal(scores, [1, 0.5])


def test_a_class_that_the_lists_never_mention_is_not_allowed(model):
    np.testing.assert_array_equal(model.score_samples([[UP]], bag_labels=[{"II"}]), [0.5])
    np.testing.assert_array_equal(model.score_samples([[UP]], bag_labels=[set()]), [-np.inf])


def test_listed_classes_that_the_model_lacks_are_named_in_a_warning(model):
    with pytest.warns(RaravisWarning, match=r"1 classes .* not learned \('III'\)"):
        annotation = model.annotate([[UP], [UP]], bag_labels=[{"III"}, {"I", "III"}])
    assert annotation.tolist() == [NOVEL, "I"]


def test_bag_labels_of_other_bags_or_classes_are_refused(model):
    with pytest.raises(InputError):
        model.score_samples([[UP], [UP]], bag_labels=[{"I"}])
    with pytest.raises(InputError):
        model.score_samples([[UP]], bag_labels=np.array([[1, 0, 1]]))


def test_class_labels_of_any_type_come_back_as_they_are():
    labels = [{("owl", "hoot")}, {("owl", "call")}]
    model = CooccurrenceScorer().fit(bags_of([[1.0], [2.0]]), labels)
    assert model.annotate([[1.0], [2.0], [3.0]]).tolist() == [
        ("owl", "hoot"),
        ("owl", "call"),
        NOVEL,
    ]


def test_without_any_class_everything_is_novel():
    model = CooccurrenceScorer().fit(bags_of([[1.0], [2.0]]), [set(), set()])
    assert model.class_scores([[1.0]]).shape == (1, 0)
    assert model.score_samples([[1.0]]).tolist() == [-np.inf]
    assert model.annotate([[1.0]]).tolist() == [NOVEL]
    assert model.predict_bags([[1.0]]).shape == (1, 0)


def test_fit_predict_is_fit_then_predict(model):
    together = CooccurrenceScorer().fit_predict(bags_of(TOY), TOY_LABELS)
    np.testing.assert_array_equal(together, model.predict(bags_of(TOY)))


def test_methods_refuse_before_fit_and_after_fit_other_dimensions(model):
    for name in ("class_scores", "score_samples", "decision_function", "predict", "annotate"):
        with pytest.raises(NotFittedError):
            getattr(CooccurrenceScorer(), name)([[UP]])
        with pytest.raises(InputError, match="CooccurrenceScorer is expecting 1 features"):
            getattr(model, name)([[UP, UP]])
    with pytest.raises(InputError, match="expecting 1 features"):
        model.predict_bags([[UP, UP]])


def test_scikit_learn_sees_a_2_d_estimator_that_needs_labels():
    tags = get_tags(CooccurrenceScorer())
    assert tags.input_tags.two_d_array
    assert tags.target_tags.required
    assert clone(CooccurrenceScorer(threshold=0.5)).threshold == 0.5
    assert issubclass(CooccurrenceScorer, BagNoveltyMixin)


@parametrize_with_checks([CooccurrenceScorer()])
def test_scikit_learns_own_checks(estimator, check):
    check(estimator)


@pytest.mark.parametrize("threshold", [-0.1, 1.5, float("nan"), "high", True, None])
def test_thresholds_that_are_no_rates_are_refused_at_fit(threshold):
    with pytest.raises(InputError, match="pass a rate between 0 and 1"):
        CooccurrenceScorer(threshold=threshold).fit(bags_of(TOY), TOY_LABELS)


@pytest.mark.parametrize(("threshold", "n_known"), [(0, 4), (0.5, 3), (0.75, 3), (1, 2)])
def test_threshold_decides_how_many_are_known(threshold, n_known):
    model = CooccurrenceScorer(threshold=threshold).fit(bags_of(TOY), TOY_LABELS)
    assert np.sum(model.predict([[UP], [DOWN], [SQUARE], [LOZENGE]]) == 1) == n_known


# Novel ----------------------------------------------------------------------------------


def test_novel_equals_only_itself():
    assert str(NOVEL) == repr(NOVEL) == "novel"
    assert NOVEL == NOVEL  # noqa: PLR0124
    assert NOVEL != "novel"
    assert NOVEL not in ["novel", None, 0]
    assert {NOVEL: 1, "novel": 2} == {"novel": 2, NOVEL: 1}
    assert Novel() is NOVEL


@pytest.mark.parametrize("protocol", range(pickle.HIGHEST_PROTOCOL + 1))
def test_novel_stays_one_object_through_copies_and_pickles(protocol):
    assert pickle.loads(pickle.dumps(NOVEL, protocol)) is NOVEL
    assert copy.copy(NOVEL) is NOVEL
    assert copy.deepcopy([NOVEL])[0] is NOVEL


def test_a_users_own_class_called_novel_is_told_apart():
    model = CooccurrenceScorer().fit(bags_of([[1.0], [2.0]]), [{"novel"}, set()])
    annotation = model.annotate([[1.0], [2.0]])
    assert annotation.tolist() == ["novel", NOVEL]
    assert annotation[0] is not NOVEL
