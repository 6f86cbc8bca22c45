"""How good scores, decisions and bag predictions are, with confidence over bags.

Scores are high for known instances throughout, and the positives of every curve are the known
instances. The area under the curve is the same if novel instances are made the positives and the
scores are negated.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal, NamedTuple

import numpy as np
import numpy.typing as npt

from raravis._bootstrap import Pairing, resampled_aucs
from raravis._metric_inputs import (
    as_indicator,
    as_kinds,
    as_numbers,
    bag_truth,
    check_bootstrap,
    check_equal_length,
    checked_bags,
    checked_scores,
)
from raravis.errors import InputError
from raravis.labels import BagLabels

__all__ = [
    "DetectionReport",
    "Interval",
    "KindFigures",
    "MeanAndSE",
    "RocCurve",
    "annotation_accuracy",
    "auc",
    "bag_errors",
    "bootstrap_auc",
    "detection_report",
    "exact_roc",
    "hamming_loss",
    "mean_and_se",
    "paired_bootstrap",
    "training_roc",
]

FloatArray = npt.NDArray[np.float64]
BoolArray = npt.NDArray[np.bool_]


@dataclass(frozen=True, slots=True, eq=False)
class RocCurve:
    """Points of a ROC curve, from "nothing is known" to "everything is known".

    Parameters
    ----------
    fpr : ndarray of shape (n_points,)
        Share of the novel instances with score >= threshold: novel called known.
    tpr : ndarray of shape (n_points,)
        Share of the known instances with score >= threshold.
    thresholds : ndarray of shape (n_points,)
        Falling; the first is +inf and stands for "nothing is known".
    kind : {"exact", "training"}
        Whether the thresholds are the scores themselves or those of the training instances.

    Examples
    --------
    >>> curve = exact_roc([True, True, False], [0.9, 0.2, 0.4])
    >>> curve.auc
    0.5
    >>> curve.interpolate([0.0, 0.5, 1.0])
    array([0.5, 0.5, 1. ])
    """

    fpr: FloatArray
    tpr: FloatArray
    thresholds: FloatArray
    kind: Literal["exact", "training"]

    @property
    def auc(self) -> float:
        """Area under the curve by the trapezoid rule."""
        return float(np.diff(self.fpr) @ (self.tpr[1:] + self.tpr[:-1]) / 2)

    def interpolate(self, fpr_grid: npt.ArrayLike) -> FloatArray:
        """Return the curve's height at each false positive rate; the top where it is vertical."""
        grid = as_numbers(fpr_grid, "fpr_grid")
        if grid.size and (grid.min() < 0 or grid.max() > 1):
            raise InputError(
                f"fpr_grid runs from {grid.min():g} to {grid.max():g}; rates lie between 0 and 1. "
                "Pass for example numpy.linspace(0, 1, 101)."
            )
        left = np.searchsorted(self.fpr, grid, side="right") - 1
        right = np.minimum(left + 1, len(self.fpr) - 1)
        width = self.fpr[right] - self.fpr[left]
        share = np.divide(grid - self.fpr[left], width, out=np.zeros_like(grid), where=width > 0)
        height: FloatArray = self.tpr[left] + share * (self.tpr[right] - self.tpr[left])
        return height


@dataclass(frozen=True, slots=True)
class Interval:
    """A figure with its percentile interval over resampled bags.

    Parameters
    ----------
    estimate, low, high : float
        The figure on the data as given, and the two ends of the interval.
    level : float
        Nominal coverage.
    n_resamples : int
        Resamples the interval rests on.
    n_redrawn : int
        Resamples thrown away and drawn again because all their instances were of one kind.
    """

    estimate: float
    low: float
    high: float
    level: float
    n_resamples: int
    n_redrawn: int = 0


@dataclass(frozen=True, slots=True)
class KindFigures:
    """Precision, recall and F1 of one kind of instance; NaN where one is 0/0."""

    precision: float
    recall: float
    f1: float
    n: int


