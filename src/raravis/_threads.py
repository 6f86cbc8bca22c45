"""Independent pieces of work side by side, in threads that share the Gram matrix."""

from collections.abc import Callable
from functools import cache
from typing import Any, TypeVar

__all__ = ["map_in_threads", "one_blas_thread"]

T = TypeVar("T")


def map_in_threads(
    run: Callable[[int], T],
    n_pieces: int,
    *,
    n_jobs: int | None,
    on_done: Callable[[int], None] | None = None,
) -> list[T]:
    """Return ``[run(0), ..., run(n_pieces - 1)]``; ``on_done`` hears how many are finished."""
    from joblib import Parallel, delayed

    results: list[T] = []
    parallel = Parallel(n_jobs=n_jobs, require="sharedmem", return_as="generator")
    for result in parallel(delayed(run)(i) for i in range(n_pieces)):
        results.append(result)
        if on_done is not None:
            on_done(len(results))
    return results


def one_blas_thread() -> Any:
    """Return a context in which linear algebra uses one thread.

    Classes and blocks are the units of parallel work: threads within threads get into each other's
    way, and how a product is split over threads may change its last bits.
    """
    return _controller().limit(limits=1, user_api="blas")


@cache
def _controller() -> Any:
    """Find the linear algebra libraries once; looking takes a millisecond or two."""
    from threadpoolctl import ThreadpoolController

    return ThreadpoolController()
