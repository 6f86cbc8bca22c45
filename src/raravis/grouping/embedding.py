"""Where instances of one class lie close together: what the known classes teach about distance."""

from collections.abc import Hashable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from raravis.scaling import Scaling

__all__ = ["Embedding", "learn_embedding"]

FloatArray = NDArray[np.float64]
#: Share of the within-class spread that is taken to be alike in all directions.
_SHRINKAGE = 0.1
#: Fewer instances than this of known classes say nothing about how a class spreads.
_FEWEST_KNOWN = 10
#: Directions that vary less than this share of the largest are rounding.
_NO_SPREAD = 1e-12


@dataclass(frozen=True, slots=True, eq=False)
class Embedding:
    """Features standardised, then mapped linearly.

    Parameters
    ----------
    scaling : Scaling
    directions : ndarray of shape (n_features, n_components)
    """

    scaling: Scaling
    directions: FloatArray

    def __call__(self, X: Any) -> FloatArray:
        """Return the coordinates of instances: (n_instances, n_components)."""
        scaled = self.scaling.apply(np.asarray(X, dtype=np.float64))
        return np.asarray(scaled @ self.directions, dtype=np.float64)


def learn_embedding(
    X: FloatArray,
    known: FloatArray,
    known_labels: Sequence[Hashable],
    *,
    n_components: int = 20,
) -> Embedding:
    """Learn coordinates in which a class spreads alike in all directions.

    Directions in which instances of one known class differ from each other are shortened, so that
    distance means what tells classes apart; then the main directions of X are kept.

    Parameters
    ----------
    X : ndarray of shape (n, n_features)
        The instances to group.
    known : ndarray of shape (n_known, n_features)
        Instances of known classes; with fewer than ten, features are only standardised.
    known_labels : sequence of n_known hashables
        Their classes.
    n_components : int
        At most as many as there are features.
    """
    order = np.lexsort(X.T[::-1])
    rows, others, codes = X[order].astype(np.float64), *_sorted_known(known, known_labels)
    scaling = Scaling.learn(np.concatenate([rows, others]), "standard")
    spread = _within_spread(scaling.apply(others), codes, X.shape[1])
    values, vectors = np.linalg.eigh(spread)
    whitening = vectors / np.sqrt(values)
    mapped = scaling.apply(rows) @ whitening
    return Embedding(scaling, whitening @ _main_directions(mapped, n_components))


def _sorted_known(known: FloatArray, labels: Sequence[Hashable]) -> tuple[FloatArray, Any]:
    """Put known instances in an order of their own: sums then come out alike to the last bit."""
    rows = np.asarray(known, dtype=np.float64)
    order = np.lexsort(rows.T[::-1]) if len(rows) else np.empty(0, dtype=np.int64)
    place: dict[Hashable, int] = {}
    listed = list(labels)
    codes = [place.setdefault(listed[i], len(place)) for i in order]
    return rows[order], np.array(codes, dtype=np.int64)


def _within_spread(scaled: Any, codes: NDArray[np.int64], n_features: int) -> FloatArray:
    """Return the covariance within classes, shrunk; the identity if there is too little to say."""
    if len(scaled) < _FEWEST_KNOWN:
        return np.eye(n_features)
    sums = np.zeros((int(codes.max()) + 1, n_features))
    np.add.at(sums, codes, scaled)
    residuals = scaled - (sums / np.bincount(codes)[:, None])[codes]
    spread = residuals.T @ residuals / len(residuals)
    mean = float(np.trace(spread)) / n_features
    if mean < _NO_SPREAD:
        return np.eye(n_features)
    return np.asarray((1.0 - _SHRINKAGE) * spread + _SHRINKAGE * mean * np.eye(n_features))


def _main_directions(mapped: FloatArray, n_components: int) -> FloatArray:
    """Return the directions of most variance, the first one first."""
    centred = mapped - mapped.mean(axis=0)
    _, vectors = np.linalg.eigh(centred.T @ centred)
    return np.asarray(vectors[:, ::-1][:, :n_components])
