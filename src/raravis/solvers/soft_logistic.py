"""Multinomial logistic regression on soft labels and landmark features, as an M-step.

Minimises, over one weight vector a class (the last feature is a constant 1),

    - 1/n sum_j sum_c q_jc log p_c(x_j)  +  lam/2 ||W||^2,    p(x) = softmax(phi(x)' W),

with L-BFGS, value and gradient together: two matrix products a step. A round of EM need not end at
the minimum to climb; a few steps from where the last round stood are enough.
"""

from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from raravis.kernels import Kernel, product
from raravis.landmarks import LandmarkChoice, LandmarkMap, choose_landmarks
from raravis.solvers.em import Fit

__all__ = ["KernelLogistic", "LogisticFitter", "SoftLogistic", "log_softmax"]

Floats = NDArray[np.floating[Any]]
Doubles = NDArray[np.float64]
Indices = NDArray[np.int64]


def log_softmax(scores: Floats) -> Doubles:
    """Return the log-probabilities of rows of scores, in place where they are double.

    Examples
    --------
    >>> np.exp(log_softmax(np.array([[0.0, 1000.0]])))
    array([[0., 1.]])
    """
    log_p: Doubles = scores.astype(np.float64, copy=False)
    log_p -= log_p.max(axis=1, keepdims=True)
    log_p -= np.log(np.exp(log_p).sum(axis=1, keepdims=True))
    return log_p


@dataclass(frozen=True)
class SoftLogistic:
    """softmax(k(x, landmarks) @ coefficients + constant)."""

    kernel: Kernel
    landmarks: Floats
    coefficients: Doubles
    constant: Doubles

    def log_probabilities(self, X: Floats, *, n_jobs: int | None = None) -> Doubles:
        """Return the log-probabilities of new instances."""
        X = X.astype(np.float64, copy=False)
        landmarks = self.landmarks.astype(np.float64, copy=False)
        scores = product(self.kernel, X, landmarks, self.coefficients, n_jobs=n_jobs)
        return log_softmax(scores + self.constant)


@dataclass(frozen=True)
class KernelLogistic:
    """Kernel multinomial logistic regression as an M-step.

    Parameters
    ----------
    kernel : Kernel
    lam : float
        Regularisation.
    n_landmarks : int or None
        Landmarks the features are made of; None: every instance (the full kernel).
    landmarks : {"uniform", "kmeans++", "leverage"}
        How they are chosen.
    max_steps : int
        Most L-BFGS steps a round of EM.
    dtype : type
        Precision of features and their products; sums are double.
    """

    kernel: Kernel
    lam: float = 1e-4
    n_landmarks: int | None = 600
    landmarks: LandmarkChoice = "uniform"
    max_steps: int = 5
    dtype: Any = np.float32

    def prepare(
        self, X: Floats, groups: Indices, *, seed: int = 0, n_jobs: int | None = None
    ) -> "LogisticFitter":
        """Choose landmarks among the rows of X, and compute the features of all of them."""
        del groups
        rows = choose_landmarks(
            X, self.n_landmarks or len(X), choice=self.landmarks, seed=seed, kernel=self.kernel
        )
        X = X.astype(self.dtype, copy=False)
        features = LandmarkMap.from_landmarks(self.kernel, np.ascontiguousarray(X[rows]))
        return LogisticFitter(features, features(X, n_jobs=n_jobs), self.lam, self.max_steps)


@dataclass
class LogisticFitter:
    """The M-step with the features ``phi`` of the training instances at hand."""

    features: LandmarkMap
    phi: Floats
    lam: float
    max_steps: int
    climbs: bool = field(default=True, init=False)

    def fit(self, Q: Doubles, previous: Fit | None) -> Fit:
        """Take L-BFGS steps from the previous weights, or from zero."""
        from scipy.optimize import minimize

        shape = (self.features.n_features + 1, Q.shape[1])
        start = np.zeros(shape) if previous is None else previous.warm
        found = minimize(
            self.value_and_gradient,
            start.ravel(),
            args=(Q,),
            jac=True,
            method="L-BFGS-B",
            options={"maxiter": self.max_steps, "maxcor": 10, "ftol": 1e-9, "gtol": 1e-7},
        )
        weights = found.x.reshape(shape)
        penalty = 0.5 * self.lam * float(found.x @ found.x)
        model = SoftLogistic(
            self.features.kernel,
            self.features.landmarks,
            self.features.whitening @ weights[:-1],
            weights[-1],
        )
        return Fit(model, self._log_p(weights), penalty, weights)

    def value_and_gradient(self, flat: Doubles, Q: Doubles) -> tuple[float, Doubles]:
        """Return the objective at weights ``flat``, and its gradient."""
        n = len(Q)
        weights = flat.reshape(-1, Q.shape[1])
        log_p = self._log_p(weights)
        value = -float(np.vdot(Q, log_p)) / n + 0.5 * self.lam * float(flat @ flat)
        error = np.exp(log_p, out=log_p)
        error *= Q.sum(axis=1, keepdims=True)
        error -= Q
        gradient = self.lam * weights
        narrow = error.astype(self.phi.dtype, copy=False)
        gradient[:-1] += (self.phi.T @ narrow) / n
        gradient[-1] += error.sum(axis=0) / n
        return value, gradient.ravel()

    def _log_p(self, weights: Doubles) -> Doubles:
        W = weights.astype(self.phi.dtype, copy=False)
        return log_softmax(self.phi @ W[:-1] + W[-1])
