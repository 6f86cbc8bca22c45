"""What docs/compatibility.md says of threads and processes."""

import multiprocessing
import threading
from concurrent.futures import ProcessPoolExecutor, ThreadPoolExecutor
from typing import Any

import numpy as np
import pytest

from raravis import CooccurrenceScorer, KernelScorer, NovelClassClassifier, NoveltyDetector
from raravis.datasets import BagDataset, load_digit_bags

MODELS = {
    "KernelScorer": KernelScorer(n_jobs=2),
    "NovelClassClassifier": NovelClassClassifier(n_landmarks=100),
    "forest": NovelClassClassifier("forest", n_trees=10, max_rounds=2),
    "NoveltyDetector": NoveltyDetector(n_landmarks=100, n_trees=10),
    "CooccurrenceScorer": CooccurrenceScorer(),
}
N_THREADS = 4


def bags(seed: int = 0) -> BagDataset:
    return load_digit_bags(known=[0, 1, 2], n_bags=30, bag_size=8, seed=seed)


def fitted_scores(name: str) -> Any:
    """Fit a model and score other bags; at the top of the module, so that processes find it."""
    data = bags()
    return MODELS[name].fit(data.bags, data.labels).score_samples(bags(1).bags)


@pytest.mark.parametrize("name", MODELS)
def test_one_model_scores_in_several_threads(name: str) -> None:
    data, new = bags(), bags(1).bags
    model = MODELS[name].fit(data.bags, data.labels)
    alone = model.score_samples(new)
    together = threading.Barrier(N_THREADS)

    def score(_number: int) -> Any:
        together.wait(timeout=60)
        return [model.score_samples(new) for _ in range(3)]

    with ThreadPoolExecutor(N_THREADS) as pool:
        for answers in pool.map(score, range(N_THREADS)):
            assert all(np.array_equal(alone, answer) for answer in answers)


def test_different_models_are_fitted_in_several_threads() -> None:
    expected = {name: fitted_scores(name) for name in MODELS}
    with ThreadPoolExecutor(len(MODELS)) as pool:
        for name, scores in zip(MODELS, pool.map(fitted_scores, MODELS), strict=True):
            assert np.array_equal(scores, expected[name]), name


def test_models_are_fitted_in_several_processes() -> None:
    expected = {name: fitted_scores(name) for name in MODELS}
    fresh = multiprocessing.get_context("spawn")
    with ProcessPoolExecutor(2, mp_context=fresh) as pool:
        for name, scores in zip(MODELS, pool.map(fitted_scores, MODELS), strict=True):
            assert np.array_equal(scores, expected[name]), name
