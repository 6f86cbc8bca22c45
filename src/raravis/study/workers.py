"""Work on many recordings at once, in processes.

The outcome of a task depends on the task alone, so neither the number of workers nor the order in
which they finish matters. A task whose process dies (a decoder that crashes, memory that runs out)
is tried once more on its own, and if that fails too, it alone has failed.
"""

import multiprocessing
import os
import signal
import sys
import threading
from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures import FIRST_COMPLETED, Future, ProcessPoolExecutor, wait
from concurrent.futures.process import BrokenProcessPool
from contextlib import contextmanager
from multiprocessing.connection import wait as wait_for
from multiprocessing.context import SpawnContext, SpawnProcess
from multiprocessing.process import BaseProcess
from types import ModuleType
from typing import Any, TypeVar

from raravis.errors import InputError

__all__ = ["DIED", "available_cores", "checked_workers", "map_tasks"]

T = TypeVar("T")
R = TypeVar("R")

# What stands for the outcome of a task that took its process down.
DIED = object()
# Tasks handed out ahead of need, a worker: enough that none waits, few enough to stop soon.
_AHEAD = 3


def available_cores() -> int:
    """Return how many cores this process may use.

    >>> available_cores() >= 1
    True
    """
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1


def checked_workers(workers: int | None) -> int:
    """Return the number of processes; None is one for each core.

    >>> checked_workers(3)
    3
    """
    if workers is None:
        return available_cores()
    if workers < 1:
        raise InputError(f"workers is {workers}; pass at least 1, or nothing for one a core.")
    return workers


def map_tasks(
    function: Callable[[T], R], tasks: Sequence[T], *, workers: int
) -> Iterator[tuple[T, R | object]]:
    """Yield every task with its outcome, or ``DIED``, as they finish.

    ``function`` and the tasks must be picklable: a function of a module, and plain data.
    """
    if workers == 1 or len(tasks) <= 1:
        for task in tasks:
            yield task, function(task)
        return
    unfinished: dict[int, T] = dict(enumerate(tasks))
    try:
        yield from _in_pool(function, unfinished, min(workers, len(tasks)))
    except BrokenProcessPool:
        yield from _one_by_one(function, unfinished)


def _one_by_one(
    function: Callable[[T], R], unfinished: dict[int, T]
) -> Iterator[tuple[T, R | object]]:
    """Give every task that is left a process of its own, so that one death costs one task."""
    for number, task in list(unfinished.items()):
        try:
            yield from _in_pool(function, {number: task}, 1)
        except BrokenProcessPool:
            yield task, DIED


def _in_pool(
    function: Callable[[T], R], unfinished: dict[int, T], workers: int
) -> Iterator[tuple[T, R]]:
    """Run tasks in a pool; those that are finished are taken out of ``unfinished``."""
    waiting = iter(list(unfinished.items()))
    with _pool(workers) as pool:
        running: dict[Future[R], int] = {}
        _hand_out(pool, function, waiting, running, workers * _AHEAD)
        while running:
            finished, _ = wait(running, return_when=FIRST_COMPLETED)
            for future in finished:
                number = running.pop(future)
                outcome = future.result()
                yield unfinished.pop(number), outcome
            _hand_out(pool, function, waiting, running, workers * _AHEAD)


def _hand_out(
    pool: ProcessPoolExecutor,
    function: Callable[[T], R],
    waiting: Iterable[tuple[int, T]],
    running: dict[Future[R], int],
    limit: int,
) -> None:
    while len(running) < limit:
        following = next(iter(waiting), None)
        if following is None:
            return
        running[pool.submit(function, following[1])] = following[0]


@contextmanager
def _pool(workers: int) -> Iterator[ProcessPoolExecutor]:
    """Return a pool whose processes end with the block, at once if it ends by an error."""
    others = set(multiprocessing.active_children())
    pool = ProcessPoolExecutor(workers, mp_context=_Context(), initializer=_begin)
    try:
        yield pool
    except BaseException:
        ours = set(multiprocessing.active_children()) - others
        for process in ours:
            process.terminate()
        raise
    finally:
        pool.shutdown(wait=True, cancel_futures=True)


class _Process(SpawnProcess):
    """A new process that does not run the caller's script again.

    It would do so to find what the script defines, and a script that is not written for that would
    start all its work anew in every process. What our processes need stands in modules.
    """

    @staticmethod
    def _Popen(process_obj: BaseProcess) -> Any:  # noqa: N802
        script = sys.modules["__main__"]
        sys.modules["__main__"] = ModuleType("__main__")
        try:
            return SpawnProcess._Popen(process_obj)
        finally:
            sys.modules["__main__"] = script


class _Context(SpawnContext):
    """Not forked: a copy of a process with threads may hang."""

    Process = _Process


def _begin() -> None:
    """Prepare a worker: the parent answers Ctrl-C, and no worker outlives its parent."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    threading.Thread(target=_end_with_parent, daemon=True).start()


def _end_with_parent() -> None:
    parent = multiprocessing.parent_process()
    if parent is not None:
        wait_for([parent.sentinel])
        os._exit(1)
