"""How far a model can be trusted, as the random control sample tells."""

from collections.abc import Iterable
from dataclasses import dataclass

from raravis.review.items import NOVEL_LABEL, ReviewItems
from raravis.review.keys import CallIndex
from raravis.review.verdicts import Verdicts

__all__ = ["ControlReport", "Share", "judge"]


@dataclass(frozen=True, slots=True)
class Share:
    """A share of a random sample, with the exact 95% interval for that of all calls.

    >>> Share.of(8, 10)
    Share(hits=8, n=10, low=0.444, high=0.975)
    """

    hits: int
    n: int
    low: float
    high: float

    @classmethod
    def of(cls, hits: int, n: int) -> "Share":
        """Count; of nothing, nothing is known."""
        if n == 0:
            return cls(0, 0, 0.0, 1.0)
        from scipy.stats import binomtest

        interval = binomtest(hits, n).proportion_ci(0.95, method="exact")
        return cls(hits, n, round(float(interval.low), 3), round(float(interval.high), 3))


@dataclass(frozen=True, slots=True)
class ControlReport:
    """What the decided calls of the control sample imply for all calls.

    Calls count as drawn one by one; calls of one recording resemble each other, so with few
    recordings the intervals are too narrow. Skipping the hard ones spoils the sample.

    Parameters
    ----------
    n_sample, n_decided : int
        Calls in the sample, and those of which it is settled what they are.
    precision : Share
        Of the calls that the model calls novel: those of no known class.
    new_class : Share
        Of the same: those of a class that reviewers named; the others are noise.
    recall : Share
        Of the calls of no known class that are no noise: those that the model calls novel.
    labels : Share
        Of the calls that the model takes for a class: those that are of it.
    """

    n_sample: int
    n_decided: int
    precision: Share
    new_class: Share
    recall: Share
    labels: Share


def judge(
    items: ReviewItems, index: CallIndex, verdicts: Verdicts, sample: Iterable[int]
) -> ControlReport:
    """Compare a model's labels with what people said of a random sample.

    Parameters
    ----------
    items : ReviewItems
    index : CallIndex
        Of its calls.
    verdicts : Verdicts
    sample : iterable of int
        Positions; see `raravis.review.queues.control_sample`. The model must not have learned from
        them.
    """
    positions = list(sample)
    found = {p: verdicts.settled(index.keys[p]) for p in positions}
    truth = {p: said.class_name for p, said in found.items() if said is not None}
    labels = items.calls.label
    novel = [p for p in truth if labels[p] == NOVEL_LABEL]
    strange = [p for p in truth if truth[p] not in items.classes]
    named = [p for p in strange if truth[p] is not None]
    taken = [p for p in truth if labels[p] != NOVEL_LABEL]
    return ControlReport(
        n_sample=len(positions),
        n_decided=len(truth),
        precision=Share.of(len({*novel} & {*strange}), len(novel)),
        new_class=Share.of(len({*novel} & {*named}), len(novel)),
        recall=Share.of(len({*novel} & {*named}), len(named)),
        labels=Share.of(sum(truth[p] == labels[p] for p in taken), len(taken)),
    )
