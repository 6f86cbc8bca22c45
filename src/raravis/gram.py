"""Rows of the training Gram matrix: computed when first asked for, kept under a memory budget.

The solvers see the Gram matrix only through ``GramRows``. When the whole matrix fits the budget it
is formed once, symmetrically read, and never again; otherwise rows are kept in a table, and the
ones unused for longest make room. What is computed, and in which blocks, depends only on the order
of requests, so the same requests give the same bits whatever the number of workers.
"""

from collections.abc import Iterator
from typing import Any

import numpy as np
from numpy.typing import NDArray

from raravis._threads import map_in_threads, one_blas_thread
from raravis.errors import InputError
from raravis.kernels import DEFAULT_BUDGET, Kernel, Precomputed, against, row_blocks

__all__ = ["GramRows"]

Floats = NDArray[np.floating[Any]]
Indices = NDArray[np.int64]


def _gather(table: Floats, left: Indices, right: Indices) -> Floats:
    from raravis._loops import gather

    part: Floats = gather(table, left, right)
    return part


class GramRows:
    """The Gram matrix of ``X`` under ``kernel``, by rows, in at most ``budget`` bytes.

    Examples
    --------
    >>> import numpy as np
    >>> from raravis.kernels import Linear
    >>> rows = GramRows(Linear(), np.array([[1.0], [2.0]]))
    >>> rows.complete, rows.between(np.array([1]), np.array([0, 1]))
    (True, array([[2., 4.]]))
    """

    def __init__(
        self,
        kernel: Kernel,
        X: Floats,
        *,
        budget: int = DEFAULT_BUDGET,
        table: Floats | None = None,
        origin: Indices | None = None,
        n_jobs: int | None = None,
    ) -> None:
        if budget < X.dtype.itemsize * len(X):
            raise InputError(
                f"the memory budget is {budget} bytes, but one Gram row of {len(X)} instances "
                f"takes {X.dtype.itemsize * len(X)}; allow at least that much."
            )
        self.kernel = kernel
        self.X = X
        self.budget = budget
        self.n_jobs = n_jobs
        self.n = len(X)
        self.rows_computed = 0
        self.capacity = min(self.n, budget // max(1, X.dtype.itemsize * self.n))
        self.complete = self.capacity == self.n
        #: Where each instance stood in the matrix that this one was cut from.
        self.origin: Indices = np.arange(self.n) if origin is None else origin
        self.slot_of: Indices = np.full(self.n, -1, dtype=np.int64)
        if self.complete:
            self.table = self._whole() if table is None else table
            self.slot_of = np.arange(self.n, dtype=np.int64)
            self.rows_computed = self.n
        else:
            self.table = np.empty((0, self.n), dtype=X.dtype)
            self._row_in: Indices = np.full(self.capacity, -1, dtype=np.int64)
            self._last_use: Indices = np.zeros(self.capacity, dtype=np.int64)
            self._clock = 0

    def _whole(self) -> Floats:
        if isinstance(self.kernel, Precomputed):
            return np.ascontiguousarray(self.kernel.block(self.X, self.X))
        K = np.empty((self.n, self.n), dtype=self.X.dtype)
        parts = list(row_blocks(self.n, self.n, K.itemsize, self.budget))

        block = against(self.kernel, self.X)

        def form(i: int) -> None:
            K[parts[i]] = block(self.X[parts[i]])

        with one_blas_thread():
            map_in_threads(form, len(parts), n_jobs=self.n_jobs)
        return K

    def subset(self, instances: Indices) -> "GramRows":
        """Return the Gram matrix of some of the instances; what is computed is not done again."""
        X = self.X[instances]
        if isinstance(self.kernel, Precomputed):
            X = np.ascontiguousarray(X[:, instances])
        table = self.table[np.ix_(instances, instances)] if self.complete else None
        return GramRows(
            self.kernel, X, budget=self.budget, table=table, origin=instances, n_jobs=self.n_jobs
        )

    def diagonal(self) -> Floats:
        """Return k(x, x) for every instance."""
        return self.kernel.diagonal(self.X)

    def between(self, left: Indices, right: Indices) -> Floats:
        """Return the part of the Gram matrix with these rows and columns."""
        if self.complete:
            return _gather(self.table, left, right)
        if isinstance(self.kernel, Precomputed):
            return self.X[np.ix_(left, right)]
        return self.kernel.block(self.X[left], self.X[right])

    def ensure(self, wanted: Indices) -> None:
        """Have these rows in the table; at most ``capacity`` of them at once."""
        if self.complete:
            return
        wanted = np.unique(wanted)
        if len(wanted) > self.capacity:
            raise InputError(f"{len(wanted)} rows asked for; the budget holds {self.capacity}.")
        self._clock += 1
        present = wanted[self.slot_of[wanted] >= 0]
        self._last_use[self.slot_of[present]] = self._clock
        missing = wanted[self.slot_of[wanted] < 0]
        if len(missing):
            self._load(missing)

    def _load(self, missing: Indices) -> None:
        slots = self._slots_for(len(missing))
        evicted = self._row_in[slots]
        self.slot_of[evicted[evicted >= 0]] = -1
        for part in row_blocks(len(missing), self.n, self.X.dtype.itemsize, self.budget):
            self.table[slots[part]] = self._compute(missing[part])
        self._row_in[slots] = missing
        self._last_use[slots] = self._clock
        self.slot_of[missing] = slots
        self.rows_computed += len(missing)

    def _compute(self, indices: Indices) -> Floats:
        if isinstance(self.kernel, Precomputed):
            return self.X[indices]
        return self.kernel.block(self.X[indices], self.X)

    def _slots_for(self, n_new: int) -> Indices:
        """Free slots first, then those unused for longest; the table grows only as it must."""
        by_age = np.lexsort((np.arange(self.capacity), self._last_use))
        slots = np.sort(by_age[:n_new])
        need = int(slots[-1]) + 1
        if need > len(self.table):
            grown = min(self.capacity, max(need, 2 * len(self.table)))
            table = np.empty((grown, self.n), dtype=self.X.dtype)
            table[: len(self.table)] = self.table
            self.table = table
        return slots

    def blocks(self, chosen: Indices) -> Iterator[tuple[slice, Floats]]:
        """Yield the matrix of the chosen instances against all, a few columns at a time."""
        everything = self.complete and len(chosen) == self.n
        for part in row_blocks(self.n, len(chosen), self.X.dtype.itemsize, self.budget):
            if everything:
                yield part, self.table[:, part]
            else:
                yield part, self.between(chosen, np.arange(part.start, part.stop))

    def add_rows(self, rows: Indices, amounts: NDArray[np.float64], scores: Floats) -> None:
        """Add ``amounts`` times these rows, which must be in the table, to ``scores`` in place."""
        from raravis._loops import accumulate_rows

        accumulate_rows(self.table, self.slot_of[rows], amounts, scores)

    def times(self, W: Floats) -> Floats:
        """Return K @ W for a matrix with a row per instance, streaming where K is not at hand."""
        if self.complete:
            return np.asarray(self.table @ W, dtype=np.float64)
        used = np.flatnonzero(W.any(axis=1))
        out = np.empty((self.n, W.shape[1]))
        for part, K in self.blocks(used):
            out[part] = K.T @ W[used]
        return out
