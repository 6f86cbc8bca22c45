"""Scoring new instances, against the bare kernel product of the same sizes."""

import os
from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from _data import hja_split, scaled
from _grams import kernel_product
from _report import run_part
from _timing import Figure, Times, blas_threads, interleaved, ratio, spread
from raravis import Bags, KernelScorer
from raravis.datasets import fetch_hja_birdsong

#: Rows a block for the bare product; the fastest of them is what we are held against.
BLOCKS = (64, 256, 1024, 4096)
MOST_PRODUCTS = 1.3


def measure(quick: bool) -> list[Figure]:
    """Class scores of the HJA instances, several times over, by precision and threads."""
    rounds, copies = (3, 1) if quick else (15, 8)
    figures: list[Figure] = []
    for dtype in (np.float64, np.float32):
        for threads in sorted({1, os.cpu_count() or 1}):
            figures += _against_product(dtype, threads, rounds=rounds, copies=copies)
    return figures


def _against_product(dtype: Any, threads: int, *, rounds: int, copies: int) -> list[Figure]:
    train, _ = hja_split()
    fresh = _repeated(fetch_hja_birdsong().bags.instances.astype(dtype), copies)
    model = KernelScorer(n_jobs=threads).fit(train.bags, train.labels)
    with blas_threads(threads):
        times = interleaved(_tasks(model, train.bags, fresh, dtype), rounds=rounds)
    best = min(BLOCKS, key=lambda block: times[str(block)].median)
    setting = f"{np.dtype(dtype).name}, {threads} threads"
    return [
        ratio(
            f"class_scores / kernel product: {setting}",
            times["class_scores"],
            times[str(best)],
            target=MOST_PRODUCTS,
            note=f"{fresh.n_instances:,} x {model.n_support_:,}, best block {best} rows",
        ),
        _rate(setting, times["class_scores"], fresh.n_instances),
    ]


def _tasks(
    model: KernelScorer, train: Bags, fresh: Bags, dtype: Any
) -> dict[str, Callable[[], object]]:
    A: NDArray[Any] = scaled(train, fresh).astype(dtype)
    B = model.score_functions_.support.astype(dtype)
    W = model.score_functions_.weights.astype(dtype)

    def bare(block: int) -> Callable[[], object]:
        return lambda: kernel_product(A, B, W, model.gamma_, block=block)

    return {"class_scores": lambda: model.class_scores(fresh)} | {str(b): bare(b) for b in BLOCKS}


def _repeated(X: NDArray[Any], copies: int) -> Bags:
    stacked = np.tile(X, (copies, 1))
    return Bags.from_arrays(stacked, np.arange(len(stacked)) // 9)


def _rate(setting: str, times: Times, n_instances: int) -> Figure:
    thousands = n_instances / np.array(times.seconds) / 1e3
    return spread(f"class_scores: {setting}", thousands, unit="thousand instances/s")


if __name__ == "__main__":
    run_part("scoring", measure)
