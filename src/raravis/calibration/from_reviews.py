"""Thresholds from reviewed instances: how many known ones are kept, how pure "novel" is.

Somebody has listened to some instances and said of each whether it is of a known class. What is
promised holds for the population that the reviewed instances are a random sample of. Instances of
one bag resemble each other; where the bag of each is given, no function here takes them for
independent.
"""

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from raravis._metric_inputs import as_numbers
from raravis.calibration.promises import nth_lowest
from raravis.calibration.ranks import (
    check_share,
    passes,
    rank_of,
    risk_threshold,
    smallest_n,
)
from raravis.calibration.reviews import Reviews, one_a_bag
from raravis.calibration.thresholds import (
    Calibration,
    NoThreshold,
    Rule,
    Threshold,
    model_fingerprint,
    today,
)
from raravis.errors import InputError

__all__ = ["threshold_for_precision", "threshold_for_recall"]

FloatArray = NDArray[np.float64]
BoolArray = NDArray[np.bool_]
IntArray = NDArray[np.int64]

#: Candidate thresholds that share the error probability, if the caller names none.
_N_CANDIDATES = 16
#: Above this many reviews nobody wants to be told that more would do.
_MOST_REVIEWS = 10_000_000


def threshold_for_recall(
    scores: ArrayLike,
    known: ArrayLike,
    *,
    alpha: float = 0.1,
    confidence: float | None = None,
    bag_index: ArrayLike | None = None,
    model: Any = None,
    date: str | None = None,
) -> Calibration:
    """Find the highest threshold at which at most a share alpha of known instances is lost.

    Parameters
    ----------
    scores : array-like of shape (n_reviewed,)
        ``score_samples`` of the reviewed instances; high = known.
    known : array-like of bool of shape (n_reviewed,)
        What the reviewer said: of a known class or novel. Only known ones play a part.
    alpha : float
        Share of known instances that may be called novel.
    confidence : float, optional
        By default a new known instance is kept with probability >= 1 - alpha, over reviewed and
        new instances together. With a confidence, such as 0.9, the threshold found keeps a share
        1 - alpha of all known instances in that share of the draws of reviews.
    bag_index : array-like of shape (n_reviewed,), optional
        The bag of each reviewed instance. Bags are then what is drawn, and the promise is about a
        new bag: the expected share of its known instances that is lost is at most alpha. Without
        it, reviewed instances count as drawn one by one at random; with a ``confidence`` they have
        to be (see :func:`one_a_bag`).
    model : fitted estimator, optional
        The model whose scores these are: the threshold then fits no other.
    date : str, optional
        The day to record; today by default.

    Examples
    --------
    >>> import numpy as np
    >>> scores = np.arange(40.0)
    >>> threshold_for_recall(scores, scores >= 20, alpha=0.1).value
    21.0
    >>> answer = threshold_for_recall(scores, scores >= 20, alpha=0.01)
    >>> bool(answer), answer.n, answer.needed
    (False, 20, 99)
    """
    alpha = check_share("alpha", alpha)
    reviews = Reviews.read(scores, known, bag_index)
    if bag_index is not None and confidence is not None:
        raise InputError(
            "a confidence is computed for independent instances, and those of one bag are not; "
            "pass the instances that one_a_bag picks without bag_index, or confidence=None."
        )
    if confidence is not None:
        confidence = check_share("confidence", confidence)
    rule: Rule = "known_recall" if bag_index is None else "bag_known_recall"
    record = _record(rule, 1.0 - alpha, confidence, reviews, model, date)
    if bag_index is None:
        kept = reviews.scores[reviews.known]
        n = len(kept)
        value = nth_lowest(kept, rank_of(n, alpha, confidence))
    else:
        n, value = _bag_recall(reviews, alpha)
    if math.isfinite(value):
        return Threshold(value=value, **record, n=n, guarantee=_recall_sentence(record))
    needed: int | None = smallest_n(lambda m: rank_of(m, alpha, confidence) > 0)
    what = "reviewed known instances" if bag_index is None else "bags with reviewed known instances"
    reason = f"there are {n} {what}; {needed} are needed. Review more, or allow a larger alpha."
    if needed is not None and n >= needed:
        needed = None
        reason = (
            f"too many of the {what} score -inf, below any threshold; more would not help. Allow a "
            "larger alpha, or look at what rules these instances out."
        )
    return NoThreshold(**record, n=n, reason=reason, needed=needed)


