"""One-class SVM as in the paper: refitted for every nu, gamma chosen afterwards.

The model is told which training instances are known. For every nu it is fitted anew, and each fit
gives one point of the curve: the share of novel and of known test instances that it accepts. These
points belong to different decision functions. Beside it stands what a user would do: one fit, and a
threshold moved over its scores. In both, "post hoc" picks the gamma whose test AUC is best, which
no user can.
"""

from collections.abc import Iterable
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from raravis.experiments.protocols import Trial
from raravis.kernels import Gaussian, automatic_gamma
from raravis.metrics import exact_roc
from raravis.scaling import Scaling

__all__ = ["GAMMA_FACTORS", "NUS", "Curve", "single_curve", "sweep_curve", "trapezoid"]

FloatArray = npt.NDArray[np.float64]
BoolArray = npt.NDArray[np.bool_]

NUS = tuple(round(0.02 * step, 2) for step in range(1, 50))
"""The paper's steps; 0 and 1 are the ends of the curve."""

GAMMA_FACTORS = (1 / 16, 1 / 4, 1 / 2, 1.0, 2.0, 4.0, 16.0)
"""The widths to choose from, as multiples of the one that KernelScorer would take."""


class Curve(NamedTuple):
    """A ROC curve, from (0, 0) to (1, 1)."""

    fpr: FloatArray
    tpr: FloatArray
    auc: float


class _Grams(NamedTuple):
    """Kernel values among the true known training instances, and between test and them."""

    train: FloatArray
    test: FloatArray


def sweep_curve(
    trial: Trial, *, factors: Iterable[float] = GAMMA_FACTORS, nus: Iterable[float] = NUS
) -> Curve:
    """Return the curve through the refits of every nu, of the gamma with the largest area."""
    steps = tuple(nus)
    return _best(_swept(grams, trial.test_known, steps) for grams in _grams(trial, factors))


def single_curve(
    trial: Trial, *, factors: Iterable[float] = GAMMA_FACTORS, nu: float = 0.5
) -> Curve:
    """Return the curve of one fit's scores, of the gamma with the largest area."""
    return _best(_scored(grams, trial.test_known, nu) for grams in _grams(trial, factors))


def trapezoid(fpr: npt.ArrayLike, tpr: npt.ArrayLike) -> Curve:
    """Join points in the order of their rates, from (0, 0) to (1, 1).

    Examples
    --------
    >>> trapezoid([0.5], [0.5]).auc
    0.5
    """
    x = np.concatenate([[0.0], np.asarray(fpr, dtype=np.float64), [1.0]])
    y = np.concatenate([[0.0], np.asarray(tpr, dtype=np.float64), [1.0]])
    order = np.lexsort((y, x))
    x, y = x[order], y[order]
    return Curve(x, y, float(np.diff(x) @ (y[1:] + y[:-1]) / 2))


def _best(curves: Iterable[Curve]) -> Curve:
    return max(curves, key=lambda curve: curve.auc)


def _grams(trial: Trial, factors: Iterable[float]) -> Iterable[_Grams]:
    scaling = Scaling.learn(trial.train.instances, "minmax")
    train, test = scaling.apply(trial.train.instances), scaling.apply(trial.test.instances)
    gamma = automatic_gamma("gaussian", train, trial.train.bag_index, seed=trial.seed)
    told = train[trial.train_known]
    for factor in factors:
        kernel = Gaussian(gamma * factor)
        yield _Grams(
            np.asarray(kernel.block(told, told), dtype=np.float64),
            np.asarray(kernel.block(test, told), dtype=np.float64),
        )


def _swept(grams: _Grams, known: BoolArray, nus: tuple[float, ...]) -> Curve:
    # LIBSVM accepts what lies strictly inside.
    accepted = [_decision(grams, nu) > 0 for nu in nus]
    return trapezoid([a[~known].mean() for a in accepted], [a[known].mean() for a in accepted])


def _scored(grams: _Grams, known: BoolArray, nu: float) -> Curve:
    roc = exact_roc(known, _decision(grams, nu))
    return Curve(roc.fpr, roc.tpr, roc.auc)


def _decision(grams: _Grams, nu: float) -> FloatArray:
    from sklearn.svm import OneClassSVM

    svm = OneClassSVM(kernel="precomputed", nu=nu).fit(grams.train)
    # Only the columns of support vectors, which spares LIBSVM a walk over all of them.
    decision: FloatArray = grams.test[:, svm.support_] @ svm.dual_coef_[0] + svm.intercept_[0]
    return decision
