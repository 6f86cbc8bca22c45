"""Thresholds from bag labels: what counts, what is refused, what is said where there is none."""

import numpy as np
import pytest
from numpy.testing import assert_array_equal
from tests.calibration.scored import CLASSES, FeatureScorer, scorer, witness_bags
from tests.problems import random_problem

from raravis import BagLabels, Bags, KernelScorer
from raravis.calibration import NoThreshold, threshold_from_bags, witness_scores
from raravis.datasets import fetch_hja_birdsong
from raravis.errors import InputError

ONE_EACH = [{label} for label in CLASSES]


def calibrate(model, bags, labels, **options):
    return threshold_from_bags(model, bags, labels, seen="accept", date="2026-05-01", **options)


def test_a_witness_explains_its_class_best_and_is_judged_by_its_highest_score():
    # For the first class the second instance is the witness, though the third class likes it more.
    bags = Bags.from_list([[[1.0, 0.0, 0.0], [2.0, 0.0, 5.0]], np.empty((0, 3)), [[-1.0, -2, -3]]])
    found = witness_scores(scorer(), bags, [set(CLASSES), {CLASSES[0]}, set()])
    assert found.classes == CLASSES
    assert_array_equal(found.scores, [[5.0, 1.0, 5.0], [-np.inf] * 3, [-1.0] * 3])
    assert_array_equal(found.present, [[1, 1, 1], [1, 0, 0], [0, 0, 0]])


def test_the_threshold_is_that_of_the_most_demanding_class():
    scores = np.arange(60.0)[:, None] + [100.0, 0.0, 50.0]
    found = calibrate(scorer(), witness_bags(scores), [set(CLASSES)] * 60, alpha=0.1)
    assert [of_class.value for of_class in found.per_class] == [105.0, 5.0, 55.0]
    assert (found.value, found.n, found.level, found.rule) == (5.0, 60, 0.9, "class_kept")
    only = calibrate(scorer(), witness_bags(scores), [set(CLASSES)] * 60, classes=["wren", "jay"])
    assert only.value == 55.0
    assert "with probability at least 0.9, on average" in only.guarantee


def test_labels_match_by_key_and_columns_by_class():
    bags = witness_bags(np.arange(90.0).reshape(30, 3))
    labels = BagLabels.from_sets(ONE_EACH * 10, classes=["wren", "crow", "jay", "owl"])
    keyed = BagLabels(labels.classes, labels.status[::-1], tuple(range(30))[::-1])
    plain = calibrate(scorer(), bags, labels)
    assert calibrate(scorer(), bags, keyed) == plain
    matrix = labels.present[:, [2, 3, 0]].astype(float)
    assert calibrate(scorer(), bags, matrix) == plain


def test_unlabelled_bags_and_other_classes_play_no_part():
    bags = witness_bags(np.arange(120.0).reshape(40, 3))
    labels = ONE_EACH * 10 + [None] * 5 + [{"crow"}] * 5
    assert (
        calibrate(scorer(), bags, labels).value
        == calibrate(scorer(), bags.take(slice(0, 30)), ONE_EACH * 10).value
    )


@pytest.mark.parametrize(
    ("n", "alpha", "confidence", "needed"),
    [(8, 0.1, None, 9), (18, 0.05, None, 19), (28, 0.1, 0.95, 29), (98, 0.01, None, 99)],
)
def test_too_few_bags(n, alpha, confidence, needed):
    bags = witness_bags(np.arange(1.0 + n)[:, None])
    for k, there_is in ((n, False), (n + 1, True)):
        found = calibrate(
            scorer(1),
            bags.take(slice(0, k)),
            [{CLASSES[0]}] * k,
            alpha=alpha,
            confidence=confidence,
        )
        assert bool(found) == there_is
        assert there_is or (found.n, found.needed, found.missing) == (n, needed, 1)


def test_the_answer_names_the_class_that_lacks_most():
    bags = witness_bags(np.arange(60.0).reshape(20, 3))
    found = calibrate(scorer(), bags, [{"jay", "owl"}] * 6 + [{"jay"}] * 14)
    assert isinstance(found, NoThreshold)
    assert (found.n, found.needed) == (0, 9)
    assert [(c.n, c.value, c.needed) for c in found.per_class] == [
        (20, 3.0, None),
        (6, None, 9),
        (0, None, 9),
    ]
    assert "2 of 3 classes have too few calibration bags ('owl': 6, 'wren': 0); 9 are needed" in (
        found.reason
    )
    assert calibrate(scorer(), bags, [{"jay", "owl"}] * 20, scope="all").n == 20


