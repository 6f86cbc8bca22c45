"""Calls that people have decided, as lessons beside the lists of species."""

from collections.abc import Callable, Hashable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from raravis.bags import Bags
from raravis.formats import CallTable
from raravis.labels import ABSENT, PRESENT, UNKNOWN, BagLabels
from raravis.study.features import Instances
from raravis.study.store import Study

__all__ = ["FEWEST", "Decided", "DecisionReader", "add_decided", "teach"]

DecisionReader = Callable[[Study, CallTable], Mapping[int, str | None]]
"""Given a study and its calls, returns what people decided: by the position of a call its class, or
None for a sound of no class."""

#: So many examples a class needs before they say how far apart its calls may be.
FEWEST = 5
#: A bag is unlike a class if it is this many times farther from its examples than they are apart:
#: in part chosen on birdsong, where 1 calls too many bags unlike it, and 2 too few.
_FAR = 1.5


@dataclass(frozen=True, eq=False)
class Decided:
    """A decided instance.

    Parameters
    ----------
    features : array of shape (n_features,)
    class_name : str or None
        None = it is of no class.
    key : hashable
        Of the bag that is made of it.
    bag : int or None
        The bag of the lesson that it is from, if that is one of the lesson.
    """

    features: NDArray[np.floating]
    class_name: str | None
    key: Hashable
    bag: int | None


def teach(
    bags: Bags, labels: BagLabels, instances: Instances, decided: Mapping[int, str | None]
) -> tuple[Bags, BagLabels]:
    """Add a bag for each decided call of a study, which holds this call alone."""
    place = {key: i for i, key in enumerate(bags.keys)}
    every = instances.bags
    found = [
        Decided(
            every.instances[row],
            name,
            ("decided", row),
            place.get(every.keys[every.bag_index[row]]),
        )
        for row, name in sorted(decided.items())
    ]
    return add_decided(bags, labels, found)


def add_decided(
    bags: Bags, labels: BagLabels, decided: Sequence[Decided]
) -> tuple[Bags, BagLabels]:
    """Add a bag of one for each decided instance.

    Of it everything is known: its class is present, all others are absent. A class that only
    decisions name is on no list, for the lists were made before it had a name. It is present in the
    bags that it was found in, absent from bags in which nothing resembles it, and unknown in all
    others.
    """
    fresh = sorted({d.class_name for d in decided if d.class_name} - {*labels.classes})
    wide = labels.with_classes((*labels.classes, *fresh), missing="unknown")
    status = np.vstack(
        [wide.status, np.full((len(decided), wide.n_classes), ABSENT, dtype=np.int8)]
    )
    column = {name: k for k, name in enumerate(wide.classes)}
    for row, one in enumerate(decided, start=bags.n_bags):
        if one.class_name:
            places = [row] if one.bag is None else [row, one.bag]
            status[places, column[one.class_name]] = PRESENT
    for name in fresh:
        examples = np.array([d.features for d in decided if d.class_name == name])
        old = status[: bags.n_bags, column[name]]
        old[(old == UNKNOWN) & _nothing_like(bags, examples)] = ABSENT
    keys = [*bags.keys, *(d.key for d in decided)]
    together = Bags.from_list([*bags, *(d.features[None] for d in decided)], keys, bags.n_features)
    return together, BagLabels.from_status(status, wide.classes, keys)


def _nothing_like(bags: Bags, examples: NDArray[np.floating]) -> NDArray[np.bool_]:
    """Say in which bags every instance is farther from all examples than these are from each other.

    Without such bags nothing but decisions would tell a new class from the rest, and it would
    claim most of it. If examples and calls still unheard were drawn alike, one in n + 1 of the
    calls would lie beyond the largest distance of n examples to their nearest.
    """
    from sklearn.metrics import pairwise_distances, pairwise_distances_argmin_min

    if len(examples) < FEWEST or not bags.n_instances:
        return np.zeros(bags.n_bags, dtype=bool)
    spread = bags.instances.std(axis=0)
    scale = np.where(spread > 0, spread, 1.0)
    within = pairwise_distances(examples / scale)
    np.fill_diagonal(within, np.inf)
    distance = pairwise_distances_argmin_min(bags.instances / scale, examples / scale)[1]
    nearest = np.full(bags.n_bags, np.inf)
    np.minimum.at(nearest, bags.bag_index, distance)
    far: NDArray[np.bool_] = nearest > _FAR * within.min(axis=1).max()
    return far
