"""A simulated expert at the review page: what decisions are worth, by the order calls come in.

Decisions are the truth, calls come in the order of a queue, and the model learns anew after every
twenty, as the page has it. Five seeds: another 70% of the bags to review, the rest to judge by.
``python benchmarks/draw_expert.py`` makes the curves of the guide from the figures.
"""

from collections import Counter
from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np
from sklearn.metrics import roc_auc_score

from _report import run_part
from _timing import Figure
from raravis import KernelScorer
from raravis.datasets import BagDataset, fetch_hja_birdsong, load_syllables, window_bags
from raravis.grouping import group_novel
from raravis.review.learning import FEWEST, with_decisions
from raravis.review.queues import discovery, most_novel

EVERY, TOTAL = 20, 160
ORDERS = ("random", "novel", "discovery")
LISTED = {"syllables": ("0", "1", "2", "3", "4"), "HJA": range(1, 7)}
#: What is judged after every lesson; see `_judged`.
MEASURES = ("classes found", "AUC", "own name", "own name or novel")
_NOISE = "-1"


def measure(quick: bool) -> Sequence[Figure]:
    """Let the simulated expert decide; mean, least and greatest over the seeds."""
    return list(_figures(range(1 if quick else 5)))


def _figures(seeds: range) -> Iterator[Figure]:
    sets = {"syllables": _syllables(), "HJA": fetch_hja_birdsong()}
    for name, data in sets.items():
        known = data.restrict(LISTED[name])
        for order in ORDERS:
            runs = np.array([_curve(known, order, seed) for seed in seeds])
            for step, k in np.ndindex(runs.shape[1:]):
                found = runs[:, step, k]
                about = f"{name} | {order} | {step * EVERY} decisions | {MEASURES[k]}"
                yield Figure(about, *map(float, (found.mean(), found.min(), found.max())), "")


def _curve(data: BagDataset, order: str, seed: int) -> list[tuple[float, ...]]:
    """Return every measure after every lesson."""
    train, test = data.split((0.7, 0.3), seed=seed)
    labels = train.labels.rename({name: str(name) for name in train.labels.classes})
    truth, unseen = train.instance_labels.astype(str), test.instance_labels.astype(str)
    rng, decided, curve = np.random.default_rng(seed), dict[int, str | None](), []
    for _ in range(TOTAL // EVERY + 1):
        bags, taught = with_decisions(train.bags, labels, _lessons(decided, labels.classes))
        model = KernelScorer(random_state=seed).fit(bags, taught)
        named = {name for name in decided.values() if name is not None} - {*labels.classes}
        curve.append((float(len(named)), *_judged(model, test.bags, unseen, labels.classes)))
        queue = _queue(model, train.bags, order, rng)
        for position in [int(p) for p in queue if int(p) not in decided][:EVERY]:
            decided[position] = None if truth[position] == _NOISE else truth[position]
    return curve


def _lessons(decided: dict[int, str | None], listed: Sequence[Any]) -> dict[int, str | None]:
    """Leave out classes of few examples, as the review does."""
    n = Counter(decided.values())
    return {p: c if c in listed or n[c] >= FEWEST else None for p, c in decided.items()}


def _queue(model: Any, bags: Any, order: str, rng: np.random.Generator) -> Any:
    if order == "random":
        return rng.permutation(bags.n_instances)
    novelty = -model.score_samples(bags)
    if order == "novel":
        return most_novel(novelty)
    groups = group_novel(model, bags).groups
    return discovery({str(k): found.members for k, found in enumerate(groups)}, novelty)


def _judged(model: Any, bags: Any, truth: Any, listed: Sequence[Any]) -> tuple[float, float, float]:
    """Judge calls that nobody decided on; those of no class in the truth are left out.

    The AUC is that of classes on the lists against all others, as long as the review goes on. A
    call of a class on no list has its own name once reviewers named the class.
    """
    noted = np.flatnonzero(truth != _NOISE)
    columns = [list(model.classes_).index(name) for name in listed]
    scores = model.class_scores(bags)[noted][:, columns].max(axis=1)
    strange = ~np.isin(truth[noted], list(listed))
    names = np.array([str(name) for name in model.annotate(bags)])[noted]
    own = names == truth[noted]
    auc = float(roc_auc_score(strange, -scores))
    return auc, float(own.mean()), float((own | (strange & (names == "novel"))).mean())


def _syllables() -> BagDataset:
    """Cut the recordings of one bird into seconds, and describe what is found in them."""
    from raravis.audio import extract_features, segment_recording

    song = load_syllables()
    song = song.take(sorted(song.paths)[:60])
    segments = {name: segment_recording(path) for name, path in song.paths.items()}
    features = {n: extract_features(path, segments[n]) for n, path in song.paths.items()}
    return window_bags(song, segments, features)


if __name__ == "__main__":
    run_part("expert", measure)