def test_bags_without_instances_cost_what_they_cost():
    full, empty = [[[5.0]]] * 95, [np.empty((0, 1))] * 5
    labels = [{CLASSES[0]}] * 100
    bags = Bags.from_list(full + empty)
    assert calibrate(scorer(1), bags, labels, alpha=0.1).value == 5.0
    for scope in ("class", "share", "all"):
        found = calibrate(scorer(1), bags, labels, alpha=0.05, scope=scope)
        assert isinstance(found, NoThreshold)
        assert found.needed is None
        assert "no threshold keeps anything" in found.reason


@pytest.mark.parametrize("scope", ["class", "share", "all"])
def test_no_bags_no_classes(scope):
    none = witness_bags(np.empty((0, 3)))
    assert not calibrate(scorer(), none, [], scope=scope)
    bags = witness_bags(np.zeros((4, 3)))
    for labels in ([set()] * 4, [None] * 4, [{"crow"}] * 4):
        found = calibrate(scorer(), bags, labels, scope=scope)
        assert (bool(found), found.n, found.needed) == (False, 0, 9)


def test_bags_that_were_trained_on_are_refused():
    bags, labels = random_problem(0, n_bags=40)
    model = KernelScorer().fit(bags.take(slice(0, 20)), labels.take(slice(0, 20)))
    held_out = slice(20, 40)
    assert threshold_from_bags(
        model, bags.take(held_out), labels.take(held_out), scope="share", alpha=0.3
    )
    renamed = Bags.from_list(list(bags)[18:], keys=[f"bag {i}" for i in range(18, 40)])
    with pytest.raises(InputError, match=r"2 of 22 calibration bags were trained on \('bag 18'"):
        threshold_from_bags(model, renamed, labels.to_sets()[18:])


def test_a_memory_of_other_bags_is_no_obstacle():
    model = FeatureScorer(memory=True).fit(witness_bags([[7.0, 7.0, 7.0]]), [set(CLASSES)])
    bags = witness_bags(np.arange(60.0).reshape(20, 3))
    assert threshold_from_bags(model, bags, [set(CLASSES)] * 20)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"alpha": 0}, "alpha is 0"),
        ({"scope": "bag"}, "scope is 'bag'"),
        ({"confidence": 1.0}, r"confidence is 1\.0"),
        ({"confidence": 0.9, "scope": "share"}, "a promise about a mean"),
        ({"classes": ["crow"]}, "does not know"),
        ({"date": "soon"}, "date is 'soon'"),
    ],
)
def test_options_are_checked(options, message):
    bags = witness_bags(np.arange(60.0).reshape(20, 3))
    with pytest.raises(InputError, match=message):
        threshold_from_bags(scorer(), bags, [set(CLASSES)] * 20, **{"seen": "accept", **options})


def test_a_bad_policy_and_bad_features_are_refused():
    bags = witness_bags(np.arange(60.0).reshape(20, 3))
    with pytest.raises(InputError, match="seen is 'ignore'"):
        threshold_from_bags(scorer(), bags, [set(CLASSES)] * 20, seen="ignore")
    with pytest.raises(InputError, match="expecting 3 features"):
        calibrate(scorer(), np.zeros((4, 2)), [set()] * 4)


@pytest.mark.data
def test_birds_of_held_out_recordings_are_kept(real_data):
    data = fetch_hja_birdsong(data_home=real_data).restrict(range(1, 9))
    train, rest = data.split((0.5, 0.5), seed=0)
    model = KernelScorer().fit(train.bags, train.labels)
    lost, n = 0.0, 0
    for seed in range(10):
        held_out, new = rest.split((0.5, 0.5), seed=seed)
        found = threshold_from_bags(model, held_out.bags, held_out.labels, scope="share")
        witnesses = witness_scores(model, new.bags, new.labels)
        missed = (witnesses.scores < found.value) & witnesses.present
        listed = witnesses.present.sum(axis=1)
        lost += (missed.sum(axis=1)[listed > 0] / listed[listed > 0]).sum()
        n += int((listed > 0).sum())
    # Allowed 0.1 on average over draws; the ten splits of 274 recordings are not independent.
    assert 0.07 < lost / n < 0.13
