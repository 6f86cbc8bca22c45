"""Loops over the points of a spectrogram, compiled on first use and cached on disk."""

import math

import numpy as np
from numba import njit

__all__ = ["count_directions", "count_sides", "flood", "measure_basins", "order_by_level"]


@njit(cache=True, nogil=True)
def order_by_level(values, lowest, step):  # type: ignore[no-untyped-def]
    """Return the positions of values from the highest to the lowest, in steps; equals in order.

    Sorting by counting: its time is linear, and it is the same on every machine.
    """
    n_steps = 1
    keys = np.empty(len(values), dtype=np.int32)
    for i in range(len(values)):
        keys[i] = max(0, int((values[i] - lowest) / step))
        n_steps = max(n_steps, keys[i] + 1)
    begin = np.zeros(n_steps + 1, dtype=np.int64)
    for i in range(len(values)):
        begin[n_steps - keys[i]] += 1
    begin = np.cumsum(begin)
    order = np.empty(len(values), dtype=np.int64)
    for i in range(len(values)):
        place = n_steps - 1 - keys[i]
        order[begin[place]] = i
        begin[place] += 1
    return order


@njit(cache=True, nogil=True)
def _root(parent, label):  # type: ignore[no-untyped-def]
    while parent[label] != label:
        parent[label] = parent[parent[label]]
        label = parent[label]
    return label


@njit(cache=True, nogil=True)
def flood(level, points, valley):  # type: ignore[no-untyped-def]
    """Divide points among peaks, from the highest point down, and number the basins from 1.

    Basins that meet are one if either peak is less than `valley` above the point at which they
    meet; otherwise they stay apart, and points in between go to the side that is higher there.

    Parameters
    ----------
    level : array of shape (frames, bins)
    points : array of int
        Flat positions, by falling level.
    valley : float

    Returns
    -------
    labels : array of int of the shape of `level`
        0 at all other points.
    n_basins : int
    """
    n_frames, n_bins = level.shape
    labels = np.zeros((n_frames, n_bins), dtype=np.int32)
    parent = np.zeros(len(points) + 1, dtype=np.int32)
    peak = np.zeros(len(points) + 1, dtype=np.float32)
    near = np.zeros(8, dtype=np.int32)
    n = 0
    for point in points:
        t, f = point // n_bins, point % n_bins
        value = level[t, f]
        n_near, top, steepest, highest = 0, 0, 0, -np.inf
        for i in range(max(0, t - 1), min(n_frames, t + 2)):
            for j in range(max(0, f - 1), min(n_bins, f + 2)):
                if labels[i, j] == 0:
                    continue
                root = _root(parent, labels[i, j])
                near[n_near] = root
                n_near += 1
                if level[i, j] > highest:
                    highest, steepest = level[i, j], root
                if top == 0 or peak[root] > peak[top]:
                    top = root
        if n_near == 0:
            n += 1
            parent[n] = n
            peak[n] = value
            labels[t, f] = n
            continue
        for k in range(n_near):
            if near[k] != top and peak[near[k]] - value < valley:
                parent[near[k]] = top
        labels[t, f] = _root(parent, steepest)
    number = np.zeros(n + 1, dtype=np.int32)
    n_basins = 0
    for point in points:
        root = _root(parent, labels[point // n_bins, point % n_bins])
        if number[root] == 0:
            n_basins += 1
            number[root] = n_basins
        labels[point // n_bins, point % n_bins] = number[root]
    return labels, n_basins


@njit(cache=True, nogil=True)
def measure_basins(level, labels, points, n_basins):  # type: ignore[no-untyped-def]
    """Return first and end frame, first and end bin, number of points and peak of every basin."""
    n_bins = level.shape[1]
    table = np.zeros((6, n_basins), dtype=np.int64)
    table[0] = level.shape[0]
    table[2] = n_bins
    peak = np.full(n_basins, -np.inf, dtype=np.float32)
    for point in points:
        t, f = point // n_bins, point % n_bins
        basin = labels[t, f] - 1
        table[0, basin] = min(table[0, basin], t)
        table[1, basin] = max(table[1, basin], t + 1)
        table[2, basin] = min(table[2, basin], f)
        table[3, basin] = max(table[3, basin], f + 1)
        table[4, basin] += 1
        if level[t, f] > peak[basin]:
            peak[basin] = level[t, f]
            table[5, basin] = f
    return table, peak


@njit(cache=True, nogil=True)
def count_sides(mask):  # type: ignore[no-untyped-def]
    """Count the sides of points that lie between inside and outside."""
    n_rows, n_columns = mask.shape
    sides = 0
    for i in range(n_rows):
        for j in range(n_columns):
            if mask[i, j]:
                sides += i == 0 or not mask[i - 1, j]
                sides += i == n_rows - 1 or not mask[i + 1, j]
                sides += j == 0 or not mask[i, j - 1]
                sides += j == n_columns - 1 or not mask[i, j + 1]
    return sides


@njit(cache=True, nogil=True)
def count_directions(values, mask, n_directions):  # type: ignore[no-untyped-def]
    """Add up how steep the values are at the points of a mask, by direction.

    Direction 0 is a rise from row to row, a quarter on is one from column to column; at the edges
    the slope is that to the one neighbour there is.
    """
    n_rows, n_columns = values.shape
    total = np.zeros(n_directions)
    for i in range(n_rows):
        above, below = max(0, i - 1), min(n_rows - 1, i + 1)
        for j in range(n_columns):
            if not mask[i, j]:
                continue
            left, right = max(0, j - 1), min(n_columns - 1, j + 1)
            rise = (values[below, j] - values[above, j]) / max(1, below - above)
            run = (values[i, right] - values[i, left]) / max(1, right - left)
            angle = math.atan2(run, rise) / (2 * math.pi) * n_directions
            total[int(np.rint(angle)) % n_directions] += math.hypot(rise, run)
    return total
