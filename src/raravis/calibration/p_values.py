"""Conformal p-values of instances, and batches of them of which few are falsely called novel."""

import math
from dataclasses import dataclass, fields
from typing import Literal, TypeAlias, get_args

import numpy as np
from numpy.typing import ArrayLike, NDArray

from raravis._metric_inputs import as_numbers
from raravis._state import JSON
from raravis.calibration.ranks import check_share
from raravis.calibration.reviews import Reviews
from raravis.calibration.thresholds import today
from raravis.errors import InputError

__all__ = ["Dependence", "NovelSelection", "novelty_p_values", "select_novel"]

FloatArray = NDArray[np.float64]
BoolArray = NDArray[np.bool_]
Dependence: TypeAlias = Literal["positive", "any"]


@dataclass(frozen=True, slots=True, eq=False)
class NovelSelection:
    """The instances of a batch that are called novel at a false discovery rate.

    Parameters
    ----------
    p_values : ndarray of shape (n_instances,)
        Of every instance of the batch.
    selected : ndarray of bool of shape (n_instances,)
    cutoff : float
        Highest p-value that is selected; 0 if none is.
    level : float
        The false discovery rate promised.
    dependence : {"positive", "any"}
        What was taken for granted about instances of the batch.
    n : int
        Reviewed known instances that it rests on, or bags of these.
    date : str
        Day on which it was made, as ISO 8601.
    data : str
        Fingerprint of the reviews.
    needed : int or None
        If nothing is selected: how many reviewed known instances (or bags) would do, as far as can
        be told; None if more would not help.
    reason : str
        If nothing is selected: why, as a sentence.
    """

    p_values: FloatArray
    selected: BoolArray
    cutoff: float
    level: float
    dependence: Dependence
    n: int
    date: str
    data: str
    needed: int | None = None
    reason: str = ""

    def __bool__(self) -> bool:
        return bool(self.selected.any())

    @property
    def guarantee(self) -> str:
        """The promise as a sentence."""
        alone = "" if self.dependence == "any" else " and independently of one another"
        return (
            f"of the instances called novel an expected share of at most {self.level:g} is known, "
            f"if known instances of the batch were drawn as the reviewed ones{alone}."
        )

    def to_dict(self) -> dict[str, JSON]:
        """Return the selection as a dict of plain JSON values."""
        plain = {f.name: getattr(self, f.name) for f in fields(self)}
        lists = {name: plain.pop(name).tolist() for name in ("p_values", "selected")}
        return {**plain, **lists, "guarantee": self.guarantee}


def novelty_p_values(
    scores: ArrayLike,
    reviewed_scores: ArrayLike,
    known: ArrayLike,
    *,
    bag_index: ArrayLike | None = None,
) -> FloatArray:
    """Return for each instance how rarely a known one scores as low: small = novel.

    If an instance is known and was drawn as the reviewed known ones were, its p-value is at most u
    with probability at most u, for every u.

    Parameters
    ----------
    scores : array-like of shape (n,)
        ``score_samples`` of the instances asked about, none of them reviewed; high = known.
    reviewed_scores : array-like of shape (n_reviewed,)
        Scores of the reviewed instances under the same model, which was not trained on them.
    known : array-like of bool of shape (n_reviewed,)
        What the reviewer said. Only known ones play a part.
    bag_index : array-like of shape (n_reviewed,), optional
        The bag of each reviewed instance. Bags are then what is drawn: known instances of a bag
        weigh 1 together, and the promise is about a known instance drawn from a new bag. Without
        it, reviewed instances count as drawn one by one.

    Returns
    -------
    ndarray of shape (n,)
        From 1 / (n_known + 1), or 1 / (n_bags + 1), to 1.

    Examples
    --------
    >>> novelty_p_values([0.5, 2.5], [1.0, 2.0, 3.0, 0.0], [True, True, True, False])
    array([0.25, 0.75])
    """
    values = as_numbers(scores, "scores")
    reviews = Reviews.read(reviewed_scores, known, bag_index)
    reference, bags = reviews.scores[reviews.known], reviews.bags[reviews.known]
    if not len(reference):
        raise InputError(
            "no reviewed instance is known, so nothing says how known ones score; review more."
        )
    _, bag, sizes = np.unique(bags, return_inverse=True, return_counts=True)
    order = np.argsort(reference, kind="stable")
    # Rounded, for shares of a bag have to add up to a whole one.
    as_low = np.round(np.concatenate([[0.0], np.cumsum(1.0 / sizes[bag[order]])]), 9)
    at_most = np.searchsorted(reference[order], values, side="right")
    p_values: FloatArray = (1.0 + as_low[at_most]) / (len(sizes) + 1)
    return p_values


