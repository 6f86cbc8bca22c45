"""Small random bag problems that several test modules share."""

import numpy as np

from raravis import BagLabels, Bags


def random_problem(
    seed: int, *, n_bags: int = 14, n_classes: int = 2, n_features: int = 3, empty: bool = False
) -> tuple[Bags, BagLabels]:
    """Bags of one to five instances around class centres; labels are the classes drawn.

    Every class is present in at least one bag and absent from at least one; the last centre is
    never listed, so that some instances are novel.
    """
    rng = np.random.default_rng(seed)
    centres = 2.0 * rng.standard_normal((n_classes + 1, n_features))
    drawn = [rng.integers(0, n_classes + 1, size=rng.integers(1, 6)) for _ in range(n_bags)]
    for c in range(n_classes):
        drawn[c] = np.array([c, n_classes])
    drawn[n_classes] = np.array([n_classes])
    if empty:
        drawn[-1] = np.empty(0, dtype=np.int64)
    bags = Bags.from_list(
        [centres[d] + 0.7 * rng.standard_normal((len(d), n_features)) for d in drawn],
        n_features=n_features,
    )
    labels = BagLabels.from_sets(
        [set(d.tolist()) - {n_classes} for d in drawn], classes=range(n_classes)
    )
    return bags, labels
