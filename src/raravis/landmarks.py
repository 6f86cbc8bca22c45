"""Landmark (Nystrom) features: vectors whose inner products are the kernel's, near the landmarks.

With landmarks Z and the Cholesky factor L of k(Z, Z) the features of x are k(x, Z) L^-T: exact for
the landmarks themselves, a projection for the rest. With every instance a landmark, a model linear
in the features is the full kernel model.
"""

from dataclasses import dataclass
from functools import cached_property
from typing import Any, Literal, get_args

import numpy as np
from numpy.typing import NDArray

from raravis._threads import map_in_threads, one_blas_thread
from raravis.errors import InputError
from raravis.kernels import DEFAULT_BUDGET, Kernel, against, row_blocks

__all__ = ["LandmarkChoice", "LandmarkMap", "choose_landmarks"]

Floats = NDArray[np.floating[Any]]
Doubles = NDArray[np.float64]
Indices = NDArray[np.int64]
LandmarkChoice = Literal["uniform", "kmeans++", "leverage"]

#: Added to the diagonal, times its mean: what rounding of the kernel in each precision hides.
_JITTER = {np.dtype(np.float32): 1e-6, np.dtype(np.float64): 1e-10}
#: Beyond that, what has no Cholesky factor is no kernel.
_MOST_JITTER = 1e-3
#: The choices that compare look at this many instances, or this many times the landmarks if more.
_CANDIDATES, _CANDIDATES_A_LANDMARK = 4096, 4


@dataclass(frozen=True)
class LandmarkMap:
    """Features of a kernel from landmarks.

    Examples
    --------
    >>> import numpy as np
    >>> from raravis.kernels import Gaussian
    >>> X = np.array([[0.0], [1.0], [2.0]])
    >>> features = LandmarkMap.from_landmarks(Gaussian(0.5), X)(X)
    >>> bool(np.allclose(features @ features.T, Gaussian(0.5).block(X, X)))
    True
    """

    kernel: Kernel
    landmarks: Floats
    whitening: Doubles

    @classmethod
    def from_landmarks(cls, kernel: Kernel, landmarks: Floats) -> "LandmarkMap":
        """Factorise the kernel matrix of the landmarks."""
        Z = landmarks.astype(np.float64, copy=False)
        K = np.asarray(kernel.block(Z, Z), dtype=np.float64)
        return cls(kernel, landmarks, _whitening(K, _JITTER[landmarks.dtype]))

    @property
    def n_features(self) -> int:
        """Number of features: one a landmark."""
        return len(self.landmarks)

    @cached_property
    def _narrow(self) -> Floats:
        return self.whitening.astype(self.landmarks.dtype, copy=False)

    def __call__(
        self, X: Floats, *, budget: int = DEFAULT_BUDGET, n_jobs: int | None = None
    ) -> Floats:
        """Return the features of every row of X, in the precision of the landmarks."""
        X = X.astype(self.landmarks.dtype, copy=False)
        out = np.empty((len(X), self.n_features), dtype=X.dtype)
        block = against(self.kernel, self.landmarks)
        parts = list(row_blocks(len(X), self.n_features, X.dtype.itemsize, budget))

        def fill(i: int) -> None:
            np.matmul(block(X[parts[i]]), self._narrow, out=out[parts[i]])

        with one_blas_thread():
            map_in_threads(fill, len(parts), n_jobs=n_jobs)
        return out


