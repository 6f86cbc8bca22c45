"""What reviewers said of single instances, checked at the door."""

import hashlib
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray

from raravis._metric_inputs import as_kinds, as_numbers, check_equal_length, checked_bags

__all__ = ["Reviews", "one_a_bag"]

FloatArray = NDArray[np.float64]
BoolArray = NDArray[np.bool_]
IntArray = NDArray[np.int64]


@dataclass(frozen=True, slots=True, eq=False)
class Reviews:
    """Reviewed instances, checked; without bags each is a bag of its own."""

    scores: FloatArray
    known: BoolArray
    bags: IntArray

    @classmethod
    def read(cls, scores: ArrayLike, known: ArrayLike, bag_index: ArrayLike | None) -> "Reviews":
        """Check what a caller passes."""
        values, truth = as_numbers(scores, "scores"), as_kinds(known, "known")
        check_equal_length(len(values), "scores", len(truth), "known")
        if bag_index is None:
            return cls(values, truth, np.arange(len(values)))
        bags, _ = checked_bags(bag_index, len(values))
        return cls(values, truth, bags)

    def take(self, which: IntArray) -> "Reviews":
        """Return some of the reviews."""
        return Reviews(self.scores[which], self.known[which], self.bags[which])

    def fingerprint(self) -> str:
        """Return SHA-256 digits of the content."""
        digest = hashlib.sha256()
        for array in (self.scores, self.known, self.bags):
            digest.update(np.ascontiguousarray(array).data)
        return digest.hexdigest()


def one_a_bag(bag_index: ArrayLike, *, seed: int = 0) -> IntArray:
    """Draw one position of each bag at random, so that what is drawn comes from different bags.

    Parameters
    ----------
    bag_index : array-like of shape (n,)
    seed : int

    Returns
    -------
    ndarray of int
        Ascending.

    Examples
    --------
    >>> len(one_a_bag(["a", "b", "a", "a"], seed=0))
    2
    """
    listed = np.asarray(bag_index)
    bags, _ = checked_bags(listed, len(listed))
    order = np.random.default_rng(seed).permutation(len(bags))
    _, first = np.unique(bags[order], return_index=True)
    chosen: IntArray = np.sort(order[first])
    return chosen
