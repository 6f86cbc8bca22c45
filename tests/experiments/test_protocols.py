"""Seeds, pairing and options of the protocols."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from raravis.errors import InputError
from raravis.experiments.protocols import BirdBags, DigitBags, _Digits, trial_seeds, with_options


def _words(seeds):
    return [seed.generate_state(2).tolist() for seed in seeds]


@given(st.integers(0, 50), st.integers(0, 50), st.permutations([1, 2, 5, 11]))
def test_seeds_do_not_depend_on_the_order_of_the_label_set(seed, repeat, known):
    assert _words(trial_seeds(seed, known, repeat)) == _words(
        trial_seeds(seed, [1, 2, 5, 11], repeat)
    )


def test_seeds_differ_for_every_seed_repeat_and_label_set():
    streams = {
        str(words)
        for seed in (0, 1)
        for repeat in (0, 1)
        for known in ((1, 2), (12,), (1, 3))
        for words in _words(trial_seeds(seed, known, repeat))
    }
    assert len(streams) == 2 * 2 * 3 * 3


def _digits(**settings):
    rng = np.random.default_rng(0)
    y = np.repeat(np.arange(10), 30)
    X = rng.normal(size=(300, 4)) + y[:, None]
    return _Digits(DigitBags(n_train_bags=15, n_test_bags=12, **settings), (X, y), (X + 0.1, y))


def test_filtration_changes_training_bags_and_leaves_test_bags():
    whole = _digits().trial((0, 1), 2, 7)
    filtered = _digits(filtered=True).trial((0, 1), 2, 7)
    assert whole.test == filtered.test
    assert np.array_equal(whole.test_known, filtered.test_known)
    assert filtered.labels.present.any(axis=1).all()
    assert not whole.labels.present.any(axis=1).all()
    assert whole.seed == filtered.seed


def test_truth_and_labels_agree():
    trial = _digits().trial((0, 1, 5), 0, 0)
    has_known = trial.train.bag_max(trial.train_known[:, None].astype(float))[:, 0] > 0
    assert np.array_equal(has_known, trial.labels.present.any(axis=1))
    assert trial.test.n_bags == 12
    assert trial.test_known.shape == (trial.test.n_instances,)


def test_a_class_that_no_training_bag_holds_is_left_out_of_the_labels():
    source = _digits()
    few = _Digits(DigitBags(n_train_bags=2, n_test_bags=30, bag_size=3), source.train, source.test)
    trial = few.trial(tuple(range(9)), 0, 1)
    assert 0 < trial.labels.n_classes < 9
    assert trial.labels.present.any(axis=0).all()


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"n_bags": 3}, "'n_bags' is no option.*n_train_bags"),
        ({"filtered": True}, "'filtered' is no option"),
        ({"n_train_bags": 0}, "n_train_bags is 0"),
        ({"bag_size": 2.5}, "bag_size is 2.5"),
        ({"bag_size": True}, "bag_size is True"),
        ({"beta": -0.1}, "beta is -0.1"),
        ({"beta": float("inf")}, "beta is inf"),
        ({"beta": "small"}, "beta is 'small'"),
    ],
)
def test_options_of_digit_bags_are_checked(options, message):
    with pytest.raises(InputError, match=message):
        with_options(DigitBags(), options, fixed=("filtered",))


@pytest.mark.parametrize("share", [0, 1, 1.5, -0.2, "most"])
def test_train_fraction_is_a_share(share):
    with pytest.raises(InputError, match="train_fraction"):
        with_options(BirdBags(), {"train_fraction": share})


def test_what_the_paper_leaves_unsaid_is_said():
    for protocol in (DigitBags(), BirdBags()):
        described = protocol.describe()
        assert set(described["assumed"]) <= set(described)
