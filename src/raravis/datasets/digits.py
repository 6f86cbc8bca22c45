"""Bags of the handwritten digits that come with scikit-learn: nothing to download."""

from collections.abc import Collection, Sequence
from functools import partial
from typing import Literal

import numpy as np

from raravis.datasets._base import BagDataset, Description
from raravis.datasets.generators import BagSize, Seed, draw_bags, gather_bags
from raravis.errors import InputError

__all__ = ["load_digit_bags"]

_N_TRAIN = 1198  # two thirds of the 1,797 images

_DESCRIPTION = Description(
    title="Bags of handwritten digits, 8 by 8 pixels",
    origin=(
        "E. Alpaydin, C. Kaynak: Optical Recognition of Handwritten Digits (UCI, 1998), test part, "
        "as shipped with scikit-learn"
    ),
    terms="CC BY 4.0",
    citation=(
        "E. Alpaydin, C. Kaynak. Optical Recognition of Handwritten Digits. UCI Machine Learning "
        "Repository, 1998."
    ),
    notes=(
        "Pixels are divided by 16, so that they run from 0 to 1. instance_ids are rows of "
        "sklearn.datasets.load_digits().images."
    ),
)


def load_digit_bags(
    *,
    known: Collection[int] = range(8),
    n_bags: int = 200,
    bag_size: BagSize = 20,
    beta: float | Sequence[float] = 0.1,
    filtered: bool = False,
    replace: bool = True,
    subset: Literal["all", "train", "test"] = "all",
    seed: Seed = 0,
) -> BagDataset:
    """Draw bags of scikit-learn's 1,797 handwritten digits.

    Parameters
    ----------
    known : collection of int
        The digits that bag labels list; the others are novel.
    n_bags, bag_size, beta, filtered, replace, seed
        As for `draw_bags`. Without replacement the images last for fewer bags than the default.
    subset : {"all", "train", "test"}
        Which images to draw from: all, the first two thirds, or the rest. Bags drawn from
        ``"train"`` and from ``"test"`` share no image; give them different seeds, or their bags
        have the same class proportions, one by one.

    Returns
    -------
    BagDataset
        64 features in [0, 1]; ``instance_ids`` are rows of scikit-learn's images.

    Examples
    --------
    >>> data = load_digit_bags(known=[0, 1], n_bags=3, seed=0)
    >>> data.bags.n_instances, data.bags.n_features, data.labels.classes
    (60, 64, (0, 1))
    """
    from sklearn.datasets import load_digits

    rows = _rows(subset)
    pixels, digits = load_digits(return_X_y=True)
    draw = partial(draw_bags, n_bags=n_bags, bag_size=bag_size, beta=beta, filtered=filtered)
    drawn = draw(digits[rows], known=known, replace=replace, seed=seed)
    return gather_bags(
        lambda ids: np.asarray(pixels[ids] / 16.0),
        digits.astype(np.int64),
        [rows[index] for index in drawn],
        known=list(known),
        name="digits",
        description=_DESCRIPTION,
    )


def _rows(subset: str) -> np.ndarray[tuple[int], np.dtype[np.int64]]:
    spans = {"all": (0, 1797), "train": (0, _N_TRAIN), "test": (_N_TRAIN, 1797)}
    if subset not in spans:
        raise InputError(f"subset is {subset!r}; pass one of {sorted(spans)}")
    return np.arange(*spans[subset], dtype=np.int64)
