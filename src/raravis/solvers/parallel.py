"""Independent classes side by side, in threads that share the Gram matrix."""

from collections.abc import Callable
from functools import cache
from typing import Any, TypeVar

__all__ = ["map_classes", "one_blas_thread"]

T = TypeVar("T")


def map_classes(
    run: Callable[[int], T],
    n_classes: int,
    *,
    n_jobs: int | None,
    on_class: Callable[[int], None] | None = None,
) -> list[T]:
    """Return ``[run(0), ..., run(n_classes - 1)]``; ``on_class`` hears how many are finished."""
    from joblib import Parallel, delayed

    results: list[T] = []
    parallel = Parallel(n_jobs=n_jobs, require="sharedmem", return_as="generator")
    for result in parallel(delayed(run)(c) for c in range(n_classes)):
        results.append(result)
        if on_class is not None:
            on_class(len(results))
    return results


def one_blas_thread() -> Any:
    """Return a context in which linear algebra uses one thread.

    Classes are the unit of parallel work: threads within threads get into each other's way, and
    how a product is split over threads may change its last bits.
    """
    return _controller().limit(limits=1, user_api="blas")


@cache
def _controller() -> Any:
    """Find the linear algebra libraries once; looking takes a millisecond or two."""
    from threadpoolctl import ThreadpoolController

    return ThreadpoolController()
