"""AUC by number and choice of landmarks, against the full kernel, on birdsong and digits."""

import tempfile
import warnings
from collections.abc import Iterator
from itertools import product
from typing import Any

import numpy as np
from sklearn.metrics import roc_auc_score

from _timing import Figure, single, spread
from raravis import KernelScorer, NovelClassClassifier
from raravis.datasets import fetch_hja_birdsong, fetch_mnist_bags
from raravis.scale import fit_parquet, mnist_in_bags, write_parts

NUMBERS = (50, 150, 500, 1500)
CHOICES = ("uniform", "kmeans++", "leverage")
HJA_KNOWN = ((1, 2, 3, 4, 5, 6, 7, 8), (2, 4, 6, 8, 10, 12))
MNIST_KNOWN = ((0, 1, 2, 3, 4), (1, 3, 5, 7, 9))
Case = tuple[Any, Any, Any]


def landmark_figures(folder: str, quick: bool) -> list[Figure]:
    """Both models on HJA and MNIST bags, and the streamed fit on MNIST in full."""
    del folder
    figures = []
    for data, models in product(("HJA", "MNIST"), (KernelScorer, NovelClassClassifier)):
        figures += _curve(data, models, quick)
    return figures + _mnist_in_full(quick)


def _curve(data: str, kind: Any, quick: bool) -> list[Figure]:
    cases = list(_cases(data))[: 1 if quick else None]
    full = [_auc(kind(n_landmarks=None), case) for case in cases]
    figures = [spread(f"{data}, {kind.__name__}: full kernel", full, unit="AUC")]
    for n, choice in product(NUMBERS[:2] if quick else NUMBERS, CHOICES):
        found = [_auc(kind(n_landmarks=n, landmarks=choice), case) for case in cases]
        lost = np.array(full) - np.array(found)
        figures.append(spread(f"{data}, {kind.__name__}: lost by {n} {choice}", lost, unit="AUC"))
    return figures


def _cases(data: str) -> Iterator[Case]:
    for seed, known in enumerate(HJA_KNOWN if data == "HJA" else MNIST_KNOWN):
        if data == "HJA":
            train, test = fetch_hja_birdsong().restrict(known).split((0.7, 0.3), seed=seed)
        else:
            train, test = (
                fetch_mnist_bags(known=known, n_bags=150, subset=subset, seed=seed + shift)
                for subset, shift in (("train", 0), ("test", 50))
            )
        yield train, test, known


def _auc(model: Any, case: Case) -> float:
    train, test, known = case
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        model.fit(train.bags, train.labels)
    seen = test.labelled
    scores = model.score_samples(test.bags)
    return float(roc_auc_score(test.known(known)[seen], scores[seen]))


def _mnist_in_full(quick: bool) -> list[Figure]:
    known = MNIST_KNOWN[0]
    train = mnist_in_bags(known=known)
    test = fetch_mnist_bags(known=known, n_bags=500, subset="test", seed=50)
    figures = []
    with tempfile.TemporaryDirectory() as place:
        parts = write_parts(place, [train])
        for n in (150, 500) if quick else (150, 500, 1500):
            model = fit_parquet(NovelClassClassifier(n_landmarks=n, n_jobs=2), parts)
            auc = roc_auc_score(test.known(known), model.score_samples(test.bags))
            figures.append(
                single(
                    f"MNIST in full, streamed: {n} uniform",
                    float(auc),
                    unit="AUC",
                    note=f"60,000 instances in 3,000 bags, {model.n_iter_ - 1} steps over all",
                )
            )
    return figures
