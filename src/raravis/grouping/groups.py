"""Novel instances into groups that may each be one new class."""

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from raravis._checks import real_matrix
from raravis.bags import Bags, as_bags
from raravis.errors import InputError
from raravis.grouping.embedding import Embedding, learn_embedding

__all__ = ["Group", "Grouping", "group_instances", "group_novel"]

FloatArray = NDArray[np.float64]
IntArray = NDArray[np.int64]
BoolArray = NDArray[np.bool_]

#: The smallest group is this share of the instances, within these limits.
_SHARE, _FEWEST, _MOST = 0.04, 4, 10
#: Neighbours that make a place dense.
_MIN_SAMPLES = 5
#: Rows of a block of distances.
_BLOCK = 1024


@dataclass(frozen=True, slots=True, eq=False)
class Group:
    """Instances that resemble each other: perhaps one new class.

    Parameters
    ----------
    members : ndarray of int
        Positions of instances, the most typical first.
    medoid : int
        The member with the smallest mean distance to the others: the first.
    """

    members: IntArray
    medoid: int

    @property
    def size(self) -> int:
        """Number of members."""
        return len(self.members)

    def typical(self, n: int = 5) -> IntArray:
        """Return the n most typical members."""
        return self.members[:n]


@dataclass(frozen=True, slots=True, eq=False)
class Grouping:
    """Candidate new classes, and the group of each instance.

    Parameters
    ----------
    labels : ndarray of int of shape (n_instances,)
        Position in ``groups``; -1 for an instance of no group.
    groups : tuple of Group
        The largest first.
    considered : ndarray of bool of shape (n_instances,)
        Which instances could have come into a group: the novel ones.
    """

    labels: IntArray
    groups: tuple[Group, ...]
    considered: BoolArray

    def __len__(self) -> int:
        return len(self.groups)

    @property
    def ungrouped(self) -> IntArray:
        """Positions of the instances considered that are in no group."""
        return np.flatnonzero(self.considered & (self.labels < 0))


def group_novel(
    model: Any,
    X: Any,
    *,
    novel: ArrayLike | None = None,
    min_size: int | None = None,
    n_components: int = 20,
    limit: int = 10_000,
) -> Grouping:
    """Group the novel instances of bags into candidate new classes.

    Distances are learned from what the model takes for known: directions in which instances of one
    known class differ from each other count less.

    Parameters
    ----------
    model : fitted estimator of raravis
    X : Bags, list of 2-D arrays, or 2-D array (one bag a row)
    novel : array-like of bool of shape (n_instances,), optional
        Which instances to group; by default those that the model calls novel.
    min_size : int, optional
        Instances that make a group, at least 2; by default 4% of the novel ones, but 4 to 10.
    n_components : int
        Dimensions in which distances are measured.
    limit : int
        Of more novel instances than this, only the most novel are grouped.

    Returns
    -------
    Grouping
        Positions count the instances of ``X``, bag after bag.

    Examples
    --------
    >>> from raravis import KernelScorer
    >>> from raravis.datasets import load_digit_bags
    >>> data = load_digit_bags(known=[0, 1, 2, 4, 5, 6, 7, 9], n_bags=100, seed=0)
    >>> model = KernelScorer().fit(data.bags, data.labels)
    >>> found = group_novel(model, data.bags)
    >>> int(data.instance_labels[found.groups[0].medoid])
    3
    """
    bags = as_bags(X, n_features=model.n_features_in_, what=type(model).__name__)
    scores = np.asarray(model.score_samples(bags), dtype=np.float64)
    chosen = model.predict(bags) < 0 if novel is None else _mask(novel, bags.n_instances)
    rows = _most_novel(np.flatnonzero(chosen), scores, bags.instances, limit)
    embedding = _model_embedding(model, bags, rows, ~chosen, scores, n_components)
    found = group_instances(bags.instances[rows], embedding=embedding, min_size=min_size)
    return _placed(found, rows, bags.n_instances)


def group_instances(
    X: ArrayLike,
    *,
    embedding: Any = None,
    min_size: int | None = None,
) -> Grouping:
    """Group instances by density: HDBSCAN, the finest groups that hold together.

    The answer does not depend on the order of the rows, and equal rows come into the same group.

    Parameters
    ----------
    X : array-like of shape (n, n_features)
    embedding : function, optional
        From distinct rows of X to the coordinates in which distances are measured; by default X
        itself.
    min_size : int, optional
        As for :func:`group_novel`.

    Examples
    --------
    >>> found = group_instances([[0.0], [0.1], [0.2], [5.0], [5.1], [5.2], [99.0]], min_size=3)
    >>> found.labels
    array([ 0,  0,  0,  1,  1,  1, -1])
    >>> [group.medoid for group in found.groups]
    [1, 4]
    """
    rows = real_matrix(X, "X").astype(np.float64)
    n = len(rows)
    smallest = int(np.clip(_SHARE * n, _FEWEST, _MOST)) if min_size is None else min_size
    smallest = whole("min_size", smallest, 2)
    everything = np.ones(n, dtype=bool)
    if n < smallest:
        return Grouping(np.full(n, -1), (), everything)
    # Distinct rows come sorted: whatever follows is computed in an order of its own.
    distinct, place = np.unique(rows, axis=0, return_inverse=True)
    place = place.ravel()
    points = distinct if embedding is None else np.asarray(embedding(distinct), dtype=np.float64)
    order = np.argsort(place, kind="stable")
    of_sorted = place[order]
    labels = _clusters(points[of_sorted], smallest)
    # Equal rows are told apart by nothing but chance: all go with the first of them.
    first = np.searchsorted(of_sorted, np.arange(len(distinct)))
    return _described(labels[first][place], points, place, everything)


