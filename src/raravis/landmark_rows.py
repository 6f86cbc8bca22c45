"""The training Gram matrix of landmark features: never formed, and never needed.

It stands where ``GramRows`` does. With features phi of M landmarks, n of them a column, adding rows
of the Gram matrix to scores is two products with phi, n times M each: time and memory grow with n
and not with its square.
"""

from collections.abc import Iterator
from typing import Any

import numpy as np
from numpy.typing import NDArray

from raravis.kernels import DEFAULT_BUDGET, Kernel, against, row_blocks
from raravis.landmarks import LandmarkChoice, LandmarkMap, choose_landmarks

__all__ = ["LandmarkRows"]

Floats = NDArray[np.floating[Any]]
Indices = NDArray[np.int64]


class LandmarkRows:
    """phi phi' for the landmark features phi of ``X``.

    Examples
    --------
    >>> import numpy as np
    >>> from raravis.kernels import Gaussian
    >>> X = np.array([[0.0], [1.0], [2.0]])
    >>> rows = LandmarkRows.of(Gaussian(0.5), X, 3)
    >>> some = np.array([0, 2])
    >>> bool(np.allclose(rows.between(some, some), Gaussian(0.5).block(X[some], X[some])))
    True
    """

    #: Every row is at hand: classes need not wait for one another.
    complete = True

    def __init__(
        self, features: LandmarkMap, landmarks: Indices, X: Floats, phi: Floats, origin: Indices
    ) -> None:
        self.features = features
        self.landmarks = landmarks
        self.kernel = features.kernel
        self.X = X
        self.phi = phi
        self.origin = origin
        self.n = self.capacity = len(X)

    @classmethod
    def of(
        cls,
        kernel: Kernel,
        X: Floats,
        n_landmarks: int,
        *,
        choice: LandmarkChoice = "uniform",
        seed: int = 0,
        n_jobs: int | None = None,
    ) -> "LandmarkRows":
        """Choose landmarks among the rows of X and compute the features of all of them."""
        rows = choose_landmarks(X, n_landmarks, choice=choice, seed=seed, kernel=kernel)
        features = LandmarkMap.from_landmarks(kernel, np.ascontiguousarray(X[rows]))
        return cls(features, rows, X, features(X, n_jobs=n_jobs), np.arange(len(X)))

    def subset(self, instances: Indices) -> "LandmarkRows":
        """Return some of the instances, with the same landmarks."""
        return LandmarkRows(
            self.features, self.landmarks, self.X[instances], self.phi[instances], instances
        )

    def ensure(self, wanted: Indices) -> None:
        """Do nothing: every row is at hand."""
        del wanted

    def between(self, left: Indices, right: Indices) -> Floats:
        """Return the part of the Gram matrix with these rows and columns."""
        part: Floats = self.phi[left] @ self.phi[right].T
        return part

    def add_rows(self, rows: Indices, amounts: NDArray[np.float64], scores: Floats) -> None:
        """Add ``amounts`` times these rows to ``scores`` in place."""
        direction = amounts.astype(self.phi.dtype) @ self.phi[rows]
        scores += self.phi @ direction

    def blocks(self, chosen: Indices) -> Iterator[tuple[slice, Floats]]:
        """Yield the kernel of the chosen instances against all, a few columns at a time.

        It is the kernel itself: where a descent starts need not be approximate, and this is faster.
        """
        block = against(self.kernel, self.X[chosen])
        for part in row_blocks(self.n, len(chosen), self.X.dtype.itemsize, DEFAULT_BUDGET):
            yield part, block(self.X[part]).T

    def times(self, W: Floats) -> Floats:
        """Return the Gram matrix times a matrix with a row per instance."""
        return np.asarray(self.phi @ (self.phi.T @ W), dtype=np.float64)

    def on_landmarks(self, weights: NDArray[np.float64]) -> NDArray[np.float64]:
        """Turn weights of instances into those of the landmarks that give the same function."""
        found: NDArray[np.float64] = self.features.whitening @ (self.phi.T @ weights)
        return found
