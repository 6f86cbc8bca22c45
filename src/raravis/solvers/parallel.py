"""Independent classes side by side, in threads that share the Gram matrix."""

from collections.abc import Callable
from typing import TypeVar

__all__ = ["map_classes"]

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
