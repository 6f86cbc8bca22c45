"""Walking decision trees, compiled on first use and cached on disk."""

import numpy as np
from numba import njit

__all__ = ["add_leaves", "leaves_of"]


@njit(cache=True, nogil=True)
def leaves_of(X, nodes, first):  # type: ignore[no-untyped-def]
    """Return the node in which each row of X ends in the tree whose root is node ``first``."""
    feature, threshold, left, right = nodes
    ends = np.empty(len(X), dtype=np.int64)
    for i in range(len(X)):
        node = first
        while left[node] >= 0:
            below = X[i, feature[node]] <= threshold[node]
            node = first + (left[node] if below else right[node])
        ends[i] = node
    return ends


@njit(cache=True, nogil=True)
def add_leaves(ends, rows, leaf, values, total, count):  # type: ignore[no-untyped-def]
    """Add to the rows' totals the values of the leaves in which they ended, and count them."""
    for i in range(len(ends)):
        found = values[leaf[ends[i]]]
        row = total[rows[i]]
        for c in range(len(found)):
            row[c] += found[c]
        count[rows[i]] += 1
