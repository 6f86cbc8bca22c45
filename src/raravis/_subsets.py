"""Sums over the subsets of a bag's labels, compiled on first use and cached on disk.

A bag with labels 1..m and weights w_jk (k = 0: none of them) has the likelihood

    sum over (y_1, ..., y_n) of  prod_j w_{j, y_j}  *  [every label occurs among the y_j].

Read instance by instance, all that matters of the past is which labels have occurred: a bit mask.
So a forward pass over 2^m masks gives the likelihood, and with a backward pass the posterior of
every y_j. Both passes are scaled to a largest entry of one; where what is lost below the smallest
double could matter, the bag is done again with logarithms.
"""

import numpy as np
from numba import njit

__all__ = ["bag_posteriors"]

#: With both passes scaled to one, what underflows is below 1e-300 of a step's largest term: a total
#: above this bound has lost nothing that a double can show, whatever the number of instances.
_SAFE_TOTAL = 1e-200


@njit(cache=True, nogil=True)
def bag_posteriors(log_p, work, Q, log_likelihood):  # type: ignore[no-untyped-def]
    """Fill the posterior ``Q``, zero so far, and the log-likelihoods of the bags in ``work``.

    ``work`` is (bags, offsets, present_starts, present, unknown_starts, unknown, missed): the bags
    to do; where each bag's instances, present and unknown classes stand; and the weight of each
    present class that no instance has (zero where every label must occur).
    """
    bags, offsets, present_starts, present, unknown_starts, unknown, missed = work
    for b in bags:
        first, last = offsets[b], offsets[b + 1]
        listed = present[present_starts[b] : present_starts[b + 1]]
        open_ = unknown[unknown_starts[b] : unknown_starts[b + 1]]
        L = gathered(log_p[first:last], listed, open_)
        q, total = posterior_of_bag(L, missed[b])
        log_likelihood[b] = total
        spread(log_p[first:last], L, q, listed, open_, Q[first:last])


@njit(cache=True, nogil=True)
def gathered(log_p, listed, open_):  # type: ignore[no-untyped-def]
    """Return the log weights of a bag: column 0 for novel or an unknown class, then its labels."""
    n, m = len(log_p), len(listed)
    L = np.empty((n, m + 1))
    for j in range(n):
        largest = log_p[j, 0]
        for c in open_:
            largest = max(largest, log_p[j, c])
        total = np.exp(log_p[j, 0] - largest)
        for c in open_:
            total += np.exp(log_p[j, c] - largest)
        L[j, 0] = largest + np.log(total)
        for k in range(m):
            L[j, k + 1] = log_p[j, listed[k]]
    return L


@njit(cache=True, nogil=True)
def spread(log_p, L, q, listed, open_, Q):  # type: ignore[no-untyped-def]
    """Write a bag's posterior into all columns; what is free goes where the model puts it."""
    for j in range(len(L)):
        Q[j, 0] = q[j, 0] * np.exp(log_p[j, 0] - L[j, 0])
        for c in open_:
            Q[j, c] = q[j, 0] * np.exp(log_p[j, c] - L[j, 0])
        for k in range(len(listed)):
            Q[j, listed[k]] = q[j, k + 1]


@njit(cache=True, nogil=True)
def posterior_of_bag(L, missed):  # type: ignore[no-untyped-def]
    """Return the posterior of a bag's weights (n, m + 1), and its log-likelihood."""
    q, total, safe = _scaled(L, missed)
    if safe:
        return q, total
    return _logarithmic(L, missed)


@njit(cache=True, nogil=True)
def _scaled(L, missed):  # type: ignore[no-untyped-def]
    """Do both passes with weights scaled to one; the flag says whether nothing was lost."""
    n, n_masks = len(L), 1 << (L.shape[1] - 1)
    m = L.shape[1] - 1
    W = np.empty_like(L)
    total = 0.0
    for j in range(n):
        largest = _largest(L[j])
        for k in range(m + 1):
            W[j, k] = np.exp(L[j, k] - largest)
        total += largest
    alpha = np.zeros((n + 1, n_masks))
    alpha[0, 0] = 1.0
    stay = np.empty(n_masks)
    for j in range(n):
        _stay(W[j], stay)
        old, new = alpha[j], alpha[j + 1]
        for s in range(n_masks):
            new[s] = old[s] * stay[s]
        for k in range(m):
            bit, w = 1 << k, W[j, k + 1]
            for base in range(0, n_masks, 2 * bit):
                for s in range(base, base + bit):
                    new[s + bit] += old[s] * w
        largest = _largest(new)
        if largest <= 0.0:
            return W, -np.inf, False
        total += np.log(largest)
        _divide(new, largest)
    beta = _last(m, missed)
    end = 0.0
    for s in range(n_masks):
        end += alpha[n, s] * beta[s]
    if end < _SAFE_TOTAL:
        return W, -np.inf, False
    safe = _backward(W, alpha, beta, stay)
    return W, total + np.log(end), safe