def _model_embedding(
    model: Any,
    bags: Bags,
    rows: IntArray,
    others: BoolArray,
    scores: FloatArray,
    n_components: int,
) -> Embedding | None:
    """Learn distances from the better half of the instances that are not grouped."""
    n_components = whole("n_components", n_components, 1)
    if not len(rows):
        return None
    sure = surely_known(others, scores)
    classes = np.asarray(model.class_scores(bags))[sure].argmax(axis=1).tolist()
    X = bags.instances.astype(np.float64, copy=False)
    return learn_embedding(X[rows], X[sure], classes, n_components=n_components)


def _clusters(points: FloatArray, min_size: int) -> IntArray:
    """Return the cluster of each point, -1 for none; if nothing splits, one cluster at most."""
    from sklearn.cluster import HDBSCAN

    options = {
        "min_cluster_size": min_size,
        "min_samples": min(min_size, _MIN_SAMPLES),
        "copy": True,
    }
    labels = HDBSCAN(cluster_selection_method="leaf", **options).fit_predict(points)
    if labels.max() < 0:
        labels = HDBSCAN(allow_single_cluster=True, **options).fit_predict(points)
    return np.asarray(labels, dtype=np.int64)


def _described(
    labels: IntArray, points: FloatArray, place: IntArray, considered: BoolArray
) -> Grouping:
    """Order groups by size and members by how typical they are; equals by their coordinates."""
    groups = []
    for label in range(int(labels.max()) + 1):
        members = np.flatnonzero(labels == label)
        # In the order of the distinct rows, and so of nothing that the caller's order decides.
        members = members[np.argsort(place[members], kind="stable")]
        distances = _total_distances(points[place[members]])
        typical = members[np.argsort(distances, kind="stable")]
        groups.append(Group(typical, int(typical[0])))
    groups.sort(key=lambda group: (-group.size, place[group.medoid]))
    ordered = np.full(len(labels), -1)
    for position, group in enumerate(groups):
        ordered[group.members] = position
    return Grouping(ordered, tuple(groups), considered)


def _total_distances(points: FloatArray) -> FloatArray:
    """Return the sum of distances of each point to all others."""
    from scipy.spatial.distance import cdist

    blocks = (points[start : start + _BLOCK] for start in range(0, len(points), _BLOCK))
    sums = np.concatenate([cdist(block, points).sum(axis=1) for block in blocks])
    # Rounded, so that what is equal but for the last bits is equal.
    return np.round(sums, 9)


def _placed(found: Grouping, rows: IntArray, n: int) -> Grouping:
    """Return a grouping of some rows as one of all instances."""
    labels, considered = np.full(n, -1), np.zeros(n, dtype=bool)
    labels[rows], considered[rows] = found.labels, True
    groups = tuple(Group(rows[g.members], int(rows[g.medoid])) for g in found.groups)
    return Grouping(labels, groups, considered)


def _most_novel(rows: IntArray, scores: FloatArray, X: Any, limit: int) -> IntArray:
    """Return at most ``limit`` rows with the lowest scores; equals by their features."""
    if len(rows) <= whole("limit", limit, 1):
        return rows
    order = np.lexsort((*X[rows].T[::-1], scores[rows]))
    return np.sort(rows[order[:limit]])


def surely_known(others: BoolArray, scores: FloatArray) -> IntArray:
    rows = np.flatnonzero(others & np.isfinite(scores))
    return rows[scores[rows] >= np.median(scores[rows])] if len(rows) else rows


def _mask(novel: ArrayLike, n: int) -> BoolArray:
    array = np.asarray(novel)
    if array.shape != (n,) or array.dtype != bool:
        raise InputError(
            f"novel has shape {array.shape} and dtype {array.dtype}; pass one bool for each of "
            f"the {n} instances, True for novel."
        )
    return array


def whole(name: str, value: Any, at_least: int) -> int:
    if not isinstance(value, (int, np.integer)) or isinstance(value, bool) or value < at_least:
        raise InputError(f"{name} is {value!r}; pass a whole number, at least {at_least}.")
    return int(value)
