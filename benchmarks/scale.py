"""A million instances: time, memory, growth; landmarks; scoring; peers; workers; a GPU.

``--only fit`` (passes, landmarks, scoring, ...) runs one section; ``--folder`` keeps the data.
"""

import argparse
import tempfile
import time
from collections.abc import Callable, Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Any

import numpy as np

from _report import print_table, write_json
from _scale_cluster import dask_figures, kill_figures
from _scale_gpu import gpu_figures
from _scale_landmarks import landmark_figures
from _scale_plot import plot
from _timing import Figure, machine, run_child, single, spread

SIZES = (10_000, 100_000, 1_000_000)
FULL_KERNEL = (1_000, 10_000)
PEERS = {
    "raravis": 1_000_000,
    "OneClassSVM": 10_000,
    "SGDOneClassSVM + Nystroem": 1_000_000,
    "IsolationForest": 1_000_000,
}
MOST_SECONDS, MOST_BYTES, MOST_EXPONENT, MOST_PRODUCTS = 900.0, 4 * 2**30, 1.1, 1.5


def main() -> None:
    """Run the sections asked for, print the figures and write them as JSON."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--quick", action="store_true", help="up to 100,000 instances")
    parser.add_argument("--only", choices=list(SECTIONS), help="run this section alone")
    parser.add_argument("--json", type=Path, help="also write the figures to this file")
    parser.add_argument("--folder", type=Path, help="keep the data sets here")
    options = parser.parse_args()
    found_on, start = machine(), time.perf_counter()
    with tempfile.TemporaryDirectory() as temporary:
        folder = str(options.folder or temporary)
        chosen = [options.only] if options.only else list(SECTIONS)
        figures = [f for name in chosen for f in SECTIONS[name](folder, options.quick)]
    print_table("scale", figures, options.quick)
    if options.json is not None:
        report = {
            "part": "scale",
            "quick": options.quick,
            "machine": found_on,
            "seconds": round(time.perf_counter() - start, 1),
            "figures": [{**asdict(f), "verdict": f.verdict} for f in figures],
        }
        write_json(options.json, report)


def _job(task: str, folder: str, n: int, **options: Any) -> Any:
    run_child("scale", threads=2, task="make", folder=folder, n=n)
    return run_child("scale", threads=2, task=task, folder=folder, n=n, **options)


def fit_figures(folder: str, quick: bool) -> list[Figure]:
    """Time, memory and ranking of a fit by size, and their growth; the full kernel beside it."""
    sizes = SIZES[:2] if quick else SIZES
    runs = {n: _job("fit", folder, n, n_jobs=2) for n in sizes}
    figures = []
    for n, run in runs.items():
        largest = n == SIZES[-1]
        figures += [
            single(
                f"fit: {n:,} instances",
                run["seconds"],
                unit="s",
                target=MOST_SECONDS if largest else None,
                note=f"AUC {run['auc']:.4f}; {_stages(run)}",
            ),
            single(
                f"peak memory of the process: {n:,}",
                run["peak_bytes"] / 2**20,
                unit="MiB",
                target=MOST_BYTES / 2**20 if largest else None,
            ),
        ]
    for name, key in (("time", "seconds"), ("memory", "peak_bytes")):
        slope = np.polyfit(np.log(sizes), np.log([runs[n][key] for n in sizes]), 1)[0]
        figures.append(single(f"exponent of {name}", float(slope), unit="", target=MOST_EXPONENT))
    return figures + _beside_full_kernel(folder, runs)


def _stages(run: Any) -> str:
    steps = ", ".join(f"{n} {stage}" for stage, n in run["steps"].items() if "steps" in stage)
    looked = run["stages"].get("parts looked at", 0.0)
    sampled = run["stages"].get("steps on some bags", 0.0)
    return f"survey {looked:.1f} s, start {sampled - looked:.1f} s; {steps}"


def _beside_full_kernel(folder: str, runs: Any) -> list[Figure]:
    figures = []
    for n in FULL_KERNEL:
        full = run_child("scale", threads=2, task="full_kernel", folder=folder, n=n)
        run = runs.get(n) or _job("fit", folder, n, n_jobs=2)
        figures.append(
            single(
                f"AUC of the full kernel less ours: {n:,}",
                full["auc"] - run["auc"],
                unit="",
                target=0.01,
                note=f"{full['auc']:.4f} in {full['seconds']:.0f} s; {run['auc']:.4f} in "
                f"{run['seconds']:.0f} s",
            )
        )
    return figures


def pass_figures(folder: str, quick: bool) -> list[Figure]:
    """One pass against the products that it makes, and those against kernel values on disk."""
    del quick
    figures = []
    for n_jobs in (1, 2):
        run = _job("passes", folder, SIZES[1], n_jobs=n_jobs)
        whole, made, read = (np.array(run[name]) for name in ("pass", "made", "read"))
        millions = run["n"][0] / 1e6
        figures += [
            spread(
                f"pass / its kernel values and products: {n_jobs} threads",
                whole / made,
                note=f"{np.median(whole) / millions:.2f} s a million instances, "
                f"{np.median(made) / millions:.2f} s of it products",
            ),
            spread(
                f"reading Parquet anew, scaled and with its lists / a pass: {n_jobs} threads",
                np.array(run["parquet"]) / whole,
                note=f"{np.median(run['parquet']) / millions:.2f} s a million instances",
            ),
            spread(
                f"products, kernel values read from disk / made on the fly: {n_jobs} threads",
                read / made,
                note="the file is in the system's cache: as fast as reading can be",
            ),
        ]
    return figures


def scoring_figures(folder: str, quick: bool) -> list[Figure]:
    """Parquet to Parquet against the bare kernel products of the same numbers of instances."""
    n = SIZES[1] if quick else SIZES[-1]
    if not Path(folder, f"model-{n}.raravis").exists():
        _job("fit", folder, n, n_jobs=2)
    figures = []
    for n_jobs in (1, 2):
        run = _job("score", folder, n, n_jobs=n_jobs)
        scoring, products = np.array(run["scoring"]), np.array(run["products"])
        figures.append(
            spread(
                f"scoring / kernel products: {n:,}, {n_jobs} threads",
                scoring / products,
                target=MOST_PRODUCTS,
                note=f"{np.median(scoring):.1f} s",
            )
        )
    return figures


def peer_figures(folder: str, quick: bool) -> list[Figure]:
    """Time and AUC of one-class methods on the same instances, unlabelled, and of ours."""
    rows = []
    for name, largest in PEERS.items():
        for n in (1_000, *(SIZES[:2] if quick else SIZES)):
            if n > largest:
                continue
            named = {} if name == "raravis" else {"name": name}
            run = _job("peer" if named else "ours", folder, n, **named)
            rows.append((name, n, run))
    plot(rows, Path(__file__).parent / "results" / "scale-peers.svg")
    return [
        single(
            f"{name}: {n:,}",
            run["seconds"],
            unit="s",
            note=f"AUC {run['auc']:.4f}; {run['score_seconds']:.2f} s to score 20,000; "
            f"{run['peak_bytes'] / 2**20:,.0f} MiB",
        )
        for name, n, run in rows
    ]


SECTIONS: dict[str, Callable[[str, bool], Sequence[Figure]]] = {
    "fit": fit_figures,
    "passes": pass_figures,
    "landmarks": landmark_figures,
    "scoring": scoring_figures,
    "peers": peer_figures,
    "dask": dask_figures,
    "kills": kill_figures,
    "gpu": gpu_figures,
}


if __name__ == "__main__":
    main()
