"""Handwritten digits in bags, some digits never listed: fit, score, compare."""

from collections.abc import Callable, Collection
from dataclasses import dataclass
from numbers import Integral
from time import perf_counter
from typing import Any, TypeVar

import numpy as np
import numpy.typing as npt

from raravis._novel import NOVEL
from raravis.bags import Bags
from raravis.datasets import BagDataset, load_digit_bags
from raravis.errors import InputError
from raravis.estimators.kernel_scorer import KernelScorer
from raravis.metrics import (
    DetectionReport,
    Interval,
    RocCurve,
    annotation_accuracy,
    bootstrap_auc,
    detection_report,
    exact_roc,
    training_roc,
)
from raravis.progress import Progress, ProgressCallback

__all__ = ["N_SHOWN", "DigitsDemo", "Rival", "Seconds", "run_digits"]

N_TRAIN_BAGS = 200
N_TEST_BAGS = 60
BAG_SIZE = 20
N_SHOWN = 30
N_MISTAKES = 10

FloatArray = npt.NDArray[np.float64]
BoolArray = npt.NDArray[np.bool_]
IntArray = npt.NDArray[np.int64]
T = TypeVar("T")


@dataclass(frozen=True)
class Rival:
    """Another method's outcome on the same test instances; ``note`` says what it was given."""

    name: str
    note: str
    auc: Interval
    roc: RocCurve


@dataclass(frozen=True)
class Seconds:
    """How long each part took."""

    fit: float
    score: float
    rivals: float
    total: float


@dataclass(frozen=True, eq=False)
class DigitsDemo:
    """Everything that the demo computes.

    Parameters
    ----------
    hidden : tuple of int
        The digits that no bag lists.
    seed : int
    train, test : BagDataset
        Bags whose images come from disjoint parts of the collection.
    model : KernelScorer
        As fitted on ``train``.
    scores : ndarray of shape (n_test_instances,)
        High = known.
    annotations : tuple
        A digit or ``raravis.NOVEL`` for each test instance.
    auc : Interval
        Known against novel test instances, with an interval over test bags.
    accuracy : float
        Share of test instances annotated right.
    detection : DetectionReport
    exact, training : RocCurve
        With the test scores and with the training scores as thresholds.
    rivals : tuple of Rival
    most_novel, most_known : ndarray of int
        Positions of test instances, each image once, the extreme first.
    seconds : Seconds
    """

    hidden: tuple[int, ...]
    seed: int
    train: BagDataset
    test: BagDataset
    model: KernelScorer
    scores: FloatArray
    annotations: tuple[Any, ...]
    auc: Interval
    accuracy: float
    detection: DetectionReport
    exact: RocCurve
    training: RocCurve
    rivals: tuple[Rival, ...]
    most_novel: IntArray
    most_known: IntArray
    seconds: Seconds

    @property
    def known(self) -> BoolArray:
        """Whether each test instance is of a listed digit."""
        return _is_listed(self.test, self.hidden)

    @property
    def novelty(self) -> FloatArray:
        """How far each test instance lies beyond the threshold: above 0 is called novel."""
        return self.model.offset_ - self.scores

    @property
    def gravest(self) -> IntArray:
        """Positions of the wrong annotations farthest from the threshold, each image once."""
        order = np.argsort(-np.abs(self.novelty), kind="stable")
        return _first_images(order[~self.right[order]], self.test.instance_ids)[:N_MISTAKES]

    @property
    def truth(self) -> tuple[Any, ...]:
        """The right annotation of each test instance."""
        return _truth(self.test, self.hidden)

    @property
    def right(self) -> BoolArray:
        """Whether each test instance is annotated right."""
        return np.array([a == b for a, b in zip(self.annotations, self.truth, strict=True)])


def run_digits(
    *,
    hidden: Collection[int] = (3, 8),
    seed: int = 0,
    progress: ProgressCallback | None = None,
) -> DigitsDemo:
    """Fit and judge ``KernelScorer`` at its automatic settings on bags of handwritten digits.

    The 1,797 images are divided first: training bags are drawn from two thirds of them, test bags
    from the rest. Within a part an image may be drawn more than once.

    Parameters
    ----------
    hidden : collection of int
        One to nine digits that no bag lists. Bags hold them all the same.
    seed : int
        The same seed gives the same result.
    progress : function of a ``raravis.progress.Progress``, optional

    Returns
    -------
    DigitsDemo
    """
    concealed = _checked_hidden(hidden)
    if not _is_whole(seed) or seed < 0:
        raise InputError(f"seed is {seed!r}; pass a whole number, at least 0.")
    return _run(concealed, int(seed), progress or _ignore)


