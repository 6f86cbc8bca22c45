"""A thousand bag sets that nobody would wish for: an answer, or an error that says what to do."""

import warnings
from typing import Any

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.exceptions import ConvergenceWarning

from raravis import (
    NOVEL,
    Bags,
    CooccurrenceScorer,
    KernelScorer,
    NovelClassClassifier,
    NoveltyDetector,
)
from raravis.errors import InputError, RaravisWarning

N_CASES = 1000
ESTIMATORS = {
    "KernelScorer": KernelScorer(),
    "KernelScorer, standard": KernelScorer(scaling="standard", gamma=1.0, lam=0.1),
    "CooccurrenceScorer": CooccurrenceScorer(),
    "NovelClassClassifier": NovelClassClassifier(max_rounds=20, impossible="soften"),
    "NovelClassClassifier, forest": NovelClassClassifier(
        "forest", n_trees=3, max_rounds=1, impossible="soften"
    ),
    "NoveltyDetector": NoveltyDetector(n_trees=5, impossible="soften"),
}
# The detector is several models, so it gets a smaller share.
_FEW = 24
CASES = {
    "NoveltyDetector": range(_FEW),
    **{
        name: range(_FEW + place, N_CASES, len(ESTIMATORS) - 1)
        for place, name in enumerate(name for name in ESTIMATORS if name != "NoveltyDetector")
    },
}
VALUES = ("normal", "constant", "few", "huge", "tiny", "mixed scales", "integers", "float32")


def instances(rng: np.random.Generator, n: int, width: int) -> Any:
    """Draw instances of some kind that makes trouble."""
    X = rng.normal(size=(n, width))
    match VALUES[rng.integers(len(VALUES))]:
        case "constant":
            X[:] = 3.5
        case "few":
            X = rng.integers(0, 2, (n, width)).astype(float)
        case "huge":
            X *= 1e150
        case "tiny":
            X *= 1e-300
        case "mixed scales":
            X *= 10.0 ** rng.integers(-12, 12, width)
        case "integers":
            X = (10 * X).astype(np.int64)
        case "float32":
            X = X.astype(np.float32)
    return X


def lists(rng: np.random.Generator, n: int) -> list[set[Any] | None]:
    """Draw lists of some kind that teaches little."""
    some = [set(rng.choice(["a", "b", "c"], rng.integers(0, 4), replace=False)) for _ in range(n)]
    kinds: list[list[set[Any] | None]] = [
        [None if rng.random() < 0.2 else one for one in some],
        [set()] * n,
        [{"a", "b"}] * n,
        [None] * n,
        [{"a"} if rng.random() < 0.5 else set() for _ in range(n)],
        [{int(k) for k in rng.integers(0, 40, 3)} for _ in range(n)],
        [{"a", "b", "c", "d"}] * n,
    ]
    return kinds[rng.integers(len(kinds))]


def case(number: int) -> tuple[Bags, list[set[Any] | None]]:
    """Return the bags and lists of a number; the same for ever."""
    rng = np.random.default_rng([20131, number])
    sizes = rng.integers(0, 5, rng.integers(1, 9))
    X = instances(rng, int(sizes.sum()), int(rng.integers(1, 5)))
    offsets = np.concatenate([[0], np.cumsum(sizes)])
    return Bags(X, offsets), lists(rng, len(sizes))


@pytest.mark.parametrize("name", ESTIMATORS)
def test_degenerate_bags(name: str) -> None:
    numbers, answered = CASES[name], 0
    for number in numbers:
        bags, labels = case(number)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", RaravisWarning)
            warnings.simplefilter("ignore", ConvergenceWarning)
            try:
                model = clone(ESTIMATORS[name]).fit(bags, labels)
            except InputError as error:
                assert len(str(error)) > 40, number  # noqa: PT017 (it may be answered as well)
                continue
            answered += 1
            check(model, bags, labels, number)
    # Many are answered: not everything that is unpleasant may be refused.
    assert answered > len(numbers) / 3


def check(model: Any, bags: Bags, labels: list[set[Any] | None], number: int) -> None:
    scores = model.score_samples(bags)
    assert scores.shape == (bags.n_instances,), number
    assert not np.isnan(scores).any(), number
    assert set(model.predict(bags)) <= {-1, 1}, number
    said = model.annotate(bags, bag_labels=labels)
    allowed = [classes if classes is not None else {*model.classes_} for classes in labels]
    for bag, label in zip(bags.bag_index, said, strict=True):
        assert label is NOVEL or label in allowed[bag], number
    assert model.predict_bags(bags).shape == (bags.n_bags, len(model.classes_)), number
