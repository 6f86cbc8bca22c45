"""Models of which the truth is known: the features of an instance are its class scores."""

from typing import Any

import numpy as np
from sklearn.base import BaseEstimator

from raravis import Bags
from raravis._provenance import bag_hashes
from raravis.bags import as_bags
from raravis.estimators.base import BagNoveltyMixin, label_array
from raravis.labels import as_labels

CLASSES = ("jay", "owl", "wren")


class FeatureScorer(BagNoveltyMixin, BaseEstimator):
    """Learns nothing but which classes there are; with ``memory``, which bags."""

    def __init__(self, *, memory: bool = False, shift: float = 0.0):
        self.memory = memory
        self.shift = shift

    def fit(self, X: Any, y: Any) -> "FeatureScorer":
        bags = as_bags(X)
        labels = as_labels(y, bags)
        present = labels.present.any(axis=0)
        self.columns_ = np.flatnonzero(present)
        self.classes_ = label_array([labels.classes[i] for i in self.columns_])
        self.n_features_in_ = bags.n_features
        self.offset_ = 0.0
        if self.memory:
            self.training_bags_ = bag_hashes(bags)
        return self

    def _class_scores(self, bags: Bags) -> Any:
        return bags.instances[:, self.columns_].astype(np.float64) + self.shift


def scorer(n_classes: int = 3) -> FeatureScorer:
    """A model of the first classes, fitted on one bag that no test uses."""
    one = Bags.from_matrix(np.full((1, n_classes), -99.0))
    return FeatureScorer().fit(one, [set(CLASSES[:n_classes])])


def witness_bags(scores: Any) -> Bags:
    """One bag a row, of an instance for each class: its witness, scored as given there alone."""
    scores = np.asarray(scores, dtype=np.float64)
    n_bags, n_classes = scores.shape
    instances = np.full((n_bags, n_classes, n_classes), -1e9)
    instances[:, np.arange(n_classes), np.arange(n_classes)] = scores
    return Bags(instances.reshape(-1, n_classes), np.arange(n_bags + 1) * n_classes)
