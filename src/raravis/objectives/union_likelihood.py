"""The likelihood of bag labels if a bag is labelled with the union of its instances' classes.

Every instance has a class of its own, 0 = novel or one of the C known classes, drawn from the
model's probabilities; a bag lists the known classes that its instances have. So a bag in which the
classes P are present, those of U unknown and the others absent has the likelihood

    sum over (y_1, ..., y_n), all y_j in {0} + P + U  of  prod_j p_j(y_j) * [P is among the y_j].

Novel instances are never listed, unlabelled bags say nothing, and a bag reviewed and found empty
makes all of its instances novel. Forward and backward passes over the subsets of P give the value
and the posterior of every y_j exactly, linear in the size of the bag and in 2^|P|.

Above ``max_exact`` labels a bag the passes cover the labels that independent draws would most
likely miss, and each of the others is tied in by messages (loopy belief propagation). Against the
exact answer for 13 labels: where the instances outnumber the labels threefold or their classes are
clear, posteriors differ by less than 0.001; at worst, as many instances as labels with unclear
classes, by 0.004 in the mean and up to 0.3 for single ones.
"""

from dataclasses import dataclass
from typing import Any, Literal, NamedTuple

import numpy as np
from numpy.typing import NDArray

from raravis._checks import require_choice
from raravis._segments import rows_of
from raravis._threads import map_in_threads
from raravis.bags import Bags
from raravis.errors import InputError
from raravis.labels import ABSENT, PRESENT, UNKNOWN, BagLabels

__all__ = ["Impossible", "Posterior", "UnionLikelihood", "bag_label_posterior"]

Floats = NDArray[np.floating[Any]]
Doubles = NDArray[np.float64]
Indices = NDArray[np.int64]
Impossible = Literal["error", "soften"]

#: Weight of a listed class that no instance has, in a bag of which that must be so.
_MISSED = 1e-3
#: Bags with more entries in their table of subsets than this (256 MiB) are approximated.
_MAX_TABLE = 1 << 25
#: Work units (entries of the tables, times labels) below which threads do not pay.
_UNITS_A_THREAD = 1 << 20


class Posterior(NamedTuple):
    """Instance posteriors (n_instances, 1 + n_classes), column 0 novel; log-likelihood a bag."""

    instances: Doubles
    log_likelihood: Doubles


