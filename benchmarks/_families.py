"""Families of bag problems, like and unlike the published ones, for judging one fixed setting.

A problem is training bags, test bags and the classes that the labels list. Every draw follows from
the name of the family, the label set and the repeat.
"""

import zlib
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import cache
from typing import Any

import numpy as np
from numpy.typing import NDArray

from raravis.datasets import (
    BagDataset,
    fetch_hja_birdsong,
    fetch_mnist_components,
    make_bags,
)
from raravis.experiments import published

__all__ = ["FAMILIES", "Problem", "other_label_sets"]

Known = tuple[int, ...]
SPECIES = range(1, 14)
BIRD_SETS = tuple(row.known for row in published.HJA.rows)
DIGIT_SETS = tuple(row.known for row in published.MNIST.rows)
SOME_DIGIT_SETS = DIGIT_SETS[::3]
ROWS_2015 = tuple(row.known for row in published.MNIST_2015)


@dataclass(frozen=True)
class Problem:
    """Bags to learn from and bags to be judged on; both list the classes in ``known`` alone."""

    train: BagDataset
    test: BagDataset
    known: Known
    seed: int


def other_label_sets(seed: int, n: int) -> tuple[Known, ...]:
    """Draw label sets of four and eight bird species that are none of the published ones."""
    rng, found = np.random.default_rng(seed), list[Known]()
    while len(found) < n:
        size = 4 if len(found) % 2 == 0 else 8
        drawn = tuple(sorted(rng.choice(SPECIES, size, replace=False).tolist()))
        if drawn not in BIRD_SETS and drawn not in found:
            found.append(drawn)
    return tuple(found)


# ---------------------------------------------------------------------- birds


def birds(sets: tuple[Known, ...], repeat: int, **instances: Any) -> Iterator[Problem]:
    """Split the recordings, 70% to train on."""
    data = fetch_hja_birdsong(**instances)
    for known in sets:
        seed = _seed("birds", known, repeat)
        train, test = data.restrict(known).split((0.7, 0.3), seed=seed)
        yield Problem(train, test, known, seed)


# ---------------------------------------------------------------------- digits


def digits(
    sets: tuple[Known, ...],
    repeat: int,
    *,
    n_bags: int = 100,
    bag_size: int = 20,
    beta: Any = 0.1,
    test_beta: Any = None,
    filtered: bool = False,
) -> Iterator[Problem]:
    """MNIST digits in 20 components; test bags may be drawn from other proportions."""
    for known in sets:
        seed = _seed("digits", known, repeat)
        train, test = (
            make_bags(
                *_mnist(subset),
                n_bags=n_bags,
                bag_size=bag_size,
                known=known,
                beta=proportions,
                filtered=filtered and subset == "train",
                seed=seed + (subset == "test"),
            )
            for subset, proportions in (
                ("train", beta),
                ("test", beta if test_beta is None else test_beta),
            )
        )
        yield Problem(train, test, known, seed)


def pixels(sets: tuple[Known, ...], repeat: int) -> Iterator[Problem]:
    """8 by 8 images as they are, drawn with replacement: half of them to train on."""
    from sklearn.datasets import load_digits

    X, y = load_digits(return_X_y=True)
    order = np.random.default_rng(0).permutation(len(y))
    halves = np.array_split(order, 2)
    for known in sets:
        seed = _seed("pixels", known, repeat)
        train, test = (
            make_bags(X[half], y[half], n_bags=80, bag_size=10, known=known, beta=0.1, seed=s)
            for half, s in zip(halves, (seed, seed + 1), strict=True)
        )
        yield Problem(train, test, known, seed)


# ---------------------------------------------------------------------- made up


def many_classes(repeat: int) -> Iterator[Problem]:
    """Sixty bags of twelve, twenty classes listed and ten not: Gaussian, overlapping."""
    seed = _seed("many classes", (), repeat)
    rng, y = np.random.default_rng(seed), np.repeat(np.arange(30), 200)
    centres, embedding = 1.6 * rng.standard_normal((30, 8)), rng.standard_normal((8, 20)) / 8**0.5

    def draw() -> NDArray[np.float64]:
        latent = centres[y] + rng.standard_normal((len(y), 8))
        return latent @ embedding + 0.3 * rng.standard_normal((len(y), 20))

    yield _made(draw, y, tuple(range(20)), seed, n_bags=60, bag_size=12, beta=0.1)


def texts(repeat: int) -> Iterator[Problem]:
    """Word counts of short documents, square roots of shares; eight of twelve topics listed."""
    seed = _seed("texts", (), repeat)
    rng, y = np.random.default_rng(seed), np.repeat(np.arange(12), 300)
    common = rng.dirichlet(np.full(200, 0.3))
    topics = 0.6 * common + 0.4 * rng.dirichlet(np.full(200, 0.05), size=12)

    def draw() -> NDArray[np.float64]:
        return np.sqrt(np.stack([rng.multinomial(40, topics[c]) for c in y]) / 40)

    yield _made(draw, y, tuple(range(8)), seed, n_bags=120, bag_size=10, beta=0.15)


def _made(
    draw: Callable[[], NDArray[np.float64]],
    y: NDArray[np.int64],
    known: Known,
    seed: int,
    **bags: Any,
) -> Problem:
    train, test = (make_bags(draw(), y, known=known, seed=s, **bags) for s in (seed, seed + 1))
    return Problem(train, test, known, seed)


@cache
def _mnist(subset: Any) -> tuple[NDArray[np.float64], NDArray[np.int64]]:
    return fetch_mnist_components(20, subset=subset)


def _seed(name: str, known: Known, repeat: int) -> int:
    return zlib.crc32(f"{name} {known} {repeat}".encode())


_RARE = tuple(np.geomspace(1.0, 0.02, 10).tolist())

#: From a family's name to its problems in one repeat.
FAMILIES: dict[str, Callable[[int], Iterator[Problem]]] = {
    "birds, published sets": lambda r: birds(BIRD_SETS, r),
    "birds, ten other sets": lambda r: birds(other_label_sets(2026, 10), r),
    "digits, published sets": lambda r: digits(DIGIT_SETS, r),
    "digits, filtered": lambda r: digits(DIGIT_SETS, r, filtered=True),
    "digits of 2015, bags of 10": lambda r: digits(ROWS_2015, r, bag_size=10),
    "few bags, many classes": many_classes,
    "tiny bags: 300 of 3 digits": lambda r: digits(SOME_DIGIT_SETS, r, n_bags=300, bag_size=3),
    "heavy imbalance: 50 to 1": lambda r: digits(SOME_DIGIT_SETS, r, beta=_RARE),
    "images: 64 pixels": lambda r: pixels(SOME_DIGIT_SETS, r),
    "text-like: 200 words": texts,
    "denser test bags": lambda r: digits(SOME_DIGIT_SETS, r, test_beta=1.0),
    "sparser test bags": lambda r: digits(SOME_DIGIT_SETS, r, beta=0.5, test_beta=0.05),
}
