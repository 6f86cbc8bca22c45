"""Rivals that a user would reach for: one-class models of scikit-learn, fed from bags.

They learn what ordinary instances look like and have no use for which class is which. Bag labels
serve at most to leave out bags in which no known class occurs.
"""

import math
from collections.abc import Callable
from numbers import Integral, Real
from typing import Any, Literal, Self, get_args

import numpy as np
from numpy.typing import NDArray
from sklearn.base import BaseEstimator
from sklearn.utils.validation import check_is_fitted

from raravis.bags import Bags, as_bags
from raravis.errors import InputError
from raravis.kernels import automatic_gamma
from raravis.labels import as_labels
from raravis.scaling import Scaling, ScalingName

__all__ = ["BaselineMethod", "OneClassBaseline"]

Floats = NDArray[np.floating[Any]]
Scores = NDArray[np.float64]
Mask = NDArray[np.bool_]
BaselineMethod = Literal["ocsvm", "iforest", "lof", "knn", "mahalanobis"]

#: Neighbours where none are asked for: scikit-learn's own for LOF, the custom for k-NN.
_NEIGHBOURS = {"lof": 20, "knn": 5}
#: Share of the training instances that distances without a threshold of their own call known.
_KNOWN_SHARE = 0.95


class OneClassBaseline(BaseEstimator):  # type: ignore[misc]
    """Novelty scores by a one-class model of the instances of training bags.

    Parameters
    ----------
    method : {"ocsvm", "iforest", "lof", "knn", "mahalanobis"}
        One-class SVM with a Gaussian kernel, isolation forest, local outlier factor, distance to
        the k-th nearest neighbour, or Mahalanobis distance with Ledoit and Wolf's shrinkage.
    instances : {"positive_bags", "all"} or array of bool of shape (n_instances,)
        The training instances to learn from: those of bags that hold a known class, all of them, or
        those that a mask selects.
    scaling : {"minmax", "standard", "robust", "none"}
        Feature scaling, learned from all training instances.
    gamma : float or "auto"
        Kernel width of the SVM; "auto" is that of ``KernelScorer`` on the same bags.
    nu : float
        Share of the SVM's training instances that may fall outside.
    n_neighbors : int or None
        For "lof" and "knn"; None is 20 and 5.
    random_state : int or None
        Seed of the forest and of what "auto" draws.

    Attributes
    ----------
    offset_ : float
        An instance is known if its score reaches it: scikit-learn's own threshold; for the two
        distances, what 95% of the training instances reach.
    n_training_ : int
        Instances learned from.

    Examples
    --------
    >>> from raravis import Bags
    >>> bags = Bags.from_list([[[0.0], [0.1]], [[0.2], [0.3]], [[9.0]]])
    >>> model = OneClassBaseline("knn", n_neighbors=1).fit(bags, [{"wren"}, {"wren"}, set()])
    >>> model.predict(Bags.from_list([[[0.15], [8.0]]]))
    array([ 1, -1])
    """

    def __init__(
        self,
        method: BaselineMethod = "ocsvm",
        *,
        instances: Literal["positive_bags", "all"] | Mask = "positive_bags",
        scaling: ScalingName = "minmax",
        gamma: float | Literal["auto"] = "auto",
        nu: float = 0.5,
        n_neighbors: int | None = None,
        random_state: int | None = 0,
    ) -> None:
        self.method = method
        self.instances = instances
        self.scaling = scaling
        self.gamma = gamma
        self.nu = nu
        self.n_neighbors = n_neighbors
        self.random_state = random_state

    def fit(self, X: Any, y: Any = None) -> Self:
        """Learn from bags.

        Parameters
        ----------
        X : Bags, list of 2-D arrays, or 2-D array (one bag a row)
        y : labels of the bags in any form that ``KernelScorer.fit`` takes
            Needed, and looked at, only with ``instances="positive_bags"``.
        """
        self._check_parameters()
        bags = as_bags(X, what=type(self).__name__)
        chosen = _chosen(bags, y, self.instances)
        scaling = Scaling.learn(bags.instances, self.scaling)
        scaled = scaling.apply(bags.instances)
        score, offset = _LEARNERS[self.method](self, scaled[chosen], self._gamma(scaled, bags))
        self.n_features_in_ = bags.n_features
        self.n_training_ = int(chosen.sum())
        self.scaling_ = scaling
        self.score_ = score
        self.offset_ = float(offset)
        return self

    def score_samples(self, X: Any) -> Scores:
        """Return how known each instance is, on the scale of the method: high = known."""
        check_is_fitted(self)
        bags = as_bags(X, n_features=self.n_features_in_, what=type(self).__name__)
        if not bags.n_instances:
            return np.empty(0)
        return np.asarray(self.score_(self.scaling_.apply(bags.instances)), dtype=np.float64)

    def decision_function(self, X: Any) -> Scores:
        """Return ``score_samples - offset_``: not negative for known instances."""
        return self.score_samples(X) - self.offset_

    def predict(self, X: Any) -> NDArray[np.int64]:
        """Say of each instance whether it is known (+1) or novel (-1)."""
        return np.where(self.decision_function(X) >= 0, 1, -1)

    def _gamma(self, scaled: Floats, bags: Bags) -> float:
        if self.method != "ocsvm":
            return math.nan
        if not isinstance(self.gamma, str):
            return float(self.gamma)
        return automatic_gamma("gaussian", scaled, bags.bag_index, seed=self.random_state or 0)

    def _check_parameters(self) -> None:
        if self.method not in get_args(BaselineMethod):
            raise InputError(
                f"method is {self.method!r}; pass one of {', '.join(get_args(BaselineMethod))}."
            )
        if self.gamma != "auto" and not _is_positive(self.gamma):
            raise InputError(f"gamma is {self.gamma!r}; pass a number above 0, or 'auto'.")
        if not _is_positive(self.nu) or self.nu > 1:
            raise InputError(f"nu is {self.nu!r}; pass a share above 0 and at most 1.")
        if self.n_neighbors is not None and not _is_count(self.n_neighbors):
            raise InputError(
                f"n_neighbors is {self.n_neighbors!r}; pass a whole number of at least 1, or None."
            )


