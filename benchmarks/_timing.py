"""Timing on machines that are never quiet: interleaved rounds, medians, ratios, child processes.

Two ways of doing a thing are compared within one run on one machine. They are run in turn, round
after round (A B C, B C A, C A B, ...), so that a slow minute hits all of them alike, and the ratio
is taken round by round: its median is reported, with the quartiles as spread.
"""

import json
import os
import platform
import subprocess
import sys
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from importlib.metadata import version
from pathlib import Path
from typing import Any

import numpy as np

HERE = Path(__file__).resolve().parent
_THREAD_VARIABLES = ("OPENBLAS_NUM_THREADS", "OMP_NUM_THREADS", "MKL_NUM_THREADS")
_PACKAGES = ("raravis", "numpy", "scipy", "scikit-learn", "numba")


@dataclass(frozen=True)
class Times:
    """Seconds of every round, in order."""

    seconds: tuple[float, ...]

    @property
    def median(self) -> float:
        """Median over rounds."""
        return float(np.median(self.seconds))


@dataclass(frozen=True)
class Figure:
    """One number with its spread, and the target it is held against, if any."""

    name: str
    value: float
    low: float
    high: float
    unit: str = "x"
    target: float | None = None
    at_most: bool = True
    note: str = ""

    @property
    def verdict(self) -> str:
        """Say "met" or "missed"; nothing where there is no target."""
        if self.target is None:
            return ""
        good = self.value <= self.target if self.at_most else self.value >= self.target
        return "met" if good else "missed"

    @property
    def goal(self) -> str:
        """The target in words."""
        if self.target is None:
            return ""
        return f"{'<=' if self.at_most else '>='} {self.target:g} {self.unit}"


def interleaved(tasks: Mapping[str, Callable[[], object]], *, rounds: int) -> dict[str, Times]:
    """Run every task once unseen, then ``rounds`` times in turn; each round begins elsewhere."""
    for task in tasks.values():
        task()
    names = list(tasks)
    seconds: dict[str, list[float]] = {name: [] for name in names}
    for i in range(rounds):
        shift = i % len(names)
        for name in names[shift:] + names[:shift]:
            seconds[name].append(seconds_of(tasks[name]))
    return {name: Times(tuple(values)) for name, values in seconds.items()}


def seconds_of(task: Callable[[], object]) -> float:
    """Wall-clock seconds of one run."""
    start = time.perf_counter()
    task()
    return time.perf_counter() - start


def ratio(name: str, over: Times, under: Times, **details: Any) -> Figure:
    """Median and quartiles of the ratio, round by round."""
    return spread(name, np.array(over.seconds) / np.array(under.seconds), **details)


def spread(name: str, values: Any, **details: Any) -> Figure:
    """Median and quartiles of repeated values."""
    low, middle, high = np.quantile(values, [0.25, 0.5, 0.75])
    return Figure(name, float(middle), float(low), float(high), **details)


def single(name: str, value: float, **details: Any) -> Figure:
    """Return a number without spread: a count, or something that does not vary."""
    return Figure(name, float(value), float(value), float(value), **details)


@contextmanager
def blas_threads(n: int) -> Iterator[None]:
    """Hold the linear algebra library to ``n`` threads."""
    from threadpoolctl import threadpool_limits

    with threadpool_limits(n):
        yield


def run_child(
    job: str, *, threads: int, env: Mapping[str, str] | None = None, **options: Any
) -> Any:
    """Run a job of ``_child.py`` in a process of its own and return what it reports."""
    surroundings = {**os.environ, **dict.fromkeys(_THREAD_VARIABLES, str(threads)), **(env or {})}
    command = [sys.executable, str(HERE / "_child.py"), job, json.dumps(options)]
    done = subprocess.run(command, env=surroundings, capture_output=True, text=True, check=False)
    if done.returncode:
        raise RuntimeError(f"the job {job} {options} failed:\n{done.stderr}")
    return json.loads(done.stdout.splitlines()[-1])


def machine() -> dict[str, Any]:
    """Return what the figures depend on."""
    return {
        "processor": _processor(),
        "cores": os.cpu_count(),
        "python": platform.python_version(),
        "load": [round(value, 2) for value in os.getloadavg()],
        **{name: version(name) for name in _PACKAGES},
    }


def _processor() -> str:
    listing = Path("/proc/cpuinfo")
    if listing.exists():
        for line in listing.read_text(encoding="utf-8").splitlines():
            if line.startswith("model name"):
                return line.partition(":")[2].strip()
    return platform.processor() or platform.machine()
