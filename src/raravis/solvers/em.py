"""Expectation maximisation with any M-step that fits soft labels.

The E-step turns the class probabilities of instances into their posterior given the labels of their
bags; the M-step fits probabilities to that posterior. Both are contracts: what is maximised is the
E-step's affair, how instances are modelled that of the M-step.

An M-step says whether it climbs: whether every round raises log-likelihood / n - penalty. One that
maximises the expected log-likelihood less the penalty, or just raises it from where it stood, does
(the likelihood has to be exact for that). One whose training probabilities are not its own fit's,
such as out-of-bag ones, does not; then rounds are counted instead.
"""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Literal, Protocol

import numpy as np
from numpy.typing import NDArray

from raravis._threads import one_blas_thread
from raravis.progress import Progress, ProgressCallback

__all__ = [
    "EMResult",
    "EStep",
    "Fit",
    "MStep",
    "SoftFitter",
    "SoftModel",
    "expectation_maximisation",
    "log_floored",
    "uniform_start",
]

Floats = NDArray[np.floating[Any]]
Doubles = NDArray[np.float64]
Indices = NDArray[np.int64]
Reason = Literal["settled", "round limit", "rounding limit"]

#: Decrease of the penalised likelihood, relative, that rounding may cause.
_ROUNDING = 1e-7


class SoftModel(Protocol):
    """What an M-step leaves behind for new instances."""

    def log_probabilities(self, X: Floats, *, n_jobs: int | None = None) -> Doubles:
        """Return finite log-probabilities, (n, n_classes); rows sum to one, nearly."""
        ...


@dataclass(frozen=True)
class Fit:
    """A model, the log-probabilities it gives the training instances, and the penalty it pays.

    The training log-probabilities may be fairer than the model's own, such as out-of-bag ones.
    ``warm`` is what the next round may start from.
    """

    model: SoftModel
    log_p: Doubles
    penalty: float = 0.0
    warm: Any = None


class SoftFitter(Protocol):
    """An M-step that has seen the training instances."""

    climbs: bool

    def fit(self, Q: Doubles, previous: Fit | None) -> Fit:
        """Fit the posterior ``Q`` (n_instances, n_classes), from the fit of the last round."""
        ...


class MStep(Protocol):
    """How instances are modelled."""

    def prepare(
        self, X: Floats, groups: Indices, *, seed: int = 0, n_jobs: int | None = None
    ) -> SoftFitter:
        """Do once what the rounds share; ``groups`` says which bag each instance is from."""
        ...


class EStep(Protocol):
    """What is known of the instances besides their features."""

    def posterior(self, log_p: Doubles, *, n_jobs: int | None = None) -> tuple[Doubles, Doubles]:
        """Return the posterior of the instances, and log-likelihoods whose sum is to rise."""
        ...


@dataclass(frozen=True)
class EMResult:
    """Where the rounds ended: the last fit, the posterior under it, the value after each round."""

    fit: Fit
    posterior: Doubles
    path: tuple[float, ...]
    converged: bool
    reason: Reason

    @property
    def value(self) -> float:
        """Penalised log-likelihood an instance."""
        return self.path[-1]


def uniform_start(n_instances: int, n_classes: int, *, novel_weight: float = 1.0) -> Doubles:
    """Return log-probabilities that are the same for all classes, novel times ``novel_weight``.

    Examples
    --------
    >>> np.exp(uniform_start(1, 3, novel_weight=0.5)).round(2)
    array([[0.14, 0.29, 0.29, 0.29]])
    """
    weights = np.ones(1 + n_classes)
    weights[0] = novel_weight
    return np.tile(np.log(weights / weights.sum()), (n_instances, 1))


def log_floored(P: Floats, floor: float) -> Doubles:
    """Return the logarithm of probabilities, those below ``floor`` raised to it.

    Examples
    --------
    >>> np.exp(log_floored(np.array([[0.0, 1.0]]), 0.25))
    array([[0.2, 0.8]])
    """
    raised = np.maximum(P, floor, dtype=np.float64)
    raised /= raised.sum(axis=1, keepdims=True)
    logs: Doubles = np.log(raised, out=raised)
    return logs


def expectation_maximisation(
    estep: EStep,
    fitter: SoftFitter,
    start: Doubles,
    *,
    max_rounds: int,
    tol: float = 0.0,
    n_jobs: int | None = None,
    progress: ProgressCallback | None = None,
    on_round: Callable[[int, Fit, Doubles], None] | None = None,
) -> EMResult:
    """Alternate M- and E-step from the posterior ``start`` (n_instances, n_classes).

    Rounds end at ``max_rounds``, or once a climbing M-step gains less than ``tol`` an instance.
    ``on_round`` hears the number, the fit and the posterior of every round.
    """
    posterior, fit = start, None
    path: list[float] = []
    reason: Reason = "round limit"
    with one_blas_thread():
        for done in range(1, max_rounds + 1):
            fresh = fitter.fit(posterior, fit)
            fresh_posterior, log_likelihood = estep.posterior(fresh.log_p, n_jobs=n_jobs)
            value = float(log_likelihood.sum()) / max(1, len(start)) - fresh.penalty
            if fitter.climbs and path and value < path[-1]:
                if path[-1] - value > _ROUNDING * abs(path[-1]):
                    reason = "rounding limit"
                    break
                value = path[-1]
            gain = value - path[-1] if path else np.inf
            fit, posterior = fresh, fresh_posterior
            path.append(value)
            _tell(progress, done, max_rounds)
            if on_round is not None:
                on_round(done, fit, posterior)
            if fitter.climbs and gain <= tol:
                reason = "settled"
                break
    if fit is None:
        raise ValueError(f"max_rounds is {max_rounds}; at least one round is needed.")
    converged = reason != "round limit" or not fitter.climbs
    return EMResult(fit, posterior, tuple(path), converged, reason)


def _tell(progress: ProgressCallback | None, done: int, total: int) -> None:
    if progress is not None:
        progress(Progress("rounds", done, total))