def _run(hidden: tuple[int, ...], seed: int, progress: ProgressCallback) -> DigitsDemo:
    start = perf_counter()
    train, test = _draw(hidden, seed)
    # A bar that stands at 0 while the first class is learned is better than none.
    progress(Progress("classes", 0, train.labels.n_classes))
    model, fit = _timed(lambda: KernelScorer().fit(train.bags, train.labels, progress=progress))
    (scores, annotations), score = _timed(lambda: _score(model, test.bags))
    rivals, compare = _timed(lambda: _rivals(model, train, test, hidden, seed, progress))
    known = _is_listed(test, hidden)
    return DigitsDemo(
        hidden=hidden,
        seed=seed,
        train=train,
        test=test,
        model=model,
        scores=scores,
        annotations=annotations,
        auc=bootstrap_auc(known, scores, test.bags.bag_index, seed=seed),
        accuracy=annotation_accuracy(_truth(test, hidden), annotations),
        detection=detection_report(known, scores >= model.offset_),
        exact=exact_roc(known, scores),
        training=training_roc(known, scores, model.score_samples(train.bags)),
        rivals=rivals,
        most_novel=_first_images(np.argsort(scores, kind="stable"), test.instance_ids),
        most_known=_first_images(np.argsort(-scores, kind="stable"), test.instance_ids),
        seconds=Seconds(fit, score, compare, perf_counter() - start),
    )


def _draw(hidden: tuple[int, ...], seed: int) -> tuple[BagDataset, BagDataset]:
    known = [digit for digit in range(10) if digit not in hidden]
    for_train, for_test = np.random.SeedSequence(seed).spawn(2)
    train = load_digit_bags(
        known=known, n_bags=N_TRAIN_BAGS, bag_size=BAG_SIZE, subset="train", seed=for_train
    )
    test = load_digit_bags(
        known=known, n_bags=N_TEST_BAGS, bag_size=BAG_SIZE, subset="test", seed=for_test
    )
    return train, test


def _score(model: KernelScorer, bags: Bags) -> tuple[FloatArray, tuple[Any, ...]]:
    return model.score_samples(bags), tuple(model.annotate(bags))


def _rivals(
    model: KernelScorer,
    train: BagDataset,
    test: BagDataset,
    hidden: tuple[int, ...],
    seed: int,
    progress: ProgressCallback,
) -> tuple[Rival, ...]:
    """Train one-class SVMs under the same feature scaling and kernel width."""
    from sklearn.svm import OneClassSVM

    X, X_test = (model.scaling_.apply(part.bags.instances) for part in (train, test))
    known = _is_listed(test, hidden)
    listed = _is_listed(train, hidden)
    given = [
        ("One-class SVM", "all training instances, unlabelled", X),
        ("One-class SVM, told the truth", "training instances of listed digits", X[listed]),
    ]
    found = []
    for done, (name, note, instances) in enumerate(given, start=1):
        scores = OneClassSVM(gamma=model.gamma_).fit(instances).score_samples(X_test)
        interval = bootstrap_auc(known, scores, test.bags.bag_index, seed=seed)
        found.append(Rival(name, note, interval, exact_roc(known, scores)))
        progress(Progress("comparison", done, len(given)))
    return tuple(found)


def _is_listed(data: BagDataset, hidden: tuple[int, ...]) -> BoolArray:
    return ~np.isin(data.instance_labels, hidden)


def _truth(data: BagDataset, hidden: tuple[int, ...]) -> tuple[Any, ...]:
    return tuple(NOVEL if d in hidden else d for d in data.instance_labels.tolist())


def _first_images(order: IntArray, image_of: IntArray) -> IntArray:
    """Return the first instances in this order, no image twice."""
    _, first = np.unique(image_of[order], return_index=True)
    return order[np.sort(first)][:N_SHOWN]


def _timed(compute: Callable[[], T]) -> tuple[T, float]:
    start = perf_counter()
    return compute(), perf_counter() - start


def _checked_hidden(hidden: Collection[int]) -> tuple[int, ...]:
    advice = "pass one to nine different digits from 0 to 9, such as (3, 8)."
    if isinstance(hidden, str | bytes) or not hasattr(hidden, "__iter__"):
        raise InputError(f"hidden is {hidden!r}; {advice}")
    digits = list(hidden)
    if not all(_is_whole(digit) and 0 <= digit <= 9 for digit in digits):
        raise InputError(f"hidden is {digits!r}; {advice}")
    if len(set(digits)) != len(digits) or not 1 <= len(digits) <= 9:
        raise InputError(f"hidden is {digits!r}; {advice}")
    return tuple(sorted(int(digit) for digit in digits))


def _is_whole(value: object) -> bool:
    return isinstance(value, Integral) and not isinstance(value, bool)


def _ignore(progress: Progress) -> None:
    """Report to nobody."""
