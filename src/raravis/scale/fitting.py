"""Fit a model to a Parquet data set: a survey, a start on some bags, then passes over all."""

import warnings
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from os import PathLike
from typing import Any, Literal, Protocol

import numpy as np
from numpy.typing import NDArray
from sklearn.exceptions import ConvergenceWarning

from raravis.bags import Bags
from raravis.class_model import ClassModel, class_model_gamma
from raravis.errors import InputError
from raravis.estimators._door import require_count, seed_of
from raravis.estimators.novel_class import NovelClassClassifier
from raravis.landmarks import LandmarkMap, choose_landmarks
from raravis.objectives import BagPrevalence
from raravis.progress import Progress, ProgressCallback
from raravis.scale.checkpoint import Checkpoint, Plan, identity
from raravis.scale.lbfgs import Descent, begun, step
from raravis.scale.parts import BagParts
from raravis.scale.passes import Backend, LocalPasses, block_rows
from raravis.scale.problem import Problem, Ready, Sums, bags_of, prepared, whole_value
from raravis.scale.survey import Survey, look_at, merged
from raravis.solvers import SoftLogistic

__all__ = ["DEFAULT_BUDGET", "fit_parquet"]

Doubles = NDArray[np.float64]
Device = Literal["auto", "cpu", "cuda"]

#: Bytes that data in memory may take unless the caller says otherwise.
DEFAULT_BUDGET = 1 << 30
#: Instances of the bags to start with, and of those that class shares are learned from.
_SAMPLE, _SHARES_FROM = 50_000, 10_000
_INSTANCES_A_LANDMARK = 10
#: A gain is looked for over so many steps: one alone may be small without being the last.
_STEPS = 3
_MOST_STEPS = 100


class Passes(Protocol):
    """What sums over all bags, wherever."""

    def __call__(self, weights: Doubles, on_part: Callable[[int], None] | None = None) -> Sums:
        """Return the sums at these weights."""
        ...


class Engine(Protocol):
    """Where the work is done: this process, a GPU, a cluster."""

    def survey(self, parts: BagParts, look: dict[str, Any], tell: Callable[[int], None]) -> Survey:
        """Look at all parts."""
        ...

    def passes(self, parts: BagParts, problem: Problem) -> Passes:
        """Get ready to pass over all parts."""
        ...

    @property
    def backend(self) -> Backend:
        """What sums over one block here."""
        ...


@dataclass(frozen=True)
class LocalEngine:
    """All in one process, this one."""

    memory_budget: int
    backend: Backend

    def survey(self, parts: BagParts, look: dict[str, Any], tell: Callable[[int], None]) -> Survey:
        """Look at one part after the other."""
        found = []
        for part in range(len(parts.files)):
            found.append(look_at(parts, part, **look))
            tell(part + 1)
        return merged(parts, found)

    def passes(self, parts: BagParts, problem: Problem) -> Passes:
        """Read what does not fit the budget anew in every pass."""
        return LocalPasses(parts, problem, memory_budget=self.memory_budget, backend=self.backend)


