"""What a threshold records, its JSON form, and how models take it."""

import copy
import json

import numpy as np
import pytest
from numpy.testing import assert_array_equal
from tests.calibration.scored import FeatureScorer
from tests.problems import random_problem

from raravis import KernelScorer, load, save
from raravis.calibration import (
    ClassThreshold,
    NoThreshold,
    Threshold,
    apply_threshold,
    threshold_for_recall,
    threshold_from_bags,
    threshold_of,
)
from raravis.calibration.thresholds import model_fingerprint, today
from raravis.errors import InputError, RaravisWarning


def a_threshold(**changes):
    values = {
        "value": 0.25,
        "rule": "class_kept",
        "level": 0.9,
        "confidence": None,
        "n": 30,
        "date": "2026-05-01",
        "data": "ab12",
        "guarantee": "...",
        "model": "",
        "per_class": (ClassThreshold("owl", 30, 0.25), ClassThreshold(("jay", 2), 41, 0.5)),
    }
    return Threshold(**{**values, **changes})


def no_threshold(**changes):
    values = {
        "rule": "all_kept",
        "level": 0.99,
        "confidence": 0.9,
        "n": 30,
        "date": "2026-05-01",
        "data": "ab12",
        "reason": "...",
        "needed": 99,
        "per_class": (ClassThreshold("owl", 30, None, 99),),
    }
    return NoThreshold(**{**values, **changes})


@pytest.fixture(scope="module")
def fitted():
    bags, labels = random_problem(3, n_bags=40)
    model = KernelScorer().fit(bags.take(slice(0, 20)), labels.take(slice(0, 20)))
    return model, bags.take(slice(20, 40)), labels.take(slice(20, 40))


@pytest.mark.parametrize("record", [a_threshold(), no_threshold(), a_threshold(per_class=())])
def test_json_there_and_back(record):
    assert type(record).from_dict(json.loads(json.dumps(record.to_dict()))) == record


def test_json_is_plain_where_it_can_be():
    found = a_threshold().to_dict()
    assert found["kind"] == "threshold"
    assert found["per_class"][0] == {"label": "owl", "n": 30, "value": 0.25, "needed": None}


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"kind": "no threshold"}, "this is no threshold but 'no threshold'"),
        ({"rule": "luck"}, "rule is 'luck'"),
        ({"level": 1.5}, "level is 1.5"),
        ({"value": {"float": "inf"}}, "finite number"),
        ({"value": "high"}, "cannot be read"),
        ({"n": -1}, "n is -1"),
        ({"colour": "red"}, "colour"),
        ({"per_class": [{"label": "owl"}]}, "cannot be read"),
        ({"per_class": 3}, "cannot be read"),
        ({"data": {"pickle": "x"}}, "cannot be read"),
    ],
)
def test_other_json_is_refused(change, message):
    with pytest.raises(InputError, match=message):
        Threshold.from_dict({**a_threshold().to_dict(), **change})


@pytest.mark.parametrize("record", [None, [], "threshold", {}, {"kind": "threshold"}])
def test_what_is_no_record_is_refused(record):
    with pytest.raises(InputError):
        Threshold.from_dict(record)


def test_only_a_threshold_is_true():
    assert a_threshold()
    assert not no_threshold()
    assert no_threshold().missing == 69
    assert no_threshold(needed=None).missing is None
    assert no_threshold(needed=7).missing == 0


def test_applying_changes_a_copy_alone(fitted):
    model, bags, _ = fitted
    before = model.score_samples(bags)
    decided = apply_threshold(model, a_threshold(value=float(np.median(before))))
    assert model.offset_ == 0.0
    assert threshold_of(model) is None
    assert_array_equal(decided.score_samples(bags), before)
    assert_array_equal(decided.predict(bags) == 1, before >= np.median(before))
    assert threshold_of(decided).value == decided.offset_


def test_what_reaches_the_threshold_is_known(fitted):
    model, bags, _ = fitted
    for value in model.score_samples(bags).tolist():
        known = apply_threshold(model, a_threshold(value=value)).predict(bags) == 1
        assert_array_equal(known, model.score_samples(bags) >= value)


def test_a_threshold_stays_with_a_model_on_disk(fitted, tmp_path):
    model, bags, labels = fitted
    found = threshold_from_bags(model, bags, labels, alpha=0.4, scope="share")
    decided = apply_threshold(model, found)
    save(decided, tmp_path / "model")
    loaded = load(tmp_path / "model")
    assert threshold_of(loaded) == found
    assert_array_equal(loaded.predict(bags), decided.predict(bags))


def test_a_threshold_of_another_model_is_refused(fitted):
    model, bags, labels = fitted
    found = threshold_from_bags(model, bags, labels, alpha=0.4, scope="share")
    other = KernelScorer(gamma=3.0).fit(bags, labels)
    with pytest.raises(InputError, match="found for another model"):
        apply_threshold(other, found)
    assert apply_threshold(other, threshold_for_recall([1.0] * 9, [1] * 9)).offset_ == 1.0


def test_a_model_fitted_again_leaves_its_threshold_behind(fitted):
    model, bags, labels = fitted
    decided = apply_threshold(model, a_threshold(value=0.3))
    assert threshold_of(copy.copy(decided)) is not None
    moved = copy.copy(decided)
    moved.offset_ = 0.7
    assert threshold_of(moved) is None
    assert threshold_of(decided.fit(bags, labels)) is None


def test_a_fingerprint_is_of_all_that_was_learned(fitted, tmp_path):
    model, bags, labels = fitted
    save(model, tmp_path / "model")
    same = [model, load(tmp_path / "model"), apply_threshold(model, a_threshold())]
    assert len({model_fingerprint(m) for m in same}) == 1
    others = [KernelScorer(lam=lam).fit(bags, labels) for lam in (0.1, 0.2)]
    swapped = KernelScorer(lam=0.1).fit(bags, labels.take(np.arange(labels.n_bags)[::-1]).to_sets())
    assert len({model_fingerprint(m) for m in [model, *others, swapped]}) == 4


def test_a_model_that_cannot_be_saved_has_a_fingerprint_too(fitted):
    _, bags, labels = fitted
    plain = FeatureScorer().fit(bags, labels)
    assert model_fingerprint(plain) == model_fingerprint(FeatureScorer().fit(bags, labels))
    assert model_fingerprint(plain) != model_fingerprint(FeatureScorer(shift=1.0).fit(bags, labels))


@pytest.mark.parametrize("answer", [no_threshold(), 0.5, None])
def test_only_thresholds_are_applied(fitted, answer):
    with pytest.raises(InputError, match=r"no threshold to apply|pass the Threshold"):
        apply_threshold(fitted[0], answer)


def test_dates():
    assert today("2026-05-01") == "2026-05-01"
    assert len(today(None)) == 10
    for bad in ("May", "2026-13-01", 5):
        with pytest.raises(InputError, match="pass a day such as"):
            today(bad)


def test_a_model_without_memory_warns(fitted):
    _, bags, labels = fitted
    model = FeatureScorer().fit(bags, labels)
    with pytest.warns(RaravisWarning, match="does not say which bags"):
        threshold_from_bags(model, bags, labels, scope="share", alpha=0.4)
