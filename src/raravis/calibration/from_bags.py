"""Thresholds from bag labels alone: a bag that holds a class keeps the witness of that class."""

from collections.abc import Hashable, Iterable
from typing import Any

from raravis.bags import as_bags
from raravis.calibration.promises import BagPromise, Scope, choose_threshold
from raravis.calibration.thresholds import Calibration, model_fingerprint
from raravis.calibration.witnesses import SeenPolicy, refuse_seen, witness_scores

__all__ = ["threshold_from_bags"]


def threshold_from_bags(
    model: Any,
    X: Any,
    labels: Any,
    *,
    alpha: float = 0.1,
    scope: Scope = "class",
    confidence: float | None = None,
    classes: Iterable[Hashable] | None = None,
    seen: SeenPolicy = "refuse",
    date: str | None = None,
) -> Calibration:
    """Find the highest threshold at which bags keep the classes that they hold (split conformal).

    The witness of a class is the instance of a bag with the highest score for that class. It is
    kept, that is called known, if its ``score_samples`` reaches the threshold. Nobody needs to have
    labelled an instance.

    Parameters
    ----------
    model : fitted estimator of raravis
    X : Bags, list of 2-D arrays, or 2-D array (one bag a row)
        Calibration bags: drawn as the bags to come will be, and not trained on.
    labels : labels of the bags, in any form that ``fit`` takes
        Classes that the model does not know play no part.
    alpha : float
        Rate of misses to allow.
    scope : {"class", "share", "all"}
        What a new bag keeps. "class": for every single class c, a new bag that holds c keeps a
        witness of c with probability >= 1 - alpha (the threshold is that of the most demanding
        class). "share": the expected share of a bag's listed classes whose witness is lost is at
        most alpha. "all": a new bag with listed classes keeps the witnesses of all of them with
        probability >= 1 - alpha.
    confidence : float, optional
        By default the probability is over calibration bags and new bag together. With a confidence,
        such as 0.9, the threshold found keeps its promise for all bags to come, but for a share
        1 - confidence of the draws of calibration bags (a tolerance limit). Not for "share". With
        "class" the confidence is that of each class.
    classes : iterable, optional
        The classes to make the promise for; by default all that the model knows.
    seen : {"refuse", "accept"}
        What to do with calibration bags of the same content as training bags. Accept them only
        where equal bags come up by chance, as with a few discrete values.
    date : str, optional
        The day to record; today by default.

    Returns
    -------
    Threshold or NoThreshold

    Examples
    --------
    >>> from raravis.datasets import load_digit_bags
    >>> from raravis import KernelScorer
    >>> train = load_digit_bags(known=[0, 1, 2], n_bags=60, subset="train", seed=0)
    >>> held_out = load_digit_bags(known=[0, 1, 2], n_bags=60, subset="test", seed=1)
    >>> model = KernelScorer().fit(train.bags, train.labels)
    >>> found = threshold_from_bags(model, held_out.bags, held_out.labels, alpha=0.1)
    >>> found.rule, [of_class.n for of_class in found.per_class]
    ('class_kept', [19, 17, 20])
    """
    promise = BagPromise.checked(alpha, scope, confidence, date)
    bags = as_bags(X, n_features=model.n_features_in_, what=type(model).__name__)
    refuse_seen(model, bags, seen)
    found = witness_scores(model, bags, labels, classes)
    return choose_threshold(found, promise, data=bags.fingerprint(), model=model_fingerprint(model))
