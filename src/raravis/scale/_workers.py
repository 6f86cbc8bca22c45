"""Threads over the pieces of one block, without the waiting that a block cannot afford."""

from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import TypeVar

__all__ = ["in_threads"]

T = TypeVar("T")


def in_threads(run: Callable[[int], T], n_pieces: int, *, n_jobs: int | None) -> list[T]:
    """Return ``[run(0), ..., run(n_pieces - 1)]``.

    As ``raravis._threads.map_in_threads``; but joblib looks for results a hundred times a second,
    which is a good part of what a block takes.
    """
    from joblib import effective_n_jobs

    n_threads = min(effective_n_jobs(n_jobs), n_pieces)
    if n_threads <= 1:
        return [run(i) for i in range(n_pieces)]
    with ThreadPoolExecutor(n_threads) as pool:
        return list(pool.map(run, range(n_pieces)))
