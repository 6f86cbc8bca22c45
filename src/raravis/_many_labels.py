"""The posterior of a bag with many labels, by messages; compiled on first use, cached on disk.

The labels that independent draws would most likely miss are treated exactly and together, by
``raravis._subsets``; each of the others is a factor of its own, "this label occurs". The factors
tell the instances what they would gain from a label and hear how sure each instance is of it, until
nobody learns anything new (loopy belief propagation). The likelihood is Bethe's.
"""

import numpy as np
from numba import njit

from raravis._subsets import gathered, posterior_of_bag, spread

__all__ = ["bag_posteriors"]

#: Labels treated together; messages need the exact passes some dozen times.
_TOGETHER = 8
_MAX_ROUNDS = 200
_TOLERANCE = 1e-7
#: Share of a new message that is taken over: all of it may swing for ever.
_STEP = 0.7
#: An instance that alone can have a label gains at most the inverse of this from it.
_SMALLEST = 1e-8


@njit(cache=True, nogil=True)
def bag_posteriors(log_p, work, Q, log_likelihood):  # type: ignore[no-untyped-def]
    """Do what the function of the same name in ``raravis._subsets`` does, approximately."""
    bags, offsets, present_starts, present, unknown_starts, unknown, missed = work
    for b in bags:
        first, last = offsets[b], offsets[b + 1]
        listed = present[present_starts[b] : present_starts[b + 1]]
        open_ = unknown[unknown_starts[b] : unknown_starts[b + 1]]
        L = gathered(log_p[first:last], listed, open_)
        q = np.empty_like(L)
        log_likelihood[b] = _propagate(L, missed[b], q)
        spread(log_p[first:last], L, q, listed, open_, Q[first:last])


@njit(cache=True, nogil=True)
def _propagate(L, missed, q):  # type: ignore[no-untyped-def]
    """Fill the posterior of a bag, and return its log-likelihood."""
    n, m = len(L), L.shape[1] - 1
    W, total = _scaled_rows(L)
    together, alone = _contested(W)
    occurs = np.ones((n, m + 1))
    taken = np.empty((n, m + 1))
    for k in alone:
        _cover(W, k, missed, 1.0, occurs, _shares(W, k))
    block = np.empty((n, len(together) + 1))
    evidence = 0.0
    for _ in range(_MAX_ROUNDS):
        _block_weights(W, occurs, together, alone, block)
        joint, evidence = posterior_of_bag(block, missed)
        change = 0.0
        for j in range(n):
            free = joint[j, 0] / np.exp(block[j, 0])
            change = max(change, abs(free * W[j, 0] - q[j, 0]))
            q[j, 0] = free * W[j, 0]
            for i in range(len(together)):
                q[j, together[i]] = joint[j, i + 1]
            for k in alone:
                belief = free * W[j, k] / occurs[j, k]
                change = max(change, abs(belief - q[j, k]))
                q[j, k] = belief
                cavity = free * W[j, k]
                taken[j, k] = cavity / (cavity + max(1.0 - belief, 1e-300))
        if change < _TOLERANCE:
            break
        for k in alone:
            _cover(W, k, missed, _STEP, occurs, taken[:, k])
    return total + evidence + _bethe(alone, taken, occurs, missed)


@njit(cache=True, nogil=True)
def _scaled_rows(L):  # type: ignore[no-untyped-def]
    W = np.empty_like(L)
    total = 0.0
    for j in range(len(L)):
        largest = L[j].max()
        W[j] = np.exp(L[j] - largest)
        total += largest
    return W, total


@njit(cache=True, nogil=True)
def _shares(W, k):  # type: ignore[no-untyped-def]
    share = np.empty(len(W))
    for j in range(len(W)):
        share[j] = W[j, k] / W[j].sum()
    return share


@njit(cache=True, nogil=True)
def _contested(W):  # type: ignore[no-untyped-def]
    """Return the columns that independent draws most likely miss, and the other ones."""
    m = W.shape[1] - 1
    kept = np.empty(m)
    for k in range(m):
        share = _shares(W, k + 1)
        kept[k] = 0.0
        for j in range(len(W)):
            kept[k] += np.log(max(1.0 - share[j], 1e-300))
    order = np.argsort(-kept) + 1
    return np.sort(order[:_TOGETHER]), np.sort(order[_TOGETHER:])


@njit(cache=True, nogil=True)
def _cover(W, k, missed, step, occurs, taken):  # type: ignore[no-untyped-def]
    """Renew what factor ``k`` says: the chance that it holds though an instance is not of it."""
    n = len(W)
    after = np.ones(n + 1)
    for j in range(n - 1, -1, -1):
        after[j] = after[j + 1] * (1.0 - taken[j])
    before = 1.0
    for j in range(n):
        fresh = max(1.0 - (1.0 - missed) * before * after[j + 1], _SMALLEST)
        occurs[j, k] = occurs[j, k] ** (1.0 - step) * fresh**step
        before *= 1.0 - taken[j]


@njit(cache=True, nogil=True)
def _block_weights(W, occurs, together, alone, block):  # type: ignore[no-untyped-def]
    """Log weights for the exact passes: a label on its own is free there, at what it gains."""
    for j in range(len(W)):
        free = W[j, 0]
        for k in alone:
            free += W[j, k] / occurs[j, k]
        block[j, 0] = np.log(max(free, 1e-300))
        for i in range(len(together)):
            block[j, i + 1] = np.log(max(W[j, together[i]], 1e-300))


@njit(cache=True, nogil=True)
def _bethe(alone, taken, occurs, missed):  # type: ignore[no-untyped-def]
    """Return what the factors outside the exact passes add to the log-likelihood."""
    total = 0.0
    for k in alone:
        none = 1.0 - missed
        for j in range(len(taken)):
            none *= 1.0 - taken[j, k]
            edge = taken[j, k] + (1.0 - taken[j, k]) * occurs[j, k]
            total += np.log(occurs[j, k]) - np.log(edge)
        total += np.log(max(1.0 - none, _SMALLEST))
    return total