def threshold_for_precision(
    scores: ArrayLike,
    known: ArrayLike,
    *,
    precision: float = 0.8,
    confidence: float = 0.9,
    candidates: ArrayLike | None = None,
    bag_index: ArrayLike | None = None,
    seed: int = 0,
    model: Any = None,
    date: str | None = None,
) -> Calibration:
    """Find the highest threshold below which instances are novel at a given precision.

    Of all instances that score below the threshold at least a share ``precision`` is novel; a
    threshold for which that is not so is returned with probability at most 1 - confidence. Exact
    binomial tests of several candidates share that error probability (learn then test).

    Parameters
    ----------
    scores, known
        As for :func:`threshold_for_recall`. The reviewed instances must be drawn at random from
        all instances, or from all below some score; thresholds above the highest reviewed score
        are not considered.
    precision : float
        Share of those called novel that has to be novel.
    confidence : float
        Of the promise, over draws of the reviews.
    candidates : array-like, optional
        Thresholds chosen without a look at these reviews, such as percentiles of the scores of all
        instances. They are tested from the lowest up until the first failure, which costs nothing
        in confidence; let the lowest have some 20 reviews below it. By default sixteen ranks among
        the reviewed scores, each tested at a sixteenth of the error.
    bag_index : array-like of shape (n_reviewed,), optional
        The bag of each reviewed instance. One instance of each bag is then drawn at random and the
        promise is about one instance drawn from a random bag. Without it, reviewed instances count
        as drawn independently.
    seed : int
        Of that draw.
    model, date
        As for :func:`threshold_for_recall`.

    Examples
    --------
    >>> import numpy as np
    >>> scores = np.arange(200.0)
    >>> found = threshold_for_precision(scores, scores >= 80, precision=0.8)
    >>> 70 < found.value < 100
    True
    """
    precision, confidence = (
        check_share("precision", precision),
        check_share("confidence", confidence),
    )
    reviews = Reviews.read(scores, known, bag_index)
    record = _record("novel_precision", precision, confidence, reviews, model, date)
    if bag_index is not None:
        reviews = reviews.take(one_a_bag(reviews.bags, seed=seed))
    tests = _Tests.of(reviews, candidates, precision, 1.0 - confidence)
    value = tests.best()
    n = len(reviews.scores)
    if math.isfinite(value):
        clustered = bag_index is not None
        return Threshold(
            value=value, **record, n=n, guarantee=_precision_sentence(record, clustered)
        )
    needed, reason = _what_would_do(tests, n, precision, confidence)
    return NoThreshold(**record, n=n, reason=reason, needed=needed)


def _record(
    rule: Rule,
    level: float,
    confidence: float | None,
    reviews: Reviews,
    model: Any,
    date: str | None,
) -> dict[str, Any]:
    return {
        "rule": rule,
        "level": level,
        "confidence": confidence,
        "date": today(date),
        "data": reviews.fingerprint(),
        "model": "" if model is None else model_fingerprint(model),
    }


def _bag_recall(reviews: Reviews, alpha: float) -> tuple[int, float]:
    """Known instances of a bag weigh 1 together."""
    scores, bags = reviews.scores[reviews.known], reviews.bags[reviews.known]
    sizes = np.bincount(bags)
    n = int((sizes > 0).sum())
    return n, risk_threshold(scores, 1.0 / sizes[bags], n, alpha)


