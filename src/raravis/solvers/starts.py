"""Where a descent begins: scores of every training instance for every class."""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from raravis.gram import GramRows
from raravis.objectives import MaxHinge

__all__ = ["contrast_scores", "random_scores"]

Floats = NDArray[np.floating[Any]]

#: Up to this many instances the contrast is exact; above, it is estimated from so many.
_MAX_CONTRAST = 4096
#: Instances of its own bags that even the rarest class contributes to the estimate.
_MIN_PER_CLASS = 16


def contrast_scores(objective: MaxHinge, rows: GramRows, *, seed: int = 0) -> Floats:
    """Return the contrast of kernel means: mean similarity to positive bags minus to negative ones.

    It needs no restarts, and starts closer to the good minima than random weights do.
    """
    member = np.repeat(objective.status, objective.sizes, axis=0)
    if rows.n > _MAX_CONTRAST:
        member = _thinned(member, seed)
    weights = np.zeros(member.shape)
    for sign in (1, -1):
        chosen = member == sign
        weights += sign * chosen / np.maximum(1, chosen.sum(axis=0))
    return rows.times(weights)


def _thinned(member: NDArray[np.int8], seed: int) -> NDArray[np.int8]:
    """Zero all but a random subset of instances that still knows every class."""
    order = np.random.default_rng(seed).permutation(len(member))
    keep = np.zeros(len(member), dtype=bool)
    keep[order[:_MAX_CONTRAST]] = True
    for c in np.flatnonzero((member[keep] > 0).sum(axis=0) < _MIN_PER_CLASS):
        own = order[member[order, c] > 0]
        keep[own[:_MIN_PER_CLASS]] = True
    return np.where(keep[:, None], member, np.int8(0))


def random_scores(objective: MaxHinge, rows: GramRows, *, seed: int = 0) -> Floats:
    """Return the scores of random weights of unit norm, as the paper starts."""
    weights = np.empty((rows.n, objective.n_classes))
    for c in range(objective.n_classes):
        draw = np.random.default_rng([seed, c]).standard_normal(rows.n)
        weights[:, c] = draw / np.linalg.norm(draw)
    return rows.times(weights)