@dataclass(frozen=True, slots=True)
class DetectionReport:
    """Figures of known/novel decisions, each kind in turn being the one looked for."""

    known: KindFigures
    novel: KindFigures
    accuracy: float


class MeanAndSE(NamedTuple):
    """A mean and its standard error."""

    mean: float
    se: float


def exact_roc(known: npt.ArrayLike, scores: npt.ArrayLike) -> RocCurve:
    """Return the empirical ROC curve: one point for each distinct score.

    Parameters
    ----------
    known : array-like of bool of shape (n_instances,)
        Whether each instance is of a known class. 0/1 and -1/+1 are understood too.
    scores : array-like of shape (n_instances,)
        High = known.

    Examples
    --------
    >>> exact_roc([True, True, False, False], [0.9, 0.6, 0.6, 0.1]).auc
    0.875
    """
    truth, values = checked_scores(known, scores)
    thresholds = np.unique(values)[::-1]
    return _roc_at(truth, values, thresholds, "exact")


def training_roc(
    known: npt.ArrayLike, scores: npt.ArrayLike, training_scores: npt.ArrayLike
) -> RocCurve:
    """Return the ROC curve over thresholds taken from training scores, as in the 2013 paper.

    An instance is called known if its score reaches the threshold. The thresholds are the distinct
    training scores and both infinities, so the curve can only be coarser than the exact one, and
    meets it where training scores are dense.

    Parameters
    ----------
    known, scores : array-like of shape (n_instances,)
        As for :func:`exact_roc`.
    training_scores : array-like of shape (n_training_instances,)
        Scores of the training instances under the same model.

    Examples
    --------
    >>> curve = training_roc([True, True, False], [0.9, 0.2, 0.4], training_scores=[0.5, 0.0])
    >>> curve.thresholds
    array([ inf,  0.5,  0. , -inf])
    """
    truth, values = checked_scores(known, scores)
    training = np.unique(as_numbers(training_scores, "training_scores"))[::-1]
    inner = training[np.isfinite(training)]
    return _roc_at(truth, values, np.append(inner, -np.inf), "training")


def auc(known: npt.ArrayLike, scores: npt.ArrayLike) -> float:
    """Return the probability that a known instance outscores a novel one; ties count half.

    Parameters
    ----------
    known, scores : array-like of shape (n_instances,)
        As for :func:`exact_roc`.

    Examples
    --------
    >>> auc([True, True, False], [0.9, 0.4, 0.4])
    0.75
    """
    truth, values = checked_scores(known, scores)
    one_bag = np.zeros(len(truth), dtype=np.int64)
    return _point(Pairing.of(truth, values, one_bag), 1)


def bootstrap_auc(
    known: npt.ArrayLike,
    scores: npt.ArrayLike,
    bag_index: npt.ArrayLike,
    *,
    level: float = 0.95,
    n_resamples: int = 1000,
    seed: int = 0,
) -> Interval:
    """Return the AUC with a percentile interval that resamples bags.

    Instances of one bag resemble each other, so an interval that resamples instances is too
    narrow. Here whole bags are drawn with replacement. Bags without instances play no part.

    Parameters
    ----------
    known, scores : array-like of shape (n_instances,)
        As for :func:`exact_roc`.
    bag_index : array-like of shape (n_instances,)
        The bag of each instance: numbers or strings, in any order.
    level : float
        Nominal coverage, between 0 and 1.
    n_resamples : int
        How many resamples; those without instances of both kinds are drawn again.
    seed : int
        The same seed gives the same interval.

    Examples
    --------
    >>> known = [True, False, True, True, False]
    >>> bootstrap_auc(known, [0.9, 0.1, 0.8, 0.3, 0.5], [0, 0, 1, 1, 2]).estimate
    0.833...
    """
    truth, values = checked_scores(known, scores)
    bags, n_bags = checked_bags(bag_index, len(truth))
    pairing = Pairing.of(truth, values, bags)
    check_bootstrap(level, n_resamples, n_bags)
    drawn, n_redrawn = resampled_aucs([pairing], n_bags=n_bags, n_resamples=n_resamples, seed=seed)
    return _interval(_point(pairing, n_bags), drawn[0], level, n_redrawn)


