"""Arithmetic on rows that are cut into segments (bags) by offsets; a segment may be empty."""

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from raravis._checks import IntArray

__all__ = ["first_largest", "offsets_of", "reduce_segments", "rows_of", "sizes_of_shares"]


def offsets_of(sizes: Sequence[int] | NDArray[Any]) -> IntArray:
    """Where segments of these sizes start, and where the last one ends."""
    return np.concatenate([[0], np.cumsum(sizes)]).astype(np.int64)


def rows_of(offsets: IntArray, segments: IntArray) -> IntArray:
    """Rows of some segments, one segment after the other."""
    sizes = np.diff(offsets)[segments]
    targets = offsets_of(sizes)
    return np.repeat(offsets[segments] - targets[:-1], sizes) + np.arange(targets[-1])


def reduce_segments(
    ufunc: np.ufunc, values: NDArray[Any], offsets: IntArray, empty: float
) -> NDArray[Any]:
    """Reduce each segment; reduceat alone takes a neighbour's value for an empty one."""
    full = np.diff(offsets) > 0
    reduced = np.full((len(full), *values.shape[1:]), empty, dtype=values.dtype)
    if full.any():
        reduced[full] = ufunc.reduceat(values, offsets[:-1][full], axis=0)
    return reduced


def first_largest(values: NDArray[Any], offsets: IntArray) -> IntArray:
    """Row of the first largest value of each segment; -1 if empty, past the end if NaN."""
    n_rows = len(values)
    largest = reduce_segments(np.maximum, values, offsets, 0.0)
    rows = np.arange(n_rows).reshape((-1,) + (1,) * (values.ndim - 1))
    candidates = np.where(values == np.repeat(largest, np.diff(offsets), axis=0), rows, n_rows)
    return reduce_segments(np.minimum, candidates, offsets, -1)


def sizes_of_shares(total: int, shares: NDArray[np.float64]) -> IntArray:
    """Whole numbers in proportion to shares of sum 1, by largest remainder; they add up."""
    quotas = shares * total
    sizes = np.floor(quotas).astype(np.int64)
    by_remainder = np.argsort(sizes - quotas, kind="stable")
    sizes[by_remainder[: total - sizes.sum()]] += 1
    return sizes
