"""The paper's objective: a hinge loss on the best score of every bag, separately for every class.

For class c with score function f = sum_l alpha_l k(., x_l) over the training instances,

    lam / 2 * alpha' K alpha  +  1 / (N |Y|) * sum_i max(0, 1 - y_i * max_j f(x_ij)).

N counts the bags that say something: not empty, and with at least one known label. A pair of bag
and class whose label is unknown contributes no loss, and an empty bag has no best score to judge.
"""

from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from raravis.bags import Bags
from raravis.labels import BagLabels

__all__ = ["MaxHinge"]

Floats = NDArray[np.floating[Any]]
Indices = NDArray[np.int64]


@dataclass(frozen=True)
class MaxHinge:
    """The bag hinge objective of all classes over the non-empty bags.

    Examples
    --------
    >>> import numpy as np
    >>> from raravis import BagLabels, Bags
    >>> bags = Bags.from_list([np.array([[0.0], [1.0]]), np.array([[2.0]])])
    >>> hinge = MaxHinge.from_bags(bags, BagLabels.from_sets([{"wren"}, set()]), lam=0.1)
    >>> scores = np.array([0.5, 2.0, -0.5])
    >>> hinge.witnesses(scores), hinge.losses(0, scores)
    (array([1, 2]), array([0. , 0.5]))
    """

    starts: Indices
    status: NDArray[np.int8]
    n_instances: int
    lam: float

    @classmethod
    def from_bags(cls, bags: Bags, labels: BagLabels, *, lam: float) -> "MaxHinge":
        """Take the non-empty bags and what is known of their labels."""
        filled = np.flatnonzero(bags.sizes > 0)
        return cls(
            starts=np.ascontiguousarray(bags.offsets[:-1][filled]),
            status=np.ascontiguousarray(labels.status[filled]),
            n_instances=bags.n_instances,
            lam=float(lam),
        )

    @property
    def n_classes(self) -> int:
        """Number of classes."""
        return int(self.status.shape[1])

    @cached_property
    def sizes(self) -> Indices:
        """Number of instances in each non-empty bag."""
        return np.diff(np.append(self.starts, self.n_instances))

    @cached_property
    def loss_weight(self) -> float:
        """1 / (N |Y|)."""
        n_bags = int(self.status.any(axis=1).sum())
        return 1.0 / max(1, n_bags * self.n_classes)

    @property
    def box(self) -> float:
        """Upper bound of a bag's dual weight once the objective is divided by lam."""
        return self.loss_weight / self.lam

    def bag_maxima(self, scores: Floats) -> Floats:
        """Return the best score of every bag."""
        maxima: Floats = np.maximum.reduceat(scores, self.starts)
        return maxima

    def witnesses(self, scores: Floats) -> Indices:
        """Return the first best instance of every bag (the paper's support instance)."""
        best = np.repeat(self.bag_maxima(scores), self.sizes)
        hits = np.flatnonzero(scores == best)
        return hits[np.searchsorted(hits, self.starts)]

    def losses(self, c: int, scores: Floats) -> Floats:
        """Return the hinge loss of every bag for class ``c``; zero where the label is unknown."""
        y = self.status[:, c]
        hinge: Floats = np.maximum(0.0, 1.0 - y * self.bag_maxima(scores)) * (y != 0)
        return hinge

    def value(self, c: int, scores: Floats, squared_norm: float) -> float:
        """Return the objective of class ``c``; ``squared_norm`` is alpha' K alpha."""
        loss = float(self.losses(c, scores).sum())
        return 0.5 * self.lam * squared_norm + self.loss_weight * loss

    def zero_one_errors(self, scores: Floats) -> int:
        """Count the (bag, class) pairs whose best score has the wrong sign (a zero is no error)."""
        maxima = np.maximum.reduceat(scores, self.starts, axis=0)
        return int((self.status * maxima < 0).sum())