def fit_parquet(
    model: NovelClassClassifier,
    path: str | PathLike[str] | Sequence[str | PathLike[str]] | BagParts,
    *,
    bag: str = "bag",
    features: Sequence[str] | None = None,
    labels: str = "labels",
    memory_budget: int = DEFAULT_BUDGET,
    device: Device = "cpu",
    client: Any = None,
    checkpoint: str | PathLike[str] | None = None,
    progress: ProgressCallback | None = None,
) -> NovelClassClassifier:
    """Fit a kernel model to a data set that need not fit into memory, and return it.

    The likelihood is that of ``model.fit``, maximised directly instead of by rounds of EM: first on
    bags drawn at random, then on all of them from where that ended. The result is an ordinary
    fitted model; class shares, which matter with ``context=True``, are learned from drawn bags.

    Parameters
    ----------
    model : NovelClassClassifier
        Its settings are used: ``m_step="kernel"`` with landmarks, and a scaling that one pass can
        learn. ``max_rounds`` bounds the steps over all data (None: 100), ``tol`` is the gain an
        instance and step below which they end. It is fitted in place.
    path, bag, features, labels
        As for :meth:`BagParts.open`.
    memory_budget : int
        Bytes that instances in memory may take: blocks being read and, while there is room, scaled
        instances kept for the next pass. The interpreter and its libraries come on top.
    device : {"cpu", "auto", "cuda"}
        Where kernel values, posteriors and sums are computed: "cuda" is a GPU through torch (the
        extra ``gpu``), "auto" one if it is there. Without one the processor does it, with a
        warning if "cuda" was asked for.
    client : dask.distributed.Client, optional
        A cluster whose workers can read the files: parts are then passed over side by side, with
        the same result to the bit where ``memory_budget``, now of each worker, is the same.
    checkpoint : path, optional
        Folder in which to keep what is reached; the same call goes on from there.
    progress : function of a ``raravis.progress.Progress``, optional

    Examples
    --------
    >>> import tempfile
    >>> from raravis import NovelClassClassifier
    >>> from raravis.scale import fit_parquet, write_mixture
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     parts = write_mixture(folder, 2000, n_classes=3, n_novel=1, rows_a_part=1000)
    ...     model = fit_parquet(NovelClassClassifier(n_landmarks=50), parts)
    >>> model.classes_.tolist(), model.n_features_in_
    ([0, 1, 2], 38)
    """
    from raravis.scale.distributed import DaskEngine
    from raravis.scale.torch_backend import backend_of

    _require_kernel_model(model)
    require_count("memory_budget", memory_budget)
    engine: Engine
    if client is not None:
        engine = DaskEngine(client, memory_budget, model.n_jobs, device)
    else:
        engine = LocalEngine(memory_budget, backend_of(device, n_jobs=model.n_jobs))
    parts = BagParts.open(path, bag=bag, features=features, labels=labels)
    return fit_with(engine, model, parts, memory_budget, checkpoint, progress)


def fit_with(
    engine: Engine,
    model: NovelClassClassifier,
    parts: BagParts,
    memory_budget: int,
    checkpoint: str | PathLike[str] | None,
    progress: ProgressCallback | None,
) -> NovelClassClassifier:
    """Fit with the work done by an engine."""
    kept = Checkpoint(checkpoint, identity(parts, _settings(model, memory_budget)))
    plan = kept.plan()
    if plan is None:
        plan = _planned(engine, model, parts, memory_budget, progress)
        kept.keep_plan(plan)
    small = _problem(model, plan, plan.sample.n_instances)
    sample = prepared(plan.sample, small, kept=True)
    stage, at = kept.descent() or ("sample", None)
    climb = _Climb(model, kept, progress)
    if stage == "sample":
        backend = engine.backend

        def on_sample(weights: Doubles, on_part: Callable[[int], None] | None = None) -> Sums:
            del on_part
            return backend(small, sample, small.coefficients(weights))

        at = climb("sample", small, on_sample, at)
        stage, at = "passes", replace(at, path=(), n_evaluations=0, stuck=False)
    problem = _problem(model, plan, plan.n_instances)
    if stage == "passes":
        at = climb("passes", problem, engine.passes(parts, problem), at, len(parts.files))
        kept.keep_descent("done", at)
    if at is None:
        raise InputError(f"{kept.folder} holds no state of a descent; delete it to begin anew.")
    return _fitted(model, plan, problem, sample, at)


@dataclass(frozen=True)
class _Climb:
    """Descend to where steps gain no more than ``tol``, keeping and telling every step."""

    model: NovelClassClassifier
    kept: Checkpoint
    progress: ProgressCallback | None

    def __call__(
        self, stage: str, problem: Problem, passes: Passes, at: Descent | None, n_parts: int = 1
    ) -> Descent:
        def on_part(done: int) -> None:
            if self.progress is not None:
                self.progress(Progress("parts passed over", done, n_parts))

        most = self.model.max_rounds or _MOST_STEPS

        def value(x: Doubles) -> tuple[float, Doubles]:
            weights = x.reshape(problem.shape)
            sums = passes(weights, on_part if n_parts > 1 else None)
            found, gradient = whole_value(problem, sums, weights)
            return found, gradient.ravel()

        if at is None:
            at = begun(value, np.zeros(problem.shape).ravel())
        elif not at.path:
            # What was learned of the curvature on some bags holds for all of them, nearly.
            at = replace(begun(value, at.x), moves=at.moves, changes=at.changes)
        while not (at.stuck or settled(at.path, self.model.tol) or len(at.path) > most):
            at = step(value, at)
            self.kept.keep_descent(stage, at)
            if self.progress is not None:
                self.progress(Progress(f"steps on {_WORDS[stage]}", len(at.path) - 1, most))
        return at


_WORDS = {"sample": "some bags", "passes": "all bags"}


