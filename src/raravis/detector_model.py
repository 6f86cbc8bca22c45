"""The model of ``NoveltyDetector``: two learners, taught by bags that are read as a whole.

Fitting instances to the labels of bags alone leaves much open: EM takes too many instances for
novel, or too few, depending on where it starts. Two things settle it.

*Consensus.* A kernel model, a forest started from it, and a forest started from "nearly everything
is known" err differently. Their geometric mean is a better teacher than any of them.

*Bags have class shares of their own.* A training bag's other instances are evidence too
(``objectives.prevalence``), and so is its list. The posterior under both is what a new forest and a
new kernel model are fitted to, twice: teacher, pupils, and the pupils as the next teacher.

Two judges remain, the forest of the first stage and the kernel model of the last, again averaged
geometrically. Their log-odds of known are corrected, intercept and slope, to agree with what the
labels of the training bags imply: decisions then need no threshold of their own. Context changes
the spread of the log-odds, so it has a correction of its own. docs/accuracy.md has the evidence.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from raravis.bags import Bags
from raravis.class_model import ClassModel
from raravis.objectives import BagPrevalence, UnionLikelihood
from raravis.progress import Progress, ProgressCallback
from raravis.solvers import EMResult, KernelLogistic, TreeForest, expectation_maximisation
from raravis.solvers.em import Fit, SoftFitter, uniform_start

__all__ = ["Correction", "DetectorModel", "geometric_mean", "learn_detector_model"]

Floats = NDArray[np.floating[Any]]
Doubles = NDArray[np.float64]

_KERNEL_ROUNDS, _KERNEL_TOL = 200, 1e-4
_FOREST_ROUNDS = 5
#: The start that favours known classes: weight of novel against each of them, and its rounds.
_TRUSTING_WEIGHT, _TRUSTING_ROUNDS = 0.1, 2
_CONSENSUS_ROUNDS = 2
#: L-BFGS steps of a kernel model that is fitted once, not round by round.
_STEPS_OF_A_PUPIL = 40
#: How often class shares of bags are judged anew, for teaching. For scoring they are not: shares
#: then came out too extreme, and bags of another label density were misjudged.
_TEACHING_PREVALENCE_ROUNDS = 1
_INTERCEPTS, _SLOPES = (-20.0, 20.0), (0.05, 5.0)
#: Log-odds beyond are as good as certain; the correction does not follow them further.
_CERTAIN = 30.0


@dataclass(frozen=True)
class Correction:
    """Log-odds of known, corrected: intercept + slope * log-odds.

    The known classes are tempered by the same slope, so that a class loses to novel where others
    are ruled out just as it did before.
    """

    intercept: float = 0.0
    slope: float = 1.0

    @classmethod
    def learn(cls, log_p: Doubles, known: Doubles) -> "Correction":
        """Make the log-odds of ``log_p`` agree with the probabilities ``known``.

        Maximises the expected log-likelihood, which is concave in intercept and slope.
        """
        from scipy.optimize import minimize

        odds = np.clip(_log_odds(log_p), -_CERTAIN, _CERTAIN)

        def value_and_gradient(at: Doubles) -> tuple[float, Doubles]:
            z = at[0] + at[1] * odds
            loss = known * np.logaddexp(0.0, -z) + (1.0 - known) * np.logaddexp(0.0, z)
            error = 1.0 / (1.0 + np.exp(-z)) - known
            return float(loss.mean()), np.array([error.mean(), (error * odds).mean()])

        found = minimize(
            value_and_gradient,
            np.array([0.0, 1.0]),
            jac=True,
            method="L-BFGS-B",
            bounds=[_INTERCEPTS, _SLOPES],
        )
        return cls(float(found.x[0]), float(found.x[1]))

    def __call__(self, log_p: Doubles) -> Doubles:
        """Return log-probabilities whose odds of known are corrected.

        Examples
        --------
        >>> corrected = Correction(intercept=np.log(3.0))(np.log([[0.5, 0.4, 0.1]]))
        >>> np.exp(corrected).round(2)
        array([[0.25, 0.6 , 0.15]])
        """
        z = self.intercept + self.slope * _log_odds(log_p)
        of_known = self.slope * log_p[:, 1:]
        of_known -= np.logaddexp.reduce(of_known, axis=1, keepdims=True)
        known, novel = -np.logaddexp(0.0, -z), -np.logaddexp(0.0, z)
        return np.column_stack([novel, of_known + known[:, None]])


@dataclass(frozen=True)
class DetectorModel:
    """Judges whose probabilities are averaged geometrically, and corrections of the odds."""

    judges: tuple[ClassModel, ...]
    alone: Correction
    in_context: Correction

    def log_probabilities(
        self,
        bags: Bags,
        *,
        union: UnionLikelihood | None = None,
        context: bool = False,
        n_jobs: int | None = None,
    ) -> Doubles:
        """Return log-probabilities (n_instances, 1 + n_classes) of scaled instances, novel first.

        With ``context`` each is given the other instances of its bag, judged in the light of what
        ``union`` says of the bag's labels; on the instance itself those do not bear yet.
        """
        opinions = [
            judge.log_probabilities(bags, union=union, context=context, n_jobs=n_jobs)
            for judge in self.judges
        ]
        correct = self.in_context if context else self.alone
        return correct(geometric_mean(opinions))


def learn_detector_model(
    bags: Bags,
    union: UnionLikelihood,
    *,
    kernel: KernelLogistic,
    forest: TreeForest,
    seed: int = 0,
    n_jobs: int | None = None,
    progress: ProgressCallback | None = None,
) -> DetectorModel:
    """Learn from bags whose features are scaled already, and from what ``union`` says of them."""
    lesson = _Lesson.prepare(bags, union, kernel, forest, seed, n_jobs, progress)
    first = lesson.em(lesson.kernel, lesson.start(), rounds=_KERNEL_ROUNDS, tol=_KERNEL_TOL)
    lesson.tell()
    doubting = lesson.em(lesson.forest, first.posterior, rounds=_FOREST_ROUNDS)
    trusting = lesson.em(lesson.forest, lesson.start(_TRUSTING_WEIGHT), rounds=_TRUSTING_ROUNDS)
    teacher = geometric_mean([first.fit.log_p, doubting.fit.log_p, trusting.fit.log_p])
    pupil = lesson.taught(teacher)
    judges = tuple(lesson.judge(fit) for fit in (doubting.fit, pupil))
    # Bag labels as the last pupil reads them: they neither over- nor underrate known instances.
    known = 1.0 - union.posterior(pupil.log_p, n_jobs=n_jobs).instances[:, 0]
    seen = [doubting.fit.log_p, pupil.log_p]
    aware = [
        judge.prevalence.in_context(log_p, bags.offsets, n_jobs=n_jobs)
        for judge, log_p in zip(judges, seen, strict=True)
    ]
    return DetectorModel(
        judges,
        alone=Correction.learn(geometric_mean(seen), known),
        in_context=Correction.learn(geometric_mean(aware), known),
    )


@dataclass(frozen=True)
class _Lesson:
    """Training bags, both learners with the instances at hand, and who hears of progress."""

    bags: Bags
    union: UnionLikelihood
    kernel: Any
    forest: SoftFitter
    n_jobs: int | None
    tell: Callable[[], None]

    @classmethod
    def prepare(
        cls,
        bags: Bags,
        union: UnionLikelihood,
        kernel: KernelLogistic,
        forest: TreeForest,
        seed: int,
        n_jobs: int | None,
        progress: ProgressCallback | None,
    ) -> "_Lesson":
        X, groups = bags.instances, bags.bag_index
        return cls(
            bags,
            union,
            kernel.prepare(X, groups, seed=seed, n_jobs=n_jobs),
            forest.prepare(X, groups, seed=seed, n_jobs=n_jobs),
            n_jobs,
            _counter(1 + _FOREST_ROUNDS + _TRUSTING_ROUNDS + _CONSENSUS_ROUNDS, progress),
        )

    def start(self, novel_weight: float = 1.0) -> Doubles:
        """Return the posterior from which no class differs from another but in its weight."""
        log_p = uniform_start(
            self.bags.n_instances, self.union.n_classes, novel_weight=novel_weight
        )
        return self.union.posterior(log_p, n_jobs=self.n_jobs).instances

    def em(self, fitter: SoftFitter, start: Doubles, *, rounds: int, tol: float = 0.0) -> EMResult:
        """Run rounds of EM; those that are counted are told."""
        return expectation_maximisation(
            self.union,
            fitter,
            start,
            max_rounds=rounds,
            tol=tol,
            n_jobs=self.n_jobs,
            on_round=None if fitter.climbs else lambda *_: self.tell(),
        )

    def taught(self, log_p: Doubles) -> Fit:
        """Return the kernel model that learns from the teacher ``log_p``, and from its pupils."""
        deep = replace(self.kernel, max_steps=_STEPS_OF_A_PUPIL)
        for _ in range(_CONSENSUS_ROUNDS - 1):
            posterior = self._read_whole(log_p)
            pupils = [fitter.fit(posterior, None) for fitter in (self.forest, deep)]
            log_p = geometric_mean([fit.log_p for fit in pupils])
            self.tell()
        last: Fit = deep.fit(self._read_whole(log_p), None)
        self.tell()
        return last

    def _read_whole(self, log_p: Doubles) -> Doubles:
        """Return the posterior given the labels of a bag and what its other instances say."""
        prevalence = self._prevalence(log_p, rounds=_TEACHING_PREVALENCE_ROUNDS)
        aware = prevalence.in_context(
            log_p, self.bags.offsets, labels=self.union, n_jobs=self.n_jobs
        )
        return self.union.posterior(aware, n_jobs=self.n_jobs).instances

    def _prevalence(self, log_p: Doubles, *, rounds: int) -> BagPrevalence:
        posterior = self.union.posterior(log_p, n_jobs=self.n_jobs).instances
        return BagPrevalence.learn(
            posterior, log_p, self.bags.offsets, labels=self.union, rounds=rounds
        )

    def judge(self, fit: Fit) -> ClassModel:
        """Return the model of a fit with the class shares of bags as it sees them."""
        return ClassModel(fit.model, self._prevalence(fit.log_p, rounds=0))


def geometric_mean(log_ps: Sequence[Doubles]) -> Doubles:
    """Return the normalised geometric mean of distributions in rows, all of it in logarithms.

    Examples
    --------
    >>> np.exp(geometric_mean([np.log([[0.5, 0.5]]), np.log([[0.1, 0.9]])])).round(2)
    array([[0.25, 0.75]])
    """
    mean = np.mean(log_ps, axis=0)
    proper: Doubles = mean - np.logaddexp.reduce(mean, axis=1, keepdims=True)
    return proper


def _log_odds(log_p: Doubles) -> Doubles:
    odds: Doubles = np.logaddexp.reduce(log_p[:, 1:], axis=1) - log_p[:, 0]
    return odds


def _counter(total: int, progress: ProgressCallback | None) -> Callable[[], None]:
    done = 0

    def tell() -> None:
        nonlocal done
        done += 1
        if progress is not None:
            progress(Progress("rounds", done, total))

    return tell
