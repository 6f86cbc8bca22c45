"""Bagged extremely randomised trees on soft labels, as an M-step.

Each tree is a multi-output regression on the posterior matrix, grown on a share of the bags. A
training instance is judged only by trees that never saw its bag: other instances of a bag resemble
it and share its labels, so that trees which have seen them repeat the posterior they were given.
"""

from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from raravis._threads import map_in_threads
from raravis.solvers.em import Fit, log_floored

__all__ = ["ForestFitter", "SoftForest", "TreeForest"]

Floats = NDArray[np.floating[Any]]
Singles = NDArray[np.float32]
Doubles = NDArray[np.float64]
Indices = NDArray[np.int64]
Mask = NDArray[np.bool_]

#: Trees whose leaves are summed in one go; sums are then put together in a fixed order.
_TREES_A_PIECE = 10


@dataclass(frozen=True)
class SoftForest:
    """Trees as arrays, one after the other: plain numbers that can be stored.

    Node ``first_node[t]`` is the root of tree t; ``left`` and ``right`` count from there and are -1
    in leaves, where ``leaf`` is the row of ``values``, the class probabilities.
    """

    feature: NDArray[np.int32]
    threshold: Doubles
    left: NDArray[np.int32]
    right: NDArray[np.int32]
    leaf: NDArray[np.int32]
    values: Singles
    first_node: Indices
    floor: float

    @property
    def n_trees(self) -> int:
        """Number of trees."""
        return len(self.first_node)

    def log_probabilities(self, X: Floats, *, n_jobs: int | None = None) -> Doubles:
        """Return the log-probabilities of new instances: means over all trees, floored."""
        everything = np.ones((self.n_trees, len(X)), dtype=bool)
        return log_floored(self.means(X, everything, n_jobs=n_jobs), self.floor)

    def means(self, X: Floats, judges: Mask, *, n_jobs: int | None = None) -> Doubles:
        """Return mean leaf values over the trees that ``judges`` (n_trees, n) allows each row.

        A row that no tree may judge is judged by all.
        """
        from raravis._trees import add_leaves, leaves_of

        narrow = np.ascontiguousarray(X, dtype=np.float32)
        judges = judges | ~judges.any(axis=0)
        n_pieces = -(-self.n_trees // _TREES_A_PIECE)

        def run(piece: int) -> tuple[Doubles, Indices]:
            total = np.zeros((len(X), self.values.shape[1]))
            count = np.zeros(len(X), dtype=np.int64)
            for t in range(piece * _TREES_A_PIECE, min(self.n_trees, (piece + 1) * _TREES_A_PIECE)):
                rows = np.flatnonzero(judges[t])
                ends = leaves_of(narrow[rows], self._nodes, self.first_node[t])
                add_leaves(ends, rows, self.leaf, self.values, total, count)
            return total, count

        parts = map_in_threads(run, n_pieces, n_jobs=n_jobs)
        total = np.sum([part[0] for part in parts], axis=0)
        count = np.sum([part[1] for part in parts], axis=0)
        means: Doubles = total / count[:, None]
        return means

    @property
    def _nodes(self) -> tuple[NDArray[Any], ...]:
        return self.feature, self.threshold, self.left, self.right


@dataclass(frozen=True)
class TreeForest:
    """Extremely randomised trees on soft labels as an M-step.

    Parameters
    ----------
    n_trees : int
    bag_share : float
        Share of the bags that each tree is grown on.
    max_features : float
        Share of the features among which each split chooses.
    min_samples_leaf : int
    floor : float
        Probabilities below are raised to it: no evidence of features is final.
    """

    n_trees: int = 80
    bag_share: float = 0.63
    max_features: float = 1 / 3
    min_samples_leaf: int = 1
    floor: float = 1e-2

    def prepare(
        self, X: Floats, groups: Indices, *, seed: int = 0, n_jobs: int | None = None
    ) -> "ForestFitter":
        """Keep the training instances; bags are dealt to trees anew every round."""
        narrow = np.ascontiguousarray(X, dtype=np.float32)
        return ForestFitter(self, narrow, groups, np.random.SeedSequence(seed), n_jobs)


@dataclass
class ForestFitter:
    """The M-step with the training instances at hand; every fit draws new trees."""

    settings: TreeForest
    X: Singles
    groups: Indices
    seeds: np.random.SeedSequence
    n_jobs: int | None = None
    climbs: bool = field(default=False, init=False)

    def fit(self, Q: Doubles, previous: Fit | None) -> Fit:
        """Grow trees on ``Q``; the training log-probabilities are out of bag."""
        del previous
        settings = self.settings
        [seed] = self.seeds.spawn(1)
        for_bags, for_trees = seed.spawn(2)
        seen = self._deal(np.random.default_rng(for_bags))
        numbers = for_trees.generate_state(settings.n_trees)

        def grow(t: int) -> Any:
            tree = _regressor(settings, int(numbers[t]) % (1 << 31))
            rows = np.flatnonzero(seen[t])
            return tree.fit(self.X[rows], Q[rows], check_input=False).tree_

        trees = map_in_threads(grow, settings.n_trees, n_jobs=self.n_jobs)
        forest = _packed(trees, settings.floor)
        out_of_bag = forest.means(self.X, ~seen, n_jobs=self.n_jobs)
        return Fit(forest, log_floored(out_of_bag, settings.floor))

    def _deal(self, rng: np.random.Generator) -> Mask:
        """Whether each tree sees each instance: whole bags, the same number of them a tree."""
        bags, position = np.unique(self.groups, return_inverse=True)
        n_seen = max(1, round(self.settings.bag_share * len(bags)))
        seen = np.zeros((self.settings.n_trees, len(bags)), dtype=bool)
        for row in seen:
            row[rng.choice(len(bags), n_seen, replace=False)] = True
        return seen[:, position.ravel()]


def _regressor(settings: TreeForest, seed: int) -> Any:
    from sklearn.tree import ExtraTreeRegressor

    return ExtraTreeRegressor(
        max_features=settings.max_features,
        min_samples_leaf=settings.min_samples_leaf,
        random_state=seed,
    )


def _packed(trees: list[Any], floor: float) -> SoftForest:
    """Put scikit-learn's trees one after the other, keeping the values of leaves alone."""
    first_node = np.cumsum([0, *(tree.node_count for tree in trees)])
    left = np.concatenate([tree.children_left for tree in trees]).astype(np.int32)
    is_leaf = left < 0
    leaf = np.where(is_leaf, np.cumsum(is_leaf) - 1, -1)
    values = [
        tree.value[tree.children_left < 0].reshape(-1, tree.n_outputs).astype(np.float32)
        for tree in trees
    ]
    return SoftForest(
        feature=np.concatenate([tree.feature for tree in trees]).astype(np.int32),
        threshold=np.concatenate([tree.threshold for tree in trees]),
        left=left,
        right=np.concatenate([tree.children_right for tree in trees]).astype(np.int32),
        leaf=leaf.astype(np.int32),
        values=np.concatenate(values),
        first_node=first_node[:-1].astype(np.int64),
        floor=floor,
    )
