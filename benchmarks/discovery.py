"""Hidden bird species: bags reviewed until all five are met, and how pure groups of them are.

HJA birdsong, half of the recordings for training, the other half to discover in. Five of thirteen
species are hidden from the labels, drawn anew for every hidden set.
"""

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.metrics import adjusted_rand_score

from _report import run_part
from _timing import Figure, blas_threads
from raravis import KernelScorer, NovelClassClassifier, NoveltyDetector
from raravis.datasets import BagDataset, fetch_hja_birdsong
from raravis.grouping import discovery_queue, group_novel

SPECIES = range(1, 14)
N_HIDDEN = 5
N_SHUFFLES = 200
MODELS: dict[str, Callable[[], Any]] = {
    "KernelScorer": KernelScorer,
    "NovelClassClassifier": NovelClassClassifier,
    "NoveltyDetector": NoveltyDetector,
}


def measure(quick: bool) -> list[Figure]:
    """Bags until all hidden species are met, for each model and order; then groups."""
    data = fetch_hja_birdsong()
    splits = [
        (hidden, seed) for hidden in _hidden_sets(3 if quick else 15) for seed in _seeds(quick)
    ]
    with blas_threads(1):
        return [f for name, make in MODELS.items() for f in _of_model(name, make, data, splits)]


def _hidden_sets(n: int) -> list[tuple[int, ...]]:
    rng = np.random.default_rng(2016)
    drawn = [rng.choice(SPECIES, N_HIDDEN, replace=False) for _ in range(n)]
    return [tuple(sorted(hidden.tolist())) for hidden in drawn]


def _seeds(quick: bool) -> range:
    return range(20, 21 if quick else 23)


def _of_model(
    name: str, make: Callable[[], Any], data: BagDataset, splits: list[tuple[Any, int]]
) -> list[Figure]:
    found: dict[str, list[float]] = {}
    for hidden, seed in splits:
        known = [c for c in SPECIES if c not in hidden]
        train, new = data.restrict(known).split((0.5, 0.5), seed=seed)
        model = make().fit(train.bags, train.labels)
        values = _review(model, new, hidden, seed) | _groups(model, new, hidden)
        for what, value in values.items():
            found.setdefault(what, []).append(value)
    return [_mean(f"{name}: {what}", values) for what, values in found.items()]


def _review(model: Any, new: BagDataset, hidden: tuple[int, ...], seed: int) -> dict[str, float]:
    """How many bags until all hidden species are met, in each order."""
    holds = np.array([[(new_labels == c).any() for c in hidden] for new_labels in _by_bag(new)])
    holds = holds[:, holds.any(axis=0)]
    n_bags, rng = new.bags.n_bags, np.random.default_rng(seed)
    scores = model.score_samples(new.bags)
    unsure = new.bags.bag_max(-np.abs(scores - model.offset_))
    orders = {
        "discovery queue": discovery_queue(model, new.bags, batch_size=n_bags).order,
        "most novel first": np.argsort(-new.bags.bag_max(-scores), kind="stable"),
        "least certain first": np.argsort(-unsure, kind="stable"),
    }
    counts = {f"bags until all are met, {key}": _until(o, holds) for key, o in orders.items()}
    shuffled = [_until(rng.permutation(n_bags), holds) for _ in range(N_SHUFFLES)]
    return {**counts, "bags until all are met, random order": float(np.mean(shuffled))}


def _by_bag(data: BagDataset) -> list[NDArray[Any]]:
    return np.split(data.instance_labels, data.bags.offsets[1:-1])


def _until(order: NDArray[np.int64], holds: NDArray[np.bool_]) -> float:
    met = np.logical_or.accumulate(holds[order], axis=0).all(axis=1)
    return float(met.argmax()) + 1.0


def _groups(model: Any, new: BagDataset, hidden: tuple[int, ...]) -> dict[str, float]:
    """Group the lowest scores, as many as are novel in truth."""
    truth = new.instance_labels.astype(np.int64)
    n_novel = int(np.isin(truth, hidden).sum())
    novel = np.zeros(len(truth), dtype=bool)
    novel[np.argsort(model.score_samples(new.bags), kind="stable")[:n_novel]] = True
    found = group_novel(model, new.bags, novel=novel)
    grouped = found.labels >= 0
    counts = [np.bincount(truth[group.members]) for group in found.groups]
    there = set(hidden) & set(truth.tolist())
    met = there & {int(count.argmax()) for count in counts}
    return {
        "groups": float(len(found)),
        "share of novel instances grouped": float(grouped.sum() / n_novel),
        "purity of groups": float(sum(c.max() for c in counts) / max(1, grouped.sum())),
        "adjusted Rand index of grouped": float(
            adjusted_rand_score(truth[grouped], found.labels[grouped])
        ),
        "hidden species that lead a group": len(met) / len(there),
    }


def _mean(name: str, values: list[float]) -> Figure:
    """Mean and standard error over splits, in place of median and quartiles."""
    mean, error = float(np.mean(values)), float(np.std(values, ddof=1) / np.sqrt(len(values)))
    note = f"mean +- {error:.2g} over {len(values)} splits"
    return Figure(name, mean, mean - error, mean + error, unit="", note=note)


if __name__ == "__main__":
    run_part("discovery", measure)
