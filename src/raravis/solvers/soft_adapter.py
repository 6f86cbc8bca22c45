"""Any estimator in scikit-learn's interface as an M-step on soft labels.

A regressor is fitted to the posterior matrix. A classifier sees every instance once a class that it
may be of, weighted with the posterior. With ``n_folds`` training instances are judged by a copy
that never saw their bag.
"""

from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from raravis._threads import map_in_threads
from raravis.errors import InputError
from raravis.solvers.em import Fit, log_floored

__all__ = ["AdaptedFitter", "AdaptedModel", "SoftAdapter"]

Floats = NDArray[np.floating[Any]]
Doubles = NDArray[np.float64]
Indices = NDArray[np.int64]

#: Posterior probabilities below are no copy of the instance worth having.
_LEAST_WEIGHT = 1e-3


@dataclass(frozen=True)
class AdaptedModel:
    """A fitted estimator, and the columns of its answers among all classes."""

    estimator: Any
    columns: Indices
    n_columns: int
    floor: float

    def log_probabilities(self, X: Floats, *, n_jobs: int | None = None) -> Doubles:
        """Return the log-probabilities of new instances."""
        del n_jobs
        P = np.zeros((len(X), self.n_columns))
        if len(X):
            P[:, self.columns] = self._answers(X)
        return log_floored(P, self.floor)

    def _answers(self, X: Floats) -> Any:
        if hasattr(self.estimator, "predict_proba"):
            return self.estimator.predict_proba(X)
        return np.asarray(self.estimator.predict(X)).reshape(len(X), -1)


@dataclass(frozen=True)
class SoftAdapter:
    """An estimator in scikit-learn's interface as an M-step.

    Parameters
    ----------
    estimator : classifier with ``predict_proba`` and ``sample_weight``, or multi-output regressor
    n_folds : int
        Parts into which the bags are dealt, so that training instances are judged by a copy that
        never saw their bag; 0: they are judged by the one that saw them all.
    floor : float
        Probabilities below are raised to it.
    """

    estimator: Any
    n_folds: int = 5
    floor: float = 1e-2

    def prepare(
        self, X: Floats, groups: Indices, *, seed: int = 0, n_jobs: int | None = None
    ) -> "AdaptedFitter":
        """Deal the bags into folds."""
        bags, position = np.unique(groups, return_inverse=True)
        n_folds = min(self.n_folds, len(bags))
        fold = np.zeros(len(X), dtype=np.int64)
        if n_folds > 1:
            dealt = np.random.default_rng(seed).permutation(len(bags)) % n_folds
            fold = dealt[position.ravel()]
        return AdaptedFitter(self, X, fold, n_folds if n_folds > 1 else 0, n_jobs)


@dataclass
class AdaptedFitter:
    """The M-step with the training instances at hand."""

    settings: SoftAdapter
    X: Floats
    fold: Indices
    n_folds: int
    n_jobs: int | None = None
    climbs: bool = field(default=False, init=False)

    def fit(self, Q: Doubles, previous: Fit | None) -> Fit:
        """Fit a copy to all instances, and one to those outside of each fold."""
        del previous
        everything = np.arange(len(Q))
        jobs = [everything, *(np.flatnonzero(self.fold != f) for f in range(self.n_folds))]
        models = map_in_threads(
            lambda i: _fitted(self.settings, self.X[jobs[i]], Q[jobs[i]]),
            len(jobs),
            n_jobs=self.n_jobs,
        )
        if not self.n_folds:
            return Fit(models[0], models[0].log_probabilities(self.X))
        log_p = np.empty_like(Q)
        for f in range(self.n_folds):
            rows = np.flatnonzero(self.fold == f)
            log_p[rows] = models[1 + f].log_probabilities(self.X[rows])
        return Fit(models[0], log_p)


def _fitted(settings: SoftAdapter, X: Floats, Q: Doubles) -> AdaptedModel:
    from sklearn.base import clone, is_classifier

    estimator = clone(settings.estimator)
    n_columns = Q.shape[1]
    if not is_classifier(estimator):
        estimator.fit(X, Q)
        return AdaptedModel(estimator, np.arange(n_columns), n_columns, settings.floor)
    rows, classes = np.nonzero(Q > _LEAST_WEIGHT)
    if len(np.unique(classes)) < 2:
        raise InputError(
            f"every instance is surely of one class, which {type(estimator).__name__} cannot "
            "learn; label bags in which some class is absent."
        )
    estimator.fit(X[rows], classes, sample_weight=Q[rows, classes])
    columns = np.asarray(estimator.classes_, dtype=np.int64)
    return AdaptedModel(estimator, columns, n_columns, settings.floor)
