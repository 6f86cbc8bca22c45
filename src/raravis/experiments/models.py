"""The models that experiments compare, by name. A new one is one more entry of ``MODELS``."""

import difflib
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import lru_cache, partial
from inspect import getsource
from types import FunctionType
from typing import Any

import numpy as np

from raravis.errors import InputError
from raravis.experiments.protocols import Trial
from raravis.experiments.svm_sweep import Curve, single_curve, sweep_curve
from raravis.metrics import exact_roc

__all__ = ["MODELS", "ModelSpec", "check_models", "nearest"]


@dataclass(frozen=True)
class ModelSpec:
    """A model of an experiment.

    Parameters
    ----------
    description : str
        What it is and what it is told, for a reader of the table.
    curve : function
        From a trial to the ROC curve on its test bags.
    told_truth : bool
        Whether it learns from the true known training instances, which no user has.
    """

    description: str
    curve: Callable[[Trial], Curve]
    told_truth: bool = False

    @property
    def identity(self) -> str:
        """What tells the figures of this model from those of another: its code and settings."""
        return _identity(self.curve)


def check_models(names: Sequence[str]) -> tuple[str, ...]:
    """Return the names without repeats, or say which do not exist.

    Examples
    --------
    >>> check_models(["kernel", "kernel"])
    ('kernel',)
    """
    if isinstance(names, str):
        raise InputError(f"models is {names!r}, a string; pass a list of names, [{names!r}].")
    for name in names:
        if name not in MODELS:
            raise InputError(
                f"there is no model {name!r}; {nearest(name, MODELS)}the models are "
                f"{', '.join(MODELS)}."
            )
    return tuple(dict.fromkeys(names))


def nearest(name: object, names: Any) -> str:
    """Say which name may have been meant, or nothing.

    Examples
    --------
    >>> nearest("mnits", ["mnist", "hja"])
    "did you mean 'mnist'? "
    """
    close = difflib.get_close_matches(str(name), list(names), n=1)
    return f"did you mean {close[0]!r}? " if close else ""


def _identity(part: Any) -> str:
    """Write out a function with what is bound to it; other modules' code is told by their files."""
    if isinstance(part, partial):
        bound = [_identity(value) for value in part.args]
        bound += [f"{name}={_identity(value)}" for name, value in sorted(part.keywords.items())]
        return f"{_identity(part.func)}({', '.join(bound)})"
    if isinstance(part, FunctionType):
        text = getsource(part) if part.__module__ == __name__ else ""
        return f"{part.__module__}.{part.__qualname__}{text}"
    return repr(part)


def _scored(make: Callable[[Trial], Any], trial: Trial, **how: Any) -> Curve:
    """Fit an estimator on bags and labels; its curve is that of the instance scores."""
    model = make(trial).fit(trial.train, trial.labels)
    roc = exact_roc(trial.test_known, np.asarray(model.score_samples(trial.test, **how)))
    return Curve(roc.fpr, roc.tpr, roc.auc)


def _kernel(trial: Trial, **settings: Any) -> Any:
    from raravis.estimators.kernel_scorer import KernelScorer

    return KernelScorer(random_state=trial.seed, **settings)


def _novel_class(trial: Trial, *, m_step: Any) -> Any:
    from raravis.estimators.novel_class import NovelClassClassifier

    return NovelClassClassifier(m_step, random_state=trial.seed)


@lru_cache(maxsize=1)
def _fitted_detector(trial: Trial) -> Any:
    """Fit once what is scored in two ways, one after the other."""
    from raravis.estimators.novelty_detector import NoveltyDetector

    return NoveltyDetector(random_state=trial.seed).fit(trial.train, trial.labels)


def _detected(trial: Trial, *, context: bool) -> Curve:
    scores = _fitted_detector(trial).score_samples(trial.test, context=context)
    roc = exact_roc(trial.test_known, scores)
    return Curve(roc.fpr, roc.tpr, roc.auc)


def _baseline(trial: Trial, *, method: Any, told_truth: bool) -> Any:
    from raravis.estimators.baselines import OneClassBaseline

    instances: Any = trial.train_known if told_truth else "positive_bags"
    return OneClassBaseline(method, instances=instances, random_state=trial.seed)


def _estimator(description: str, make: Callable[[Trial], Any], **how: Any) -> ModelSpec:
    return ModelSpec(description, partial(_scored, make, **how))


def _rivals(method: str, name: str) -> dict[str, ModelSpec]:
    honest = partial(_baseline, method=method, told_truth=False)
    told = partial(_baseline, method=method, told_truth=True)
    return {
        method: ModelSpec(
            f"{name}, on all instances of bags with a known class", partial(_scored, honest)
        ),
        f"{method}-true": ModelSpec(
            f"{name}, told the true known instances", partial(_scored, told), told_truth=True
        ),
    }


MODELS: dict[str, ModelSpec] = {
    "detector": ModelSpec(
        "NoveltyDetector, each instance on its own", partial(_detected, context=False)
    ),
    "detector-context": ModelSpec(
        "NoveltyDetector, each instance scored given the rest of its bag",
        partial(_detected, context=True),
    ),
    "kernel": _estimator("KernelScorer at its automatic settings", _kernel),
    "kernel-alternating": _estimator(
        "Algorithm 1 as printed, one start and 15 rounds, at the settings of 'kernel'",
        partial(_kernel, solver="alternating", n_restarts=1, max_rounds=15),
    ),
    "kernel-training-error": _estimator(
        "KernelScorer, settings by the paper's criterion: training bag errors",
        partial(_kernel, tuning="training_error"),
    ),
    "kernel-cv": _estimator(
        "KernelScorer, settings by cross-validation over bags",
        partial(_kernel, tuning="cross_validation"),
    ),
    "novel-class": _estimator(
        "NovelClassClassifier, kernel logistic regression, at its default settings",
        partial(_novel_class, m_step="kernel"),
    ),
    "novel-class-forest": _estimator(
        "NovelClassClassifier, randomised trees started from 'novel-class'",
        partial(_novel_class, m_step="forest"),
    ),
    "novel-class-context": _estimator(
        "the same as 'novel-class', each instance scored given the rest of its bag",
        partial(_novel_class, m_step="kernel"),
        context=True,
    ),
    "novel-class-forest-context": _estimator(
        "the same as 'novel-class-forest', each instance scored given the rest of its bag",
        partial(_novel_class, m_step="forest"),
        context=True,
    ),
    **_rivals("ocsvm", "One-class SVM, scores of one fit at nu = 0.5"),
    "ocsvm-true-posthoc": ModelSpec(
        "the same as 'ocsvm-true', gamma by its test AUC", single_curve, told_truth=True
    ),
    "ocsvm-sweep": ModelSpec(
        "One-class SVM as in the paper: told the true known instances, refitted for every nu, "
        "gamma by its test AUC",
        sweep_curve,
        told_truth=True,
    ),
    "ocsvm-sweep-rule": ModelSpec(
        "the same as 'ocsvm-sweep', gamma by the rule of 'kernel'",
        partial(sweep_curve, factors=(1.0,)),
        told_truth=True,
    ),
    **_rivals("iforest", "Isolation forest"),
    **_rivals("lof", "Local outlier factor"),
    **_rivals("knn", "Distance to the 5th nearest neighbour"),
    **_rivals("mahalanobis", "Mahalanobis distance, shrunk covariance"),
}
