"""Orders: what they promise, on hand-made and on random scores."""

from time import perf_counter

import numpy as np
import pytest

from raravis.errors import InputError
from raravis.formats import CallTable
from raravis.review import CallKey, keys_of
from raravis.review.queues import (
    Queue,
    control_sample,
    group_by_group,
    most_novel,
    most_uncertain,
    weakest_of,
)

N = 100_000


def keys(n: int) -> list[CallKey]:
    names = [f"site {i // 100}.wav" for i in range(n)]
    begin = np.arange(n) % 100 * 1.0
    return keys_of(CallTable(names, begin, begin + 0.7, begin + 1000, begin + 2000))


def test_orders_hold_every_call_once_and_ties_keep_their_order() -> None:
    novelty = np.random.default_rng(0).integers(0, 5, 200) / 5
    for order in (most_novel(novelty), most_uncertain(novelty, 0.5)):
        assert sorted(order) == list(range(200))
    assert np.all(np.diff(novelty[most_novel(novelty)]) <= 0)
    assert list(most_novel([1.0, 2.0, 1.0, 2.0])) == [1, 3, 0, 2]
    assert list(most_novel([np.nan, 2.0])) == [1, 0]
    assert list(most_novel([])) == []


def test_weakest_are_those_of_the_class_only() -> None:
    assert list(weakest_of(["a", None, "novel", "a"], "a", [3, 1, 0, 2])) == [3, 0]
    assert list(weakest_of(["a"], "b", [1])) == []


def test_groups_stand_after_each_other_and_a_place_tells_its_group() -> None:
    order, groups = group_by_group({"g1": np.array([5, 3]), "g2": np.array([], int), "g3": [1]})
    queue = Queue("groups", "", "", order, groups)
    assert [queue.group_at(place) for place in range(4)] == ["g1", "g1", "g3", None]
    assert len(group_by_group({})[0]) == 0


def test_the_control_sample_is_random_seeded_and_owes_nothing_to_the_order() -> None:
    many = keys(20_000)
    sample = control_sample(many, size=2000, seed=3)
    assert len(set(sample.tolist())) == 2000
    assert np.array_equal(sample, control_sample(many, size=2000, seed=3))
    assert not np.array_equal(sample, control_sample(many, size=2000, seed=4))
    turned = control_sample(many[::-1], size=2000, seed=3)
    assert [many[::-1][i] for i in turned] == [many[i] for i in sample]
    # Spread evenly: each tenth of the calls holds a tenth of the sample, within four deviations.
    parts = np.bincount(sample // 2000, minlength=10)
    assert np.all(np.abs(parts - 200) < 4 * np.sqrt(200 * 0.9))
    # A study that grows keeps its sample but for what the new calls displace.
    grown = {many[i] for i in sample}
    before = {many[i] for i in control_sample(many[:10_000], size=1000, seed=3)}
    assert len(before & grown) > 900
    with pytest.raises(InputError, match="size is -1"):
        control_sample(many, size=-1)


def test_a_hundred_thousand_calls_are_put_in_order_at_once() -> None:
    many = keys(N)
    novelty = np.random.default_rng(0).random(N)
    labels = ["wren" if v < 0.5 else "novel" for v in novelty]
    begun = perf_counter()
    most_novel(novelty)
    most_uncertain(novelty, 0.5)
    weakest_of(labels, "wren", novelty)
    control_sample(many, size=300)
    assert perf_counter() - begun < 2.0
