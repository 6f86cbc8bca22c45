"""One model a fold of the bags: what every bag scores under a model that never saw it."""

from typing import Any, Self

import numpy as np
from numpy.typing import NDArray
from sklearn.base import BaseEstimator, clone
from sklearn.utils.validation import check_is_fitted

from raravis._novel import NOVEL
from raravis._provenance import bag_hashes, restore_provenance, stored_arrays, stored_values
from raravis._state import State, decode_params, encode_labels, encode_params
from raravis.bags import Bags, as_bags
from raravis.errors import ModelFileError
from raravis.estimators.base import BagNoveltyMixin, label_array
from raravis.labels import as_labels
from raravis.progress import Progress, ProgressCallback
from raravis.selection import deal_folds

__all__ = ["FoldEnsemble"]

FloatArray = NDArray[np.float64]
IntArray = NDArray[np.int64]
ObjectArray = NDArray[np.object_]


class FoldEnsemble(BagNoveltyMixin, BaseEstimator):  # type: ignore[misc]
    """Copies of an estimator, each fitted without one fold of the bags; the highest score counts.

    The model that :func:`raravis.calibration.cross_calibrate` calibrates. An instance scores the
    highest that any copy gives it, so that it is as known as the most certain copy says.

    Parameters
    ----------
    estimator : estimator of raravis
        Copied, never fitted itself.
    n_folds : int
        At most the number of bags.
    random_state : int
        Deals the bags. Folds do not depend on the labels, so that held-out bags are to a copy what
        new bags are.

    Attributes
    ----------
    members_ : list of fitted estimators, one a fold.
    folds_ : array of int, the fold of each training bag.
    """

    def __init__(self, estimator: Any, *, n_folds: int = 5, random_state: int = 0) -> None:
        self.estimator = estimator
        self.n_folds = n_folds
        self.random_state = random_state

    def fit(self, X: Any, y: Any, *, progress: ProgressCallback | None = None) -> Self:
        """Fit every copy.

        Parameters
        ----------
        X : Bags, list of 2-D arrays, or 2-D array (one bag a row)
        y : labels of the bags, in any form that the estimator takes
        progress : function of a ``raravis.progress.Progress``, optional
        """
        bags = as_bags(X)
        labels = as_labels(y, bags)
        folds = deal_folds(labels.restrict([]), self.n_folds, seed=self.random_state)
        members = []
        for fold in range(self.n_folds):
            train = np.flatnonzero(folds != fold)
            members.append(clone(self.estimator).fit(bags.take(train), labels.take(train)))
            if progress is not None:
                progress(Progress("folds", fold + 1, self.n_folds))
        known = {label for member in members for label in member.classes_}
        self.folds_ = folds
        self.training_bags_ = bag_hashes(bags)
        self._keep(members, tuple(label for label in labels.classes if label in known))
        return self

    def _keep(self, members: list[Any], classes: tuple[Any, ...]) -> None:
        self.members_ = members
        self.classes_ = label_array(classes)
        self.n_features_in_ = members[0].n_features_in_
        self.offset_ = float(np.median([member.offset_ for member in members]))

    def _class_scores(self, bags: Bags) -> FloatArray:
        scores = [self.member_scores(member, bags) for member in self.members_]
        return np.asarray(np.maximum.reduce(scores), dtype=np.float64)

    def member_scores(self, member: Any, bags: Bags) -> FloatArray:
        """Return the class scores of one copy; -inf for a class that it has not learned."""
        scores = np.full((bags.n_instances, len(self.classes_)), -np.inf)
        place = {label: i for i, label in enumerate(self.classes_)}
        scores[:, [place[label] for label in member.classes_]] = member.class_scores(bags)
        return scores

    def score_samples(self, X: Any, *, bag_labels: Any = None) -> FloatArray:
        """Return how known each instance is: the highest score that any copy gives it.

        Parameters
        ----------
        X : Bags, list of 2-D arrays, or 2-D array (one bag a row)
        bag_labels : labels of the bags, optional
            Restricts each instance to the classes listed for its bag.

        Returns
        -------
        ndarray of shape (n_instances,)
        """
        bags = self._checked_bags(X)
        scores = [member.score_samples(bags, bag_labels=bag_labels) for member in self.members_]
        return np.asarray(np.maximum.reduce(scores), dtype=np.float64)

    def annotate(self, X: Any, *, bag_labels: Any = None) -> ObjectArray:
        """Return the class of each instance, or ``raravis.NOVEL``.

        Parameters
        ----------
        X, bag_labels
            As for :meth:`score_samples`.
        """
        known = self.predict(X, bag_labels=bag_labels) > 0
        best = self._allowed_scores(X, bag_labels).argmax(axis=1)
        names = label_array((*self.classes_, NOVEL))
        annotation: ObjectArray = names[np.where(known, best, len(self.classes_))]
        return annotation

    def predict_bags(self, X: Any) -> IntArray:
        """Say which classes occur in each bag (1) by a vote of the copies; a draw counts as 1."""
        bags = self._checked_bags(X)
        place = {label: i for i, label in enumerate(self.classes_)}
        votes = np.zeros((bags.n_bags, len(self.classes_)), dtype=np.int64)
        for member in self.members_:
            votes[:, [place[label] for label in member.classes_]] += member.predict_bags(bags)
        return (2 * votes >= len(self.members_)).astype(np.int64)

    def __raravis_state__(self) -> State:
        check_is_fitted(self)
        params = {"n_folds": self.n_folds, "random_state": self.random_state}
        return State(
            params=encode_params(params),
            fitted={"classes": encode_labels(self.classes_), **stored_values(self)},
            arrays={"folds": self.folds_, **stored_arrays(self)},
            children={f"member_{k}": member for k, member in enumerate(self.members_)},
        )

    @classmethod
    def __raravis_restore__(cls, state: State) -> Self:
        members = [state.children[f"member_{k}"] for k in range(len(state.children))]
        if not members:
            raise ModelFileError("the ensemble in the model file has no members.")
        model = cls(clone(members[0]), **decode_params(state.params))
        model.folds_ = state.array("folds", kinds="i", shape=(None,))
        classes = state.labels("classes")
        if not {label for member in members for label in member.classes_} <= set(classes):
            raise ModelFileError(
                "a member in the model file knows classes that the ensemble lacks."
            )
        model._keep(members, classes)
        restore_provenance(model, state)
        return model
