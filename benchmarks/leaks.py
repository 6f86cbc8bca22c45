"""Whether memory grows over a thousand tiny fits: MiB of the process, early and late.

    python benchmarks/leaks.py [--fits 1000] [--json FILE]

The first fits are left out: they load libraries and compiled code.
"""

import argparse
import gc
import json
import warnings
from pathlib import Path
from typing import Any

import numpy as np

from raravis import Bags, CooccurrenceScorer, KernelScorer, NovelClassClassifier, NoveltyDetector

_WARM_UP = 100


def resident_mib() -> float:
    """Return the memory of this process that is in use, as Linux counts it."""
    pages = int(Path("/proc/self/statm").read_text(encoding="ascii").split()[1])
    return pages * 4096 / 2**20


def problem(seed: int) -> tuple[Bags, list[set[str]]]:
    rng = np.random.default_rng(seed)
    places = {"wren": (0.0, 0.0), "owl": (4.0, 0.0), "unheard": (2.0, 4.0)}
    heard = [rng.choice(list(places), 3) for _ in range(8)]
    bags = [[places[one] + rng.normal(0, 0.3, 2) for one in callers] for callers in heard]
    return Bags.from_list(bags), [set(callers.tolist()) - {"unheard"} for callers in heard]


def grown(model: Any, fits: int) -> dict[str, float]:
    """Fit and score again and again; return what that left behind."""
    early = 0.0
    for number in range(_WARM_UP + fits):
        bags, labels = problem(number % 50)
        model.fit(bags, labels).score_samples(bags)
        if number == _WARM_UP - 1:
            gc.collect()
            early = resident_mib()
    gc.collect()
    late = resident_mib()
    return {"early_mib": early, "late_mib": late, "kib_per_fit": (late - early) * 1024 / fits}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--fits", type=int, default=1000)
    parser.add_argument("--json", type=Path)
    asked = parser.parse_args()
    warnings.simplefilter("ignore")
    models = (
        KernelScorer(),
        NovelClassClassifier(max_rounds=5),
        NovelClassClassifier("forest", n_trees=4, max_rounds=1),
        NoveltyDetector(n_trees=4),
        CooccurrenceScorer(),
    )
    results = {}
    for model in models:
        name = f"{type(model).__name__} {getattr(model, 'm_step', '')}".strip()
        results[name] = grown(model, asked.fits)
        print(
            f"{name:<32} {results[name]['early_mib']:7.1f} MiB after {_WARM_UP} fits, "
            f"{results[name]['late_mib']:7.1f} after {asked.fits} more, "
            f"{results[name]['kib_per_fit']:+.2f} KiB a fit",
            flush=True,
        )
    if asked.json:
        asked.json.write_text(json.dumps(results, indent=1) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
