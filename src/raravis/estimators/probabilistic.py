"""From class probabilities of instances, novel being one, to whatever an estimator answers."""

from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from raravis._novel import NOVEL
from raravis.bags import Bags
from raravis.class_model import log_odds_of_known
from raravis.estimators.base import BagNoveltyMixin, label_array, model_labels
from raravis.objectives import UnionLikelihood
from raravis.objectives.union_likelihood import bag_label_posterior
from raravis.scaling import Scaling

__all__ = ["ClassProbabilityMixin"]

Doubles = NDArray[np.float64]
IntArray = NDArray[np.int64]
ObjectArray = NDArray[np.object_]


class _Model(Protocol):
    def log_probabilities(
        self,
        bags: Bags,
        *,
        union: UnionLikelihood | None = None,
        context: bool = False,
        n_jobs: int | None = None,
    ) -> Doubles:
        """Return log-probabilities (n_instances, 1 + n_classes) of scaled instances."""
        ...


class ClassProbabilityMixin(BagNoveltyMixin):
    """Posteriors, scores, decisions and bag labels by the probabilities of a ``model_``.

    A subclass sets what :class:`BagNoveltyMixin` asks for, and ``scaling_``, ``model_`` (on scaled
    features) and ``n_jobs``. The score of an instance is its log-odds of being of a known class.
    Every method takes ``bag_labels``, what is known of the bags that are scored, and ``context``,
    whether the other instances of a bag count as evidence.
    """

    model_: Any
    scaling_: Scaling
    n_jobs: int | None
    bag_threshold_: float = 0.5

    def _class_scores(self, bags: Bags) -> Doubles:
        _, log_p, _ = self._judged(bags, None, False)
        return log_p[:, 1:] - log_p[:, :1]

    def _judged(
        self, X: Any, bag_labels: Any, context: bool
    ) -> tuple[Bags, Doubles, UnionLikelihood | None]:
        """Return log-probabilities, given the other instances if they count, before the labels."""
        bags = self._checked_bags(X)
        scaled = bags.with_instances(self.scaling_.apply(bags.instances))
        union = None
        if bag_labels is not None:
            labels = model_labels(bag_labels, bags, self.classes_)
            union = UnionLikelihood.from_bags(bags, labels, impossible="soften")
        model: _Model = self.model_
        log_p = model.log_probabilities(scaled, union=union, context=context, n_jobs=self.n_jobs)
        return bags, log_p, union

    def posterior(self, X: Any, *, bag_labels: Any = None, context: bool = False) -> Doubles:
        """Return the class probabilities of each instance.

        Parameters
        ----------
        X : Bags, list of 2-D arrays, or 2-D array (one bag a row)
        bag_labels : labels of the bags, optional
            With them the probabilities are conditional on what the whole bag lists.
        context : bool
            Whether the other instances of the bag count as evidence.

        Returns
        -------
        ndarray of shape (n_instances, 1 + n_classes)
            Column 0 is novel; the others stand in the order of ``classes_``.
        """
        _, log_p, union = self._judged(X, bag_labels, context)
        if union is None:
            return np.exp(log_p)
        return union.posterior(log_p, n_jobs=self.n_jobs).instances

    def bag_posterior(self, X: Any, *, bag_labels: Any = None, context: bool = False) -> Doubles:
        """Return the probability that each bag holds each class.

        Parameters
        ----------
        X, context
            As for :meth:`posterior`.
        bag_labels : labels of the bags, optional
            What is known of them; where it is unknown whether a bag holds a class, the answer is
            conditional on the rest.

        Returns
        -------
        ndarray of shape (n_bags, n_classes)
            An empty bag holds no class.
        """
        bags, log_p, _ = self._judged(X, bag_labels, context)
        told = [None] * bags.n_bags if bag_labels is None else bag_labels
        labels = model_labels(told, bags, self.classes_)
        return bag_label_posterior(bags, labels, log_p, n_jobs=self.n_jobs)

    def score_samples(self, X: Any, *, bag_labels: Any = None, context: bool = False) -> Doubles:
        """Return the log-odds that each instance is of a known class.

        Parameters
        ----------
        X, bag_labels, context
            As for :meth:`posterior`. In a bag that was reviewed and found empty the odds are -inf.

        Returns
        -------
        ndarray of shape (n_instances,)
        """
        _, log_p, union = self._judged(X, bag_labels, context)
        if union is not None:
            return log_odds_of_known(union.posterior(log_p, n_jobs=self.n_jobs).instances)
        odds: Doubles = np.logaddexp.reduce(log_p[:, 1:], axis=1) - log_p[:, 0]
        return odds

    def decision_function(
        self, X: Any, *, bag_labels: Any = None, context: bool = False
    ) -> Doubles:
        """Return ``score_samples - offset_``: not negative for known instances.

        Parameters
        ----------
        X, bag_labels, context
            As for :meth:`posterior`.

        Returns
        -------
        ndarray of shape (n_instances,)
        """
        return self.score_samples(X, bag_labels=bag_labels, context=context) - self.offset_

    def predict(self, X: Any, *, bag_labels: Any = None, context: bool = False) -> IntArray:
        """Say of each instance whether it is known (+1) or novel (-1).

        Parameters
        ----------
        X, bag_labels, context
            As for :meth:`posterior`.

        Returns
        -------
        ndarray of int of shape (n_instances,)
        """
        known = self.decision_function(X, bag_labels=bag_labels, context=context) >= 0
        return np.where(known, 1, -1)

    def annotate(self, X: Any, *, bag_labels: Any = None, context: bool = False) -> ObjectArray:
        """Return the most probable class of each known instance, and ``raravis.NOVEL`` of others.

        Parameters
        ----------
        X, bag_labels, context
            As for :meth:`posterior`.

        Returns
        -------
        ndarray of object of shape (n_instances,)
        """
        P = self.posterior(X, bag_labels=bag_labels, context=context)
        known = log_odds_of_known(P) - self.offset_ >= 0
        names = label_array((*self.classes_, NOVEL))
        annotation: ObjectArray = names[np.where(known, P[:, 1:].argmax(axis=1), -1)]
        return annotation

    def predict_bags(self, X: Any, *, context: bool = False) -> IntArray:
        """Say which classes each bag holds (1), those of a probability of at least a half.

        Parameters
        ----------
        X, context
            As for :meth:`posterior`.

        Returns
        -------
        ndarray of int of shape (n_bags, n_classes)
            An empty bag holds no class.
        """
        held = self.bag_posterior(X, context=context)
        return (held >= self.bag_threshold_).astype(np.int64)
