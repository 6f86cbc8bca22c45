"""The convex inner problem, solved in its dual by coordinate ascent over a small working set.

With positive witnesses fixed and every negative bag's maximum kept whole, one class's problem is

    min_f  1/2 ||f||^2 + C sum_{i pos} max(0, 1 - f(w_i)) + C sum_{i neg} max_j max(0, 1 + f(x_ij)).

Its dual has a weight a_v >= 0 per working instance, the weights of one bag summing to at most C;
f = sum_v s_v a_v k(., x_v) with s = +1 for a positive bag's witness and -1 for negative instances.
A bag with a single working instance takes clipped Newton steps; instances that share a bag also
exchange weight in pairs, which is what leaves the corner where their sum has reached C.

The loops are compiled on first use and cached on disk.
"""

import numpy as np
from numba import njit

from raravis._loops import shift

__all__ = ["ascend"]

#: Steps below this share of the last sweep's largest one wait: fewer, larger steps arrive sooner.
_PATIENCE = 0.2


@njit(cache=True, nogil=True)
def ascend(K, sign, order, bounds, alpha, scores, box, tolerance, max_sweeps):  # type: ignore[no-untyped-def]
    """Raise the dual in place until its relative gap is below ``tolerance``.

    ``K`` is (capacity, capacity) with the working instances first; ``order`` lists them bag by bag
    and ``bounds`` says where each bag begins in it. ``scores`` is f at the working instances.
    Returns the relative gap on the working set.
    """
    gap = np.inf
    largest = 0.0
    for _ in range(max_sweeps):
        worth = _PATIENCE * largest
        largest = 0.0
        for b in range(len(bounds) - 1):
            members = order[bounds[b] : bounds[b + 1]]
            largest = max(largest, _ascend_bag(K, sign, members, alpha, scores, box, worth))
        gap = _relative_gap(sign, order, bounds, alpha, scores, box)
        if gap <= tolerance:
            break
    return gap


@njit(cache=True, nogil=True)
def _ascend_bag(K, sign, members, alpha, scores, box, worth):  # type: ignore[no-untyped-def]
    """One pass over a bag: a step for each member, then exchanges within a full bag.

    Steps smaller than ``worth`` are left for later; returns the largest step that was possible.
    """
    total = 0.0
    largest = 0.0
    for v in members:
        total += alpha[v]
    for v in members:
        slope = 1.0 - sign[v] * scores[v]
        curvature = max(K[v, v], 1e-12)
        step = max(-alpha[v], min(slope / curvature, box - total))
        largest = max(largest, abs(step))
        if abs(step) > 1e-14 * box and abs(step) >= worth:
            alpha[v] += step
            total += step
            shift(scores, K[v], sign[v] * step, len(alpha))
    if len(members) > 1:
        for _ in range(len(members)):
            step = _exchange(K, sign, members, alpha, scores, worth)
            largest = max(largest, step)
            if step == 0.0 or step < worth:
                break
    return largest


@njit(cache=True, nogil=True)
def _exchange(K, sign, members, alpha, scores, worth):  # type: ignore[no-untyped-def]
    """Move weight from a bag's flattest weighted member to its steepest one, if worth it."""
    gainer = -1
    giver = -1
    steepest = -np.inf
    flattest = np.inf
    for v in members:
        slope = 1.0 - sign[v] * scores[v]
        if slope > steepest:
            steepest = slope
            gainer = v
        if alpha[v] > 0.0 and slope < flattest:
            flattest = slope
            giver = v
    if giver < 0 or giver == gainer or steepest <= 0.0 or steepest - flattest < 1e-10:
        return 0.0
    curvature = max(K[gainer, gainer] + K[giver, giver] - 2.0 * K[gainer, giver], 1e-12)
    step = min((steepest - flattest) / curvature, alpha[giver])
    if step < worth:
        return step
    alpha[gainer] += step
    alpha[giver] -= step
    shift(scores, K[gainer], sign[gainer] * step, len(alpha))
    shift(scores, K[giver], -sign[giver] * step, len(alpha))
    return step


@njit(cache=True, nogil=True)
def _relative_gap(sign, order, bounds, alpha, scores, box):  # type: ignore[no-untyped-def]
    linear = 0.0
    quadratic = 0.0
    slack = 0.0
    for b in range(len(bounds) - 1):
        worst = 0.0
        for v in order[bounds[b] : bounds[b + 1]]:
            linear += alpha[v]
            quadratic += alpha[v] * sign[v] * scores[v]
            worst = max(worst, 1.0 - sign[v] * scores[v])
        slack += worst
    primal = 0.5 * quadratic + box * slack
    dual = linear - 0.5 * quadratic
    return (primal - dual) / max(abs(primal), 1e-300)
