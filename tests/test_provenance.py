"""What a model remembers of its training bags."""

import numpy as np
from numpy.testing import assert_array_equal
from tests.problems import random_problem

from raravis import Bags, KernelScorer, load, save
from raravis._provenance import bag_hashes, seen_in_training


def test_a_hash_depends_on_the_instances_alone():
    bags, _ = random_problem(0)
    same = Bags(bags.instances.astype(np.float32), bags.offsets, keys=range(100, 100 + len(bags)))
    assert_array_equal(bag_hashes(bags), bag_hashes(same))
    assert_array_equal(bag_hashes(bags.take([3, 1])), bag_hashes(bags)[[3, 1]])
    moved = bags.with_instances(bags.instances + 1e-3)
    assert not np.isin(bag_hashes(moved), bag_hashes(bags)).any()
    assert bag_hashes(Bags.from_list([[[-0.0]]])) == bag_hashes(Bags.from_list([[[0.0]]]))


def test_training_bags_are_recognised_and_empty_ones_are_not():
    bags, labels = random_problem(1, empty=True)
    model = KernelScorer().fit(bags, labels)
    assert_array_equal(seen_in_training(model, bags), bags.sizes > 0)
    other, _ = random_problem(2)
    assert not seen_in_training(model, other).any()
    assert seen_in_training(object(), other) is None


def test_offset_and_training_bags_are_saved_with_the_model(tmp_path):
    bags, labels = random_problem(1)
    model = KernelScorer().fit(bags, labels)
    model.offset_ = 0.25
    save(model, tmp_path / "model")
    loaded = load(tmp_path / "model")
    assert loaded.offset_ == 0.25
    assert_array_equal(loaded.training_bags_, model.training_bags_)
    assert_array_equal(loaded.predict(bags), model.predict(bags))
