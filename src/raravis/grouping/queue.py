"""Which bags to review next, so that few of them show every class that nobody has listed."""

from collections.abc import Hashable
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from raravis._metric_inputs import as_numbers
from raravis.bags import Bags, as_bags, positions
from raravis.errors import InputError
from raravis.grouping.embedding import learn_embedding
from raravis.grouping.groups import surely_known, whole

__all__ = ["DiscoveryQueue", "QueuedBag", "discovery_queue"]

FloatArray = NDArray[np.float64]
IntArray = NDArray[np.int64]
BoolArray = NDArray[np.bool_]

#: Neighbours that an instance must have nearby to be no mere outlier.
_NEIGHBOURS = 8
#: Neighbour that says what "nearby" is.
_NEARBY = 5
#: Two instances this many times as far apart as is near have nothing in common.
_FAR = 9.0


@dataclass(frozen=True, slots=True)
class QueuedBag:
    """A bag to review, and why.

    Parameters
    ----------
    bag : int
        Its position.
    key : hashable
        Its name.
    instance : int
        The instance that recommends it most: its position among all instances.
    novelty : float
        Of that instance, from 0 to 1.
    crowding : float
        From 0 for an outlier to 1 for an instance with others like it nearby.
    newness : float
        From 0 if something like it was reviewed, or stands earlier in the queue, to 1.
    reason : str
        These, as a sentence.
    """

    bag: int
    key: Hashable
    instance: int
    novelty: float
    crowding: float
    newness: float
    reason: str


@dataclass(frozen=True, slots=True, eq=False)
class DiscoveryQueue:
    """Bags in the order in which to review them.

    Parameters
    ----------
    entries : tuple of QueuedBag
    """

    entries: tuple[QueuedBag, ...]

    @property
    def order(self) -> IntArray:
        """Positions of the bags."""
        return np.array([entry.bag for entry in self.entries], dtype=np.int64)

    def __len__(self) -> int:
        return len(self.entries)


def discovery_queue(
    model: Any,
    X: Any,
    *,
    novelty: ArrayLike | None = None,
    reviewed: ArrayLike | None = None,
    batch_size: int = 20,
    limit: int = 10_000,
) -> DiscoveryQueue:
    """Order bags so that an expert meets many classes that nobody has listed in few bags.

    Bags are chosen one after the other. A bag is as good as its best instance, and an instance is
    good if it is novel, if others like it are nearby, so that it is no mere outlier, and if it is
    unlike everything in the bags reviewed or chosen before: a batch is as diverse as a queue.

    Parameters
    ----------
    model : fitted estimator of raravis
    X : Bags, list of 2-D arrays, or 2-D array (one bag a row)
        All bags, reviewed ones included.
    novelty : array-like of shape (n_instances,), optional
        From 0 to 1, high = novel. By default the probability that the model gives, or, if it gives
        none, the share of instances that score higher.
    reviewed : array of int or mask of bool, optional
        The bags that were reviewed already; they are not queued again.
    batch_size : int
        Bags to queue. There are fewer if no more have instances. To go on, pass these as reviewed.
    limit : int
        Of more instances than this, only the most novel recommend a bag.

    Returns
    -------
    DiscoveryQueue

    Examples
    --------
    >>> from raravis import KernelScorer
    >>> from raravis.datasets import load_digit_bags
    >>> data = load_digit_bags(known=[0, 1, 2, 4, 5, 6, 7], n_bags=60, seed=0)
    >>> model = KernelScorer().fit(data.bags, data.labels)
    >>> queue = discovery_queue(model, data.bags, batch_size=3)
    >>> sorted({int(data.instance_labels[entry.instance]) for entry in queue.entries})
    [3, 8, 9]
    """
    bags = as_bags(X, n_features=model.n_features_in_, what=type(model).__name__)
    batch_size, limit = whole("batch_size", batch_size, 1), whole("limit", limit, 1)
    scores = np.asarray(model.score_samples(bags), dtype=np.float64)
    values = _novelty(model, bags, scores) if novelty is None else _shares(novelty, bags)
    done = np.zeros(bags.n_bags, dtype=bool)
    if reviewed is not None:
        done[positions(reviewed, bags.n_bags)] = True
    rows = np.sort(np.argsort(-values, kind="stable")[:limit])
    if not len(rows) or not (~done[bags.bag_index]).any():
        return DiscoveryQueue(())
    points = _embedded(model, bags, scores)
    by_probability = novelty is None and hasattr(model, "posterior")
    weights = _capped(values) if by_probability else values
    return DiscoveryQueue(_chosen(bags, points, rows, values, weights, done, batch_size))


