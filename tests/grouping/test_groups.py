"""Groups of novel instances: what they are, that order is nothing to them, and odd inputs."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.testing import assert_array_equal
from scipy.spatial.distance import cdist
from sklearn.metrics import adjusted_rand_score
from tests.problems import random_problem

from raravis import Bags, KernelScorer
from raravis.datasets import fetch_hja_birdsong, fetch_mnist_bags
from raravis.errors import InputError
from raravis.grouping import group_instances, group_novel, learn_embedding


def blobs(seed, sizes=(30, 20, 12), n_scattered=10, d=3):
    rng = np.random.default_rng(seed)
    centres = 12.0 * rng.standard_normal((len(sizes), d))
    truth = np.repeat(np.arange(len(sizes)), sizes)
    X = centres[truth] + rng.standard_normal((len(truth), d))
    scattered = 60.0 * rng.standard_normal((n_scattered, d))
    return np.vstack([X, scattered]), np.append(truth, np.full(n_scattered, -1))


def as_sets(found, rows):
    """A grouping by the content of its members, whatever their positions."""
    return [[tuple(rows[i]) for i in group.members] for group in found.groups]


def test_groups_that_stand_apart_are_found():
    rng = np.random.default_rng(0)
    centres = np.array([[0.0, 0.0], [30.0, 0.0], [0.0, 30.0]])
    truth = np.repeat([2, 0, 1], [40, 30, 20])
    X = np.vstack([centres[truth] + rng.uniform(-1, 1, (90, 2)), [[500.0, 0.0], [0.0, -900.0]]])
    found = group_instances(X, min_size=20)
    assert [group.size for group in found.groups] == [40, 30, 20]
    assert_array_equal(found.labels, [*np.repeat([0, 1, 2], [40, 30, 20]), -1, -1])
    assert_array_equal(found.ungrouped, [90, 91])
    for group in found.groups:
        members = X[group.members]
        total = cdist(members, members).sum(axis=1)
        assert group.medoid == group.members[0] == group.members[total.argmin()]
        assert (np.diff(total) >= -1e-9).all()
        assert_array_equal(group.typical(3), group.members[:3])


@settings(max_examples=25, deadline=None)
@given(seed=st.integers(0, 10**6), duplicates=st.integers(0, 30))
def test_the_order_of_rows_is_nothing(seed, duplicates):
    X, _ = blobs(seed)
    rng = np.random.default_rng(seed)
    X = np.vstack([X, X[rng.integers(0, len(X), duplicates)]])
    shuffled = rng.permutation(len(X))
    found, again = group_instances(X), group_instances(X[shuffled])
    assert_array_equal(found.labels[shuffled], again.labels)
    assert as_sets(found, X) == as_sets(again, X[shuffled])


@settings(max_examples=25, deadline=None)
@given(st.lists(st.tuples(st.integers(0, 3), st.integers(0, 3)), max_size=40), st.integers(2, 6))
def test_a_grouping_is_whole(rows, min_size):
    X = np.array(rows, dtype=float).reshape(-1, 2)
    found = group_instances(X, min_size=min_size)
    assert found.labels.shape == (len(X),)
    for position, group in enumerate(found.groups):
        assert_array_equal(np.sort(group.members), np.flatnonzero(found.labels == position))
        assert group.size >= min_size
    sizes = [group.size for group in found.groups]
    assert sizes == sorted(sizes, reverse=True)
    # Equal rows go together.
    _, place = np.unique(X, axis=0, return_inverse=True)
    for row in range(len(X)):
        assert len(set(found.labels[place.ravel() == place.ravel()[row]])) == 1


@pytest.mark.parametrize("n", [0, 1, 2, 3])
def test_too_few_instances_make_no_group(n):
    found = group_instances(np.zeros((n, 4)))
    assert (len(found), found.labels.tolist(), found.ungrouped.tolist()) == (
        0,
        [-1] * n,
        list(range(n)),
    )


def test_two_instances_may_be_a_group():
    assert group_instances([[0.0], [0.0]], min_size=2).labels.tolist() == [0, 0]
    assert group_instances([[0.0], [1.0]], min_size=2).labels.tolist() == [0, 0]


def test_instances_that_are_all_alike_are_one_group():
    found = group_instances(np.ones((30, 5)))
    assert [group.size for group in found.groups] == [30]
    assert found.groups[0].members.tolist() == list(range(30))


def test_one_class_alone_makes_a_group_too():
    # The finest clusters are none where nothing splits: then the densest part is one.
    for seed in range(3):
        X = np.random.default_rng(seed).standard_normal((100, 5))
        assert len(group_instances(X, min_size=10)) == 1


# ---------------------------------------------------------------------- with a model


@pytest.fixture(scope="module")
def fitted():
    bags, labels = random_problem(7, n_bags=80, n_classes=3)
    return KernelScorer().fit(bags, labels), bags


def test_only_novel_instances_are_grouped(fitted):
    model, bags = fitted
    found = group_novel(model, bags)
    assert_array_equal(found.considered, model.predict(bags) < 0)
    assert (found.labels[~found.considered] == -1).all()
    assert len(found) >= 1
    chosen = np.zeros(bags.n_instances, dtype=bool)
    chosen[:40] = True
    assert_array_equal(group_novel(model, bags, novel=chosen).considered, chosen)


def test_the_order_of_bags_and_of_instances_is_nothing(fitted):
    model, bags = fitted
    rng = np.random.default_rng(0)
    bag_order = rng.permutation(bags.n_bags)
    turned = Bags.from_list([bags[i][::-1] for i in bag_order])
    novel, again = model.predict(bags) < 0, model.predict(turned) < 0
    assert as_sets(group_novel(model, bags, novel=novel), bags.instances) == as_sets(
        group_novel(model, turned, novel=again), turned.instances
    )


def test_no_novel_instances(fitted):
    model, bags = fitted
    none = np.zeros(bags.n_instances, dtype=bool)
    assert len(group_novel(model, bags, novel=none)) == 0
    assert len(group_novel(model, bags, novel=~none).groups) >= 1
    empty = group_novel(model, Bags.from_list([[]], n_features=3))
    assert (len(empty), empty.labels.shape) == (0, (0,))


def test_beyond_the_limit_the_most_novel_are_grouped(fitted):
    model, bags = fitted
    found = group_novel(model, bags, limit=20)
    scores = model.score_samples(bags)
    assert found.considered.sum() == 20
    assert scores[found.considered].max() <= scores[(model.predict(bags) < 0)].max()
    assert_array_equal(np.sort(scores)[:20], np.sort(scores[found.considered]))


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"min_size": 1}, "min_size is 1"),
        ({"min_size": 2.5}, r"min_size is 2\.5"),
        ({"n_components": 0}, "n_components is 0"),
        ({"limit": 0}, "limit is 0"),
        ({"novel": [True]}, r"novel has shape \(1,\)"),
        ({"novel": [1] * 3}, "one bool for each"),
    ],
)
def test_options_are_checked(fitted, options, message):
    model, bags = fitted
    with pytest.raises(InputError, match=message):
        group_novel(model, bags, **options)


def test_distance_is_learned_from_known_classes():
    # Classes differ in the first feature; the second, large within classes, says nothing.
    rng = np.random.default_rng(0)
    codes = np.repeat([0, 1, 2], 100)
    known = np.column_stack([codes + 0.02 * rng.standard_normal(300), rng.standard_normal(300)])
    novel = np.column_stack([[5.0, 5.0, 9.0], [-2.0, 2.0, -2.0]])
    embedding = learn_embedding(np.repeat(novel, 5, axis=0), known, codes.tolist())
    a, b, c = embedding(novel)
    assert np.linalg.norm(a - b) < np.linalg.norm(a - c)
    taught = np.linalg.norm(a - b) / np.linalg.norm(a - c)
    plain = learn_embedding(np.repeat(novel, 5, axis=0), known[:0], [])
    a, b, c = plain(novel)
    assert np.linalg.norm(a - b) / np.linalg.norm(a - c) > 2 * taught


def test_constant_features_and_copies_are_no_obstacle():
    rng = np.random.default_rng(0)
    X = np.column_stack([rng.standard_normal((40, 2)), np.ones(40)])
    known = np.tile([[0.0, 1.0, 1.0], [3.0, 2.0, 1.0]], (10, 1))
    points = learn_embedding(X, known, [0, 1] * 10)(X)
    assert points.shape == (40, 3)
    assert np.isfinite(points).all()


# ---------------------------------------------------------------------- real data


def quality(data, known, train, scored):
    model = KernelScorer().fit(train.bags, train.labels)
    truth = scored.instance_labels.astype(int)
    scores = model.score_samples(scored.bags)
    hidden = ~scored.known(known)
    novel = np.zeros(len(scores), dtype=bool)
    novel[np.argsort(scores)[: int(hidden.sum())]] = True
    found = group_novel(model, scored.bags, novel=novel)
    grouped = found.labels >= 0
    counts = [np.bincount(truth[group.members], minlength=20) for group in found.groups]
    purity = sum(count.max() for count in counts) / grouped.sum()
    met = {int(count.argmax()) for count in counts} & set(truth[hidden].tolist())
    rand = adjusted_rand_score(truth[grouped], found.labels[grouped])
    return purity, len(met) / len(set(truth[hidden].tolist())), rand


@pytest.mark.data
def test_hidden_species_are_found(real_data):
    data = fetch_hja_birdsong(data_home=real_data).restrict(range(1, 9))
    purity, met, rand = quality(data, range(1, 9), data.split((0.7, 0.3), seed=0)[0], data)
    assert (purity > 0.75, met >= 0.8, rand > 0.3) == (True, True, True), (purity, met, rand)


@pytest.mark.data
def test_hidden_digits_are_found(real_data):
    known = [2, 3, 5, 6, 8, 0]
    data = fetch_mnist_bags(known=known, n_bags=100, seed=3, data_home=real_data)
    test = fetch_mnist_bags(known=known, n_bags=100, seed=4, subset="test", data_home=real_data)
    purity, met, rand = quality(data, known, data, test)
    assert (purity > 0.85, met == 1.0, rand > 0.3) == (True, True, True), (purity, met, rand)
