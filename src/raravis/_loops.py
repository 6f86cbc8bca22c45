"""Loops over the Gram matrix, compiled on first use and cached on disk."""

import numpy as np
from numba import njit

__all__ = ["accumulate_rows", "gather", "group_maxima", "shift"]


@njit(cache=True, nogil=True)
def gather(table, rows, columns):  # type: ignore[no-untyped-def]
    """Return ``table[rows][:, columns]``."""
    part = np.empty((len(rows), len(columns)), dtype=table.dtype)
    for i in range(len(rows)):
        row = table[rows[i]]
        for j in range(len(columns)):
            part[i, j] = row[columns[j]]
    return part


@njit(cache=True, nogil=True)
def group_maxima(table, bounds):  # type: ignore[no-untyped-def]
    """Return the largest entry of each column over rows ``bounds[g]`` to ``bounds[g + 1]``.

    A row is compared with the running maximum entry by entry, which processors do many at a time;
    reducing along short runs, as NumPy would, takes several times as long.
    """
    maxima = table[bounds[:-1]].copy()
    for g in range(len(bounds) - 1):
        best = maxima[g]
        for i in range(bounds[g] + 1, bounds[g + 1]):
            row = table[i]
            for u in range(len(best)):
                best[u] = max(best[u], row[u])
    return maxima


@njit(cache=True, nogil=True)
def shift(scores, row, amount, n):  # type: ignore[no-untyped-def]
    """Add ``amount`` times the first ``n`` entries of ``row`` to ``scores`` in place."""
    for u in range(n):
        scores[u] += amount * row[u]


@njit(cache=True, nogil=True)
def accumulate_rows(table, slots, amounts, scores):  # type: ignore[no-untyped-def]
    """Add ``amounts[i] * table[slots[i]]`` over all i to ``scores`` in place.

    Four rows at a time: the scores are then read and written once for four, not once for each.
    """
    n = len(scores)
    whole = len(slots) - len(slots) % 4
    for i in range(0, whole, 4):
        r0, r1 = table[slots[i]], table[slots[i + 1]]
        r2, r3 = table[slots[i + 2]], table[slots[i + 3]]
        a0, a1, a2, a3 = amounts[i], amounts[i + 1], amounts[i + 2], amounts[i + 3]
        for u in range(n):
            scores[u] += a0 * r0[u] + a1 * r1[u] + a2 * r2[u] + a3 * r3[u]
    for i in range(whole, len(slots)):
        shift(scores, table[slots[i]], amounts[i], n)
