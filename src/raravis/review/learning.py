"""What a model learns from decisions: calls of which people have said what they are.

Calls of the random control sample are left out, always: by them the model is judged.
"""

from collections import Counter
from collections.abc import Callable, Mapping
from typing import Any, Protocol

from raravis.bags import Bags
from raravis.errors import InputError
from raravis.formats import CallTable
from raravis.labels import BagLabels
from raravis.progress import Progress, ProgressCallback
from raravis.review.decisions import DecisionLog
from raravis.review.desk import Desk
from raravis.review.items import ReviewItems
from raravis.review.keys import CallIndex, keys_of
from raravis.review.queues import control_sample, control_size
from raravis.review.retraining import Retrainer
from raravis.review.verdicts import Verdicts
from raravis.study import Study, StudyResults, steps
from raravis.study.decided import FEWEST, Decided, add_decided

__all__ = [
    "FEWEST",
    "bags_retrainer",
    "decided_calls",
    "read_decisions",
    "study_retrainer",
    "with_decisions",
]


class Model(Protocol):
    """What can be fitted to bags and their labels."""

    def fit(self, bags: Bags, labels: BagLabels) -> Any:
        """Learn."""


def decided_calls(verdicts: Verdicts, index: CallIndex) -> dict[int, str | None]:
    """Return by position what calls are: a class, or None for a sound of no known class.

    Left out are calls that are uncertain or that reviewers differ on, those that are not found
    again, and the random control sample. A new class with fewer than `FEWEST` calls is none yet:
    its calls teach that they are of no listed class, for a class of few examples claims too much.
    """
    size = control_size(len(index.keys))
    control = {int(p) for p in control_sample(index.keys, size=size)}
    found: dict[int, str | None] = {}
    for key in verdicts:
        settled, position = verdicts.settled(key), index.find(key)
        if settled is not None and position >= 0 and position not in control:
            found[position] = settled.class_name
    calls_of = Counter(found.values())
    few = {name for name in verdicts.new_classes() if calls_of[name] < FEWEST}
    return {p: None if name in few else name for p, name in sorted(found.items())}


def read_decisions(study: Study, calls: CallTable) -> dict[int, str | None]:
    """Return what people have decided on the calls of a study, for its steps to learn from."""
    if not study.decisions_path.is_file():
        return {}
    with DecisionLog(study.decisions_path) as log:
        verdicts = Verdicts(log.acts())
    return decided_calls(verdicts, CallIndex(keys_of(calls)))


def with_decisions(
    bags: Bags, labels: BagLabels, decided: Mapping[int, str | None]
) -> tuple[Bags, BagLabels]:
    """Add a bag of one for each decided instance.

    Of it everything is known: its class is present, all others are absent. A class that is listed
    nowhere is unknown in the bags that were there, for their lists were made before it had a name,
    but for those that a call of it was found in and those in which nothing resembles it.

    Parameters
    ----------
    bags : Bags
    labels : BagLabels
    decided : mapping of int to str or None
        By position among the instances.

    Examples
    --------
    >>> bags = Bags.from_list([[[0.0], [5.0]], [[1.0]]], keys=["a", "b"])
    >>> labels = BagLabels.from_sets([{"wren"}, set()], keys=["a", "b"])
    >>> more, known = with_decisions(bags, labels, {1: "owl", 2: None})
    >>> more.n_bags, known.classes
    (4, ('wren', 'owl'))
    >>> known.unknown[:, 1]
    array([False,  True, False, False])
    """
    outside = [p for p in decided if not 0 <= p < bags.n_instances]
    if outside:
        raise InputError(f"there is no instance {outside[0]}; there are {bags.n_instances}.")
    found = [
        Decided(bags.instances[p], name, ("decided", p), int(bags.bag_index[p]))
        for p, name in decided.items()
    ]
    return add_decided(bags, labels, found)


# ---------------------------------------------------------------------- learn, from the page


def study_retrainer(folder: str, *, workers: int | None = None) -> Retrainer:
    """Return what learns a study's model anew from lists and decisions, and scores its calls."""

    def retrain(_desk: Desk, progress: ProgressCallback) -> ReviewItems:
        study = Study.open(folder)
        if study.settings.decisions != "use":
            # Written down, so that the next run does not take back what was learned.
            study = Study.create(folder, study.settings.changed(decisions="use"))
        options: dict[str, Any] = {"workers": workers, "progress": progress}
        steps.fit(study, decided=read_decisions, **options)
        steps.calibrate(study, decided=read_decisions, **options)
        steps.score(study, **options)
        return ReviewItems.from_study(StudyResults.load(study))

    return retrain


def bags_retrainer(
    bags: Bags,
    labels: BagLabels,
    make_model: Callable[[], Model],
    *,
    make_items: Callable[[Any], ReviewItems],
) -> Retrainer:
    """Return what learns from bags and decisions.

    Parameters
    ----------
    bags : Bags
        All that is under review.
    labels : BagLabels
        For all of them; a bag may be unlabelled.
    make_model : callable
        Returns an estimator that is not fitted.
    make_items : callable
        Given the fitted one, returns what is reviewed next, as `ReviewItems.from_bags` does.
    """

    def retrain(desk: Desk, progress: ProgressCallback) -> ReviewItems:
        progress(Progress("learning", 0, 1))
        decided = decided_calls(desk.verdicts, desk.stage.index)
        model = make_model()
        model.fit(*with_decisions(bags, labels, decided))
        progress(Progress("learning", 1, 1))
        return make_items(model)

    return retrain