def _chosen(bags: Bags, y: Any, instances: Any) -> Mask:
    """Mark the instances to learn from."""
    if not isinstance(instances, str):
        chosen = np.asarray(instances)
        if chosen.shape != (bags.n_instances,) or chosen.dtype != bool:
            raise InputError(
                f"instances has shape {chosen.shape} and dtype {chosen.dtype}; pass "
                f"'positive_bags', 'all', or one bool for each of the {bags.n_instances} instances."
            )
    elif instances == "all":
        chosen = np.ones(bags.n_instances, dtype=bool)
    elif instances == "positive_bags":
        chosen = _in_positive_bags(bags, y)
    else:
        raise InputError(
            f"instances is {instances!r}; pass 'positive_bags', 'all', or a mask of bools."
        )
    if chosen.sum() < 2:
        raise InputError(
            f"{int(chosen.sum())} training instances are left to learn from; at least 2 are "
            "needed. Pass more bags, or instances='all'."
        )
    return chosen


def _in_positive_bags(bags: Bags, y: Any) -> Mask:
    if y is None:
        raise InputError(
            "y is None; instances='positive_bags' needs the labels of the bags. Pass them, or "
            "instances='all' to learn from every instance."
        )
    holding = np.asarray(as_labels(y, bags).present.any(axis=1), dtype=bool)
    return holding[bags.bag_index]


def _is_count(value: object) -> bool:
    is_whole = isinstance(value, Integral) and not isinstance(value, bool)
    return is_whole and int(value) >= 1  # type: ignore[call-overload]


def _is_positive(value: object) -> bool:
    is_number = isinstance(value, Real) and not isinstance(value, bool)
    return is_number and 0 < float(value) < math.inf  # type: ignore[arg-type]


# ---- one function a method: fit on X, return how to score and the threshold

_Learned = tuple[Callable[[Floats], Any], float]


def _ocsvm(model: OneClassBaseline, X: Floats, gamma: float) -> _Learned:
    from sklearn.svm import OneClassSVM

    svm = OneClassSVM(kernel="rbf", gamma=gamma, nu=model.nu).fit(X)
    return svm.score_samples, svm.offset_[0]


def _iforest(model: OneClassBaseline, X: Floats, _: float) -> _Learned:
    from sklearn.ensemble import IsolationForest

    forest = IsolationForest(random_state=model.random_state).fit(X)
    return forest.score_samples, forest.offset_


def _lof(model: OneClassBaseline, X: Floats, _: float) -> _Learned:
    from sklearn.neighbors import LocalOutlierFactor

    factor = LocalOutlierFactor(n_neighbors=_neighbours(model, X), novelty=True).fit(X)
    return factor.score_samples, factor.offset_


def _knn(model: OneClassBaseline, X: Floats, _: float) -> _Learned:
    from sklearn.neighbors import NearestNeighbors

    index = NearestNeighbors(n_neighbors=_neighbours(model, X)).fit(X)
    # Without an argument an instance is not its own neighbour.
    own = -index.kneighbors()[0][:, -1]
    return _FarthestNeighbour(index), _threshold(own)


def _mahalanobis(_: OneClassBaseline, X: Floats, __: float) -> _Learned:
    from sklearn.covariance import LedoitWolf

    score = _NegativeDistance(LedoitWolf().fit(X))
    return score, _threshold(score(X))


class _FarthestNeighbour:
    """Minus the distance to the last of the neighbours that an index looks for."""

    def __init__(self, index: Any) -> None:
        self.index = index

    def __call__(self, X: Floats) -> Scores:
        return np.asarray(-self.index.kneighbors(X)[0][:, -1])


class _NegativeDistance:
    """Minus the squared Mahalanobis distance."""

    def __init__(self, covariance: Any) -> None:
        self.covariance = covariance

    def __call__(self, X: Floats) -> Scores:
        return np.asarray(-self.covariance.mahalanobis(X))


def _neighbours(model: OneClassBaseline, X: Floats) -> int:
    return min(model.n_neighbors or _NEIGHBOURS[model.method], len(X) - 1)


def _threshold(scores: Scores) -> float:
    return float(np.quantile(scores, 1 - _KNOWN_SHARE))


_LEARNERS: dict[str, Callable[[OneClassBaseline, Floats, float], _Learned]] = {
    "ocsvm": _ocsvm,
    "iforest": _iforest,
    "lof": _lof,
    "knn": _knn,
    "mahalanobis": _mahalanobis,
}
