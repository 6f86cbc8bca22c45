"""Data sets of any size, drawn part by part: a mixture of Gaussian classes, and MNIST in full."""

from collections.abc import Collection, Iterator
from os import PathLike
from typing import Any

import numpy as np
from numpy.typing import NDArray

from raravis._checks import FloatArray
from raravis._segments import offsets_of
from raravis.bags import Bags
from raravis.datasets import BagDataset, Description, fetch_mnist_components
from raravis.errors import InputError
from raravis.labels import BagLabels
from raravis.scale.parts import BagParts
from raravis.scale.writing import write_parts

__all__ = ["mixture_chunks", "mnist_in_bags", "write_mixture"]

IntArray = NDArray[np.int64]

_MEAN_SIZE, _MOST_CLASSES_A_BAG, _LATENT, _NOISE = 10, 4, 10, 0.2
_MNIST_BAG = 20


def write_mixture(
    folder: str | PathLike[str], n_instances: int, *, rows_a_part: int = 100_000, **options: Any
) -> BagParts:
    """Write a mixture of Gaussian classes as a data set, in memory of one part.

    Parameters
    ----------
    folder : path
    n_instances : int
    rows_a_part : int
    options
        As for :func:`mixture_chunks`.
    """
    return write_parts(folder, mixture_chunks(n_instances, rows_a_chunk=rows_a_part, **options))


def mixture_chunks(
    n_instances: int,
    *,
    n_classes: int = 20,
    n_novel: int = 4,
    n_features: int = 38,
    rows_a_chunk: int = 100_000,
    seed: int = 0,
    draw: int = 0,
) -> Iterator[BagDataset]:
    """Yield bags of about ten instances of Gaussian classes, the last ``n_novel`` never listed.

    A bag holds one to four of the classes. Features are correlated like those of recordings: they
    vary in ten directions, and a little in all. Equal arguments give equal data, and a chunk does
    not depend on how many follow it.

    Parameters
    ----------
    n_instances : int
        The last bag is cut short to hit it.
    n_classes, n_novel : int
        Listed classes, and classes besides that no list names.
    n_features, rows_a_chunk, seed : int
    draw : int
        Other draws of the same seed hold other bags of the same classes: one to train, one to test.

    Examples
    --------
    >>> [chunk.bags.n_instances for chunk in mixture_chunks(250, rows_a_chunk=100)]
    [100, 100, 50]
    """
    for name, value in (("n_instances", n_instances), ("rows_a_chunk", rows_a_chunk)):
        if value < 1:
            raise InputError(f"{name} is {value!r}; pass a whole number, at least 1.")
    fixed = np.random.default_rng([seed, 2013])
    centres = 1.6 * fixed.standard_normal((n_classes + n_novel, _LATENT))
    embedding = fixed.standard_normal((_LATENT, n_features)) / np.sqrt(_LATENT)
    first_bag = 0
    for i, start in enumerate(range(0, n_instances, rows_a_chunk)):
        rng = np.random.default_rng([seed, draw, i])
        chunk = _chunk(
            rng, min(rows_a_chunk, n_instances - start), centres, embedding, n_classes, first_bag
        )
        first_bag += chunk.bags.n_bags
        yield chunk


def _chunk(
    rng: np.random.Generator,
    n: int,
    centres: FloatArray,
    embedding: FloatArray,
    n_known: int,
    first_bag: int,
) -> BagDataset:
    sizes = 1 + rng.poisson(_MEAN_SIZE - 1, size=2 * n // _MEAN_SIZE + 20)
    n_bags = int(np.searchsorted(np.cumsum(sizes), n)) + 1
    offsets = np.minimum(offsets_of(sizes[:n_bags]), n)
    which = np.repeat(np.arange(n_bags), np.diff(offsets))
    held = rng.random((n_bags, len(centres))).argsort(axis=1)[:, :_MOST_CLASSES_A_BAG]
    n_held = rng.integers(1, _MOST_CLASSES_A_BAG + 1, size=n_bags)
    classes = held[which, (rng.random(n) * n_held[which]).astype(np.int64)]
    X = (centres[classes] + rng.standard_normal((n, _LATENT))) @ embedding
    X += _NOISE * rng.standard_normal(X.shape)
    return _data_set(X, offsets, classes, n_known, "mixture", first_bag)


def _data_set(
    X: FloatArray, offsets: IntArray, classes: IntArray, n_known: int, name: str, first_bag: int
) -> BagDataset:
    """List the known classes, those of code below ``n_known``, of every bag."""
    n_bags = len(offsets) - 1
    status = np.full((n_bags, n_known), -1, dtype=np.int8)
    known = classes < n_known
    which = np.repeat(np.arange(n_bags), np.diff(offsets))
    status[which[known], classes[known]] = 1
    keys = tuple(range(first_bag, first_bag + n_bags))
    return BagDataset(
        bags=Bags(X.astype(np.float32), offsets, keys),
        labels=BagLabels.from_status(status, tuple(range(n_known)), keys),
        instance_labels=classes,
        instance_ids=np.arange(len(X)),
        name=name,
        description=Description(title=name),
    )


def mnist_in_bags(
    *,
    known: Collection[int],
    beta: float = 0.1,
    n_components: int = 20,
    seed: int = 0,
    **where: Any,
) -> BagDataset:
    """Return the 60,000 training images of MNIST in 3,000 bags of 20: each in one bag.

    Like the bags of ``fetch_mnist_bags`` they hold few digits each, by Dirichlet proportions of
    concentration ``beta``; towards the end a bag takes what is left.

    Parameters
    ----------
    known : collection of int
        The digits that bag labels list.
    beta : float
    n_components : int
        Principal components to keep.
    seed : int
    where
        ``data_home``, ``allow_download`` and ``progress`` of ``fetch_mnist_components``.
    """
    X, y = fetch_mnist_components(n_components, subset="train", **where)
    rng = np.random.default_rng(seed)
    order = np.concatenate([rng.permutation(bag) for bag in _dealt(y, beta, rng)])
    offsets = np.arange(0, len(y) + 1, _MNIST_BAG)
    bags = Bags(X[order].astype(np.float32), offsets)
    digits = y[order].reshape(-1, _MNIST_BAG)
    listed = sorted(known)
    sets = [set(row) & set(listed) for row in digits.tolist()]
    return BagDataset(
        bags=bags,
        labels=BagLabels.from_sets(sets, classes=listed, keys=bags.keys),
        instance_labels=y[order],
        instance_ids=order,
        name="mnist",
        description=Description(title="All MNIST training images in bags of 20"),
    )


def _dealt(y: IntArray, beta: float, rng: np.random.Generator) -> Iterator[IntArray]:
    """Deal every row out, 20 at a time, by proportions drawn anew and what is left of a class."""
    digits = np.unique(y)
    decks = [rng.permutation(np.flatnonzero(y == digit)) for digit in digits]
    left = np.array([len(deck) for deck in decks])
    for _ in range(len(y) // _MNIST_BAG):
        taken = np.zeros_like(left)
        shares = rng.standard_gamma(beta, size=len(digits)) + 1e-9
        while taken.sum() < _MNIST_BAG:
            weights = shares * (left > taken)
            more = rng.multinomial(_MNIST_BAG - taken.sum(), weights / weights.sum())
            taken = np.minimum(left, taken + more)
        yield np.concatenate(
            [deck[n - t : n] for deck, n, t in zip(decks, left, taken, strict=True)]
        )
        left -= taken
