"""Calls that people have decided, as lessons beside the lists of species."""

from collections.abc import Callable, Mapping

import numpy as np
from numpy.typing import NDArray

from raravis.bags import Bags
from raravis.formats import CallTable
from raravis.labels import ABSENT, PRESENT, BagLabels
from raravis.study.features import Instances
from raravis.study.store import Study

__all__ = ["DecisionReader", "teach"]

DecisionReader = Callable[[Study, CallTable], Mapping[int, str | None]]
"""Given a study and its calls, returns what people decided: by the position of a call its class, or
None for a sound of no class."""


def teach(
    bags: Bags, labels: BagLabels, instances: Instances, decided: Mapping[int, str | None]
) -> tuple[Bags, BagLabels]:
    """Add a bag for each decided call, which holds this call alone.

    A class that only decisions name is unknown in every recording that nobody has found it in: the
    lists were made before it had a name.
    """
    rows = sorted(decided)
    named = sorted({name for name in decided.values() if name} - {*labels.classes})
    wide = labels.with_classes((*labels.classes, *named), missing="unknown")
    column = {name: i for i, name in enumerate(wide.classes)}
    status = np.vstack([wide.status, np.full((len(rows), wide.n_classes), ABSENT, dtype=np.int8)])
    bag_of = {key: i for i, key in enumerate(bags.keys)}
    for place, row in enumerate(rows, start=bags.n_bags):
        name = decided[row]
        recording = bag_of.get(instances.bags.keys[instances.bags.bag_index[row]])
        if name:
            _mark(status, [place, recording], column[name])
    keys = [*bags.keys, *(("decided", row) for row in rows)]
    single = [instances.bags.instances[row][None] for row in rows]
    together = Bags.from_list([*bags, *single], keys, bags.n_features)
    return together, BagLabels.from_status(status, wide.classes, keys)


def _mark(status: NDArray[np.int8], places: list[int | None], column: int) -> None:
    for place in places:
        if place is not None:
            status[place, column] = PRESENT
