"""How often an instance and a label occur together: the 2013 paper's introductory example."""

from dataclasses import dataclass
from numbers import Real
from typing import Any, Self

import numpy as np
import numpy.typing as npt
from scipy import sparse
from sklearn.base import BaseEstimator
from sklearn.utils.validation import check_is_fitted

from raravis._state import State, decode_params, encode_labels, encode_params
from raravis.bags import Bags, as_bags
from raravis.errors import InputError
from raravis.estimators.base import BagNoveltyMixin, label_array
from raravis.labels import BagLabels, as_labels

__all__ = ["CooccurrenceRates", "CooccurrenceScorer", "cooccurrence_rates"]

FloatArray = npt.NDArray[np.float64]
IntArray = npt.NDArray[np.int64]


@dataclass(frozen=True, slots=True, eq=False)
class CooccurrenceRates:
    """Counts from which the rate of every pair of value and class follows as a fraction.

    Parameters
    ----------
    values : ndarray of shape (n_values, n_features)
        The distinct instances.
    counts : ndarray of int of shape (n_values, n_classes)
        Bags that hold both value and class, or neither.
    totals : ndarray of int of shape (n_classes,)
        Bags in which it is known whether the class occurs.
    """

    values: npt.NDArray[Any]
    counts: IntArray
    totals: IntArray

    @property
    def rates(self) -> FloatArray:
        """Return counts / totals; 0 for a class about which no bag says anything."""
        rates: FloatArray = np.zeros(self.counts.shape)
        np.divide(self.counts, self.totals, out=rates, where=self.totals > 0)
        return rates


def cooccurrence_rates(bags: Bags, labels: BagLabels) -> CooccurrenceRates:
    """Count in how many bags each distinct instance and each class are both present or both absent.

    Parameters
    ----------
    bags : Bags
    labels : BagLabels
        Of the same bags in the same order. Bags in which a class is unknown do not count for it.
    """
    values, of_value = np.unique(bags.instances, axis=0, return_inverse=True)
    occurs = _occurrence(bags, of_value.ravel(), len(values))
    present, absent = labels.present.astype(np.int64), labels.absent.astype(np.int64)
    # Both absent = absent labels of all bags, less those of the bags that hold the value.
    counts = occurs @ present + (absent.sum(axis=0) - occurs @ absent)
    return CooccurrenceRates(values, counts, present.sum(axis=0) + absent.sum(axis=0))


class CooccurrenceScorer(BagNoveltyMixin, BaseEstimator):  # type: ignore[misc]
    """Score discrete instances by how often they co-occur with each label.

    The class score of an instance is the fraction of training bags in which the instance and the
    label are both present or both absent; its score is the highest of them. It suits instances of
    which the same ones come again and again (words, codes): equal means equal in every feature.

    Parameters
    ----------
    threshold : float
        Rate from which on an instance is known, between 0 and 1.

    Attributes
    ----------
    classes_ : ndarray of object of shape (n_classes,)
        Class labels.
    values_ : ndarray of shape (n_values, n_features_in_)
        Distinct training instances.
    counts_ : ndarray of int of shape (n_values, n_classes)
        Bags that hold both value and class, or neither.
    totals_ : ndarray of int of shape (n_classes,)
        Bags in which it is known whether the class occurs.
    rates_ : ndarray of shape (n_values, n_classes)
        ``counts_ / totals_``.
    offset_ : float
        The threshold.

    Notes
    -----
    An instance that no training bag holds scores 0 for every class. By the letter its rate would be
    the fraction of bags without the label, but absence everywhere is no evidence for any class.

    Examples
    --------
    >>> bags = [[["a"], ["b"]], [["a"], ["c"]], [["c"]]]
    >>> codes = [[[float(ord(x))] for [x] in bag] for bag in bags]
    >>> model = CooccurrenceScorer().fit(codes, [{"I"}, {"I"}, set()])
    >>> model.rates_.ravel()
    array([1.        , 0.66..., 0.33...])
    >>> model.annotate(codes).tolist()
    ['I', novel, 'I', novel, novel]
    """

    def __init__(self, *, threshold: float = 0.75) -> None:
        self.threshold = threshold

    def fit(self, X: Any, y: Any) -> Self:
        """Count co-occurrences in bags and their labels.

        Parameters
        ----------
        X : Bags, list of 2-D arrays, or 2-D array (one bag a row)
        y : BagLabels, list of sets, or indicator matrix
            None in place of a set, and NaN in a matrix, is unknown.
        """
        _check_threshold(self.threshold)
        bags = as_bags(X)
        labels = as_labels(y, bags)
        return self._keep(labels.classes, cooccurrence_rates(bags, labels))

    def _keep(self, classes: tuple[Any, ...], found: CooccurrenceRates) -> Self:
        self.classes_ = label_array(classes)
        self.values_, self.counts_, self.totals_ = found.values, found.counts, found.totals
        self.rates_ = found.rates
        self.n_features_in_ = found.values.shape[1]
        self.offset_ = self.bag_threshold_ = float(self.threshold)
        return self

    def _class_scores(self, bags: Bags) -> FloatArray:
        position = _positions(self.values_, bags.instances)
        # The row after the last belongs to values never seen.
        padded = np.vstack([self.rates_, np.zeros(self.rates_.shape[1])])
        scores: FloatArray = padded[position]
        return scores

    def __raravis_state__(self) -> State:
        check_is_fitted(self)
        return State(
            params=encode_params(self.get_params(deep=False)),
            fitted={"classes": encode_labels(self.classes_)},
            arrays={"values": self.values_, "counts": self.counts_, "totals": self.totals_},
        )

    @classmethod
    def __raravis_restore__(cls, state: State) -> Self:
        model = cls(**decode_params(state.params))
        _check_threshold(model.threshold)
        classes = state.labels("classes")
        values = state.array("values", kinds="f", shape=(None, None))
        counts = state.array("counts", kinds="i", shape=(len(values), len(classes)))
        totals = state.array("totals", kinds="i", shape=(len(classes),))
        return model._keep(classes, CooccurrenceRates(values, counts, totals))


def _occurrence(bags: Bags, of_value: IntArray, n_values: int) -> sparse.csr_array:
    """Whether each value occurs in each bag: sparse 0/1 of shape (n_values, n_bags)."""
    pairs = np.unique(np.column_stack([of_value, bags.bag_index]), axis=0)
    ones = np.ones(len(pairs), dtype=np.int64)
    return sparse.csr_array((ones, (pairs[:, 0], pairs[:, 1])), shape=(n_values, bags.n_bags))


def _positions(values: npt.NDArray[Any], instances: npt.NDArray[Any]) -> IntArray:
    """Position of each instance among the values; their number where it is not one of them."""
    both, inverse = np.unique(np.vstack([values, instances]), axis=0, return_inverse=True)
    inverse = inverse.ravel()
    position = np.full(len(both), len(values))
    position[inverse[: len(values)]] = np.arange(len(values))
    found: IntArray = position[inverse[len(values) :]]
    return found


def _check_threshold(threshold: object) -> None:
    is_number = isinstance(threshold, Real) and not isinstance(threshold, bool)
    if not (is_number and 0 <= float(threshold) <= 1):  # type: ignore[arg-type]
        raise InputError(
            f"threshold is {threshold!r}; pass a rate between 0 and 1, such as the paper's 0.75."
        )