@dataclass(frozen=True, slots=True, eq=False)
class _Tests:
    """Candidate thresholds, rising, with what was reviewed below each and the error allowed."""

    values: FloatArray
    n_below: IntArray
    n_novel: IntArray
    precision: float
    error: float
    in_sequence: bool

    @classmethod
    def of(
        cls, reviews: Reviews, candidates: ArrayLike | None, precision: float, error: float
    ) -> "_Tests":
        order = np.argsort(reviews.scores, kind="stable")
        scores = reviews.scores[order]
        novel = np.concatenate([[0], np.cumsum(~reviews.known[order])])
        if candidates is None:
            fewest = smallest_n(lambda n: passes(n, n, precision, error / _N_CANDIDATES))
            values = scores[_ranks(fewest, len(scores))]
            error /= _N_CANDIDATES
        else:
            values = np.unique(as_numbers(candidates, "candidates"))
            values = values[values <= scores[-1]]
        below = np.searchsorted(scores, values, side="left")
        return cls(values, below, novel[below], precision, error, candidates is not None)

    def best(self) -> float:
        """Highest threshold that passes; in sequence, none after the first that does not."""
        passed = [
            passes(int(hits), int(n), self.precision, self.error)
            for hits, n in zip(self.n_novel, self.n_below, strict=True)
        ]
        if self.in_sequence and False in passed:
            passed = passed[: passed.index(False)]
        good = np.flatnonzero(passed)
        return float(self.values[good[-1]]) if len(good) else -math.inf


def _ranks(fewest: int, n: int) -> IntArray:
    """Ranks from the fewest reviews that can pass to all, evenly on a logarithmic scale."""
    if fewest >= n:
        return np.empty(0, dtype=np.int64)
    return np.unique(np.geomspace(fewest, n - 1, _N_CANDIDATES).astype(np.int64))


def _what_would_do(
    tests: _Tests, n: int, precision: float, confidence: float
) -> tuple[int | None, str]:
    """How many reviews would do if shares stayed as they are, and a sentence about it."""
    fewest = smallest_n(lambda m: passes(m, m, precision, tests.error))
    if not len(tests.values) or not tests.n_below.any():
        return fewest + 1, (
            f"{n} reviews are too few for a precision of {precision:g} at a confidence of "
            f"{confidence:g}: even if all were novel it would take {fewest}. Review more."
        )
    enough: list[int] = []
    for hits, below in zip(tests.n_novel, tests.n_below, strict=True):
        if below and hits / below > precision:
            share = hits / below
            of_those = smallest_n(_passing(share, precision, tests.error), at_most=_MOST_REVIEWS)
            enough.append(math.ceil(of_those * n / below))
    seen = max(float(h / b) for h, b in zip(tests.n_novel, tests.n_below, strict=True) if b)
    if not enough or min(enough) >= _MOST_REVIEWS:
        return None, (
            f"at no threshold tried were more than {seen:.0%} of the reviewed instances below it "
            f"novel, which is not above {precision:.0%}: more reviews would not help. Ask for a "
            "lower precision, or improve the model."
        )
    return min(enough), (
        f"the reviewed instances below a threshold are novel in up to {seen:.0%} of cases, but "
        f"{n} reviews do not show {precision:.0%} at a confidence of {confidence:g}; about "
        f"{min(enough)} reviews would, if shares stay as they are."
    )


def _passing(share: float, precision: float, error: float) -> Callable[[int], bool]:
    return lambda m: passes(math.floor(share * m), m, precision, error)


def _recall_sentence(record: dict[str, Any]) -> str:
    level = f"{record['level']:g}"
    if record["rule"] == "bag_known_recall":
        return (
            f"the expected share of the known instances of a new bag that is kept is at least "
            f"{level}, if new bags are drawn as the reviewed bags were."
        )
    if record["confidence"] is None:
        return (
            f"a new known instance is kept with probability at least {level}, if it is drawn as "
            "the reviewed known instances were."
        )
    return (
        f"with confidence {record['confidence']:g} a share of at least {level} of known instances "
        "is kept, if the reviewed instances were drawn independently of one another."
    )


def _precision_sentence(record: dict[str, Any], clustered: bool) -> str:
    what = "one instance drawn from a random bag" if clustered else "instances"
    return (
        f"with confidence {record['confidence']:g} at least {record['level']:.0%} of {what} "
        "below the threshold are novel, if the reviewed instances were drawn independently from "
        "those that the threshold is used on."
    )
