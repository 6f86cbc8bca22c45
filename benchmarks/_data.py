"""The data of the benchmarks: real birdsong, and bags of any size drawn from a mixture."""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from raravis import BagLabels, Bags
from raravis.datasets import BagDataset, fetch_hja_birdsong
from raravis.scaling import Scaling

KNOWN = tuple(range(1, 9))
N_KNOWN, N_NOVEL, N_FEATURES, N_LATENT, MEAN_SIZE = 8, 4, 38, 6, 9


def hja_split(seed: int = 0) -> tuple[BagDataset, BagDataset]:
    """Return 70% and 30% of the HJA bags, with eight known classes."""
    train, test = fetch_hja_birdsong().restrict(KNOWN).split((0.7, 0.3), seed=seed)
    return train, test


def scaled(train: Bags, other: Bags | None = None) -> NDArray[Any]:
    """Return the instances of ``other`` (or ``train``) as the estimator scales them by default."""
    scaling = Scaling.learn(train.instances, "minmax")
    return scaling.apply((other or train).instances)


def mixture(n_instances: int, *, seed: int = 0) -> tuple[Bags, BagLabels]:
    """Draw about ``n_instances`` in bags of about nine: twelve Gaussian classes, eight listed.

    A bag holds one to four of the classes. Like features of real recordings, the 38 are correlated:
    they vary in six directions, and a little in all. Classes overlap somewhat, so that the number
    of support vectors grows with n.
    """
    rng, fixed = np.random.default_rng(seed), np.random.default_rng(2013)
    n_classes = N_KNOWN + N_NOVEL
    centres = 2.0 * fixed.standard_normal((n_classes, N_LATENT))
    embedding = fixed.standard_normal((N_LATENT, N_FEATURES)) / np.sqrt(N_LATENT)
    sizes = 1 + rng.poisson(MEAN_SIZE - 1, size=max(1, n_instances // MEAN_SIZE))
    arrays, sets = [], []
    for size in sizes:
        present = rng.choice(n_classes, size=rng.integers(1, 5), replace=False)
        classes = rng.choice(present, size=size)
        latent = centres[classes] + rng.standard_normal((size, N_LATENT))
        arrays.append(latent @ embedding + 0.2 * rng.standard_normal((size, N_FEATURES)))
        sets.append({int(c) for c in classes if c < N_KNOWN})
    return Bags.from_list(arrays), BagLabels.from_sets(sets, classes=range(N_KNOWN))
