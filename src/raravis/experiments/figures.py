"""The paper's figures and small tables as data: nothing here draws."""

from collections import Counter
from collections.abc import Sequence
from fractions import Fraction
from typing import Any

import numpy as np
import numpy.typing as npt

from raravis.datasets import (
    TOY_SYMBOLS,
    BagDataset,
    draw_bags,
    fetch_hja_birdsong,
    fetch_mnist,
    load_toy,
)
from raravis.experiments import published
from raravis.experiments.results import (
    BagPictures,
    BagRow,
    DataTable,
    Figure,
    RocLine,
)
from raravis.experiments.svm_sweep import Curve

__all__ = [
    "bird_counts",
    "cooccurrence_figures",
    "digit_counts",
    "example_bags",
    "mnist_2015_table",
    "roc_line",
    "toy_table",
]

#: Points at which a long curve is read off: more than a printed figure can show.
_MOST_POINTS = 301


def cooccurrence_figures() -> dict[str, Figure]:
    """Return the toy problem, its co-occurrence rates beside the published ones, the decisions.

    Examples
    --------
    >>> rates = cooccurrence_figures()["rates"]
    >>> rates.rows[0]
    ('I', 'ours', '1', '3/4', '1/2', '1/4')
    """
    from raravis.estimators.cooccurrence import CooccurrenceScorer

    toy = load_toy()
    model = CooccurrenceScorer().fit(toy.bags, toy.labels)
    one_of_each = np.eye(len(TOY_SYMBOLS))
    scores = model.class_scores([one_of_each])
    ours = {
        label: dict(zip(TOY_SYMBOLS, map(float, column), strict=True))
        for label, column in zip(model.classes_, scores.T, strict=True)
    }
    verdicts = zip(TOY_SYMBOLS, model.annotate([one_of_each]), scores.max(axis=1), strict=True)
    return {
        "toy": toy_table(toy),
        "rates": _rates_table(ours),
        "decisions": DataTable(
            f"Decisions at the threshold {_fraction(model.offset_)}",
            ("symbol", "highest rate", "decision"),
            tuple((name, _fraction(top), str(verdict)) for name, verdict, top in verdicts),
        ),
    }


def toy_table(toy: BagDataset) -> DataTable:
    """Return the bags of the toy problem and their labels."""
    symbols = [TOY_SYMBOLS[column] for column in toy.instance_ids]
    spans = zip(toy.bags.offsets[:-1], toy.bags.offsets[1:], strict=True)
    rows = tuple(
        (key, " ".join(symbols[start:stop]), ", ".join(sorted(map(str, labels or ()))))
        for key, (start, stop), labels in zip(
            toy.bags.keys, spans, toy.labels.to_sets(), strict=True
        )
    )
    return DataTable("Toy problem with two known classes", ("#", "bag", "labels"), rows)


def example_bags(seed: int = 0, data_home: Any = None) -> dict[str, Figure]:
    """Return five bags of MNIST digits as pictures, and the label sets that were published.

    Bags without a label are drawn again, for the published examples have none.
    """
    known = (0, 1, 2, 3)
    pixels, digits = fetch_mnist(subset="train", data_home=data_home)
    drawn = draw_bags(digits, n_bags=5, bag_size=20, known=known, filtered=True, seed=seed)
    rows = tuple(
        BagRow(
            key=number,
            labels=tuple(sorted(set(digits[ids].tolist()) & set(known))),
            images=tuple(_picture(pixels[i]) for i in ids),
            truth=tuple(digits[ids].tolist()),
        )
        for number, ids in enumerate(drawn, start=1)
    )
    listed = tuple(
        (row.key, _listed(row.labels), _listed(labels))
        for row, labels in zip(rows, published.DIGIT_BAG_LABELS, strict=True)
    )
    return {
        "bags": BagPictures(rows),
        "labels": DataTable(
            "Label sets; the known digits are 0 to 3", ("bag", "ours", "published"), listed
        ),
    }


