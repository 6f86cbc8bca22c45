"""What every estimator of raravis offers once it can score instances class by class."""

import warnings
from abc import abstractmethod
from collections.abc import Hashable
from typing import Any, Self

import numpy as np
import numpy.typing as npt
from sklearn.utils.validation import check_is_fitted

from raravis._novel import NOVEL
from raravis.bags import Bags, as_bags
from raravis.errors import RaravisWarning
from raravis.labels import ABSENT, BagLabels, as_labels

__all__ = ["BagNoveltyMixin", "label_array", "model_labels"]

FloatArray = npt.NDArray[np.float64]
BoolArray = npt.NDArray[np.bool_]
IntArray = npt.NDArray[np.int64]
ObjectArray = npt.NDArray[np.object_]


class BagNoveltyMixin:
    """From the class scores of instances to known or novel, classes, and labels of bags.

    A subclass calls ``fit`` its own, and there sets ``classes_`` (see :func:`label_array`),
    ``n_features_in_``, ``offset_`` (an instance is known if its score reaches it) and, if 0 will
    not do, ``bag_threshold_`` (a bag holds a class if one of its instances reaches it). It computes
    the scores in ``_class_scores``. To be written to disk it also offers the two methods of
    ``raravis._state``.

    Wherever ``bag_labels`` is asked for, it lists what occurs in each bag that is scored, in any
    form that ``fit`` takes. Only listed classes then count for the instances of a bag, and those
    whose presence is unknown. A bag whose list is empty holds nothing but novel instances.
    """

    classes_: ObjectArray
    n_features_in_: int
    offset_: float
    bag_threshold_: float = 0.0

    @abstractmethod
    def fit(self, X: Any, y: Any) -> Self:
        """Learn from bags and their labels."""

    @abstractmethod
    def _class_scores(self, bags: Bags) -> FloatArray:
        """Compute the score of each instance for each class; high = of that class."""

    def fit_predict(self, X: Any, y: Any) -> IntArray:
        """Learn from bags and say which of their instances are known (+1) or novel (-1)."""
        return self.fit(X, y).predict(X)

    def class_scores(self, X: Any) -> FloatArray:
        """Return the score of each instance for each class.

        Parameters
        ----------
        X : Bags, list of 2-D arrays, or 2-D array (one bag a row)

        Returns
        -------
        ndarray of shape (n_instances, n_classes)
            Columns stand in the order of ``classes_``.
        """
        return self._class_scores(self._checked_bags(X))

    def score_samples(self, X: Any, *, bag_labels: Any = None) -> FloatArray:
        """Return how known each instance is: its highest class score.

        Parameters
        ----------
        X : Bags, list of 2-D arrays, or 2-D array (one bag a row)
        bag_labels : labels of the bags, optional
            Restricts each instance to the classes listed for its bag; -inf where none is.

        Returns
        -------
        ndarray of shape (n_instances,)
        """
        highest: FloatArray = self._allowed_scores(X, bag_labels).max(axis=1, initial=-np.inf)
        return highest

    def decision_function(self, X: Any, *, bag_labels: Any = None) -> FloatArray:
        """Return ``score_samples - offset_``: not negative for known instances.

        Parameters
        ----------
        X, bag_labels
            As for :meth:`score_samples`.

        Returns
        -------
        ndarray of shape (n_instances,)
        """
        return self.score_samples(X, bag_labels=bag_labels) - self.offset_

    def predict(self, X: Any, *, bag_labels: Any = None) -> IntArray:
        """Say of each instance whether it is known (+1) or novel (-1).

        Parameters
        ----------
        X, bag_labels
            As for :meth:`score_samples`.

        Returns
        -------
        ndarray of int of shape (n_instances,)
        """
        return np.where(self.decision_function(X, bag_labels=bag_labels) >= 0, 1, -1)

    def annotate(self, X: Any, *, bag_labels: Any = None) -> ObjectArray:
        """Return the class of each instance, or ``raravis.NOVEL``.

        Parameters
        ----------
        X, bag_labels
            As for :meth:`score_samples`.

        Returns
        -------
        ndarray of object of shape (n_instances,)
        """
        scores = self._allowed_scores(X, bag_labels)
        # One more column that any known instance beats: where it wins, the instance is novel.
        padded = np.column_stack([scores, np.full(len(scores), -np.inf)])
        best = padded.argmax(axis=1)
        known = padded.max(axis=1) - self.offset_ >= 0
        names = label_array((*self.classes_, NOVEL))
        annotation: ObjectArray = names[np.where(known, best, len(self.classes_))]
        return annotation

    def predict_bags(self, X: Any) -> IntArray:
        """Say which classes occur in each bag (1) and which do not (0).

        Parameters
        ----------
        X : Bags, list of 2-D arrays, or 2-D array (one bag a row)

        Returns
        -------
        ndarray of int of shape (n_bags, n_classes)
            An empty bag holds no class.
        """
        bags = self._checked_bags(X)
        return (bags.bag_max(self._class_scores(bags)) >= self.bag_threshold_).astype(np.int64)

    def _checked_bags(self, X: Any) -> Bags:
        check_is_fitted(self)
        return as_bags(X, n_features=self.n_features_in_, what=type(self).__name__)

    def _allowed_scores(self, X: Any, bag_labels: Any) -> FloatArray:
        """Class scores, -inf for the classes that the labels of an instance's bag rule out."""
        bags = self._checked_bags(X)
        scores = self._class_scores(bags)
        if bag_labels is None:
            return scores
        allowed = _allowed(_read_labels(bag_labels, bags, self.classes_), self.classes_)
        return np.where(allowed[bags.bag_index], scores, -np.inf)

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()  # type: ignore[misc]
        tags.target_tags.required = True
        tags.target_tags.two_d_labels = True
        tags.target_tags.multi_output = True
        tags.input_tags.three_d_array = True
        return tags