def paired_bootstrap(
    known: npt.ArrayLike,
    scores_a: npt.ArrayLike,
    scores_b: npt.ArrayLike,
    bag_index: npt.ArrayLike,
    *,
    level: float = 0.95,
    n_resamples: int = 1000,
    seed: int = 0,
) -> Interval:
    """Return AUC(a) - AUC(b) with an interval; both models see the same resampled bags.

    Parameters
    ----------
    known, bag_index, level, n_resamples, seed
        As for :func:`bootstrap_auc`.
    scores_a, scores_b : array-like of shape (n_instances,)
        Scores of the same instances under two models.

    Examples
    --------
    >>> known, bags = [True, False, True, False], [0, 0, 1, 1]
    >>> paired_bootstrap(known, [2, 1, 4, 3], [4, 3, 2, 1], bags)
    Interval(estimate=0.0, low=0.0, high=0.0, level=0.95, n_resamples=1000, n_redrawn=0)
    """
    truth, first = checked_scores(known, scores_a, name="scores_a")
    _, second = checked_scores(known, scores_b, name="scores_b")
    bags, n_bags = checked_bags(bag_index, len(truth))
    check_bootstrap(level, n_resamples, n_bags)
    pairings = [Pairing.of(truth, first, bags), Pairing.of(truth, second, bags)]
    drawn, n_redrawn = resampled_aucs(pairings, n_bags=n_bags, n_resamples=n_resamples, seed=seed)
    estimate = _point(pairings[0], n_bags) - _point(pairings[1], n_bags)
    return _interval(estimate, drawn[0] - drawn[1], level, n_redrawn)


def annotation_accuracy(true: Sequence[object], predicted: Sequence[object]) -> float:
    """Return the share of instances annotated right: the class, or novel where it is novel.

    Parameters
    ----------
    true, predicted : sequences of the same length
        A class label or ``raravis.NOVEL`` for each instance.

    Examples
    --------
    >>> annotation_accuracy(["wren", "robin", "wren"], ["wren", "wren", "wren"])
    0.666...
    """
    if len(true) != len(predicted):
        raise InputError(
            f"true has {len(true)} labels and predicted has {len(predicted)}; "
            "pass one of each for every instance."
        )
    if len(true) == 0:
        raise InputError("true and predicted are empty; accuracy needs at least one instance.")
    hits = sum(bool(a == b) for a, b in zip(true, predicted, strict=True))
    return hits / len(true)


def detection_report(known: npt.ArrayLike, predicted_known: npt.ArrayLike) -> DetectionReport:
    """Return precision, recall and F1 of known and of novel instances, and the accuracy.

    Parameters
    ----------
    known, predicted_known : array-like of shape (n_instances,)
        True (or 1) = known, False (or 0, or -1) = novel; what ``predict`` returns will do.

    Examples
    --------
    >>> report = detection_report([True, True, False, False], [1, -1, -1, -1])
    >>> report.known
    KindFigures(precision=1.0, recall=0.5, f1=0.666..., n=2)
    >>> report.accuracy
    0.75
    """
    truth = as_kinds(known, "known")
    guess = as_kinds(predicted_known, "predicted_known")
    check_equal_length(len(truth), "known", len(guess), "predicted_known")
    return DetectionReport(
        known=_figures(truth, guess),
        novel=_figures(~truth, ~guess),
        accuracy=float(np.mean(truth == guess)),
    )


