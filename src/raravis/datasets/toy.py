"""The paper's toy problem: four bags of four symbols, two known classes."""

import numpy as np

from raravis.bags import Bags
from raravis.datasets._base import UNLABELLED, BagDataset, Description
from raravis.labels import BagLabels

__all__ = ["TOY_SYMBOLS", "load_toy"]

TOY_SYMBOLS = ("up", "down", "square", "lozenge")
"""The symbol that each column of the toy problem's one-hot instances stands for."""

_BAGS = (
    ("up", "up", "square", "down"),
    ("up", "up", "lozenge", "down"),
    ("square", "square", "square", "lozenge", "lozenge"),
    ("up", "up", "square"),
)
_LABELS = ({"I", "II"}, {"I"}, {"II"}, {"I", "II"})
# What the paper concludes: nothing determines the triangle that points down.
_TRUTH = {"up": "I", "square": "II", "lozenge": "III", "down": UNLABELLED}

_DESCRIPTION = Description(
    title="Toy problem with two known classes: triangles up and down, squares, lozenges",
    origin="Lou, Raich, Briggs, Fern (2013), Table 1",
    terms="none",
    citation=(
        "Q. Lou, R. Raich, F. Briggs, X. Z. Fern. Novelty detection under multi-instance "
        "multi-label framework. IEEE MLSP, 2013."
    ),
    notes=(
        "Instances are one-hot, columns as in TOY_SYMBOLS. Bags are numbered 1 to 4 as in the "
        "paper. Lozenges are the novel class, called III here; the bag labels leave the class of "
        "the triangle that points down open, so it is unlabelled."
    ),
)


def load_toy() -> BagDataset:
    """Return the four bags of the paper's toy problem.

    Every instance is one of four symbols, one-hot over `TOY_SYMBOLS`; ``instance_ids`` gives the
    symbol's column. The instance labels are what the paper concludes: ``"I"`` (triangle up),
    ``"II"`` (square), ``"III"`` (lozenge, the novel class), and `UNLABELLED` (triangle down, which
    the labels do not determine).

    Examples
    --------
    >>> data = load_toy()
    >>> data.bags.keys
    (1, 2, 3, 4)
    >>> [TOY_SYMBOLS[i] for i in data.instance_ids[:4]]
    ['up', 'up', 'square', 'down']
    >>> sorted(data.labels.to_sets()[0])
    ['I', 'II']
    """
    codes = [[TOY_SYMBOLS.index(symbol) for symbol in bag] for bag in _BAGS]
    bags = Bags.from_list([np.eye(len(TOY_SYMBOLS))[row] for row in codes], keys=(1, 2, 3, 4))
    truth = [_TRUTH[symbol] for bag in _BAGS for symbol in bag]
    return BagDataset(
        bags=bags,
        labels=BagLabels.from_sets(_LABELS, classes=("I", "II"), keys=bags.keys),
        instance_labels=np.array(truth, dtype=object),
        instance_ids=np.concatenate(codes).astype(np.int64),
        name="toy",
        description=_DESCRIPTION,
        class_names={"I": "triangle up", "II": "square", "III": "lozenge"},
    )