def settled(path: Sequence[float], tol: float) -> bool:
    """Whether the last steps gained ``tol`` each or less, in the mean."""
    return len(path) > _STEPS and path[-1 - _STEPS] - path[-1] <= _STEPS * tol


def _settings(model: NovelClassClassifier, memory_budget: int) -> dict[str, Any]:
    del memory_budget  # changes the order of sums, and no more than that
    return {**model.get_params(), "n_jobs": None}


def _require_kernel_model(model: Any) -> None:
    if not isinstance(model, NovelClassClassifier):
        raise InputError(
            f"model is a {type(model).__name__}; pass a NovelClassClassifier, whose likelihood is "
            "a sum over bags."
        )
    model._check_parameters()
    if model.m_step != "kernel" or model.n_landmarks is None:
        raise InputError(
            f"m_step is {model.m_step!r} and n_landmarks {model.n_landmarks!r}; a data set on disk "
            "is fitted with m_step='kernel' and a number of landmarks, such as 600."
        )
    if model.init not in ("auto", "uniform"):
        raise InputError(
            f"init is {model.init!r}; a data set on disk is fitted from equal probabilities, so "
            "pass init='auto'."
        )


def _planned(
    engine: Engine,
    model: NovelClassClassifier,
    parts: BagParts,
    memory_budget: int,
    progress: ProgressCallback | None,
) -> Plan:
    def tell(done: int) -> None:
        if progress is not None:
            progress(Progress("parts looked at", done, len(parts.files)))

    seed = seed_of(model.random_state)
    n_landmarks = int(model.n_landmarks or 0)
    look = {
        "rows": block_rows(parts.n_features, memory_budget),
        "sample_size": max(_SAMPLE, _INSTANCES_A_LANDMARK * n_landmarks),
        "seed": seed,
        "soften": model.impossible == "soften",
    }
    survey = engine.survey(parts, look, tell)
    scaling = survey.scaling(model.scaling)
    sample = survey.sample.block()
    bags = Bags(scaling.apply(sample.instances), sample.offsets)
    gamma = model.gamma
    if isinstance(gamma, str):
        gamma = class_model_gamma(model.kernel, bags, seed=seed)
    model.gamma_ = float(gamma)
    rows = choose_landmarks(
        bags.instances, n_landmarks, choice=model.landmarks, seed=seed, kernel=model._kernel()
    )
    return Plan(
        survey.classes,
        survey.n_instances,
        scaling,
        float(gamma),
        np.ascontiguousarray(bags.instances[rows], dtype=np.float32),
        survey.bag_hashes,
        sample,
    )


def _problem(model: NovelClassClassifier, plan: Plan, n_instances: int) -> Problem:
    model.gamma_ = plan.gamma
    features = LandmarkMap.from_landmarks(model._kernel(), plan.landmarks)
    return Problem(
        features.kernel,
        features.landmarks,
        features.whitening,
        plan.scaling,
        plan.classes,
        n_instances,
        float(model.lam),
    )


def _fitted(
    model: NovelClassClassifier, plan: Plan, problem: Problem, sample: Ready, at: Descent
) -> NovelClassClassifier:
    weights = at.x.reshape(problem.shape)
    coefficients = problem.coefficients(weights)
    instances = SoftLogistic(problem.kernel, problem.landmarks, coefficients[:-1], coefficients[-1])
    path = tuple(-value for value in at.path)
    converged = at.stuck or settled(at.path, model.tol)
    learned = ClassModel(instances, _class_shares(instances, sample), path, converged)
    model.adopt(
        learned,
        classes=plan.classes,
        scaling=plan.scaling,
        gamma=plan.gamma,
        training_bags=plan.training_bags,
    )
    if not converged and model.max_rounds is None:
        warnings.warn(
            f"the likelihood still rose after {len(at.path) - 1} steps over all data; raise "
            "max_rounds or tol.",
            ConvergenceWarning,
            stacklevel=4,
        )
    return model


def _class_shares(instances: SoftLogistic, sample: Ready) -> BagPrevalence:
    """Learn how class shares vary between bags from the first drawn ones: lots are at random."""
    union = sample.union
    n_bags = max(1, int(np.searchsorted(union.offsets, _SHARES_FROM, side="right")) - 1)
    first = bags_of(union, 0, n_bags)
    log_p = instances.log_probabilities(sample.instances[: first.n_instances])
    posterior = first.posterior(log_p).instances
    return BagPrevalence.learn(posterior, log_p, first.offsets, labels=first, rounds=1)