def _chosen(
    bags: Bags,
    points: FloatArray,
    rows: IntArray,
    values: FloatArray,
    weights: FloatArray,
    done: BoolArray,
    batch_size: int,
) -> tuple[QueuedBag, ...]:
    """Choose bags one by one, the best first."""
    candidates, bag_of = points[rows], bags.bag_index[rows]
    scale, crowding = _crowding(candidates)
    # Squared, for doubtful instances are many and would decide by their number.
    worth = weights[rows] ** 2 * crowding
    # Equals are told apart by where they lie, not by the order in which bags are passed.
    rank = np.argsort(np.lexsort(np.round(candidates, 6).T[::-1]))
    distance = np.full(len(rows), np.inf)
    for seen in np.flatnonzero(done).tolist():
        distance = np.minimum(distance, _to_bag(candidates, points, bags, seen))
    left, entries = ~done[bag_of], list[QueuedBag]()
    while len(entries) < batch_size and left.any():
        newness = -np.expm1(-(np.minimum(distance / scale, _FAR) ** 2) / 2)
        gain = np.where(left, np.round(worth * newness, 9), -1.0)
        best = np.flatnonzero(gain == gain.max())
        i = int(best[rank[best].argmin()])
        bag = int(bag_of[i])
        entries.append(_entry(bags, int(rows[i]), values[rows[i]], crowding[i], newness[i]))
        left &= bag_of != bag
        distance = np.minimum(distance, _to_bag(candidates, points, bags, bag))
    return tuple(entries)


def _capped(values: FloatArray) -> FloatArray:
    """Return probabilities of novel as shares of their mean, at most 1.

    A model is surest of the unlisted classes that are common, less so of rare ones. All of them are
    to be met, so beyond the mean it is for newness to decide.
    """
    return np.minimum(values / max(float(values.mean()), np.finfo(float).tiny), 1.0)


def _entry(bags: Bags, row: int, novelty: float, crowding: float, newness: float) -> QueuedBag:
    bag = int(bags.bag_index[row])
    nearby = "with others like it" if crowding >= 0.5 else "with little like it"
    new = "new" if newness >= 0.5 else "much like some seen before"
    reason = f"holds an instance of novelty {novelty:.2f}, {nearby}, {new}"
    return QueuedBag(
        bag, bags.keys[bag], row, float(novelty), float(crowding), float(newness), reason
    )


def _crowding(points: FloatArray) -> tuple[float, FloatArray]:
    """Return how far apart is near, and how near each point's neighbours are (1 = near)."""
    from sklearn.neighbors import NearestNeighbors

    k = min(_NEIGHBOURS, len(points) - 1)
    if k < 1:
        return 1.0, np.ones(len(points))
    distances, _ = NearestNeighbors(n_neighbors=k + 1).fit(points).kneighbors(points)
    positive = distances[distances > 0]
    scale = float(np.median(distances[:, min(_NEARBY, k)])) or float(
        np.median(positive) if len(positive) else 1.0
    )
    return scale, scale / np.maximum(distances[:, k], scale)


def _to_bag(candidates: FloatArray, points: FloatArray, bags: Bags, bag: int) -> Any:
    """Return the distance of each candidate to the nearest instance of a bag."""
    from scipy.spatial.distance import cdist

    start, stop = bags.offsets[bag], bags.offsets[bag + 1]
    if start == stop:
        return np.inf
    return cdist(candidates, points[start:stop]).min(axis=1)


def _embedded(model: Any, bags: Bags, scores: FloatArray) -> FloatArray:
    """Place all instances where classes lie apart."""
    X = bags.instances.astype(np.float64, copy=False)
    novel = model.predict(bags) < 0
    rows = np.flatnonzero(novel) if novel.any() else np.arange(len(X))
    sure = surely_known(~novel, scores)
    classes = np.asarray(model.class_scores(bags))[sure].argmax(axis=1).tolist()
    return learn_embedding(X[rows], X[sure], classes)(X)


def _novelty(model: Any, bags: Bags, scores: FloatArray) -> FloatArray:
    """Return the probability of novel, or the share of instances that score higher."""
    if hasattr(model, "posterior"):
        return np.asarray(model.posterior(bags), dtype=np.float64)[:, 0]
    from scipy.stats import rankdata

    ranks = np.asarray(rankdata(scores), dtype=np.float64)
    return 1.0 - (ranks - 0.5) / max(1, len(scores))


def _shares(novelty: ArrayLike, bags: Bags) -> FloatArray:
    values = as_numbers(novelty, "novelty")
    if len(values) != bags.n_instances or (len(values) and not _within(values)):
        raise InputError(
            f"novelty has {len(values)} values for {bags.n_instances} instances; pass one from 0 "
            "to 1 for each, such as the probability of being novel."
        )
    return values


def _within(values: FloatArray) -> bool:
    return bool(values.min() >= 0.0 and values.max() <= 1.0)
