"""What every data set of raravis is: bags, bag labels, the truth, and where it all comes from."""

from collections.abc import Collection, Hashable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, Final, Self, TypeAlias

import numpy as np
import numpy.typing as npt

from raravis.bags import Bags, positions, split_indices
from raravis.errors import InputError
from raravis.labels import BagLabels

__all__ = ["UNLABELLED", "BagDataset", "Description", "label_sets"]

UNLABELLED: Final = -1
"""The instance label of an instance whose class nobody noted."""

IntArray: TypeAlias = npt.NDArray[np.int64]
BoolArray: TypeAlias = npt.NDArray[np.bool_]


@dataclass(frozen=True, slots=True)
class Description:
    """What a data set is and what using it asks for.

    Parameters
    ----------
    title : str
        What it is, in one line.
    origin : str
        Who published it and where.
    terms : str
        The licence or terms of use.
    citation : str
        What to cite.
    notes : str
        How this form of it was made, and what to beware of.
    """

    title: str
    origin: str = ""
    terms: str = ""
    citation: str = ""
    notes: str = ""


@dataclass(frozen=True, eq=False, repr=False)
class BagDataset:
    """Bags with their labels and with the true class of every instance.

    Parameters
    ----------
    bags : Bags
        The instances, bag by bag.
    labels : BagLabels
        What is listed for every bag: all that a learner may see.
    instance_labels : array of shape (n_instances,)
        The true classes, those of no known class included; `UNLABELLED` where nobody noted one.
    instance_ids : array of int of shape (n_instances,)
        The row of every instance in the collection that it was drawn from, so that its picture or
        sound can be found again.
    name : str
        A short name.
    description : Description
        Origin, terms, citation.
    class_names : mapping
        What the classes are called, where they are codes.

    Examples
    --------
    >>> from raravis.datasets import load_toy
    >>> data = load_toy()
    >>> data.restrict(["II"]).labels.to_sets()[:2] == [{"II"}, set()]
    True
    >>> int(data.known(["I", "II"]).sum()), data.bags.n_instances
    (11, 16)
    """

    bags: Bags
    labels: BagLabels
    instance_labels: npt.NDArray[Any]
    instance_ids: IntArray
    name: str
    description: Description
    class_names: Mapping[Any, str] = field(default_factory=dict)

    def __post_init__(self) -> None:
        if self.labels.n_bags != self.bags.n_bags:
            raise InputError(
                f"there are {self.bags.n_bags} bags and labels for {self.labels.n_bags}; pass one "
                "label set a bag"
            )
        for what in ("instance_labels", "instance_ids"):
            values = np.array(getattr(self, what))
            if values.shape != (self.bags.n_instances,):
                raise InputError(
                    f"{what} has shape {values.shape}; pass one value for each of the "
                    f"{self.bags.n_instances} instances"
                )
            values.setflags(write=False)
            object.__setattr__(self, what, values)

    def __repr__(self) -> str:
        return f"BagDataset({self.name!r}, {self.bags!r}, {self.labels!r})"

    @property
    def labelled(self) -> BoolArray:
        """Whether the true class of every instance is noted."""
        return ~self._among({UNLABELLED})

    def known(self, classes: Collection[Hashable]) -> BoolArray:
        """Say of every instance whether it is of one of `classes`; unlabelled ones are not."""
        wanted = set(_check_classes(classes))
        unheard = wanted - set(self.labels.classes) - set(self.instance_labels.tolist())
        if unheard or UNLABELLED in wanted:
            raise InputError(
                f"{sorted(unheard or {UNLABELLED}, key=repr)} are not classes of {self.name!r}; "
                f"its bag labels list {list(self.labels.classes)[:20]}"
            )
        return self._among(wanted)

    def restrict(self, known: Collection[Hashable]) -> Self:
        """Return the same data with bag labels that list only the classes in `known`.

        The instance labels stay: instances of the other classes are now novel ones.
        """
        wanted = _check_classes(known)
        unheard = [item for item in wanted if item not in self.labels.classes]
        if unheard:
            raise InputError(
                f"the bag labels of {self.name!r} do not list {unheard[:5]}; their classes are "
                f"{list(self.labels.classes)[:20]}"
            )
        return replace(self, labels=self.labels.restrict(wanted))

    def take(self, index: Sequence[int] | IntArray | BoolArray | slice) -> Self:
        """Return the bags that `index` selects: row numbers, a mask over bags, or a slice."""
        chosen = positions(index, self.bags.n_bags)
        offsets = self.bags.offsets
        spans = [np.arange(offsets[i], offsets[i + 1]) for i in chosen]
        rows = np.concatenate([np.empty(0, np.int64), *spans])
        return replace(
            self,
            bags=self.bags.take(chosen),
            labels=self.labels.take(chosen),
            instance_labels=self.instance_labels[rows],
            instance_ids=self.instance_ids[rows],
        )

    def split(self, fractions: Sequence[float] = (0.7, 0.3), *, seed: int = 0) -> tuple[Self, ...]:
        """Split at random by bag, so that no bag is torn apart.

        >>> from raravis.datasets import load_toy
        >>> [part.bags.n_bags for part in load_toy().split((0.5, 0.5), seed=0)]
        [2, 2]
        """
        parts = split_indices(self.bags.n_bags, fractions, seed)
        return tuple(self.take(part) for part in parts)

    def _among(self, classes: set[Any]) -> BoolArray:
        found = (label in classes for label in self.instance_labels.tolist())
        return np.fromiter(found, dtype=np.bool_, count=len(self.instance_labels))


def label_sets(
    bags: Bags, instance_labels: npt.NDArray[Any], listed: Collection[Hashable]
) -> list[set[Hashable]]:
    """Return, for every bag, which of the classes in `listed` its instances have."""
    wanted = set(listed)
    return [
        wanted.intersection(instance_labels[start:stop].tolist())
        for start, stop in zip(bags.offsets[:-1], bags.offsets[1:], strict=True)
    ]


def _check_classes(classes: Collection[Hashable]) -> list[Hashable]:
    if isinstance(classes, str | bytes):
        raise InputError(f"{classes!r} is a string; pass a collection of classes, [{classes!r}]")
    return list(classes)
