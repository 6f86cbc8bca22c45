"""Where a descent begins: scores of every training instance for every class."""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from raravis.gram import GramRows
from raravis.landmark_rows import LandmarkRows
from raravis.objectives import MaxHinge

__all__ = ["contrast_scores", "random_scores"]

Floats = NDArray[np.floating[Any]]
Indices = NDArray[np.int64]

#: Up to this many instances the contrast is exact; above, bags are drawn until they hold so many.
_MAX_CONTRAST = 4096
#: Bags of its own that even the rarest class contributes to the estimate.
_MIN_PER_CLASS = 16


def contrast_scores(objective: MaxHinge, rows: GramRows | LandmarkRows, *, seed: int = 0) -> Floats:
    """Return how much better an instance is matched in a class's bags than in other bags.

    The match of an instance in a bag is its largest kernel value there. The score is the mean
    match over the *other* bags of the class minus the mean match over the *other* bags without it:
    an instance is no evidence for itself, nor is its neighbour by the same singer. It needs no
    restarts, and starts closer to good minima than random weights or the contrast of kernel means
    do: a class is confused less often with one that merely keeps it company.
    """
    from raravis._loops import group_maxima

    chosen = _chosen_bags(objective, seed)
    members, starts = _instances_of(objective, chosen)
    bounds = np.append(starts, len(members))
    status = _comparable(objective.status[chosen], objective.sizes[chosen])
    indicators = np.hstack([status > 0, status < 0]).astype(np.float64)
    counts = indicators.sum(axis=0)
    own = np.full(len(objective.starts), -1)
    own[chosen] = np.arange(len(chosen))
    own = np.repeat(own, objective.sizes)
    scores = np.empty((rows.n, objective.n_classes))
    for part, K in rows.blocks(members):
        match = group_maxima(K, bounds).T
        scores[part] = _mean_difference(match, indicators, counts, own[part])
    return scores


def _comparable(status: NDArray[np.int8], sizes: Indices) -> NDArray[np.int8]:
    """Leave bags of one out of account where larger bags tell a class from the others.

    Any instance finds a better match among ten than in one. So where many bags of one are added
    on one side only, as decided instances are, everything common looks like the other side.
    """
    larger = status[sizes > 1]
    told = (larger > 0).any(axis=0) & (larger < 0).any(axis=0)
    compared: NDArray[np.int8] = np.where((sizes == 1)[:, None] & told, 0, status)
    return compared


def _mean_difference(match: Floats, indicators: Floats, counts: Floats, own: Indices) -> Floats:
    """Mean match over bags with each class minus bags without, an instance's own bag left out."""
    at = np.flatnonzero(own >= 0)
    apart = np.zeros((len(match), len(counts)))
    apart[at] = indicators[own[at]]
    match = match.copy()
    match[at, own[at]] = 0.0
    means = (match @ indicators) / np.maximum(1.0, counts - apart)
    n_classes = len(counts) // 2
    difference: Floats = means[:, :n_classes] - means[:, n_classes:]
    return difference


def _chosen_bags(objective: MaxHinge, seed: int) -> Indices:
    """All bags, or a random part that still knows every class."""
    n_bags = len(objective.starts)
    if objective.n_instances <= _MAX_CONTRAST:
        return np.arange(n_bags)
    order = np.random.default_rng(seed).permutation(n_bags)
    keep = np.zeros(n_bags, dtype=bool)
    keep[order[np.cumsum(objective.sizes[order]) <= _MAX_CONTRAST]] = True
    for c in np.flatnonzero((objective.status[keep] > 0).sum(axis=0) < _MIN_PER_CLASS):
        own = order[objective.status[order, c] > 0]
        keep[own[:_MIN_PER_CLASS]] = True
    return np.flatnonzero(keep)


def _instances_of(objective: MaxHinge, bags: Indices) -> tuple[Indices, Indices]:
    """Return the instances of some bags, and where each bag begins among them."""
    sizes = objective.sizes[bags]
    starts = np.cumsum(sizes) - sizes
    first = np.repeat(objective.starts[bags] - starts, sizes)
    return first + np.arange(sizes.sum()), starts


def random_scores(objective: MaxHinge, rows: GramRows | LandmarkRows, *, seed: int = 0) -> Floats:
    """Return the scores of random weights of unit norm, as the paper starts."""
    weights = np.empty((rows.n, objective.n_classes))
    for c in range(objective.n_classes):
        draw = np.random.default_rng([seed, c]).standard_normal(rows.n)
        weights[:, c] = draw / np.linalg.norm(draw)
    return rows.times(weights)