def select_novel(
    scores: ArrayLike,
    reviewed_scores: ArrayLike,
    known: ArrayLike,
    *,
    level: float = 0.1,
    bag_index: ArrayLike | None = None,
    dependence: Dependence = "positive",
    date: str | None = None,
) -> NovelSelection:
    """Call as many instances of a batch novel as can be with few of them known in truth.

    The expected share of known instances among those selected, the false discovery rate, is at most
    ``level``: Benjamini and Hochberg's procedure on conformal p-values. They depend on each other
    through the reviews that they share, which does no harm (they are positively dependent, if
    instances are independent). Instances of one bag resemble each other beyond that: with
    ``dependence="any"`` the rate holds all the same, at the price of a level lower by a factor of
    1 + 1/2 + ... + 1/n (Benjamini and Yekutieli).

    Parameters
    ----------
    scores, reviewed_scores, known, bag_index
        As for :func:`novelty_p_values`; ``scores`` is one batch, for the rate is that of all its
        instances together.
    level : float
        False discovery rate to allow.
    dependence : {"positive", "any"}
        What is known about how the instances of the batch depend on each other.
    date : str, optional
        The day to record; today by default.

    Examples
    --------
    >>> import numpy as np
    >>> reviewed = np.linspace(0.0, 1.0, 100)
    >>> found = select_novel([-2.0, -1.0, 0.5, 0.9], reviewed, np.ones(100, dtype=bool))
    >>> found.selected
    array([ True,  True, False, False])
    """
    level, date = check_share("level", level), today(date)
    if dependence not in get_args(Dependence):
        raise InputError(f"dependence is {dependence!r}; pass 'positive' or 'any'.")
    p_values = novelty_p_values(scores, reviewed_scores, known, bag_index=bag_index)
    reviews = Reviews.read(reviewed_scores, known, bag_index)
    n = len(np.unique(reviews.bags[reviews.known]))
    steps = _steps(len(p_values), level, dependence)
    cutoff = _cutoff(p_values, steps)
    needed, reason = _what_would_do(p_values, n, steps) if cutoff == 0 else (None, "")
    return NovelSelection(
        p_values=p_values,
        selected=p_values <= cutoff,
        cutoff=cutoff,
        level=level,
        dependence=dependence,
        n=n,
        date=date,
        data=reviews.fingerprint(),
        needed=needed,
        reason=reason,
    )


def _steps(n: int, level: float, dependence: Dependence) -> FloatArray:
    """Return what the lowest, second lowest, ... p-value of n may reach."""
    steps: FloatArray = level * np.arange(1, n + 1) / max(1, n)
    return steps if dependence == "positive" else steps / np.sum(1.0 / np.arange(1, n + 1))


def _cutoff(p_values: FloatArray, steps: FloatArray) -> float:
    """Highest p-value selected; 0, which none reaches, if none is."""
    ordered = np.sort(p_values)
    good = np.flatnonzero(ordered <= steps * (1.0 + 1e-12))
    return float(ordered[good[-1]]) if len(good) else 0.0


def _what_would_do(p_values: FloatArray, n: int, steps: FloatArray) -> tuple[int | None, str]:
    """How many reviews would do if those that score below all known ones went on doing so."""
    if not len(p_values):
        return None, "there are no instances to select from."
    lowest = 1.0 / (n + 1)
    n_below = int((p_values <= lowest * (1.0 + 1e-12)).sum())
    if not n_below:
        return None, (
            "no instance scores below all reviewed known ones: more reviews would not help. Allow "
            "a higher level, or improve the model."
        )
    needed = math.ceil(1.0 / steps[n_below - 1] - 1e-9) - 1
    return needed, (
        f"{n_below} of {len(p_values)} instances score below all {n} reviewed known ones, too few "
        f"reviews to tell that from chance; {needed} would do if it stays so."
    )