@njit(cache=True, nogil=True)
def _backward(W, alpha, beta, stay):  # type: ignore[no-untyped-def]
    """Turn the weights into posteriors in place, from the last instance to the first."""
    m, n_masks = W.shape[1] - 1, len(beta)
    earlier = np.empty(n_masks)
    for j in range(len(W) - 1, -1, -1):
        _stay(W[j], stay)
        before = alpha[j]
        kept = 0.0
        for s in range(n_masks):
            earlier[s] = beta[s] * stay[s]
            kept += before[s] * beta[s]
        mass = W[j, 0] * kept
        W[j, 0] = mass
        for k in range(m):
            bit, w = 1 << k, W[j, k + 1]
            came = 0.0
            for base in range(0, n_masks, 2 * bit):
                for s in range(base, base + bit):
                    earlier[s] += w * beta[s + bit]
                    came += (before[s] + before[s + bit]) * beta[s + bit]
            W[j, k + 1] = w * came
            mass += w * came
        if mass < _SAFE_TOTAL:
            return False
        _divide(W[j], mass)
        _divide(earlier, _largest(earlier))
        beta, earlier = earlier, beta
    return True


@njit(cache=True, nogil=True)
def _largest(values):  # type: ignore[no-untyped-def]
    largest = values[0]
    for value in values:
        largest = max(largest, value)
    return largest


@njit(cache=True, nogil=True)
def _divide(values, by):  # type: ignore[no-untyped-def]
    for i in range(len(values)):
        values[i] /= by


@njit(cache=True, nogil=True)
def _stay(w, stay):  # type: ignore[no-untyped-def]
    """Weight of an instance that adds no label to each mask: novel, or a label already there."""
    stay[0] = w[0]
    for k in range(len(w) - 1):
        bit = 1 << k
        for s in range(bit):
            stay[s + bit] = stay[s] + w[k + 1]


@njit(cache=True, nogil=True)
def _last(m, missed):  # type: ignore[no-untyped-def]
    """Weight of ending with each mask: ``missed`` for every label that has not occurred."""
    last = np.empty(1 << m)
    last[-1] = 1.0
    for s in range((1 << m) - 2, -1, -1):
        absent = 0
        for k in range(m):
            absent += 1 - ((s >> k) & 1)
        last[s] = missed**absent
    return last


@njit(cache=True, nogil=True)
def _logarithmic(L, missed):  # type: ignore[no-untyped-def]
    """Do both passes with logarithms: many times slower, and never out of range."""
    n, m = len(L), L.shape[1] - 1
    n_masks = 1 << m
    alpha = np.full((n + 1, n_masks), -np.inf)
    alpha[0, 0] = 0.0
    for j in range(n):
        for s in range(n_masks):
            value = alpha[j, s] + L[j, 0]
            for k in range(m):
                if (s >> k) & 1:
                    came = np.logaddexp(alpha[j, s], alpha[j, s ^ (1 << k)])
                    value = np.logaddexp(value, came + L[j, k + 1])
            alpha[j + 1, s] = value
    beta = _last(m, missed)
    total = -np.inf
    for s in range(n_masks):
        beta[s] = np.log(beta[s])
        total = np.logaddexp(total, alpha[n, s] + beta[s])
    q = np.full((n, m + 1), -np.inf)
    earlier = np.empty(n_masks)
    for j in range(n - 1, -1, -1):
        for s in range(n_masks):
            earlier[s] = beta[s] + L[j, 0]
            q[j, 0] = np.logaddexp(q[j, 0], alpha[j, s] + beta[s])
            for k in range(m):
                after = beta[s | (1 << k)]
                earlier[s] = np.logaddexp(earlier[s], after + L[j, k + 1])
                q[j, k + 1] = np.logaddexp(q[j, k + 1], alpha[j, s] + after)
        beta, earlier = earlier, beta
    for j in range(n):
        for k in range(m + 1):
            q[j, k] = np.exp(q[j, k] + L[j, k] - total)
    return q, total