def digit_counts(seed: int = 0, data_home: Any = None) -> DataTable:
    """Return how many of each digit five bags of 20 hold, ours and the published ones."""
    _, digits = fetch_mnist(subset="train", data_home=data_home)
    drawn = draw_bags(digits, n_bags=5, bag_size=20, beta=0.1, seed=seed)
    ours = [tuple(np.bincount(digits[ids], minlength=10).tolist()) for ids in drawn]
    rows = [("ours", *counts) for counts in ours]
    rows += [("published", *counts) for counts in published.DIGIT_COUNTS]
    return DataTable(
        "Numbers of each digit in five bags of 20, every beta 0.1",
        ("", *map(str, range(10))),
        tuple(rows),
    )


def bird_counts(data_home: Any = None) -> DataTable:
    """Return the labelled instances of every species, ours beside the published numbers."""
    data = fetch_hja_birdsong(data_home=data_home)
    counted = Counter(data.instance_labels.tolist())
    rows = tuple(
        (label, name, counted[label], n) for label, (name, n) in published.BIRD_COUNTS.items()
    )
    return DataTable(
        "HJA birdsong: labelled instances of each species",
        ("class", "species", "ours", "published"),
        rows,
    )


def mnist_2015_table() -> DataTable:
    """Return both published columns of the follow-up with their spread."""
    rows = tuple(
        (
            _listed(row.novel),
            f"{row.miml_nc:.2f} ± {row.miml_nc_sd:.2f}",
            f"{row.ks:.2f} ± {row.ks_sd:.2f}",
            "yes" if row.ks_differs else "no",
        )
        for row in published.MNIST_2015
    )
    return DataTable(
        "Published in 2015, mean ± standard deviation",
        ("novel digits", "MIML-NC", "kernel scoring (KS)", "differ at 95%"),
        rows,
    )


def roc_line(model: str, curve: Curve) -> RocLine:
    """Return a curve with at most a few hundred points; its area stays that of all points.

    Examples
    --------
    >>> import numpy as np
    >>> curve = Curve(np.linspace(0, 1, 9999), np.linspace(0, 1, 9999), 0.5)
    >>> line = roc_line("chance", curve)
    >>> len(line.fpr), line.fpr[-1], line.tpr[-1]
    (301, 1.0, 1.0)
    """
    positions = np.arange(len(curve.fpr))
    if len(positions) > _MOST_POINTS:
        # Even steps along the length of the curve, so that steep parts keep their shape.
        length = np.append(0.0, np.cumsum(np.abs(np.diff(curve.fpr)) + np.abs(np.diff(curve.tpr))))
        steps = np.linspace(0, length[-1], _MOST_POINTS)
        positions = np.searchsorted(length, steps).clip(max=len(length) - 1)
    return RocLine(
        model,
        tuple(curve.fpr[positions].round(6).tolist()),
        tuple(curve.tpr[positions].round(6).tolist()),
        curve.auc,
    )


def _rates_table(ours: dict[str, dict[str, float]]) -> DataTable:
    """Set both tables of rates below each other, symbols in the paper's order."""
    symbols = tuple(published.COOCCURRENCE["I"])
    rows = [
        (label, whose, *(_fraction(rates[symbol]) for symbol in symbols))
        for label in published.COOCCURRENCE
        for whose, rates in (("ours", ours[label]), ("published", published.COOCCURRENCE[label]))
    ]
    return DataTable("Co-occurrence rates", ("class", "", *symbols), tuple(rows))


def _fraction(rate: float) -> str:
    return str(Fraction(float(rate)).limit_denominator(1000))


def _picture(pixels: npt.NDArray[np.floating[Any]]) -> npt.NDArray[np.uint8]:
    picture: npt.NDArray[np.uint8] = np.rint(pixels * 255).astype(np.uint8).reshape(28, 28)
    picture.setflags(write=False)
    return picture


def _listed(labels: Sequence[Any]) -> str:
    return "{" + ", ".join(map(str, labels)) + "}"
