"""Cross-conformal thresholds: every bag trains and calibrates, but never the same copy."""

from collections.abc import Hashable, Iterable
from dataclasses import dataclass
from typing import Any, Literal, TypeAlias

import numpy as np
from sklearn.base import clone

from raravis.bags import Bags, as_bags
from raravis.calibration.ensemble import FoldEnsemble
from raravis.calibration.promises import BagPromise, Scope, choose_threshold
from raravis.calibration.ranks import conformal_rank, cross_rank
from raravis.calibration.thresholds import (
    Calibration,
    Rule,
    Threshold,
    apply_threshold,
    model_fingerprint,
)
from raravis.calibration.witnesses import Witnesses, listed_columns, scores_of_witnesses
from raravis.errors import InputError
from raravis.labels import BagLabels, as_labels
from raravis.progress import ProgressCallback

__all__ = ["CrossCalibration", "Use", "cross_calibrate"]

Use: TypeAlias = Literal["folds", "refit"]

_RULES: dict[tuple[str, str], Rule] = {
    ("folds", "class"): "cross_class_kept",
    ("folds", "all"): "cross_all_kept",
    ("refit", "class"): "refit_class_kept",
    ("refit", "all"): "refit_all_kept",
}


@dataclass(frozen=True, slots=True, eq=False)
class CrossCalibration:
    """A model fitted on all bags given, and the threshold found for it.

    Parameters
    ----------
    model : fitted estimator
        Decides by the threshold, or by its own where there is none.
    calibration : Threshold or NoThreshold
    """

    model: Any
    calibration: Calibration


def cross_calibrate(
    estimator: Any,
    X: Any,
    labels: Any,
    *,
    alpha: float = 0.1,
    scope: Scope = "class",
    n_folds: int = 5,
    use: Use = "folds",
    classes: Iterable[Hashable] | None = None,
    random_state: int = 0,
    date: str | None = None,
    progress: ProgressCallback | None = None,
) -> CrossCalibration:
    """Fit and calibrate on the same bags: a copy of the estimator a fold scores that fold's bags.

    For where there are too few bags to hold some out of training. What is promised is weaker than
    by :func:`threshold_from_bags`, and which model it is about is a choice:

    ``use="folds"``
        The copies together, as a :class:`FoldEnsemble`. The promise is proven for any number of
        bags and any estimator, at a price: with K folds a class needs 2 K / alpha - K bags, or no
        threshold is found, and far fewer witnesses are commonly lost than allowed (the proof
        doubles a mean of p-values). With a fold for each bag (jackknife-minmax) a class needs
        1 / alpha - 1 bags, as for :func:`threshold_from_bags`.
    ``use="refit"``
        One more copy, fitted on all bags. Nothing is proven for finite samples: the promise holds
        as far as the copy scores new bags as the others score theirs, which is closer the more
        folds there are.

    Parameters
    ----------
    estimator : estimator of raravis
        Copied, not fitted.
    X : Bags, list of 2-D arrays, or 2-D array (one bag a row)
    labels : labels of the bags, in any form that ``fit`` takes
    alpha : float
        Rate of misses to allow.
    scope : {"class", "all"}
        As for :func:`threshold_from_bags`.
    n_folds : int
    use : {"folds", "refit"}
    classes : iterable, optional
        The classes to make the promise for; by default all that were learned.
    random_state : int
        Deals the bags.
    date : str, optional
        The day to record; today by default.
    progress : function of a ``raravis.progress.Progress``, optional

    Examples
    --------
    >>> from raravis import KernelScorer
    >>> from raravis.datasets import load_digit_bags
    >>> data = load_digit_bags(known=[0, 1, 2], n_bags=60, seed=0)
    >>> found = cross_calibrate(KernelScorer(), data.bags, data.labels, use="refit")
    >>> found.calibration.rule, found.model.offset_ == found.calibration.value
    ('refit_class_kept', True)
    """
    bags = as_bags(X)
    promise = CrossPromise.asked(alpha, scope, date, use, n_folds, bags.n_bags)
    read = as_labels(labels, bags)
    ensemble = FoldEnsemble(estimator, n_folds=n_folds, random_state=random_state)
    ensemble.fit(bags, read, progress=progress)
    found = held_out_witnesses(ensemble, bags, read, classes)
    model = ensemble if use == "folds" else clone(estimator).fit(bags, read)
    calibration = choose_threshold(
        found, promise, data=bags.fingerprint(), model=model_fingerprint(model)
    )
    if isinstance(calibration, Threshold):
        model = apply_threshold(model, calibration)
    return CrossCalibration(model, calibration)


def held_out_witnesses(
    ensemble: FoldEnsemble,
    bags: Bags,
    labels: BagLabels,
    classes: Iterable[Hashable] | None = None,
) -> Witnesses:
    """Score the witnesses of each bag under the copy that never saw it."""
    columns, present = listed_columns(tuple(ensemble.classes_), labels, classes)
    scores = np.full(present.shape, -np.inf)
    for fold, member in enumerate(ensemble.members_):
        held_out = np.flatnonzero(ensemble.folds_ == fold)
        part = bags.take(held_out)
        of_class = ensemble.member_scores(member, part)[:, columns]
        found = scores_of_witnesses(part, of_class, member.score_samples(part))
        # A copy that has not learned a class has no witness of it.
        unlearned = ~np.isin(np.asarray(columns), _learned(ensemble, member))
        found[:, unlearned] = -np.inf
        scores[held_out] = found
    return Witnesses(tuple(ensemble.classes_[i] for i in columns), scores, present)


def _learned(ensemble: FoldEnsemble, member: Any) -> list[int]:
    known = set(member.classes_)
    return [i for i, label in enumerate(ensemble.classes_) if label in known]


@dataclass(frozen=True, slots=True)
class CrossPromise(BagPromise):
    """What is asked of a threshold found by folds."""

    use: Use
    n_folds: int
    n_bags: int

    @classmethod
    def asked(
        cls, alpha: float, scope: Scope, date: str | None, use: Use, n_folds: int, n_bags: int
    ) -> "CrossPromise":
        """Read the options of a caller."""
        base = BagPromise.checked(alpha, scope, None, date)
        if (use, scope) not in _RULES:
            raise InputError(
                f"use is {use!r} and scope {scope!r}; pass use='folds' or 'refit', and scope="
                "'class' or 'all'. A promise about shares takes threshold_from_bags."
            )
        return cls(base.alpha, scope, None, base.date, use, n_folds, n_bags)

    def rank(self, n: int) -> int:
        """Which of n values, counted from the lowest, is the threshold; 0 for none."""
        if self.use == "refit" or self.n_folds == self.n_bags:
            return conformal_rank(n, self.alpha)
        return cross_rank(n, self.alpha, self.n_folds)

    @property
    def rule(self) -> Rule:
        """Its name, for programs."""
        return _RULES[self.use, self.scope]

    @property
    def guarantee(self) -> str:
        """The promise as a sentence."""
        if self.use == "folds":
            return (
                f"{self.kept}, on average over draws of the bags, if new bags are drawn as these "
                "were; proven for any number of bags."
            )
        return (
            f"{self.kept}, as far as the model scores new bags as the copies without one of "
            f"{self.n_folds} folds score that fold; not proven for a finite number of bags."
        )
