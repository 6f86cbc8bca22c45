"""How fit time and memory grow from 1,000 to 50,000 instances of a synthetic mixture."""

from itertools import pairwise
from typing import Any

import numpy as np
from numpy.typing import NDArray

from _report import run_part
from _timing import Figure, run_child, spread

SIZES = (1_000, 3_000, 10_000, 30_000, 50_000)
N_SCORED = 5_000
QUANTITIES = {
    "fit time": "fit_seconds",
    "peak memory of the fit": "fit_bytes",
    "time to score 5,000 fresh instances": "score_seconds",
}


def measure(quick: bool) -> list[Figure]:
    """Fit time, peak memory and scoring time by size, each run in a process of its own."""
    sizes = SIZES[:3] if quick else SIZES
    runs = [
        [run_child("fit_mixture", threads=1, n_instances=n, n_scored=N_SCORED) for n in sizes]
        for _ in range(1 if quick else 3)
    ]
    by_size = [list(repeats) for repeats in zip(*runs, strict=True)]
    figures = [figure for repeats in by_size for figure in _at_one_size(repeats)]
    return figures + [_exponent(name, key, runs) for name, key in QUANTITIES.items()]


def _at_one_size(repeats: list[Any]) -> list[Figure]:
    n, n_support = repeats[0]["n"], repeats[0]["n_support"]
    fit = np.array([r["fit_seconds"] for r in repeats])
    memory = np.array([r["fit_bytes"] for r in repeats])
    stream = np.array([r["stream_seconds"] for r in repeats])
    rate = np.array([r["n_scored"] / r["score_seconds"] for r in repeats])
    return [
        spread(
            f"fit / one pass over all kernel values: n = {n:,}",
            fit / stream,
            note=f"{np.median(fit):.2f} s, {n_support:,} support vectors",
        ),
        spread(
            f"peak memory / memory budget: n = {n:,}",
            memory / repeats[0]["budget_bytes"],
            note=f"{np.median(memory) / 2**20:,.0f} MiB",
        ),
        spread(f"scoring: n = {n:,}", rate / 1e3, unit="thousand instances/s"),
    ]


def _exponent(name: str, key: str, runs: list[list[Any]]) -> Figure:
    """Slope of the logarithm over that of n, run by run, and between neighbouring sizes."""
    sizes = np.log([r["n"] for r in runs[0]])
    logs = np.log([[r[key] for r in run] for run in runs])
    slopes = [float(np.polyfit(sizes, row, 1)[0]) for row in logs]
    steps = _steps(sizes, np.median(logs, axis=0))
    return spread(f"exponent of {name}", slopes, unit="", note=f"step by step: {steps}")


def _steps(sizes: NDArray[Any], values: NDArray[Any]) -> str:
    pairs = zip(pairwise(sizes), pairwise(values), strict=True)
    return ", ".join(f"{(b - a) / (n - m):.2f}" for (m, n), (a, b) in pairs)


if __name__ == "__main__":
    run_part("scaling", measure)
