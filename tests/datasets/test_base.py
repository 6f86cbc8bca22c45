import copy
import dataclasses
import pickle

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from raravis import BagLabels, Bags
from raravis.datasets import UNLABELLED, BagDataset, Description, make_bags
from raravis.errors import InputError


@pytest.fixture
def data():
    """Five bags, one of them empty; the class of two instances is not noted."""
    keys = ("a", "b", "c", "d", "e")
    parts = [[[0.0], [1.0]], [[2.0]], np.empty((0, 1)), [[3.0], [4.0], [5.0]], [[6.0]]]
    return BagDataset(
        bags=Bags.from_list(parts, keys=keys),
        labels=BagLabels.from_sets([{1, 2}, {2}, set(), None, {3}], classes=(1, 2, 3), keys=keys),
        instance_labels=np.array([1, 2, 2, 7, UNLABELLED, UNLABELLED, 3]),
        instance_ids=np.arange(10, 17),
        name="five",
        description=Description("Five bags"),
    )


def test_take_keeps_bags_labels_and_instances_together(data):
    part = data.take([3, 0])
    assert part.bags.keys == part.labels.keys == ("d", "a")
    assert part.bags.instances[:, 0].tolist() == [3, 4, 5, 0, 1]
    assert part.instance_labels.tolist() == [7, -1, -1, 1, 2]
    assert part.instance_ids.tolist() == [13, 14, 15, 10, 11]
    assert part.labels.to_sets() == [None, {1, 2}]


@pytest.mark.parametrize(
    ("index", "keys"),
    [
        (slice(1, 4), ("b", "c", "d")),
        ([True, False, True, False, False], ("a", "c")),
        ([2], ("c",)),
        ([], ()),
        ([-1], ("e",)),
    ],
)
def test_take_by_slice_mask_and_number(data, index, keys):
    assert data.take(index).bags.keys == keys
    assert len(data.take(index).instance_labels) == data.take(index).bags.n_instances


@pytest.mark.parametrize("index", [[5], [True, False], [0.5]])
def test_take_refuses_what_is_not_there(data, index):
    with pytest.raises(InputError):
        data.take(index)


@given(
    fractions=st.sampled_from([(0.7, 0.3), (0.5, 0.5), (0.2, 0.3, 0.5)]),
    seed=st.integers(0, 1000),
    n_bags=st.integers(1, 30),
)
@settings(max_examples=40, deadline=None)
def test_split_tears_no_bag_apart_and_loses_none(fractions, seed, n_bags):
    y = np.arange(6)
    data = make_bags(y[:, None], y, n_bags=n_bags, bag_size=(0, 4), seed=seed)
    parts = data.split(fractions, seed=seed)
    assert len(parts) == len(fractions)
    assert sorted(key for part in parts for key in part.bags.keys) == list(range(n_bags))
    for part in parts:
        np.testing.assert_array_equal(part.bags.instances[:, 0], part.instance_labels)
        for key, found in zip(part.bags.keys, part.labels.to_sets(), strict=True):
            assert found == data.labels.to_sets()[key]


def test_split_depends_on_its_seed(data):
    assert data.split(seed=0)[0].bags == data.split(seed=0)[0].bags
    assert len({data.split(seed=seed)[0].bags.keys for seed in range(10)}) > 1


def test_restrict_hides_classes_but_not_the_truth(data):
    part = data.restrict([2])
    assert part.labels.classes == (2,)
    assert part.labels.to_sets() == [{2}, {2}, set(), None, set()]
    np.testing.assert_array_equal(part.instance_labels, data.instance_labels)
    assert data.labels.classes == (1, 2, 3)


@pytest.mark.parametrize("classes", [[9], ["1"], "12", [1, 7]])
def test_restrict_refuses_classes_that_are_not_listed(data, classes):
    with pytest.raises(InputError):
        data.restrict(classes)


def test_known_marks_instances_of_the_classes(data):
    assert data.known([1, 3]).tolist() == [True, False, False, False, False, False, True]
    assert data.known([7]).tolist() == [False] * 3 + [True] + [False] * 3
    assert data.known([]).tolist() == [False] * 7


@pytest.mark.parametrize("classes", [[9], ["1"], "1", [UNLABELLED]])
def test_known_refuses_what_is_no_class(data, classes):
    with pytest.raises(InputError):
        data.known(classes)


def test_labelled_marks_noted_instances(data):
    assert data.labelled.tolist() == [True] * 4 + [False] * 2 + [True]


def test_string_classes():
    data = make_bags(np.eye(2), ["owl", "wren"], n_bags=3, bag_size=2, known=["owl"])
    np.testing.assert_array_equal(data.known(["owl"]), data.instance_labels == "owl")
    assert data.labelled.all()


@pytest.mark.parametrize(
    ("field", "value"),
    [
        ("instance_labels", [1, 2]),
        ("instance_ids", np.zeros((7, 1), int)),
        ("labels", BagLabels.from_sets([{1}], classes=(1,))),
    ],
)
def test_parts_that_do_not_fit_are_refused(data, field, value):
    with pytest.raises(InputError, match="pass one"):
        dataclasses.replace(data, **{field: value})


def test_nothing_can_be_changed(data):
    with pytest.raises(dataclasses.FrozenInstanceError):
        data.name = "other"
    with pytest.raises(ValueError, match="read-only"):
        data.instance_labels[0] = 9


def test_the_caller_keeps_his_array(data):
    mine = np.arange(7)
    other = dataclasses.replace(data, instance_labels=mine)
    mine[0] = 99
    assert other.instance_labels[0] == 0


@pytest.mark.parametrize("clone", [copy.deepcopy, lambda d: pickle.loads(pickle.dumps(d))])
def test_copies_carry_everything(data, clone):
    other = clone(data)
    assert other.bags == data.bags
    assert other.labels == data.labels
    assert other.description == data.description
    np.testing.assert_array_equal(other.instance_labels, data.instance_labels)


def test_repr_is_one_short_line(data):
    assert repr(data).startswith("BagDataset('five', Bags(5 bags, 7 instances")
    assert "\n" not in repr(data)
