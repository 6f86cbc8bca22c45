"""Fitting on HJA birdsong with eight classes: against the Gram matrix, and the paper's solver."""

import os
import tempfile
import warnings
from collections.abc import Callable
from typing import Any

import numpy as np
from sklearn.exceptions import ConvergenceWarning

from _data import hja_split, scaled
from _grams import gram_in_place, gram_sklearn
from _report import run_part
from _timing import (
    Figure,
    Times,
    blas_threads,
    interleaved,
    ratio,
    run_child,
    seconds_of,
    single,
    spread,
)
from raravis import KernelScorer

SETTINGS: dict[str, dict[str, float]] = {
    "automatic": {},
    "gamma 4, lam 1e-3": {"gamma": 4.0, "lam": 1e-3},
    "gamma 4, lam 1e-4": {"gamma": 4.0, "lam": 1e-4},
    "automatic, tol 9e-5 (double)": {"tol": 9e-5},
}
LITERAL = {"solver": "alternating", "max_rounds": 15, "n_restarts": 1}
MOST_GRAMS, LEAST_SPEEDUP = 2.0, 100.0
MOST_IMPORT_S, MOST_COMPILE_S = 0.5, 5.0


def measure(quick: bool) -> list[Figure]:
    """Time and memory of a fit, in units of what it cannot do without."""
    return [
        *against_gram(rounds=3 if quick else 15),
        *against_literal(rounds=1 if quick else 3, settings=list(SETTINGS)[1 : 2 if quick else 3]),
        *memory(repeats=1 if quick else 3),
        *starting(repeats=3 if quick else 5),
    ]


def against_gram(*, rounds: int) -> list[Figure]:
    """Fit time over the time of one float64 Gram matrix formed on as many threads.

    At its default tolerance a fit works in single precision and below it in double: the notes say
    what the ratio is to the fastest plain form in the precision of the fit.
    """
    figures: list[Figure] = []
    train, _ = hja_split()
    X = scaled(train.bags)
    single_X, gamma = X.astype(np.float32), KernelScorer().fit(train.bags, train.labels).gamma_
    for n_jobs in sorted({1, os.cpu_count() or 1}):
        tasks: dict[str, Callable[[], object]] = {
            "sklearn": lambda: gram_sklearn(X, gamma),
            "double": lambda: gram_in_place(X, gamma),
            "single": lambda: gram_in_place(single_X, gamma),
        }
        tasks |= {name: _fitting(train, n_jobs, **SETTINGS[name]) for name in SETTINGS}
        with blas_threads(n_jobs):
            times = interleaved(tasks, rounds=rounds)
        figures += [_over_gram(name, n_jobs, times) for name in SETTINGS]
        figures.append(_grams_alone(n_jobs, times))
    return figures


def _fitting(train: Any, n_jobs: int, **parameters: float) -> Callable[[], object]:
    return lambda: KernelScorer(n_jobs=n_jobs, **parameters).fit(train.bags, train.labels)


def _over_gram(name: str, n_jobs: int, times: dict[str, Times]) -> Figure:
    precision = "double" if "tol" in SETTINGS[name] else "single"
    plain = ratio("", times[name], times[precision])
    return ratio(
        f"fit / Gram: {name}, {n_jobs} threads",
        times[name],
        times["sklearn"],
        target=MOST_GRAMS,
        note=f"{1e3 * times[name].median:.0f} ms; {plain.value:.1f} x plain {precision} Gram",
    )


def _grams_alone(n_jobs: int, times: dict[str, Times]) -> Figure:
    plain = {name: 1e3 * times[name].median for name in ("sklearn", "double", "single")}
    return ratio(
        f"scikit-learn's Gram / plain double Gram, {n_jobs} threads",
        times["sklearn"],
        times["double"],
        note=f"{plain['sklearn']:.0f} ms, plain {plain['double']:.0f} ms, "
        f"plain single {plain['single']:.0f} ms",
    )


