"""What was published: the tables of the 2013 paper and the MNIST rows of its 2015 follow-up.

The paper is Lou, Raich, Briggs, Fern: Novelty detection under multi-instance multi-label framework
(IEEE MLSP, 2013). The follow-up is Pham, Raich, Fern, Perez Arriaga: Multi-instance multi-label
learning in the presence of novel class instances (ICML, 2015).
"""

from dataclasses import dataclass
from typing import Final, NamedTuple

__all__ = [
    "BIRD_COUNTS",
    "COOCCURRENCE",
    "DIGIT_BAG_LABELS",
    "DIGIT_COUNTS",
    "HJA",
    "HJA_SVM",
    "MNIST",
    "MNIST_2015",
    "MNIST_FILTERED",
    "MNIST_SVM",
    "TOY_BAGS",
    "PublishedTable",
    "Row",
    "Row2015",
]

PAPER: Final = "Lou, Raich, Briggs, Fern (2013)"


class Row(NamedTuple):
    """A label set and its average AUC."""

    known: tuple[int, ...]
    auc: float


class Row2015(NamedTuple):
    """A set of novel digits; AUC and its spread for MIML-NC and for kernel scoring (KS).

    ``ks_differs`` says whether the follow-up's paired t-test found KS different from MIML-NC.
    """

    novel: tuple[int, ...]
    miml_nc: float
    miml_nc_sd: float
    ks: float
    ks_sd: float
    ks_differs: bool

    @property
    def known(self) -> tuple[int, ...]:
        """The digits that bag labels list."""
        return tuple(digit for digit in range(10) if digit not in self.novel)


@dataclass(frozen=True)
class PublishedTable:
    """A table of average AUCs: its LaTeX label, what it shows, and its rows.

    Examples
    --------
    >>> HJA.label, HJA.auc((3, 5, 7, 9))
    ('tb:auc_bird', 0.85)
    """

    label: str
    caption: str
    method: str
    classes: tuple[int, ...]
    rows: tuple[Row, ...]

    def auc(self, known: tuple[int, ...]) -> float | None:
        """Return the figure of a label set, or None if it is not in the table."""
        return dict(self.rows).get(known)

    def mean(self, size: int | None = None) -> float:
        """Return the mean over all label sets, or over those of one size."""
        listed = [row.auc for row in self.rows if size in (None, len(row.known))]
        return sum(listed) / len(listed)


_DIGITS = tuple(range(10))
_SPECIES = tuple(range(1, 14))

# In the order of the paper: the left column first, then the right one.
_DIGIT_SETS = (
    (0, 1, 3, 7),
    (2, 4, 7, 8),
    (2, 5, 6, 7),
    (3, 5, 7, 9),
    (3, 6, 8, 9),
    (0, 1, 2, 3, 4, 5, 6, 7),
    (2, 3, 4, 5, 6, 7, 8, 9),
    (0, 1, 4, 5, 6, 7, 8, 9),
    (0, 1, 2, 3, 6, 7, 8, 9),
    (0, 1, 2, 3, 4, 5, 8, 9),
)
_BIRD_SETS = (
    (1, 2, 4, 8),
    (3, 5, 7, 9),
    (4, 6, 8, 10),
    (5, 7, 9, 11),
    (6, 10, 12, 13),
    (1, 2, 3, 4, 5, 6, 7, 8),
    (3, 4, 5, 6, 7, 8, 9, 10),
    (5, 6, 7, 8, 9, 10, 11, 12),
    (1, 7, 8, 9, 10, 11, 12, 13),
    (1, 2, 3, 9, 10, 11, 12, 13),
)


def _rows(known: tuple[tuple[int, ...], ...], *aucs: float) -> tuple[Row, ...]:
    return tuple(Row(*pair) for pair in zip(known, aucs, strict=True))