@dataclass(frozen=True)
class UnionLikelihood:
    """What bag labels say about the classes of instances.

    Log-probabilities passed to the methods have a row an instance and 1 + n_classes columns, novel
    first; they must be finite (bound them from below first).

    Examples
    --------
    >>> import numpy as np
    >>> from raravis import BagLabels, Bags
    >>> bags = Bags.from_list([np.array([[0.0], [1.0]]), np.array([[2.0]])])
    >>> union = UnionLikelihood.from_bags(bags, BagLabels.from_sets([{"wren"}, set()]))
    >>> posterior, log_likelihood = union.posterior(np.log(np.full((3, 2), 0.5)))
    >>> posterior.round(2).tolist()
    [[0.33, 0.67], [0.33, 0.67], [1.0, 0.0]]
    >>> np.exp(log_likelihood)
    array([0.75, 0.5 ])
    """

    offsets: Indices
    n_classes: int
    present_starts: Indices
    present: Indices
    unknown_starts: Indices
    unknown: Indices
    missed: Doubles
    max_exact: int

    @classmethod
    def from_bags(
        cls,
        bags: Bags,
        labels: BagLabels,
        *,
        impossible: Impossible = "error",
        max_exact: int = 12,
    ) -> "UnionLikelihood":
        """Read what the labels say of the bags.

        Parameters
        ----------
        bags : Bags
        labels : BagLabels
            Of the same bags in the same order.
        impossible : {"error", "soften"}
            What to do with a bag that lists more classes than it has instances: refuse it, or let
            any of its classes have no instance at all, at a price that is the same for each.
        max_exact : int
            Most labels of a bag that is treated exactly, at most 20.
        """
        require_choice("impossible", impossible, ("error", "soften"))
        if labels.n_bags != bags.n_bags:
            raise InputError(
                f"there are {bags.n_bags} bags and labels of {labels.n_bags}; pass labels of the "
                "same bags."
            )
        if not 0 <= max_exact <= 20:
            raise InputError(f"max_exact is {max_exact!r}; pass a whole number from 0 to 20.")
        short = labels.present.sum(axis=1) > bags.sizes
        if short.any() and impossible == "error":
            _refuse(bags, labels, int(np.flatnonzero(short)[0]), int(short.sum()))
        present_starts, present = _columns(labels.status == PRESENT)
        unknown_starts, unknown = _columns(labels.status == UNKNOWN)
        missed = np.where(short, _MISSED, 0.0)
        return cls(
            offsets=np.ascontiguousarray(bags.offsets, dtype=np.int64),
            n_classes=labels.n_classes,
            present_starts=present_starts,
            present=present,
            unknown_starts=unknown_starts,
            unknown=unknown,
            missed=missed,
            max_exact=max_exact,
        )

    @property
    def n_bags(self) -> int:
        """Number of bags."""
        return len(self.offsets) - 1

    @property
    def n_instances(self) -> int:
        """Number of instances."""
        return int(self.offsets[-1])

    @property
    def approximated(self) -> NDArray[np.bool_]:
        """Which bags have too many labels for the exact answer."""
        n_labels = np.diff(self.present_starts)
        table = np.diff(self.offsets) * np.exp2(n_labels)
        return (n_labels > self.max_exact) | (table > _MAX_TABLE)

    def posterior(self, log_p: Floats, *, n_jobs: int | None = None) -> Posterior:
        """Return the posterior class of every instance given its bag's labels, and log-likelihoods.

        The answer does not depend on ``n_jobs``.
        """
        wanted = (self.n_instances, 1 + self.n_classes)
        if log_p.shape != wanted:
            raise InputError(
                f"log-probabilities have shape {log_p.shape}; pass {wanted}: a row an instance, "
                "column 0 for novel, then a column a class."
            )
        doubles: Doubles = np.ascontiguousarray(log_p, dtype=np.float64)
        Q = np.zeros(wanted)
        log_likelihood = np.zeros(self.n_bags)
        approximated = self.approximated
        for bags, approximately in ((~approximated, False), (approximated, True)):
            self._fill(np.flatnonzero(bags), approximately, doubles, (Q, log_likelihood), n_jobs)
        return Posterior(Q, log_likelihood)

    def _fill(
        self,
        bags: Indices,
        approximately: bool,
        log_p: Doubles,
        out: tuple[Doubles, Doubles],
        n_jobs: int | None,
    ) -> None:
        if not len(bags):
            return
        if approximately:
            from raravis._many_labels import bag_posteriors
        else:
            from raravis._subsets import bag_posteriors
        shares = self._shared(bags, n_jobs)

        def run(i: int) -> None:
            bag_posteriors(log_p, (shares[i], *self._listing()), *out)

        if len(shares) == 1:
            run(0)
        else:
            map_in_threads(run, len(shares), n_jobs=n_jobs)

    def _listing(self) -> tuple[NDArray[Any], ...]:
        return (
            self.offsets,
            self.present_starts,
            self.present,
            self.unknown_starts,
            self.unknown,
            self.missed,
        )

    def _shared(self, bags: Indices, n_jobs: int | None) -> list[Indices]:
        """Cut the bags into runs of about equal work, one where there is little of it."""
        n_labels = np.minimum(np.diff(self.present_starts)[bags], self.max_exact)
        units = np.diff(self.offsets)[bags] * np.exp2(n_labels) * (1 + n_labels)
        total = float(units.sum())
        if n_jobs in (None, 1) or total < _UNITS_A_THREAD:
            return [bags]
        n_runs = int(min(64, max(2, total // _UNITS_A_THREAD)))
        bounds = np.searchsorted(np.cumsum(units), total * np.arange(1, n_runs) / n_runs)
        return [run for run in np.split(bags, bounds) if len(run)]


def bag_label_posterior(
    bags: Bags, labels: BagLabels, log_p: Floats, *, n_jobs: int | None = None
) -> Doubles:
    """Return the probability that each bag holds each class, given what its labels say.

    Parameters
    ----------
    bags, labels
        What is present has probability 1, what is absent 0.
    log_p : array of shape (n_instances, 1 + n_classes)
        Log-probabilities of the instances, novel first.

    Returns
    -------
    ndarray of shape (n_bags, n_classes)

    Examples
    --------
    >>> import numpy as np
    >>> bags = Bags.from_list([np.zeros((2, 1))])
    >>> nothing = BagLabels.from_sets([None], classes=["wren"])
    >>> bag_label_posterior(bags, nothing, np.log([[0.5, 0.5], [0.5, 0.5]]))
    array([[0.75]])
    """
    held = labels.present.astype(np.float64)
    free = labels.unknown.all(axis=1)
    with np.errstate(divide="ignore"):
        none = np.log1p(-np.minimum(np.exp(log_p[:, 1:]), 1.0))
    for b in np.flatnonzero(free):
        held[b] = -np.expm1(none[bags.offsets[b] : bags.offsets[b + 1]].sum(axis=0))
    partly = np.flatnonzero(~free & labels.unknown.any(axis=1) & (bags.sizes > 0))
    if len(partly):
        rows = rows_of(bags.offsets, partly)
        held[partly] = _given_the_rest(bags.take(partly), labels.take(partly), log_p[rows], n_jobs)
    return held


def _given_the_rest(bags: Bags, labels: BagLabels, log_p: Floats, n_jobs: int | None) -> Doubles:
    """Compare the likelihood with that of the same labels where the class is absent."""

    def value(status: NDArray[np.int8]) -> Doubles:
        told = BagLabels.from_status(status, labels.classes)
        union = UnionLikelihood.from_bags(bags, told, impossible="soften")
        return union.posterior(log_p, n_jobs=n_jobs).log_likelihood

    held = labels.present.astype(np.float64)
    whole = value(labels.status)
    for c in np.flatnonzero(labels.unknown.any(axis=0)):
        without = labels.status.copy()
        open_ = without[:, c] == UNKNOWN
        without[open_, c] = ABSENT
        held[open_, c] = np.maximum(0.0, -np.expm1(value(without) - whole))[open_]
    return held


def _columns(mask: NDArray[np.bool_]) -> tuple[Indices, Indices]:
    """Where each row's columns begin, and the columns, counting from 1: column 0 is novel."""
    starts = np.concatenate([[0], np.cumsum(mask.sum(axis=1))]).astype(np.int64)
    return starts, np.nonzero(mask)[1].astype(np.int64) + 1


def _refuse(bags: Bags, labels: BagLabels, bag: int, n_short: int) -> None:
    listed = int(labels.present[bag].sum())
    others = f" (so do {n_short - 1} other bags)" if n_short > 1 else ""
    raise InputError(
        f"bag {bags.keys[bag]!r} lists {listed} classes but has {bags.sizes[bag]} instances"
        f"{others}; every class needs an instance. Complete the instances, correct the "
        "labels, or pass impossible='soften'."
    )
