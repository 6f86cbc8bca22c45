"""What the rest of a bag says about an instance: bags have class shares of their own.

A recording with one wren call likely has more of them. Let every bag draw its class shares from a
Dirichlet distribution and its instances from the shares (a Polya urn, instance by instance). With
p_j(c) the model's probabilities, m(c) their mean and q the posterior of the other instances,

    q_j(c)  is in proportion to  p_j(c) / m(c) * (alpha_c + sum over the others of q_i(c)),

which is iterated to a fixed point: collapsed mean-field inference. The pseudo-counts alpha are the
mean posterior of the training instances times a concentration of maximum likelihood, so that no
instance label is needed. The divisor has to be what the model says of instances it has not seen:
out of bag for a forest, whose own training probabilities would repeat the posterior.
"""

from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from raravis._segments import reduce_segments
from raravis.errors import InputError

__all__ = ["BagPrevalence", "concentration"]

Floats = NDArray[np.floating[Any]]
Doubles = NDArray[np.float64]
Indices = NDArray[np.int64]

_MAX_ROUNDS = 100
_TOLERANCE = 1e-4
#: Concentrations looked at; beyond, bags are all of one kind or all alike.
_LEAST, _MOST = 1e-2, 1e4
#: Shares below are raised to it: a class no instance has can still turn up.
_SMALLEST = 1e-6


class _Labels(Protocol):
    def posterior(self, log_p: Doubles, *, n_jobs: int | None = None) -> tuple[Doubles, Doubles]:
        """Return the posterior of the instances given labels of their bags, and a value."""
        ...


@dataclass(frozen=True)
class BagPrevalence:
    """Dirichlet pseudo-counts ``alpha`` of bags' class shares; mean probabilities of the model.

    Examples
    --------
    >>> import numpy as np
    >>> urn = BagPrevalence(alpha=np.array([0.5, 0.5]), marginal=np.array([0.5, 0.5]))
    >>> log_p = np.log([[0.5, 0.5], [0.01, 0.99], [0.5, 0.5]])
    >>> np.exp(urn.in_context(log_p, np.array([0, 2, 3]))).round(2)
    array([[0.25, 0.75],
           [0.01, 0.99],
           [0.5 , 0.5 ]])
    """

    alpha: Doubles
    marginal: Doubles

    @classmethod
    def learn(
        cls,
        posterior: Floats,
        log_p: Floats,
        offsets: Indices,
        *,
        labels: "_Labels | None" = None,
        rounds: int = 0,
    ) -> "BagPrevalence":
        """Learn from training bags.

        Parameters
        ----------
        posterior : array of shape (n_instances, n_classes)
            Class probabilities given the labels of the bags.
        log_p : array of the same shape
            Log-probabilities of the model for instances it has not seen.
        offsets : array of shape (n_bags + 1,)
            Where each bag's instances begin.
        labels : UnionLikelihood, optional
            What is listed for the bags, for ``rounds``.
        rounds : int
            How often the posterior is renewed in context, and learned from again. Doubtful
            instances blur the shares of bags, so the first concentration comes out too high: with
            rounds bags are told apart more sharply, and decisions at even odds improve; many rounds
            overdo it where the model is weak.
        """
        if posterior.shape != log_p.shape or not len(posterior):
            raise InputError(
                f"the posterior has shape {posterior.shape} and the log-probabilities "
                f"{log_p.shape}; pass two of one shape, with at least one instance."
            )
        marginal = _proper(np.exp(log_p).mean(axis=0))
        urn = cls(_pseudo_counts(posterior, offsets), marginal)
        for _ in range(rounds):
            renewed = _judged(urn.in_context(log_p, offsets, labels=labels), labels, None)
            urn = cls(_pseudo_counts(renewed, offsets), marginal)
        return urn

    def in_context(
        self,
        log_p: Floats,
        offsets: Indices,
        *,
        labels: _Labels | None = None,
        n_jobs: int | None = None,
    ) -> Doubles:
        """Return log-probabilities of the instances, each given the other ones of its bag.

        With ``labels`` (``UnionLikelihood``) the others are judged by their posterior under the
        labels of the bag; the instance itself is not, so that ``labels.posterior`` of what is
        returned is its posterior given all.
        """
        evidence = np.asarray(log_p, dtype=np.float64) - np.log(self.marginal)
        adjusted = np.asarray(log_p, dtype=np.float64)
        q = before = _judged(adjusted, labels, n_jobs)
        for _ in range(_MAX_ROUNDS):
            totals = reduce_segments(np.add, q, offsets, 0.0)
            others = np.repeat(totals, np.diff(offsets), axis=0) - q
            adjusted = _normalised(evidence + np.log(self.alpha + np.maximum(others, 0.0)))
            before, q = q, _judged(adjusted, labels, n_jobs)
            if np.abs(q - before).max(initial=0.0) < _TOLERANCE:
                break
        return adjusted


def concentration(counts: Floats, share: Doubles) -> float:
    """Return the sum of the Dirichlet pseudo-counts that makes class counts of bags most likely.

    Parameters
    ----------
    counts : array of shape (n_bags, n_classes)
        Expected counts need not be whole.
    share : array of shape (n_classes,)
        Mean share of each class.
    """
    from scipy.optimize import minimize_scalar
    from scipy.special import gammaln

    sizes = counts.sum(axis=1)
    if not (sizes > 1.5).any():
        return _MOST  # bags of one instance say nothing of one another

    def value(log_total: float) -> float:
        total = np.exp(log_total)
        alpha = total * share
        of_bags = gammaln(total) - gammaln(sizes + total)
        return -float(of_bags.sum() + (gammaln(counts + alpha) - gammaln(alpha)).sum())

    found = minimize_scalar(value, bounds=(np.log(_LEAST), np.log(_MOST)), method="bounded")
    return float(np.exp(found.x))


def _pseudo_counts(posterior: Floats, offsets: Indices) -> Doubles:
    share = _proper(posterior.mean(axis=0))
    counts = reduce_segments(np.add, np.asarray(posterior, np.float64), offsets, 0.0)
    return concentration(counts, share) * share


def _judged(log_p: Doubles, labels: _Labels | None, n_jobs: int | None) -> Doubles:
    return np.exp(log_p) if labels is None else labels.posterior(log_p, n_jobs=n_jobs)[0]


def _proper(share: Floats) -> Doubles:
    raised = np.maximum(share, _SMALLEST, dtype=np.float64)
    proper: Doubles = raised / raised.sum()
    return proper


def _normalised(scores: Doubles) -> Doubles:
    return scores - np.logaddexp.reduce(scores, axis=1, keepdims=True)
