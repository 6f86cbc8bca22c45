"""The discovery queue: what recommends a bag, what is covered, and odd inputs."""

import numpy as np
import pytest
from numpy.testing import assert_array_equal
from tests.problems import random_problem

from raravis import Bags, KernelScorer, NovelClassClassifier, NoveltyDetector
from raravis.datasets import fetch_hja_birdsong
from raravis.errors import InputError
from raravis.grouping import discovery_queue


@pytest.fixture(scope="module")
def fitted():
    bags, labels = random_problem(7, n_bags=60, n_classes=3)
    return KernelScorer().fit(bags, labels), bags


def marked(bags, rows, high=0.9):
    novelty = np.full(bags.n_instances, 0.01)
    novelty[rows] = high
    return novelty


def test_every_bag_is_queued_once_and_the_best_first(fitted):
    model, bags = fitted
    queue = discovery_queue(model, bags, batch_size=1000)
    assert sorted(queue.order) == list(range(60))
    assert len(queue) == 60
    worth = [e.novelty**2 * e.crowding * e.newness for e in queue.entries]
    # What a bag adds only ever falls: whatever is chosen covers what is left.
    assert (np.diff(worth) <= 1e-6).all()
    for entry in queue.entries:
        assert bags.bag_index[entry.instance] == entry.bag
        assert entry.key == bags.keys[entry.bag]
        assert 0 <= entry.newness <= 1
        assert 0 < entry.crowding <= 1
    assert queue.entries[0].newness == 1.0
    assert "of novelty" in queue.entries[0].reason


def test_a_longer_queue_goes_on_where_a_shorter_ended(fitted):
    model, bags = fitted
    whole = discovery_queue(model, bags, batch_size=30).order
    first = discovery_queue(model, bags, batch_size=12).order
    assert_array_equal(first, whole[:12])
    rest = discovery_queue(model, bags, batch_size=18, reviewed=first).order
    assert_array_equal(rest, whole[12:])
    mask = np.isin(np.arange(60), first)
    assert_array_equal(discovery_queue(model, bags, batch_size=18, reviewed=mask).order, rest)


def test_two_of_a_kind_are_not_reviewed_in_a_row():
    # Three kinds of novel instances, five bags of each, and known ones.
    rng = np.random.default_rng(0)
    kinds = np.repeat([[9.0, 0.0], [0.0, 9.0], [9.0, 9.0]], 5, axis=0)
    arrays = [kind + 0.3 * rng.standard_normal((3, 2)) for kind in kinds]
    known = [0.3 * rng.standard_normal((3, 2)) for _ in range(15)]
    bags = Bags.from_list(arrays + known)
    labels = [set()] * 15 + [{"wren"}] * 15
    model = KernelScorer().fit(bags, labels)
    for novelty in (None, marked(bags, np.arange(45))):
        queue = discovery_queue(model, bags, novelty=novelty, batch_size=3)
        assert sorted(queue.order // 5) == [0, 1, 2]


def test_an_outlier_alone_comes_after_what_has_company(fitted):
    model, bags = fitted
    company = bags.instances[:10].mean(axis=0) + 0.01 * np.arange(10)[:, None]
    both = Bags.concat([bags, Bags.from_list([company, [company[0] + 500.0]])], keys="renumber")
    novelty = marked(both, np.arange(bags.n_instances, both.n_instances))
    queue = discovery_queue(model, both, novelty=novelty, batch_size=2)
    assert queue.order.tolist() == [60, 61]
    assert queue.entries[1].crowding < 0.1
    assert "with little like it" in queue.entries[1].reason


def test_the_order_of_bags_and_instances_is_nothing(fitted):
    model, bags = fitted
    order = np.random.default_rng(1).permutation(60)
    turned = Bags.from_list([bags[i][::-1] for i in order], keys=order.tolist())
    plain = discovery_queue(model, bags, batch_size=40)
    again = discovery_queue(model, turned, batch_size=40)
    assert [e.key for e in plain.entries] == [e.key for e in again.entries]


def test_a_model_with_probabilities_gives_them():
    bags, labels = random_problem(3, n_bags=30)
    model = NovelClassClassifier().fit(bags, labels)
    novel = model.posterior(bags)[:, 0]
    found = discovery_queue(model, bags, batch_size=30)
    # Beyond the mean, more of it is no better: rare classes are to be met as well.
    given = discovery_queue(model, bags, novelty=np.minimum(novel / novel.mean(), 1), batch_size=30)
    assert_array_equal(found.order, given.order)
    assert [e.novelty for e in found.entries] == novel[[e.instance for e in found.entries]].tolist()


def test_copies_and_bags_without_instances(fitted):
    model, bags = fitted
    same = Bags.from_list([bags[0][:1]] * 6 + [np.empty((0, 3))])
    queue = discovery_queue(model, same)
    assert sorted(queue.order) == [0, 1, 2, 3, 4, 5]
    assert [e.newness for e in queue.entries] == [1.0] + [0.0] * 5
    assert len(discovery_queue(model, Bags.from_list([[]], n_features=3))) == 0
    assert len(discovery_queue(model, bags, reviewed=np.ones(60, dtype=bool))) == 0
    assert discovery_queue(model, bags.take([4])).order.tolist() == [0]
    assert len(discovery_queue(model, bags, reviewed=[], batch_size=7)) == 7


def test_only_so_many_instances_recommend_a_bag(fitted):
    model, bags = fitted
    few = discovery_queue(model, bags, batch_size=1000, limit=5)
    top = np.argsort(model.score_samples(bags), kind="stable")[:5]
    assert {e.bag for e in few.entries} == set(bags.bag_index[top].tolist())


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"batch_size": 0}, "batch_size is 0"),
        ({"limit": 0.5}, r"limit is 0\.5"),
        ({"novelty": [0.5]}, "novelty has 1 values"),
        ({"novelty": "high"}, "novelty"),
        ({"reviewed": [60]}, "no bag at position 60"),
    ],
)
def test_options_are_checked(fitted, options, message):
    model, bags = fitted
    with pytest.raises(InputError, match=message):
        discovery_queue(model, bags, **options)
    with pytest.raises(InputError, match="from 0 to 1"):
        discovery_queue(model, bags, novelty=np.full(bags.n_instances, 1.5))


def bags_until_all_are_met(order, holds):
    """How many bags of an order show every class; ``holds`` is (n_bags, n_classes)."""
    met = np.logical_or.accumulate(holds[order][:, holds.any(axis=0)], axis=0).all(axis=1)
    return int(met.argmax()) + 1


@pytest.mark.data
def test_hidden_species_are_met_sooner_than_at_random(real_data):
    data = fetch_hja_birdsong(data_home=real_data)
    needed, at_random = [], []
    for seed, hidden in enumerate([(9, 10, 11, 12, 13), (2, 4, 6, 8, 12), (1, 5, 7, 10, 13)]):
        known = [c for c in range(1, 14) if c not in hidden]
        train, new = data.restrict(known).split((0.5, 0.5), seed=seed)
        model = NoveltyDetector(n_jobs=2).fit(train.bags, train.labels)
        truth = data.split((0.5, 0.5), seed=seed)[1].labels.restrict(hidden).present
        queue = discovery_queue(model, new.bags, batch_size=new.bags.n_bags)
        needed.append(bags_until_all_are_met(queue.order, truth))
        rng = np.random.default_rng(seed)
        shuffles = [rng.permutation(new.bags.n_bags) for _ in range(200)]
        at_random.append(np.mean([bags_until_all_are_met(s, truth) for s in shuffles]))
    assert np.mean(needed) < 0.75 * np.mean(at_random), (needed, at_random)