def bag_errors(Y: BagLabels | npt.ArrayLike, Y_hat: npt.ArrayLike) -> int:
    """Return the number of (bag, class) pairs predicted wrong, unknown labels left out.

    Parameters
    ----------
    Y : BagLabels or array-like of shape (n_bags, n_classes)
        An array holds 1 = present, 0 = absent, NaN = unknown.
    Y_hat : array-like of 0/1 of shape (n_bags, n_classes)
        What ``predict_bags`` returns.

    Examples
    --------
    >>> bag_errors([[1, 0], [0, float("nan")]], [[1, 1], [0, 1]])
    1
    """
    present, counted = _truth(Y)
    return int(np.sum((present != as_indicator(Y_hat, present.shape)) & counted))


def hamming_loss(Y: BagLabels | npt.ArrayLike, Y_hat: npt.ArrayLike) -> float:
    """Return the share of (bag, class) pairs predicted wrong, unknown labels left out.

    Parameters
    ----------
    Y, Y_hat
        As for :func:`bag_errors`.

    Examples
    --------
    >>> hamming_loss([[1, 0], [0, 0]], [[1, 1], [0, 0]])
    0.25
    """
    errors = bag_errors(Y, Y_hat)
    n_counted = int(np.sum(_truth(Y)[1]))
    if n_counted == 0:
        raise InputError("Y has no known entry; a loss needs at least one present or absent label.")
    return errors / n_counted


def mean_and_se(values: npt.ArrayLike) -> MeanAndSE:
    """Return the mean and its standard error (NaN for a single value).

    Examples
    --------
    >>> mean_and_se([1.0, 3.0])
    MeanAndSE(mean=2.0, se=1.0)
    """
    numbers = as_numbers(values, "values")
    if numbers.size == 0:
        raise InputError("values is empty; a mean needs at least one value.")
    if numbers.size == 1:
        return MeanAndSE(float(numbers[0]), float("nan"))
    return MeanAndSE(float(numbers.mean()), float(numbers.std(ddof=1) / np.sqrt(numbers.size)))


def _truth(Y: BagLabels | npt.ArrayLike) -> tuple[BoolArray, BoolArray]:
    if isinstance(Y, BagLabels):
        return Y.status > 0, Y.status != 0
    return bag_truth(Y)


def _point(pairing: Pairing, n_bags: int) -> float:
    return float(pairing.auc(np.ones((n_bags, 1)))[0])


def _interval(estimate: float, drawn: FloatArray, level: float, n_redrawn: int) -> Interval:
    low, high = np.quantile(drawn, [(1 - level) / 2, (1 + level) / 2])
    return Interval(estimate, float(low), float(high), level, len(drawn), n_redrawn)


def _roc_at(
    known: BoolArray,
    scores: FloatArray,
    thresholds: FloatArray,
    kind: Literal["exact", "training"],
) -> RocCurve:
    """Read the curve at falling thresholds, after the point where nothing is known."""
    columns = [
        np.append(0.0, _share_reaching(scores[~known], thresholds)),
        np.append(0.0, _share_reaching(scores[known], thresholds)),
        np.append(np.inf, thresholds),
    ]
    for column in columns:
        column.setflags(write=False)
    return RocCurve(columns[0], columns[1], columns[2], kind)


def _share_reaching(scores: FloatArray, thresholds: FloatArray) -> FloatArray:
    missed = np.searchsorted(np.sort(scores), thresholds, side="left")
    share: FloatArray = (len(scores) - missed) / len(scores)
    return share


def _figures(truth: BoolArray, guess: BoolArray) -> KindFigures:
    hits, n_guessed, n_true = int(np.sum(truth & guess)), int(guess.sum()), int(truth.sum())
    return KindFigures(
        precision=_ratio(hits, n_guessed),
        recall=_ratio(hits, n_true),
        f1=_ratio(2 * hits, n_guessed + n_true),
        n=n_true,
    )


def _ratio(part: int, whole: int) -> float:
    return part / whole if whole else float("nan")
