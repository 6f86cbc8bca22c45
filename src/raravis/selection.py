"""Choosing the kernel width and the regularisation from bag labels alone.

Two criteria over a grid of (gamma, lam):

``training_error``
    The paper's: the number of training pairs of bag and class whose best score has the wrong sign.
    Narrow kernels all reach zero, so it cannot rank them; among equals the widest kernel wins, and
    then the strongest regularisation.
``cross_validation``
    Bags are dealt into folds, rare classes first. The criterion is the balanced error: for each
    class the mean of the share of its bags missed and the share of other bags wrongly given it,
    averaged over classes; equals are ranked by the held-out hinge loss.

One Gram matrix a width serves every fold, every lam and every class.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Any, Literal, get_args

import numpy as np
from numpy.typing import NDArray

from raravis.bags import Bags
from raravis.errors import InputError
from raravis.gram import GramRows
from raravis.kernels import DEFAULT_BUDGET, Kernel
from raravis.labels import BagLabels
from raravis.objectives import MaxHinge
from raravis.progress import Progress, ProgressCallback
from raravis.score_functions import ScoreFunctions, SolverSettings, learn_score_functions

__all__ = ["Criterion", "GridPoint", "Selection", "deal_folds", "select"]

Floats = NDArray[np.floating[Any]]
Indices = NDArray[np.int64]
Criterion = Literal["training_error", "cross_validation"]


@dataclass(frozen=True)
class GridPoint:
    """One setting tried: its criterion (low is good) and the tie-break."""

    gamma: float
    lam: float
    error: float
    hinge: float


@dataclass(frozen=True)
class Selection:
    """Every setting tried, in grid order, and the one chosen."""

    criterion: Criterion
    points: tuple[GridPoint, ...]
    best: GridPoint


def select(
    bags: Bags,
    labels: BagLabels,
    make_kernel: Callable[[float], Kernel],
    *,
    gammas: Sequence[float],
    lams: Sequence[float],
    criterion: Criterion = "cross_validation",
    n_folds: int = 3,
    settings: SolverSettings | None = None,
    memory_budget: int = DEFAULT_BUDGET,
    n_jobs: int | None = None,
    progress: ProgressCallback | None = None,
) -> Selection:
    """Try every (gamma, lam) on bags whose features are already scaled, and choose.

    Widths run in parallel through joblib, under whatever backend the caller has set. The answer
    does not depend on the number of workers.
    """
    if criterion not in get_args(Criterion):
        raise InputError(
            f"criterion is {criterion!r}; pass one of {', '.join(get_args(Criterion))}."
        )
    if not len(gammas) or not len(lams):
        raise InputError("the grid is empty; give at least one gamma and one lam.")
    from joblib import Parallel, delayed

    settings = replace(settings or SolverSettings(), n_jobs=1)
    folds = deal_folds(labels, n_folds, seed=settings.seed)
    task = _TASKS[criterion]
    points: list[GridPoint] = []
    parallel = Parallel(n_jobs=n_jobs, return_as="generator")
    for found in parallel(
        delayed(task)(bags, labels, make_kernel(g), g, tuple(lams), folds, settings, memory_budget)
        for g in gammas
    ):
        points += found
        if progress is not None:
            progress(Progress("settings", len(points), len(gammas) * len(lams)))
    return Selection(criterion, tuple(points), min(points, key=_RANKS[criterion]))


def deal_folds(labels: BagLabels, n_folds: int, *, seed: int = 0) -> Indices:
    """Return the fold of each bag, so that even rare classes are spread over the folds.

    Bags of the rarest class are dealt first, each to the fold that has fewest of that class, then
    fewest bags.

    Examples
    --------
    >>> deal_folds(BagLabels.from_sets([{"a"}, {"a"}, set(), set()]), 2).tolist()
    [0, 1, 0, 1]
    """
    if n_folds < 2 or n_folds > labels.n_bags:
        raise InputError(
            f"n_folds is {n_folds}, but n_samples = {labels.n_bags} bags; give at least 2 folds "
            "and at least as many bags, or use tuning='rule'."
        )
    present = labels.present
    fold = np.full(labels.n_bags, -1, dtype=np.int64)
    order = np.random.default_rng(seed).permutation(labels.n_bags)
    sizes = np.zeros(n_folds, dtype=np.int64)
    columns = sorted(range(labels.n_classes), key=lambda c: (int(present[:, c].sum()), c))
    everything = np.ones(labels.n_bags, dtype=bool)
    for mask in [*(present[:, c] for c in columns), everything]:
        holding = np.bincount(fold[mask & (fold >= 0)], minlength=n_folds)
        for bag in order[mask[order] & (fold[order] < 0)]:
            chosen = int(np.lexsort((sizes, holding))[0])
            fold[bag] = chosen
            sizes[chosen] += 1
            holding[chosen] += 1
    return fold


def _training_errors(
    bags: Bags,
    labels: BagLabels,
    kernel: Kernel,
    gamma: float,
    lams: tuple[float, ...],
    folds: Indices,  # noqa: ARG001  (one signature for both criteria)
    settings: SolverSettings,
    memory_budget: int,
) -> list[GridPoint]:
    rows = GramRows(kernel, settings.working(bags.instances), budget=memory_budget)
    points = []
    for lam in lams:
        learned = learn_score_functions(bags, labels, kernel, lam=lam, settings=settings, rows=rows)
        objective = MaxHinge.from_bags(bags, labels, lam=lam)
        scores = np.column_stack([d.scores for d in learned.descents])
        hinge = sum(float(objective.losses(c, scores[:, c]).sum()) for c in range(scores.shape[1]))
        points.append(GridPoint(gamma, lam, float(objective.zero_one_errors(scores)), hinge))
    return points


def _held_out_errors(
    bags: Bags,
    labels: BagLabels,
    kernel: Kernel,
    gamma: float,
    lams: tuple[float, ...],
    folds: Indices,
    settings: SolverSettings,
    memory_budget: int,
) -> list[GridPoint]:
    whole = GramRows(kernel, settings.working(bags.instances), budget=memory_budget)
    maxima = np.full((len(lams), bags.n_bags, labels.n_classes), -np.inf)
    for fold in range(int(folds.max()) + 1):
        train, test = np.flatnonzero(folds != fold), np.flatnonzero(folds == fold)
        rows = whole.subset(np.flatnonzero(np.isin(bags.bag_index, train)))
        test_bags, train_bags = bags.take(test), bags.take(train)
        held_out = np.flatnonzero(np.isin(bags.bag_index, test))
        seen = labels.present[train].any(axis=0)
        for i, lam in enumerate(lams):
            learned = learn_score_functions(
                train_bags, labels.take(train), kernel, lam=lam, settings=settings, rows=rows
            )
            scores = _scores_between(whole, held_out, rows, learned)
            # A class that no training bag of this fold has cannot be expected anywhere.
            scores[:, ~seen] = -np.inf
            maxima[i, test] = test_bags.bag_max(scores)
    return [
        GridPoint(gamma, lam, *_balanced_error(labels, bags.sizes > 0, maxima[i]))
        for i, lam in enumerate(lams)
    ]


def _scores_between(
    whole: GramRows, held_out: Indices, rows: GramRows, learned: ScoreFunctions
) -> Floats:
    support = rows.origin[learned.support_indices]
    return np.asarray(whole.between(held_out, support) @ learned.weights, dtype=np.float64)


def _balanced_error(
    labels: BagLabels, filled: NDArray[np.bool_], maxima: Floats
) -> tuple[float, float]:
    """Return the balanced error and the mean hinge loss of held-out bags."""
    errors = []
    given = maxima > 0
    for c in range(labels.n_classes):
        present, absent = labels.present[filled, c], labels.absent[filled, c]
        if present.any():
            missed = float((~given[filled, c][present]).mean())
            wrong = float(given[filled, c][absent].mean()) if absent.any() else 0.0
            errors.append((missed + wrong) / 2)
    y = labels.status[filled]
    finite = np.maximum(maxima[filled], -1e6)
    hinge = np.maximum(0.0, 1.0 - y * finite)[y != 0]
    return float(np.mean(errors)), float(hinge.mean())


_TASKS = {"training_error": _training_errors, "cross_validation": _held_out_errors}
_RANKS: dict[Criterion, Callable[[GridPoint], tuple[float, ...]]] = {
    "training_error": lambda p: (p.error, p.gamma, -p.lam),
    "cross_validation": lambda p: (round(p.error, 12), p.hinge, p.gamma, -p.lam),
}