def label_array(labels: Any) -> ObjectArray:
    """Return labels as an array of the very objects given, tuples included.

    Examples
    --------
    >>> label_array([("owl", "hoot"), 3])
    array([('owl', 'hoot'), 3], dtype=object)
    """
    listed = list(labels)
    array = np.empty(len(listed), dtype=object)
    # Not array[:] = listed, which would take tuples of one length for rows.
    for position, label in enumerate(listed):
        array[position] = label
    return array


def model_labels(bag_labels: Any, bags: Bags, classes: ObjectArray) -> BagLabels:
    """Return what labels of the bags say of the classes of a model, in their order.

    A class that the labels have never heard of is absent from bags that were reviewed. Classes that
    the model has not learned are left out, with a warning.
    """
    labels = _read_labels(bag_labels, bags, classes)
    _warn_of_strangers(labels, classes)
    known = set(classes)
    learned = labels.restrict([label for label in labels.classes if label in known])
    return learned.with_classes(tuple(classes), missing="absent")


def _read_labels(bag_labels: Any, bags: Bags, classes: ObjectArray) -> BagLabels:
    if isinstance(bag_labels, np.ndarray) and bag_labels.ndim == 2:
        # A bare matrix does not say which classes its columns are: those of the model.
        bag_labels = BagLabels.from_matrix(bag_labels, tuple(classes))
    return as_labels(bag_labels, bags)


def _allowed(labels: BagLabels, classes: ObjectArray) -> BoolArray:
    """Whether each class of the model may occur in each bag: (n_bags, n_classes)."""
    column: dict[Hashable, int] = {label: i for i, label in enumerate(labels.classes)}
    _warn_of_strangers(labels, classes)
    allowed = np.repeat(labels.unlabelled[:, None], len(classes), axis=1)
    for position, label in enumerate(classes):
        if label in column:
            allowed[:, position] = labels.status[:, column[label]] != ABSENT
    return allowed


def _warn_of_strangers(labels: BagLabels, classes: ObjectArray) -> None:
    known = set(classes)
    strangers = [repr(c) for c, n_bags in labels.counts().items() if n_bags and c not in known]
    if strangers:
        warnings.warn(
            f"bag_labels lists {len(strangers)} classes that the model has not learned "
            f"({', '.join(strangers[:5])}); their instances can only come out as novel.",
            RaravisWarning,
            stacklevel=5,
        )
