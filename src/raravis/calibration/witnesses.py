"""The scores of witnesses: in each bag, of the instance that best explains a class."""

import warnings
from collections.abc import Hashable, Iterable
from dataclasses import dataclass
from typing import Any, Literal, TypeAlias, get_args

import numpy as np
from numpy.typing import NDArray

from raravis._checks import some
from raravis._classes import checked_classes
from raravis._provenance import seen_in_training
from raravis.bags import Bags, as_bags
from raravis.errors import InputError, RaravisWarning
from raravis.labels import BagLabels, as_labels

__all__ = [
    "SeenPolicy",
    "Witnesses",
    "labels_for",
    "listed_columns",
    "refuse_seen",
    "scores_of_witnesses",
    "witness_scores",
]

FloatArray = NDArray[np.float64]
BoolArray = NDArray[np.bool_]
SeenPolicy: TypeAlias = Literal["refuse", "accept"]


@dataclass(frozen=True, slots=True, eq=False)
class Witnesses:
    """The score of the witness of each class in each bag, and which bags hold which class.

    Parameters
    ----------
    classes : tuple
        The columns.
    scores : ndarray of shape (n_bags, n_classes)
        -inf in a bag without instances.
    present : ndarray of bool of shape (n_bags, n_classes)
        Entries that count: classes listed for the bag.
    """

    classes: tuple[Hashable, ...]
    scores: FloatArray
    present: BoolArray


def witness_scores(
    model: Any, X: Any, labels: Any, classes: Iterable[Hashable] | None = None
) -> Witnesses:
    """Score the witness of every class in every bag under a fitted model.

    Parameters
    ----------
    model : fitted estimator of raravis
    X : Bags, list of 2-D arrays, or 2-D array (one bag a row)
    labels : labels of the bags, in any form that ``fit`` takes
    classes : iterable, optional
        The classes to keep; by default all of the model.
    """
    bags = as_bags(X, n_features=model.n_features_in_, what=type(model).__name__)
    read = labels_for(model, bags, labels)
    columns, present = listed_columns(tuple(model.classes_), read, classes)
    class_scores = np.asarray(model.class_scores(bags), dtype=np.float64)[:, columns]
    scores = np.asarray(model.score_samples(bags), dtype=np.float64)
    names = tuple(model.classes_[i] for i in columns)
    return Witnesses(names, scores_of_witnesses(bags, class_scores, scores), present)


def scores_of_witnesses(bags: Bags, class_scores: FloatArray, scores: FloatArray) -> FloatArray:
    """Score of the instance with the highest class score, a bag and class; -inf if bag is empty."""
    rows = bags.bag_argmax(class_scores)
    return np.append(scores, -np.inf)[rows]


def labels_for(model: Any, bags: Bags, labels: Any) -> BagLabels:
    """Labels of bags; the columns of a bare matrix are the classes of the model."""
    if isinstance(labels, np.ndarray) and labels.ndim == 2:
        labels = BagLabels.from_matrix(labels, tuple(model.classes_))
    return as_labels(labels, bags)


def refuse_seen(model: Any, bags: Bags, seen: SeenPolicy) -> None:
    """Refuse bags that the model learned from; warn where it does not know which these are."""
    if seen not in get_args(SeenPolicy):
        raise InputError(f"seen is {seen!r}; pass 'refuse' or 'accept'.")
    if seen == "accept":
        return
    known = seen_in_training(model, bags)
    if known is None:
        warnings.warn(
            f"this {type(model).__name__} does not say which bags it learned from, so it cannot be "
            "checked that calibration bags are others; fit it again, or pass seen='accept'.",
            RaravisWarning,
            stacklevel=3,
        )
    elif known.any():
        keys = [bags.keys[i] for i in np.flatnonzero(known)]
        raise InputError(
            f"{len(keys)} of {bags.n_bags} calibration bags were trained on ({some(keys)}); their "
            "scores are too good to calibrate by. Hold bags out of fit, or use cross_calibrate; "
            "where equal bags come up by chance, pass seen='accept'."
        )


def listed_columns(
    known: tuple[Hashable, ...], labels: BagLabels, classes: Iterable[Hashable] | None
) -> tuple[list[int], BoolArray]:
    """Return the columns of a model that count, and in which bags each is listed."""
    place = {label: i for i, label in enumerate(labels.classes)}
    present = np.zeros((labels.n_bags, len(known)), dtype=bool)
    for i, label in enumerate(known):
        if label in place:
            present[:, i] = labels.present[:, place[label]]
    columns = list(range(len(known)))
    if classes is not None:
        wanted = set(checked_classes(classes))
        if strange := wanted.difference(known):
            raise InputError(
                f"classes lists {some(strange)}, which the model does not know; it knows "
                f"{some(known)}."
            )
        columns = [i for i, label in enumerate(known) if label in wanted]
    return columns, present[:, columns]
