"""Which calibration value may serve as a threshold: order statistics and binomial bounds.

Pure functions of counts and arrays. A threshold keeps what reaches it, so ties are kept: they can
only lower the rate of misses.
"""

import math
from collections.abc import Callable

import numpy as np
from numpy.typing import ArrayLike, NDArray

from raravis.errors import InputError

__all__ = [
    "check_share",
    "confident_rank",
    "conformal_rank",
    "cross_rank",
    "lower_bound",
    "passes",
    "rank_of",
    "risk_threshold",
    "smallest_n",
]

FloatArray = NDArray[np.float64]
#: Forgives the rounding of products such as 0.29 * 100.
_ROUNDING = 1e-9


def conformal_rank(n: int, alpha: float) -> int:
    """Return the largest k so that the k-th lowest of n values is missed with rate <= alpha.

    If a new value is exchangeable with the n, it lies below the k-th lowest of them with
    probability at most k / (n + 1). 0 stands for "there is none".

    Examples
    --------
    >>> [conformal_rank(n, 0.05) for n in (18, 19, 100)]
    [0, 1, 5]
    """
    return math.floor(alpha * (n + 1) + _ROUNDING)


def confident_rank(n: int, alpha: float, confidence: float) -> int:
    """Return the largest k whose miss rate is <= alpha in a share ``confidence`` of all draws.

    The miss rate of the k-th lowest of n independent values, as it is once the values are drawn,
    has the distribution Beta(k, n + 1 - k), or one below it where values tie. 0 stands for "none".

    Examples
    --------
    >>> [confident_rank(n, 0.05, 0.95) for n in (58, 59, 100)]
    [0, 1, 2]
    """
    from scipy.special import bdtr

    # P(Beta(k, n + 1 - k) > alpha) = P(Binomial(n, alpha) <= k - 1).
    too_bad = bdtr(np.arange(n), n, alpha)
    return int(np.searchsorted(too_bad, 1.0 - confidence + _ROUNDING, side="right"))


def cross_rank(n: int, alpha: float, n_folds: int) -> int:
    """Return the largest k that serves where each fold of the n is scored by a copy of its own.

    A new value that every copy puts below the k-th lowest of all n has conformal p-values, one a
    fold, whose weighted mean is at most (k - 1 + n_folds) / (n + n_folds). A mean of p-values,
    doubled, is a p-value whatever their dependence. 0 stands for "there is none".

    Examples
    --------
    >>> [cross_rank(n, 0.1, 5) for n in (94, 95, 1000)]
    [0, 1, 46]
    """
    folds = min(n, n_folds)
    return max(0, math.floor(alpha * (n + folds) / 2 + _ROUNDING) - folds + 1)


def rank_of(n: int, alpha: float, confidence: float | None) -> int:
    """Return the rank that holds on average, or with a confidence if one is given."""
    if confidence is None:
        return conformal_rank(n, alpha)
    return confident_rank(n, alpha, confidence)


def smallest_n(enough: Callable[[int], bool], *, at_least: int = 1, at_most: int = 1 << 40) -> int:
    """Return the smallest n that is enough, for a condition that stays true once it is true."""
    high = max(1, at_least)
    while not enough(high):
        high *= 2
        if high > at_most:
            return at_most
    low = max(1, at_least) - 1
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (low, middle) if enough(middle) else (middle, high)
    return high


def risk_threshold(values: ArrayLike, weights: ArrayLike, n: int, alpha: float) -> float:
    """Return the highest threshold whose expected loss on a new unit is at most alpha.

    Conformal risk control: each of n exchangeable units loses the total weight of its values below
    the threshold, at most 1. The mean loss, a new unit counted in at its worst, stays at alpha.

    Returns -inf if no threshold will do.

    Examples
    --------
    >>> risk_threshold([1.0, 2.0, 3.0], [1.0, 1.0, 1.0], n=3, alpha=0.5)
    2.0
    >>> risk_threshold([1.0, 2.0, 3.0], [1.0, 1.0, 1.0], n=3, alpha=0.2)
    -inf
    """
    scores = np.asarray(values, dtype=np.float64)
    budget = alpha * (n + 1) - 1.0 + _ROUNDING
    if budget < 0 or not scores.size:
        return -math.inf
    order = np.argsort(scores, kind="stable")
    lost = np.cumsum(np.asarray(weights, dtype=np.float64)[order])
    first_over = int(np.searchsorted(lost, budget, side="right"))
    return float(scores[order][min(first_over, len(scores) - 1)])


def lower_bound(n_hits: int, n: int, confidence: float) -> float:
    """Return the Clopper-Pearson lower bound of a share of which n_hits of n were seen.

    Examples
    --------
    >>> round(lower_bound(10, 10, 0.95), 3)
    0.741
    """
    from scipy.special import betaincinv

    if n_hits == 0:
        return 0.0
    return float(betaincinv(n_hits, n - n_hits + 1, 1.0 - confidence))


def passes(n_hits: int, n: int, share: float, error: float) -> bool:
    """Whether a true share below ``share`` would show n_hits of n with chance at most ``error``."""
    from scipy.special import betainc

    # P(Binomial(n, share) >= n_hits), as a tail of the beta distribution.
    return n_hits > 0 and bool(betainc(n_hits, n - n_hits + 1, share) <= error)


def check_share(name: str, value: object) -> float:
    """Refuse what is not strictly between 0 and 1."""
    number = isinstance(value, (int, float, np.integer, np.floating))
    if not number or isinstance(value, bool) or not 0.0 < float(value) < 1.0:  # type: ignore[arg-type]
        raise InputError(f"{name} is {value!r}; pass a share between 0 and 1, such as 0.05.")
    return float(value)  # type: ignore[arg-type]