def against_literal(*, rounds: int, settings: list[str]) -> list[Figure]:
    """Speed and objective against one restart of Algorithm 1 as printed, on one thread each."""
    figures: list[Figure] = []
    train, _ = hja_split()
    for name in settings:
        ends: dict[str, float] = {}
        with blas_threads(1), warnings.catch_warnings():
            warnings.simplefilter("ignore", ConvergenceWarning)
            exact, literal = [], []
            _recorded(train, {}, SETTINGS[name], ends, "exact")
            for _ in range(rounds):
                exact.append(_recorded(train, {}, SETTINGS[name], ends, "exact"))
                literal.append(_recorded(train, LITERAL, SETTINGS[name], ends, "literal"))
        figures += _literal_figures(name, Times(tuple(exact)), Times(tuple(literal)), ends)
    return figures


def _recorded(
    train: Any, solver: dict[str, Any], setting: dict[str, float], ends: dict[str, float], who: str
) -> float:
    model = KernelScorer(n_jobs=1, **solver, **setting)
    seconds = seconds_of(lambda: model.fit(train.bags, train.labels))
    ends[who] = model.objective_
    return seconds


def _literal_figures(
    name: str, exact: Times, literal: Times, ends: dict[str, float]
) -> list[Figure]:
    return [
        ratio(
            f"speed over the paper's solver: {name}",
            literal,
            exact,
            target=LEAST_SPEEDUP,
            at_most=False,
            note=f"{literal.median:.1f} s against {exact.median:.2f} s",
        ),
        single(
            f"objective / the paper's solver's: {name}",
            ends["exact"] / ends["literal"],
            target=1.0,
            note=f"{ends['exact']:.4f} against {ends['literal']:.4f}",
        ),
    ]


def memory(*, repeats: int) -> list[Figure]:
    """Peak memory of each, in units of the Gram matrix's own bytes."""
    train, _ = hja_split()
    whole = 8 * train.bags.n_instances**2
    setting = SETTINGS["gamma 4, lam 1e-3"]
    # The literal solver's peak is reached in its first round.
    jobs: dict[str, tuple[str, dict[str, Any]]] = {
        "fit, automatic": ("fit_hja", {}),
        "fit, automatic, tol 9e-5 (double)": ("fit_hja", {"tol": 9e-5}),
        "fit, gamma 4, lam 1e-3": ("fit_hja", setting),
        "fit, gamma 4, lam 1e-3, n_jobs 2": ("fit_hja", {**setting, "n_jobs": 2}),
        "the paper's solver": ("fit_hja", {**LITERAL, **setting, "max_rounds": 1}),
        "scikit-learn's Gram": ("gram_hja", {"form": "gram_sklearn", "gamma": 4.0}),
        "in-place Gram": ("gram_hja", {"form": "gram_in_place", "gamma": 4.0}),
    }
    found: dict[str, list[float]] = {name: [] for name in jobs}
    for _ in range(repeats):
        for name, (job, options) in jobs.items():
            found[name].append(run_child(job, threads=1, **options)["peak_bytes"])
    return [
        spread(
            f"peak memory / float64 Gram matrix: {name}",
            np.array(values) / whole,
            note=f"{np.median(values) / 2**20:.0f} MiB",
        )
        for name, values in found.items()
    ]


def starting(*, repeats: int) -> list[Figure]:
    """First compilation, the start of a second process, and import time: seconds, not ratios."""
    cold, warm, imports = [], [], []
    for _ in range(repeats):
        with tempfile.TemporaryDirectory() as cache:
            env = {"NUMBA_CACHE_DIR": cache}
            cold.append(run_child("first_fit", threads=1, env=env))
            warm.append(run_child("first_fit", threads=1, env=env))
        imports.append(run_child("import", threads=1)["seconds"])
    return [
        spread("import raravis", imports, unit="s", target=MOST_IMPORT_S),
        spread(
            "compilation at the first fit, empty cache",
            [c["first"] - w["first"] for c, w in zip(cold, warm, strict=True)],
            unit="s",
            target=MOST_COMPILE_S,
        ),
        spread("first fit of a later process", [w["first"] for w in warm], unit="s"),
        spread("names loaded from raravis, later process", [w["load"] for w in warm], unit="s"),
    ]


if __name__ == "__main__":
    run_part("fit", measure)
