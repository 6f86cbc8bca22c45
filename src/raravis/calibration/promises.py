"""What is asked of a threshold from bags, and the threshold that the scores of witnesses allow."""

import math
from collections.abc import Hashable
from dataclasses import dataclass
from typing import Any, Literal, TypeAlias

import numpy as np
from numpy.typing import NDArray

from raravis.calibration.ranks import check_share, rank_of, risk_threshold, smallest_n
from raravis.calibration.thresholds import (
    Calibration,
    ClassThreshold,
    NoThreshold,
    Rule,
    Threshold,
    today,
)
from raravis.calibration.witnesses import Witnesses
from raravis.errors import InputError

__all__ = ["BagPromise", "Scope", "choose_threshold", "nth_lowest"]

FloatArray = NDArray[np.float64]
Scope: TypeAlias = Literal["class", "share", "all"]

RULES: dict[str, Rule] = {"class": "class_kept", "share": "share_kept", "all": "all_kept"}


@dataclass(frozen=True, slots=True)
class BagPromise:
    """What is asked of a threshold from bags."""

    alpha: float
    scope: Scope
    confidence: float | None
    date: str

    @classmethod
    def checked(
        cls, alpha: float, scope: Scope, confidence: float | None, date: str | None
    ) -> "BagPromise":
        """Read the options of a caller."""
        if scope not in RULES:
            raise InputError(f"scope is {scope!r}; pass {' or '.join(map(repr, RULES))}.")
        if confidence is not None:
            confidence = check_share("confidence", confidence)
            if scope == "share":
                raise InputError(
                    "scope 'share' makes a promise about a mean, for which no confidence is "
                    "computed; pass confidence=None, or scope 'class' or 'all'."
                )
        return cls(check_share("alpha", alpha), scope, confidence, today(date))

    def rank(self, n: int) -> int:
        """Which of n values, counted from the lowest, is the threshold; 0 for none."""
        return rank_of(n, self.alpha, self.confidence)

    def needed(self, lost: float) -> int | None:
        """How many bags would do if a share of them is lost at any threshold."""
        if lost >= self.alpha:
            return None
        return smallest_n(lambda n: self.rank(n) > lost * n)

    @property
    def rule(self) -> Rule:
        """Its name, for programs."""
        return RULES[self.scope]

    def record(self, data: str, model: str) -> dict[str, Any]:
        """Return the fields that every answer has."""
        return {
            "rule": self.rule,
            "level": 1.0 - self.alpha,
            "confidence": self.confidence,
            "date": self.date,
            "data": data,
            "model": model,
        }

    @property
    def kept(self) -> str:
        """What is kept, as a sentence without its conditions."""
        level = f"{1.0 - self.alpha:g}"
        return {
            "class": "for each class, a new bag that holds it keeps a witness of it with "
            f"probability at least {level}",
            "all": "a new bag that holds known classes keeps a witness of every one of them with "
            f"probability at least {level}",
            "share": "of the known classes of a new bag the expected share that keeps a witness is "
            f"at least {level}",
        }[self.scope]

    @property
    def guarantee(self) -> str:
        """The promise as a sentence."""
        over = (
            "on average over draws of the calibration bags"
            if self.confidence is None
            else f"for a share {self.confidence:g} of the draws of calibration bags"
        )
        return f"{self.kept}, {over}, if new bags and calibration bags are drawn alike."


def choose_threshold(
    found: Witnesses, promise: BagPromise, *, data: str, model: str = ""
) -> Calibration:
    """Turn the scores of witnesses into a threshold, or say what is missing."""
    record = promise.record(data, model)
    if promise.scope == "class":
        return _for_each_class(found, promise, record)
    listed = found.present.any(axis=1)
    n = int(listed.sum())
    lowest = np.where(found.present, found.scores, np.inf).min(axis=1, initial=np.inf)[listed]
    if promise.scope == "all":
        value = nth_lowest(lowest, promise.rank(n))
    else:
        value = _of_shares(found, n, promise.alpha)
    if np.isfinite(value):
        return Threshold(value=value, **record, n=n, guarantee=promise.guarantee)
    needed = promise.needed(share_lost(lowest))
    what = f"{n} calibration bags list known classes"
    return NoThreshold(**record, n=n, reason=_reason(what, needed), needed=needed)


def nth_lowest(values: FloatArray, k: int) -> float:
    """Return the k-th lowest value; -inf for k = 0."""
    return float(np.partition(values, k - 1)[k - 1]) if k else float(-np.inf)


def share_lost(scores: FloatArray) -> float:
    """Share of bags that keep nothing at any threshold, for they have no instances."""
    return float(np.isneginf(scores).mean()) if len(scores) else 0.0


def _of_shares(found: Witnesses, n: int, alpha: float) -> float:
    """Each listed class of a bag weighs alike, all of them together 1."""
    weights = found.present / np.maximum(1, found.present.sum(axis=1, keepdims=True))
    return risk_threshold(found.scores[found.present], weights[found.present], n, alpha)


def _for_each_class(found: Witnesses, promise: BagPromise, record: dict[str, Any]) -> Calibration:
    columns = zip(found.classes, found.scores.T, found.present.T, strict=True)
    classes = tuple(_for_class(label, scores[held], promise) for label, scores, held in columns)
    values = [of_class.value for of_class in classes if of_class.value is not None]
    n = min((of_class.n for of_class in classes), default=0)
    if values and len(values) == len(classes):
        return Threshold(
            value=min(values), **record, n=n, guarantee=promise.guarantee, per_class=classes
        )
    return _no_class_threshold(classes, record)


def _for_class(label: Hashable, scores: FloatArray, promise: BagPromise) -> ClassThreshold:
    value = nth_lowest(scores, promise.rank(len(scores)))
    if np.isfinite(value):
        return ClassThreshold(label, len(scores), value)
    return ClassThreshold(label, len(scores), None, promise.needed(share_lost(scores)))


def _no_class_threshold(classes: tuple[ClassThreshold, ...], record: dict[str, Any]) -> NoThreshold:
    """Answer for the class that lacks most: one that more bags would not help, then by number."""
    lacking = [of_class for of_class in classes if of_class.value is None]
    if not lacking:
        return NoThreshold(**record, n=0, reason="the model has no class to make a promise for.")
    worst = max(lacking, key=lambda c: math.inf if c.needed is None else c.needed - c.n)
    counts = ", ".join(f"{c.label!r}: {c.n}" for c in lacking[:5])
    what = (
        f"{len(lacking)} of {len(classes)} classes have too few calibration bags ({counts}"
        f"{', ...' if len(lacking) > 5 else ''})"
    )
    reason = _reason(what, worst.needed)
    return NoThreshold(**record, n=worst.n, reason=reason, needed=worst.needed, per_class=classes)


def _reason(what: str, needed: int | None) -> str:
    if needed is None:
        return (
            f"{what}, and too many of these have no instances: no threshold keeps anything of "
            "them. Look at how instances are found, or allow a larger alpha."
        )
    return (
        f"{what}; {needed} are needed. Label more bags, allow a larger alpha, or make the promise "
        "for fewer classes or with another scope."
    )
