"""Curves, areas and figures against scikit-learn; intervals against simulation."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp
from scipy.stats import norm
from sklearn.metrics import (
    hamming_loss as sk_hamming_loss,
)
from sklearn.metrics import (
    precision_recall_fscore_support,
    roc_auc_score,
    roc_curve,
)

from raravis import _bootstrap, metrics
from raravis._bootstrap import Pairing, resampled_aucs
from raravis._novel import NOVEL
from raravis.errors import InputError
from raravis.labels import BagLabels

# Few distinct scores, so that ties within and between the kinds are the rule.
SCORES = st.sampled_from([-np.inf, -2.5, -1.0, 0.0, 1e-9, 0.5, 3.0, np.inf])


@st.composite
def scored(draw, *, scores=SCORES, max_size=40):
    """Known flags with both kinds, and a score for each."""
    n = draw(st.integers(2, max_size))
    known = draw(hnp.arrays(bool, n))
    known[0], known[1] = True, False
    return known, np.array(draw(st.lists(scores, min_size=n, max_size=n)))


FINITE = st.floats(-1e6, 1e6).map(lambda x: round(x, 1))


# Curves ---------------------------------------------------------------------------------


@given(scored(scores=FINITE))
def test_exact_roc_is_scikit_learns(case):
    known, scores = case
    curve = metrics.exact_roc(known, scores)
    fpr, tpr, thresholds = roc_curve(known, scores, drop_intermediate=False)
    np.testing.assert_allclose(curve.fpr, fpr)
    np.testing.assert_allclose(curve.tpr, tpr)
    np.testing.assert_array_equal(curve.thresholds, thresholds)
    assert curve.kind == "exact"


@given(scored())
def test_area_under_the_exact_curve_is_the_rank_statistic(case):
    known, scores = case
    area = metrics.auc(known, scores)
    assert metrics.exact_roc(known, scores).auc == pytest.approx(area)
    finite = np.nan_to_num(scores, posinf=1e9, neginf=-1e9)
    assert area == pytest.approx(roc_auc_score(known, finite))


@given(scored(), st.lists(SCORES, max_size=10))
def test_every_curve_rises_from_nothing_known_to_everything_known(case, training):
    known, scores = case
    for curve in (metrics.exact_roc(known, scores), metrics.training_roc(known, scores, training)):
        assert (curve.fpr[0], curve.tpr[0], curve.thresholds[0]) == (0, 0, np.inf)
        assert (curve.fpr[-1], curve.tpr[-1]) == (1, 1)
        assert np.all(np.diff(curve.fpr) >= 0)
        assert np.all(np.diff(curve.tpr) >= 0)


@given(scored(scores=FINITE), st.lists(FINITE, min_size=1, max_size=10))
def test_training_roc_counts_what_reaches_each_training_score(case, training):
    known, scores = case
    curve = metrics.training_roc(known, scores, training)
    np.testing.assert_array_equal(curve.thresholds[1:-1], np.unique(training)[::-1])
    for fpr, tpr, threshold in zip(curve.fpr, curve.tpr, curve.thresholds, strict=True):
        reached = scores >= threshold
        assert tpr == pytest.approx(np.mean(reached[known]))
        assert fpr == pytest.approx(np.mean(reached[~known]))
    assert curve.kind == "training"


@given(scored(scores=FINITE))
def test_training_roc_is_exact_once_training_scores_hold_every_score(case):
    known, scores = case
    curve = metrics.training_roc(known, scores, np.append(scores, [7e6, -7e6]))
    assert curve.auc == pytest.approx(metrics.auc(known, scores))


def test_training_roc_approaches_the_exact_one_as_training_scores_get_dense():
    rng = np.random.default_rng(0)
    known = rng.random(400) < 0.6
    scores = rng.normal(size=400) + known
    exact = metrics.auc(known, scores)
    gaps = [
        abs(metrics.training_roc(known, scores, rng.normal(0.6, 1.1, size=n)).auc - exact)
        for n in (2, 20, 20_000)
    ]
    assert gaps[0] > gaps[1] > gaps[2]
    assert gaps[2] < 1e-3


def test_training_roc_without_training_scores_is_the_diagonal():
    assert metrics.training_roc([True, False], [2.0, 1.0], []).auc == 0.5


@given(scored())
def test_interpolation_passes_through_the_corners_and_stays_between_points(case):
    curve = metrics.exact_roc(*case)
    height = curve.interpolate(curve.fpr)
    top = [curve.tpr[curve.fpr == rate].max() for rate in curve.fpr]
    np.testing.assert_allclose(height, top)
    middles = (curve.fpr[1:] + curve.fpr[:-1]) / 2
    sloped = np.diff(curve.fpr) > 0
    expected = (curve.tpr[1:] + curve.tpr[:-1]) / 2
    np.testing.assert_allclose(curve.interpolate(middles[sloped]), expected[sloped])


def test_interpolation_refuses_rates_outside_0_and_1():
    curve = metrics.exact_roc([True, False], [1.0, 0.0])
    with pytest.raises(InputError, match=r"between 0 and 1"):
        curve.interpolate([0.5, 1.5])


def test_curves_cannot_be_changed():
    curve = metrics.exact_roc([True, False], [1.0, 0.0])
    with pytest.raises(ValueError, match="read-only"):
        curve.tpr[0] = 1.0


@given(scored())
def test_swapping_the_kinds_and_negating_scores_leaves_the_area(case):
    known, scores = case
    assert metrics.auc(~known, -scores) == pytest.approx(metrics.auc(known, scores))


@pytest.mark.parametrize("known", [[True, True, False], [1, 1, 0], [1, 1, -1], [1.0, 1.0, -1.0]])
def test_known_may_be_bool_0_1_or_signs(known):
    assert metrics.auc(known, [3.0, 1.0, 2.0]) == 0.5


# Bootstrap ------------------------------------------------------------------------------


@given(scored(), st.data())
def test_weighting_bags_equals_repeating_their_instances(case, data):
    known, scores = case
    n_bags = data.draw(st.integers(1, 6))
    bags = np.array(
        data.draw(st.lists(st.integers(0, n_bags - 1), min_size=len(known), max_size=len(known)))
    )
    counts = np.array(data.draw(st.lists(st.integers(0, 3), min_size=n_bags, max_size=n_bags)))
    area = Pairing.of(known, scores, bags).auc(counts[:, None].astype(float))[0]
    times = counts[bags]
    repeated_known, repeated_scores = np.repeat(known, times), np.repeat(scores, times)
    if repeated_known.all() or not repeated_known.any():
        assert np.isnan(area)
    else:
        assert area == pytest.approx(metrics.auc(repeated_known, repeated_scores))


def _correlated_bags(rng, n_bags, bag_size=8):
    """Scores with a shift common to a bag; kinds that cluster in bags."""
    mostly_known = rng.random(n_bags) < 0.5
    bags = np.repeat(np.arange(n_bags), bag_size)
    known = rng.random(bags.size) < np.where(mostly_known, 0.9, 0.1)[bags]
    scores = rng.normal(size=bags.size) + known + rng.normal(size=n_bags)[bags]
    return known, scores, bags


def test_interval_covers_at_about_its_level_where_an_interval_over_instances_does_not():
    rng = np.random.default_rng(1)
    # Known scores are N(1, 2), novel ones N(0, 2), so their difference is N(1, 4).
    truth = norm.cdf(1 / 2)
    by_bag = by_instance = 0
    n_trials = 300
    for trial in range(n_trials):
        known, scores, bags = _correlated_bags(rng, 60)
        options = {"level": 0.9, "n_resamples": 200, "seed": trial}
        proper = metrics.bootstrap_auc(known, scores, bags, **options)
        naive = metrics.bootstrap_auc(known, scores, np.arange(bags.size), **options)
        by_bag += proper.low <= truth <= proper.high
        by_instance += naive.low <= truth <= naive.high
    # Standard error of the coverage is 0.017.
    assert by_bag / n_trials == pytest.approx(0.9, abs=0.06)
    assert by_instance / n_trials < 0.75


def test_bootstrap_estimate_is_the_auc_and_lies_in_its_interval():
    known, scores, bags = _correlated_bags(np.random.default_rng(2), 40)
    interval = metrics.bootstrap_auc(known, scores, bags)
    assert interval.estimate == pytest.approx(metrics.auc(known, scores))
    assert interval.low < interval.estimate < interval.high
    assert (interval.level, interval.n_resamples) == (0.95, 1000)


def test_interval_widens_with_its_level():
    known, scores, bags = _correlated_bags(np.random.default_rng(3), 40)
    narrow = metrics.bootstrap_auc(known, scores, bags, level=0.5)
    wide = metrics.bootstrap_auc(known, scores, bags, level=0.99)
    assert wide.low < narrow.low < narrow.high < wide.high


def test_seed_decides_the_interval_and_block_size_does_not(monkeypatch):
    known, scores, bags = _correlated_bags(np.random.default_rng(4), 23)
    first = metrics.bootstrap_auc(known, scores, bags, seed=5)
    assert metrics.bootstrap_auc(known, scores, bags, seed=5) == first
    assert metrics.bootstrap_auc(known, scores, bags, seed=6) != first
    monkeypatch.setattr(_bootstrap, "_BLOCK_ELEMENTS", 7 * bags.size)
    assert metrics.bootstrap_auc(known, scores, bags, seed=5) == first


def test_resamples_of_one_kind_are_drawn_again_and_counted(monkeypatch):
    # All novel instances in one bag of three: missed by (2/3)^3 = 0.30 of the draws; the known
    # ones in the other two: missed by (1/3)^3.
    known, bags = np.array([True, True, False]), np.array([0, 1, 2])
    interval = metrics.bootstrap_auc(known, [2.0, 0.0, 1.0], bags, n_resamples=2000)
    assert interval.n_resamples == 2000
    refused = interval.n_redrawn / (interval.n_redrawn + 2000)
    assert refused == pytest.approx(8 / 27 + 1 / 27, abs=0.04)
    monkeypatch.setattr(_bootstrap, "_BLOCK_ELEMENTS", 3 * 11)
    again = metrics.bootstrap_auc(known, [2.0, 0.0, 1.0], bags, n_resamples=2000)
    assert again == interval


def test_bags_may_have_any_names_in_any_order():
    known, scores, bags = _correlated_bags(np.random.default_rng(5), 12)
    order = np.random.default_rng(6).permutation(bags.size)
    names = np.array([f"bag {b:02d}" for b in bags])
    expected = metrics.bootstrap_auc(known, scores, bags)
    found = metrics.bootstrap_auc(known[order], scores[order], names[order])
    assert (found.low, found.high) == pytest.approx((expected.low, expected.high))


def test_paired_bootstrap_is_the_difference_over_the_same_resamples():
    known, a, bags = _correlated_bags(np.random.default_rng(7), 30)
    b = a + np.random.default_rng(8).normal(size=a.size)
    interval = metrics.paired_bootstrap(known, a, b, bags, n_resamples=300, seed=3)
    one = [Pairing.of(known, scores, bags) for scores in (a, b)]
    draws = [resampled_aucs([p], n_bags=30, n_resamples=300, seed=3)[0][0] for p in one]
    expected = np.quantile(draws[0] - draws[1], [0.025, 0.975])
    assert (interval.low, interval.high) == pytest.approx(tuple(expected))
    assert interval.estimate == pytest.approx(metrics.auc(known, a) - metrics.auc(known, b))


def test_paired_interval_is_narrower_than_the_two_apart():
    known, a, bags = _correlated_bags(np.random.default_rng(9), 60)
    b = a + 0.3 * np.random.default_rng(10).normal(size=a.size)
    paired = metrics.paired_bootstrap(known, a, b, bags)
    alone = metrics.bootstrap_auc(known, a, bags)
    assert paired.high - paired.low < (alone.high - alone.low) / 2


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"level": 1.0}, "level is 1.0"),
        ({"level": 95}, "between 0 and 1"),
        ({"n_resamples": 0}, "n_resamples is 0"),
    ],
)
def test_bootstrap_refuses_options_without_an_interval(change, message):
    with pytest.raises(InputError, match=message):
        metrics.bootstrap_auc([True, False], [1.0, 0.0], [0, 1], **change)


def test_bootstrap_refuses_a_single_bag_and_misfitting_bags():
    with pytest.raises(InputError, match="in one bag"):
        metrics.bootstrap_auc([True, False], [1.0, 0.0], [0, 0])
    with pytest.raises(InputError, match="bag_index has 3"):
        metrics.bootstrap_auc([True, False], [1.0, 0.0], [0, 0, 1])
    with pytest.raises(InputError, match=r"bag_index has shape \(1, 2\)"):
        metrics.bootstrap_auc([True, False], [1.0, 0.0], [[0, 1]])


# Bad input ------------------------------------------------------------------------------


@pytest.mark.parametrize("figure", [metrics.auc, metrics.exact_roc])
@pytest.mark.parametrize(
    ("known", "scores", "message"),
    [
        ([True, True], [0.0, 1.0], "all 2 instances are known.*at least one novel"),
        ([False, False], [0.0, 1.0], "all 2 instances are novel.*at least one known"),
        ([True, False], [0.0, np.nan], r"scores\[1\] is NaN"),
        ([True, False], [0.0, 1.0, 2.0], "known has 2 values and scores has 3"),
        ([True, False], [[0.0, 1.0]], r"scores has shape \(1, 2\)"),
        ([True, False], ["0", "1"], "scores holds str"),
        ([True, False], [0.0, "a"], "scores"),
        ([True, False], [0.0, 1j], "scores holds complex"),
        ([True, False], [[0.0], [1.0, 2.0]], "scores cannot be read as numbers"),
        ([2, 0], [0.0, 1.0], r"known holds \[0.0, 2.0\]"),
        ([-1, 0, 1], [0.0, 1.0, 2.0], "known holds"),
        ([], [], "known is empty"),
    ],
)
def test_curves_say_what_is_wrong(figure, known, scores, message):
    with pytest.raises(InputError, match=message):
        figure(known, scores)


# Decisions ------------------------------------------------------------------------------


@given(hnp.arrays(bool, 12), hnp.arrays(bool, 12))
def test_detection_report_is_scikit_learns(known, predicted):
    report = metrics.detection_report(known, np.where(predicted, 1, -1))
    with np.errstate(invalid="ignore"):
        columns = precision_recall_fscore_support(
            known, predicted, labels=[True, False], zero_division=np.nan
        )
    for position, figures in enumerate((report.known, report.novel)):
        precision, recall, _, n = (column[position] for column in columns)
        np.testing.assert_equal((figures.precision, figures.recall), (precision, recall))
        assert figures.n == n
        if precision + recall > 0:
            assert figures.f1 == pytest.approx(2 * precision * recall / (precision + recall))
    assert report.accuracy == pytest.approx(np.mean(known == predicted))


def test_detection_report_of_one_kind_leaves_the_other_undefined():
    report = metrics.detection_report([True, True], [True, True])
    assert (report.known.f1, report.known.n, report.novel.n) == (1.0, 2, 0)
    assert np.isnan([report.novel.precision, report.novel.recall, report.novel.f1]).all()


def test_detection_report_refuses_scores_and_other_lengths():
    with pytest.raises(InputError, match="predicted_known holds"):
        metrics.detection_report([True, False], [0.3, 0.7])
    with pytest.raises(InputError, match="predicted_known has 1"):
        metrics.detection_report([True, False], [True])


def test_annotation_accuracy_counts_classes_and_novelty_of_any_type():
    true = ["wren", "novel", NOVEL, ("owl", "hoot"), 3]
    predicted = np.empty(5, dtype=object)
    predicted[:] = ["wren", NOVEL, NOVEL, None, 4]
    predicted[3] = ("owl", "hoot")
    assert metrics.annotation_accuracy(true, predicted) == pytest.approx(3 / 5)


def test_annotation_accuracy_refuses_nothing_and_other_lengths():
    with pytest.raises(InputError, match="empty"):
        metrics.annotation_accuracy([], [])
    with pytest.raises(InputError, match="true has 1 labels and predicted has 2"):
        metrics.annotation_accuracy(["a"], ["a", "b"])


# Bags -----------------------------------------------------------------------------------


@given(hnp.arrays(bool, (5, 3)), hnp.arrays(bool, (5, 3)))
def test_hamming_loss_is_scikit_learns_where_everything_is_known(Y, Y_hat):
    loss = metrics.hamming_loss(Y, Y_hat.astype(int))
    assert loss == pytest.approx(sk_hamming_loss(Y, Y_hat))
    assert metrics.bag_errors(Y, Y_hat) == round(loss * Y.size)


@given(hnp.arrays(np.int8, (4, 3), elements=st.integers(-1, 1)), hnp.arrays(bool, (4, 3)))
@settings(max_examples=50)
def test_unknown_labels_do_not_count_in_either_form(status, Y_hat):
    labels = BagLabels.from_status(status, ["a", "b", "c"])
    matrix = np.where(status == 0, np.nan, status > 0)
    wrong = int(np.sum((status != 0) & ((status > 0) != Y_hat)))
    assert metrics.bag_errors(labels, Y_hat) == metrics.bag_errors(matrix, Y_hat) == wrong
    if (status != 0).any():
        share = wrong / np.sum(status != 0)
        assert metrics.hamming_loss(labels, Y_hat) == pytest.approx(share)


@pytest.mark.parametrize(
    ("Y", "Y_hat", "message"),
    [
        ([[1, -1]], [[1, 0]], "from_status"),
        ([[1, 0]], [[1, 0], [0, 1]], r"Y has shape \(1, 2\) and Y_hat has \(2, 2\)"),
        ([[1, 0]], [[0.4, 0.6]], "Y_hat holds values other than 0 and 1"),
        ([1, 0], [[1, 0]], r"Y has shape \(2,\)"),
        ([["a"]], [[1]], "Y holds str"),
        ([[np.nan]], [[1]], "no known entry"),
    ],
)
def test_bag_figures_say_what_is_wrong(Y, Y_hat, message):
    with pytest.raises(InputError, match=message):
        metrics.hamming_loss(Y, Y_hat)


# Mean -----------------------------------------------------------------------------------


def test_mean_and_se():
    values = np.random.default_rng(0).normal(3.0, 2.0, size=400)
    found = metrics.mean_and_se(values)
    assert found.mean == pytest.approx(values.mean())
    assert found.se == pytest.approx(values.std(ddof=1) / 20)
    single = metrics.mean_and_se([4.0])
    assert single.mean == 4.0
    assert np.isnan(single.se)
    with pytest.raises(InputError, match="empty"):
        metrics.mean_and_se([])
