"""Passes over a data set: parts and blocks in order, and what fits the budget kept in memory."""

from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import ThreadPoolExecutor
from typing import Any, TypeVar

import numpy as np
from numpy.typing import NDArray

from raravis.scale.parts import BagParts
from raravis.scale.problem import (
    Problem,
    Ready,
    Sums,
    block_sums,
    groups_of_parts,
    prepared,
    total,
)

__all__ = ["Backend", "LocalPasses", "block_rows", "prefetched", "threaded"]

Doubles = NDArray[np.float64]
Backend = Callable[[Problem, Ready, Doubles], Sums]
T = TypeVar("T")

#: Bytes that reading takes for each feature of an instance: as Arrow, single, double, scaled.
_BYTES_A_FEATURE = 40
_LEAST_ROWS, _MOST_ROWS = 1024, 1 << 17
#: Shares of the budget: one block being worked on and one being read; instances kept.
_SHARE_OF_A_BLOCK, _SHARE_KEPT = 8, 2


def block_rows(n_features: int, memory_budget: int) -> int:
    """Return how many instances a block may hold."""
    affordable = memory_budget // (_SHARE_OF_A_BLOCK * _BYTES_A_FEATURE * n_features)
    return int(min(max(affordable, _LEAST_ROWS), _MOST_ROWS))


def prefetched(items: Iterable[T]) -> Iterator[T]:
    """Yield the items, each made in a thread while the one before is in use."""
    iterator = iter(items)
    done = object()
    with ThreadPoolExecutor(1) as pool:
        following: Any = pool.submit(next, iterator, done)
        while (item := following.result()) is not done:
            following = pool.submit(next, iterator, done)
            yield item


class LocalPasses:
    """Passes in this process; sums do not depend on what is kept, nor on the number of threads."""

    def __init__(
        self,
        parts: BagParts,
        problem: Problem,
        *,
        memory_budget: int,
        n_jobs: int | None = None,
        backend: Backend | None = None,
    ) -> None:
        self.parts = parts
        self.problem = problem
        self.rows = block_rows(parts.n_features, memory_budget)
        self.backend = backend or threaded(n_jobs)
        self._left = memory_budget // _SHARE_KEPT
        self._kept: dict[int, list[Ready]] = {}

    def __call__(self, weights: Doubles, on_part: Callable[[int], None] | None = None) -> Sums:
        """Return the sums over all bags; ``on_part`` hears how many parts are done."""
        coefficients = self.problem.coefficients(weights)

        def run(part: int) -> Sums:
            sums = self.part(part, coefficients)
            if on_part is not None:
                on_part(part + 1)
            return sums

        groups = groups_of_parts(len(self.parts.files))
        by_group = (total((run(part) for part in group), self.problem) for group in groups)
        return total(by_group, self.problem)

    def part(self, part: int, coefficients: Doubles) -> Sums:
        """Return the sums over one part."""
        if part in self._kept:
            blocks: Iterable[Ready] = self._kept[part]
        elif self._size(part) <= self._left:
            self._left -= self._size(part)
            blocks = self._kept[part] = list(self._read(part, kept=True))
        else:
            blocks = prefetched(self._read(part, kept=False))
        return total(
            (self.backend(self.problem, block, coefficients) for block in blocks), self.problem
        )

    def _read(self, part: int, *, kept: bool) -> Iterator[Ready]:
        for block in self.parts.blocks(part, rows=self.rows):
            yield prepared(block, self.problem, kept=kept)

    def _size(self, part: int) -> int:
        """Return the bytes of the scaled instances of a part, and of what its labels say."""
        wide = self.parts.n_features * np.dtype(self.problem.dtype).itemsize + 16
        return int(self.parts.rows[part] * wide)


def threaded(n_jobs: int | None) -> Backend:
    """Return the NumPy backend with so many threads."""

    def run(problem: Problem, ready: Ready, coefficients: Doubles) -> Sums:
        return block_sums(problem, ready, coefficients, n_jobs=n_jobs)

    return run