def choose_landmarks(
    X: Floats,
    n_landmarks: int,
    *,
    choice: LandmarkChoice = "uniform",
    seed: int = 0,
    kernel: Kernel | None = None,
) -> Indices:
    """Return the rows of X that become landmarks, in ascending order; all of them if they are few.

    "uniform" draws without replacement. "kmeans++" draws each next one with a probability in
    proportion to the squared distance from those already chosen, so that rare kinds are met.
    "leverage" draws in proportion to (estimated) ridge leverage scores under ``kernel``: to how
    little of an instance's features the others can stand for.

    Examples
    --------
    >>> import numpy as np
    >>> X = np.array([[0.0], [0.0], [0.0], [5.0]])
    >>> bool(3 in choose_landmarks(X, 2, choice="kmeans++"))
    True
    """
    if choice not in get_args(LandmarkChoice):
        raise InputError(
            f"landmarks are to be chosen by {choice!r}; pass one of "
            f"{', '.join(get_args(LandmarkChoice))}."
        )
    if len(X) <= n_landmarks:
        return np.arange(len(X))
    rng = np.random.default_rng(seed)
    if choice == "uniform":
        return np.sort(rng.choice(len(X), n_landmarks, replace=False))
    if choice == "leverage":
        if kernel is None:
            raise InputError("landmarks chosen by 'leverage' depend on the kernel; pass kernel=.")
        return np.sort(_hard_to_replace(X, n_landmarks, kernel, rng))
    return np.sort(_spread_out(X, n_landmarks, rng))


def _hard_to_replace(
    X: Floats, n_landmarks: int, kernel: Kernel, rng: np.random.Generator
) -> Indices:
    """Draw by leverage, estimated from features of landmarks drawn before."""
    rows = _candidates(len(X), n_landmarks, rng)
    pilot = rng.choice(rows, n_landmarks, replace=False)
    phi = LandmarkMap.from_landmarks(kernel, X[pilot].astype(np.float64))(X[rows])
    strength, axes = np.linalg.eigh(phi.T @ phi)
    # Half of the directions count fully, the weaker ones less and less.
    ridge = max(float(strength[len(strength) // 2]), 1e-12)
    leverage = (np.square(phi @ axes) / (np.maximum(strength, 0.0) + ridge)).sum(axis=1)
    # What the first landmarks miss altogether is as hard to replace as can be.
    missed = np.maximum(kernel.diagonal(X[rows]) - np.square(phi).sum(axis=1), 0.0) / ridge
    weights = np.minimum(leverage + missed, 1.0) + 1e-12
    return rng.choice(rows, n_landmarks, replace=False, p=weights / weights.sum())


def _candidates(n: int, n_landmarks: int, rng: np.random.Generator) -> Indices:
    n_candidates = min(n, max(_CANDIDATES, _CANDIDATES_A_LANDMARK * n_landmarks))
    return rng.choice(n, n_candidates, replace=False)


def _spread_out(X: Floats, n_landmarks: int, rng: np.random.Generator) -> Indices:
    rows = _candidates(len(X), n_landmarks, rng)
    candidates = X[rows].astype(np.float64)
    chosen = [int(rng.integers(len(rows)))]
    nearest = np.full(len(rows), np.inf)
    for _ in range(n_landmarks - 1):
        difference = candidates - candidates[chosen[-1]]
        np.minimum(nearest, np.einsum("ij,ij->i", difference, difference), out=nearest)
        nearest[chosen[-1]] = 0.0
        chosen.append(_draw(nearest, chosen, rng))
    return rows[chosen]


def _draw(weights: Doubles, chosen: list[int], rng: np.random.Generator) -> int:
    total = np.cumsum(weights)
    if total[-1] <= 0.0:  # what is left are duplicates of landmarks
        left = np.setdiff1d(np.arange(len(weights)), chosen)
        return int(left[0])
    return int(np.searchsorted(total, rng.random() * total[-1], side="right"))


def _whitening(K: Doubles, jitter: float) -> Doubles:
    """Return L^-T for the Cholesky factor L of K, its diagonal raised until there is one."""
    from scipy.linalg import LinAlgError, cholesky, solve_triangular

    scale = float(np.mean(np.diagonal(K)))
    scale = scale if scale > 0 else 1.0
    with one_blas_thread():
        while True:
            raised = K + jitter * scale * np.eye(len(K))
            try:
                factor = cholesky(raised, lower=True)
            except LinAlgError:
                if jitter > _MOST_JITTER:
                    raise InputError(
                        "the kernel matrix of the landmarks is not positive semi-definite; use a "
                        "kernel that is, such as 'gaussian'."
                    ) from None
                jitter *= 100
                continue
            inverse = solve_triangular(factor, np.eye(len(K)), lower=True)
            return np.ascontiguousarray(inverse.T)
