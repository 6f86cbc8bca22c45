"""Two workers against one on this machine, and fits during which a worker is killed."""

import os
import random
import signal
import threading
import time
from pathlib import Path
from typing import Any

import numpy as np

from _timing import Figure, single, spread
from raravis import NovelClassClassifier

N, N_KILLED, N_PARTS = 400_000, 20_000, 20


def dask_figures(folder: str, quick: bool) -> list[Figure]:
    """Speed-up of two workers, and whether results are equal to those of one process."""
    try:
        from distributed import Client, LocalCluster
    except ImportError:
        return [single("dask is not installed: not measured", 0.0, unit="")]
    path = _made(folder, N)
    seconds: dict[int, list[float]] = {1: [], 2: []}
    models = {}
    for n_workers in (1, 2):
        with _cluster(LocalCluster, n_workers) as cluster, Client(cluster) as client:
            for _ in range(1 if quick else 3):
                models[n_workers], took = _timed(path, client)
                seconds[n_workers].append(took)
    alone, _ = _timed(path, None)
    equal = sum(_same(alone, models[n]) for n in (1, 2))
    return [
        spread(
            "time with one worker / with two",
            np.array(seconds[1]) / np.array(seconds[2]),
            note=f"{N:,} instances in {N_PARTS} parts: {min(seconds[1]):.1f} and "
            f"{min(seconds[2]):.1f} s",
        ),
        single("fits equal to those of one process, to the bit", equal, unit="of 2"),
    ]


def kill_figures(folder: str, quick: bool) -> list[Figure]:
    """How many fits during which a worker is killed end with the same bits."""
    try:
        from distributed import Client, LocalCluster
    except ImportError:
        return [single("dask is not installed: not measured", 0.0, unit="")]
    path = _made(folder, N_KILLED)
    n_runs = 3 if quick else 20
    small, took = _timed(path, None, 100)
    same = []
    for _ in range(n_runs):
        with _cluster(LocalCluster, 2) as cluster, Client(cluster) as client:
            same.append(_killed(client, path, small, took))
    return [
        single(
            "fits with a worker killed that end equal",
            sum(same),
            unit=f"of {n_runs}",
            target=n_runs,
            at_most=False,
            note=f"one process takes {took:.1f} s",
        ),
    ]


def _made(folder: str, n: int) -> str:
    from raravis.scale import write_mixture

    place = Path(folder) / f"parts-{n}"
    if not (place / "_parts.json").exists():
        write_mixture(place, n, rows_a_part=n // N_PARTS)
    return str(place)


def _cluster(kind: Any, n_workers: int) -> Any:
    return kind(n_workers=n_workers, threads_per_worker=1, processes=True, dashboard_address=None)


def _timed(path: str, client: Any, n_landmarks: int = 300) -> tuple[NovelClassClassifier, float]:
    from raravis.scale import fit_parquet

    start = time.perf_counter()
    # A small gain asked for: many passes, which is where workers have to do.
    model = NovelClassClassifier(n_landmarks=n_landmarks, tol=1e-6, max_rounds=20)
    fit_parquet(model, path, client=client)
    return model, time.perf_counter() - start


def _same(a: NovelClassClassifier, b: NovelClassClassifier) -> bool:
    ours, theirs = a.model_.instances.coefficients, b.model_.instances.coefficients
    return bool(np.array_equal(ours, theirs))


def _killed(client: Any, path: str, expected: NovelClassClassifier, took: float) -> bool:
    """Fit while one worker is killed at a random moment, and compare."""
    client.wait_for_workers(2)
    pids = list(client.run(os.getpid).values())
    delay = random.uniform(0.0, took)  # noqa: S311
    timer = threading.Timer(delay, os.kill, (random.choice(pids), signal.SIGKILL))  # noqa: S311
    timer.start()
    found, _ = _timed(path, client, 100)
    timer.cancel()
    return _same(found, expected)
