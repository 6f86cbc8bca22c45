import numpy as np
import pytest
from sklearn.datasets import load_digits

from raravis.datasets import load_digit_bags
from raravis.errors import InputError


def test_instances_are_the_pictures_that_their_ids_name():
    data = load_digit_bags(n_bags=5, seed=3)
    digits = load_digits()
    np.testing.assert_array_equal(
        data.bags.instances, digits.images[data.instance_ids].reshape(-1, 64) / 16
    )
    np.testing.assert_array_equal(data.instance_labels, digits.target[data.instance_ids])


def test_defaults():
    data = load_digit_bags()
    assert data.bags.n_bags == 200
    assert set(data.bags.sizes) == {20}
    assert data.labels.classes == tuple(range(8))
    assert data.bags.instances.min() == 0
    assert data.bags.instances.max() == 1
    assert not data.known(range(8)).all()
    assert data.description.terms
    assert data.description.citation


def test_filtered_bags_have_a_known_digit():
    assert all(load_digit_bags(known=[4], n_bags=30, filtered=True).labels.to_sets())


def test_without_replacement_no_picture_comes_twice():
    ids = load_digit_bags(n_bags=40, replace=False, beta=5.0).instance_ids
    assert len(np.unique(ids)) == len(ids) == 800


def test_training_and_test_bags_share_no_picture():
    train, test = (load_digit_bags(subset=subset, n_bags=300) for subset in ("train", "test"))
    assert train.instance_ids.max() < test.instance_ids.min()
    assert test.instance_ids.max() < 1797
    for data in (train, test):
        np.testing.assert_array_equal(data.instance_labels, load_digits().target[data.instance_ids])


@pytest.mark.parametrize("options", [{"subset": "valid"}, {"known": [10]}, {"replace": False}])
def test_what_cannot_be_drawn_is_refused(options):
    with pytest.raises(InputError):
        load_digit_bags(**options)