MNIST: Final = PublishedTable(
    label="tb:auc_digit",
    caption="Handwritten digits, training and test bags not filtered",
    method="kernel score functions",
    classes=_DIGITS,
    rows=_rows(_DIGIT_SETS, 0.89, 0.87, 0.91, 0.85, 0.89, 0.85, 0.88, 0.84, 0.85, 0.83),
)
MNIST_FILTERED: Final = PublishedTable(
    label="tb:auc_digit_filter",
    caption="Handwritten digits, training bags filtered, test bags not",
    method="kernel score functions",
    classes=_DIGITS,
    rows=_rows(_DIGIT_SETS, 0.86, 0.86, 0.88, 0.83, 0.86, 0.85, 0.84, 0.82, 0.84, 0.80),
)
HJA: Final = PublishedTable(
    label="tb:auc_bird",
    caption="HJA birdsong",
    method="kernel score functions",
    classes=_SPECIES,
    rows=_rows(_BIRD_SETS, 0.90, 0.85, 0.88, 0.90, 0.89, 0.89, 0.85, 0.89, 0.84, 0.85),
)
MNIST_SVM: Final = PublishedTable(
    label="tb:auc_svm_digit",
    caption="Handwritten digits, one-class SVM",
    method="one-class SVM, refitted for every nu, gamma chosen post hoc",
    classes=_DIGITS,
    rows=_rows(_DIGIT_SETS, 0.66, 0.66, 0.57, 0.65, 0.63, 0.59, 0.63, 0.68, 0.62, 0.65),
)
HJA_SVM: Final = PublishedTable(
    label="tb:auc_svm_bird",
    caption="HJA birdsong, one-class SVM",
    method="one-class SVM, refitted for every nu, gamma chosen post hoc",
    classes=_SPECIES,
    rows=_rows(_BIRD_SETS, 0.78, 0.79, 0.82, 0.73, 0.78, 0.85, 0.82, 0.75, 0.70, 0.60),
)

MNIST_2015: Final = (
    Row2015((0, 1), 0.90, 0.03, 0.83, 0.06, True),
    Row2015((0, 1, 2, 3), 0.88, 0.04, 0.78, 0.06, True),
    Row2015((0, 1, 2, 3, 4, 5), 0.84, 0.06, 0.79, 0.08, False),
)
"""Table 2 of the follow-up, its MNIST rows: 100 bags of 10 instances, Dirichlet 0.1."""

TOY_BAGS: Final = (
    (("up", "up", "square", "down"), ("I", "II")),
    (("up", "up", "lozenge", "down"), ("I",)),
    (("square", "square", "square", "lozenge", "lozenge"), ("II",)),
    (("up", "up", "square"), ("I", "II")),
)
"""tb:toy_problem: the symbols and the labels of each bag."""

COOCCURRENCE: Final = {
    "I": {"up": 1.0, "down": 0.75, "square": 0.5, "lozenge": 0.25},
    "II": {"up": 0.5, "down": 0.25, "square": 1.0, "lozenge": 0.25},
}
"""tb:co-occurrence: the rate of each class and symbol."""

DIGIT_BAG_LABELS: Final = ((1,), (0, 1), (2, 3), (0, 1), (0, 2))
"""tb:digits_bag: label sets of the five example bags; the known digits are 0 to 3."""

DIGIT_COUNTS: Final = (
    (0, 1, 0, 0, 5, 5, 2, 3, 4, 0),
    (6, 0, 4, 8, 0, 0, 1, 0, 0, 1),
    (0, 17, 0, 2, 0, 0, 1, 0, 0, 0),
    (0, 0, 1, 0, 2, 16, 1, 0, 0, 0),
    (0, 0, 15, 0, 0, 0, 0, 5, 0, 0),
)
"""tb:bags: how many of each digit five bags of 20 hold."""

BIRD_COUNTS: Final = {
    1: ("Brown Creeper", 602),
    2: ("Winter Wren", 810),
    3: ("Pacific-slope Flycatcher", 501),
    4: ("Red-breasted Nuthatch", 494),
    5: ("Dark-eyed Junco", 82),
    6: ("Olive-sided Flycatcher", 277),
    7: ("Hermit Thrush", 32),
    8: ("Chestnut-backed Chickadee", 345),
    9: ("Varied Thrush", 139),
    10: ("Hermit Warbler", 120),
    11: ("Swainson's Thrush", 190),
    12: ("Hammond's Flycatcher", 1280),
    13: ("Western Tanager", 126),
}
"""tb:birdname: species and number of labelled instances of each class."""
