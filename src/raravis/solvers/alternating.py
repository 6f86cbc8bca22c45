"""Algorithm 1 of the 2013 paper, as printed.

Random alpha of unit norm; then T times: fix every bag's best instance, positive and negative bags
alike, and minimise the now convex surrogate over alpha with L-BFGS and the paper's subgradient.
The best of several restarts is kept. It is here to be compared with: ``solve_cccp`` reaches lower
objectives in a fraction of the time. The objective may rise between rounds, because fixing a
negative bag's best instance does not majorise its loss.
"""

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from raravis._threads import map_in_threads, one_blas_thread
from raravis.errors import InputError
from raravis.gram import GramRows
from raravis.objectives import MaxHinge
from raravis.solvers.descent import Descent

__all__ = ["solve_alternating"]

Floats = NDArray[np.floating[Any]]
Doubles = NDArray[np.float64]
Indices = NDArray[np.int64]


def solve_alternating(
    objective: MaxHinge,
    rows: GramRows,
    *,
    n_rounds: int = 30,
    n_restarts: int = 1,
    seed: int = 0,
    max_lbfgs_iter: int = 200,
    n_jobs: int | None = None,
    on_class: Callable[[int], None] | None = None,
) -> list[Descent]:
    """Run Algorithm 1 for every class; one ``Descent`` a class.

    The Gram matrix is needed whole: the budget of ``rows`` must hold it.
    """
    if not rows.complete:
        raise InputError(
            f"Algorithm 1 needs the whole Gram matrix of {rows.n} instances, "
            f"{rows.n**2 * rows.X.dtype.itemsize / 2**20:.0f} MiB; the memory budget is "
            f"{rows.budget / 2**20:.0f} MiB. Raise memory_budget or use solver='cccp'."
        )

    def run(c: int) -> Descent:
        best: Descent | None = None
        for restart in range(n_restarts):
            rng = np.random.default_rng([seed, c, restart])
            best = _descend(objective, c, rows.table, rng, n_rounds, max_lbfgs_iter).better(best)
        if best is None:
            raise InputError(f"n_restarts is {n_restarts}; at least 1 is needed.")
        return best

    with one_blas_thread():
        return map_in_threads(run, objective.n_classes, n_jobs=n_jobs, on_done=on_class)


def _descend(
    objective: MaxHinge, c: int, K: Floats, rng: np.random.Generator, n_rounds: int, max_iter: int
) -> Descent:
    alpha = rng.standard_normal(len(K))
    alpha /= np.linalg.norm(alpha)
    scores: Doubles = K @ alpha
    path: list[float] = []
    for _ in range(n_rounds):
        witnesses = objective.witnesses(scores)
        alpha, scores = _fixed_witness_minimum(objective, c, K, alpha, witnesses, max_iter)
        path.append(objective.value(c, scores, float(alpha @ scores)))
        if np.array_equal(objective.witnesses(scores), witnesses):
            return Descent(alpha, scores, tuple(path), True, "witnesses settled")
    return Descent(alpha, scores, tuple(path), False, "round limit")


def _fixed_witness_minimum(
    objective: MaxHinge, c: int, K: Floats, alpha: Doubles, witnesses: Indices, max_iter: int
) -> tuple[Doubles, Doubles]:
    """Minimise the surrogate over alpha with L-BFGS and the paper's subgradient."""
    from scipy.optimize import minimize

    near = K[witnesses]

    def value_and_gradient(a: Doubles) -> tuple[float, Floats]:
        return surrogate(objective, c, K, a, witnesses, near)

    result = minimize(
        value_and_gradient, alpha, jac=True, method="L-BFGS-B", options={"maxiter": max_iter}
    )
    best = np.asarray(result.x)
    return best, K @ best


def surrogate(
    objective: MaxHinge,
    c: int,
    K: Floats,
    alpha: Doubles,
    witnesses: Indices,
    near: Floats,
) -> tuple[float, Floats]:
    """Return the paper's surrogate, every bag's witness fixed, and its subgradient in alpha.

    ``near`` are the rows of ``K`` of the witnesses: the loss needs no others, as in the paper.
    """
    scores = K @ alpha
    y = objective.status[:, c].astype(np.float64)
    hinge = np.maximum(0.0, 1.0 - y * scores[witnesses]) * (y != 0)
    value = 0.5 * objective.lam * float(alpha @ scores) + objective.loss_weight * float(hinge.sum())
    violated = np.where(hinge > 0, y, 0.0)
    return value, objective.lam * scores - objective.loss_weight * (violated @ near)
