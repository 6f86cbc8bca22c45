"""The AUC as a function of weights on the bags, and its resampling over bags."""

from dataclasses import dataclass
from typing import Self

import numpy as np
import numpy.typing as npt

__all__ = ["Pairing", "resampled_aucs"]

FloatArray = npt.NDArray[np.float64]
BoolArray = npt.NDArray[np.bool_]
IntArray = npt.NDArray[np.int64]

# Elements of the largest temporary: 8 MiB of float64, small enough to stay near the cache.
_BLOCK_ELEMENTS = 1 << 20


@dataclass(frozen=True, slots=True, eq=False)
class Pairing:
    """Where the known scores fall among the sorted novel ones.

    Found once by sorting. After that the AUC under any weights on the bags takes time linear in
    the number of instances: a running sum over novel weights, read at two positions for each known
    instance (below its score, and up to it: ties count half).
    """

    known_bag: IntArray
    novel_bag: IntArray
    below: IntArray
    up_to: IntArray

    @classmethod
    def of(cls, known: BoolArray, scores: FloatArray, bags: IntArray) -> Self:
        """Sort the novel scores and place the known ones among them."""
        order = np.argsort(scores[~known], kind="stable")
        novel = scores[~known][order]
        below = np.searchsorted(novel, scores[known], side="left")
        up_to = np.searchsorted(novel, scores[known], side="right")
        return cls(bags[known], bags[~known][order], below, up_to)

    @property
    def n_instances(self) -> int:
        """Known and novel instances together."""
        return len(self.known_bag) + len(self.novel_bag)

    def auc(self, weights: FloatArray) -> FloatArray:
        """AUC under each column of weights (n_bags, k); NaN where a kind has no weight."""
        known = weights[self.known_bag]
        novel = np.zeros((len(self.novel_bag) + 1, weights.shape[1]))
        np.cumsum(weights[self.novel_bag], axis=0, out=novel[1:])
        won = np.einsum("ik,ik->k", known, novel[self.below])
        won += np.einsum("ik,ik->k", known, novel[self.up_to])
        pairs = known.sum(axis=0) * novel[-1]
        share: FloatArray = np.full(len(won), np.nan)
        np.divide(won, 2 * pairs, out=share, where=pairs > 0)
        return share


def resampled_aucs(
    pairings: list[Pairing], *, n_bags: int, n_resamples: int, seed: int
) -> tuple[FloatArray, int]:
    """AUCs (n_pairings, n_resamples) over redrawn bags, and how many draws were of one kind."""
    rng = np.random.default_rng(seed)
    block = max(1, min(n_resamples, _BLOCK_ELEMENTS // pairings[0].n_instances))
    kept: list[FloatArray] = []
    n_kept = n_drawn = 0
    # Two bags suffice for both kinds, so about two draws in five or more are usable: this ends.
    while n_kept < n_resamples:
        weights = _multiplicities(n_bags, block, rng)
        values = np.stack([pairing.auc(weights) for pairing in pairings])
        usable = np.flatnonzero(np.isfinite(values[0]))[: n_resamples - n_kept]
        kept.append(values[:, usable])
        n_kept += len(usable)
        n_drawn += block if n_kept < n_resamples else int(usable[-1]) + 1
    return np.concatenate(kept, axis=1), n_drawn - n_resamples


def _multiplicities(n_bags: int, n_draws: int, rng: np.random.Generator) -> FloatArray:
    """How often each bag occurs in each draw of n_bags bags with replacement: (n_bags, n_draws)."""
    picks = rng.integers(n_bags, size=(n_draws, n_bags))
    cells = picks + n_bags * np.arange(n_draws)[:, None]
    counts = np.bincount(cells.ravel(), minlength=n_draws * n_bags)
    return np.ascontiguousarray(counts.reshape(n_draws, n_bags).T, dtype=np.float64)
