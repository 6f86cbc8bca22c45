"""How far a model can be trusted, as the random control sample tells."""

from collections.abc import Iterable
from dataclasses import asdict, dataclass, replace
from typing import Any

from raravis.review.decisions import DecisionLog
from raravis.review.items import NOVEL_LABEL, ReviewItems
from raravis.review.keys import CallIndex, keys_of
from raravis.review.queues import control_sample, control_size
from raravis.review.verdicts import Verdicts
from raravis.study import Done, Study, StudyError, StudyResults

__all__ = ["ControlReport", "Share", "judge", "judge_study", "noting_control"]


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


def judge_study(study: Study, threshold: float | None = None) -> ControlReport | None:
    """Judge the scores of a study by the control sample, as if novel began at a threshold.

    Parameters
    ----------
    study : Study
    threshold : float, optional
        By default the one that the calls were scored with.

    Returns
    -------
    report : ControlReport or None
        None if nobody has decided on a call of the sample, or the model has scored nothing yet.
    """
    results = _current_results(study)
    if results is None or not study.decisions_path.is_file():
        return None
    items = ReviewItems.from_study(results)
    if threshold is not None:
        items = replace(items, threshold=threshold, calls=_labelled_anew(items, threshold))
    index = CallIndex(keys_of(items.calls))
    with DecisionLog(study.decisions_path) as log:
        verdicts = Verdicts(log.acts())
    sample = control_sample(index.keys, size=control_size(len(index.keys))).tolist()
    report = judge(items, index, verdicts, sample)
    return report if report.n_decided else None


def _current_results(study: Study) -> StudyResults | None:
    """Return the scores of the model that the study has now, if there are any."""
    try:
        found = StudyResults.load(study)
    except StudyError:
        return None
    return found if found.model.key == study.stamp("fit").get("model") else None


def _labelled_anew(items: ReviewItems, threshold: float) -> Any:
    best = items.scores.argmax(axis=1)
    labels = tuple(
        NOVEL_LABEL if novel else items.classes[k]
        for novel, k in zip(items.novelty > threshold, best, strict=True)
    )
    return replace(items.calls, label=labels)


def noting_control(study: Study, done: Done) -> Done:
    """Add what the control sample says to the facts of a step after which calls are scored."""
    found = judge_study(study, done.facts.get("novelty"))
    return done if found is None else replace(done, facts={**done.facts, "control": asdict(found)})
