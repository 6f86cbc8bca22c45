"""From bags to score functions: one pure function, and its sparse result."""

from dataclasses import dataclass, field
from typing import Any, Literal, get_args

import numpy as np
from numpy.typing import NDArray

from raravis.bags import Bags
from raravis.errors import InputError
from raravis.gram import GramRows
from raravis.kernels import DEFAULT_BUDGET, Kernel, Precomputed, product
from raravis.labels import BagLabels
from raravis.landmark_rows import LandmarkRows
from raravis.objectives import MaxHinge
from raravis.progress import Progress, ProgressCallback
from raravis.solvers import Descent, solve_alternating, solve_cccp
from raravis.solvers.starts import contrast_scores, random_scores

__all__ = ["ScoreFunctions", "SolverSettings", "learn_score_functions"]

Floats = NDArray[np.floating[Any]]
Indices = NDArray[np.int64]
SolverName = Literal["cccp", "alternating"]
StartName = Literal["contrast", "random"]

#: Duality gaps down to this are told apart in single precision.
_SINGLE_PRECISION_TOL = 1e-4


@dataclass(frozen=True)
class SolverSettings:
    """How the objective is minimised; ``max_rounds`` None leaves it to the solver."""

    solver: SolverName = "cccp"
    start: StartName | Floats = "contrast"
    n_restarts: int = 1
    max_rounds: int | None = None
    tol: float = 1e-3
    seed: int = 0
    n_jobs: int | None = None

    def working(self, X: Floats) -> Floats:
        """Return X in the precision that ``tol`` asks of the Gram matrix.

        Single precision carries six digits and halves the memory; sums are double all the same.
        Not so in L-BFGS, which multiplies the matrix as it is by vectors of doubles.
        """
        if self.solver == "alternating":
            return X.astype(np.float64, copy=False)
        return X if self.tol < _SINGLE_PRECISION_TOL else X.astype(np.float32, copy=False)

    def __post_init__(self) -> None:
        if self.solver not in get_args(SolverName):
            raise InputError(
                f"solver is {self.solver!r}; pass one of {', '.join(get_args(SolverName))}."
            )
        if isinstance(self.start, str) and self.start not in get_args(StartName):
            raise InputError(
                f"init is {self.start!r}; pass one of {', '.join(get_args(StartName))}, or an "
                "array of scores of shape (n_instances, n_classes)."
            )


@dataclass(frozen=True)
class ScoreFunctions:
    """f_c(x) = sum_l weights[l, c] * k(x, support[l]), over the instances with a weight at all."""

    kernel: Kernel
    support: Floats
    support_indices: Indices
    weights: NDArray[np.float64]
    descents: tuple[Descent, ...] = field(default=(), repr=False, compare=False)

    @classmethod
    def from_descents(cls, kernel: Kernel, X: Floats, descents: list[Descent]) -> "ScoreFunctions":
        """Keep the instances that any class gives a weight to."""
        weights = np.column_stack([d.weights for d in descents])
        kept = np.flatnonzero(weights.any(axis=1))
        support = X[kept] if not isinstance(kernel, Precomputed) else X[:0]
        return cls(kernel, support, kept, weights[kept], tuple(descents))

    @classmethod
    def from_landmarks(
        cls, rows: LandmarkRows, X: Floats, descents: list[Descent]
    ) -> "ScoreFunctions":
        """Move the weights of all instances to the landmarks: the same functions, fewer terms."""
        weights = rows.on_landmarks(np.column_stack([d.weights for d in descents]))
        chosen = rows.landmarks
        return cls(rows.kernel, X[chosen], chosen, weights, tuple(descents))

    def __call__(
        self, X: Floats, *, budget: int = DEFAULT_BUDGET, n_jobs: int | None = None
    ) -> NDArray[np.float64]:
        """Return the scores of new instances, (n, n_classes)."""
        if isinstance(self.kernel, Precomputed):
            return np.asarray(X[:, self.support_indices] @ self.weights, dtype=np.float64)
        if not len(self.support):
            return np.zeros((len(X), self.weights.shape[1]))
        weights = self.weights.astype(X.dtype, copy=False)
        support = self.support.astype(X.dtype, copy=False)
        return product(self.kernel, X, support, weights, budget=budget, n_jobs=n_jobs)


def learn_score_functions(
    bags: Bags,
    labels: BagLabels,
    kernel: Kernel,
    *,
    lam: float,
    settings: SolverSettings | None = None,
    rows: GramRows | LandmarkRows | None = None,
    memory_budget: int = DEFAULT_BUDGET,
    progress: ProgressCallback | None = None,
) -> ScoreFunctions:
    """Minimise the bag hinge objective of every class of ``labels``.

    ``bags`` hold features already scaled. ``rows`` may carry a Gram matrix computed before, or
    stand for that of landmark features: then the functions are sums over landmarks.

    Examples
    --------
    >>> import numpy as np
    >>> from raravis.kernels import Linear
    >>> bags = Bags.from_list([np.array([[1.0], [-1.0]]), np.array([[-1.0]])])
    >>> labels = BagLabels.from_sets([{"wren"}, set()])
    >>> f = learn_score_functions(bags, labels, Linear(), lam=0.01)
    >>> f(np.array([[2.0], [-2.0]])).round(1).ravel()
    array([ 2., -2.])
    """
    settings = settings or SolverSettings()
    if rows is None:
        rows = GramRows(
            kernel, settings.working(bags.instances), budget=memory_budget, n_jobs=settings.n_jobs
        )
    objective = MaxHinge.from_bags(bags, labels, lam=lam)

    def on_class(done: int) -> None:
        if progress is not None:
            progress(Progress("classes", done, objective.n_classes))

    if isinstance(rows, LandmarkRows):
        descents = _descend(objective, rows, settings, on_class)
        return ScoreFunctions.from_landmarks(rows, bags.instances, descents)
    if settings.solver == "alternating":
        descents = _alternate(objective, rows, settings, on_class)
    else:
        descents = _descend(objective, rows, settings, on_class)
    return ScoreFunctions.from_descents(kernel, bags.instances, descents)


def _alternate(
    objective: MaxHinge, rows: GramRows, settings: SolverSettings, on_class: Any
) -> list[Descent]:
    return solve_alternating(
        objective,
        rows,
        n_rounds=settings.max_rounds or 30,
        n_restarts=settings.n_restarts,
        seed=settings.seed,
        n_jobs=settings.n_jobs,
        on_class=on_class,
    )


def _descend(
    objective: MaxHinge, rows: GramRows | LandmarkRows, settings: SolverSettings, on_class: Any
) -> list[Descent]:
    """Descend from each start, and keep the lowest end of every class."""
    best: list[Descent] = []
    # Only random starts differ from one another.
    drawn = isinstance(settings.start, str) and settings.start == "random"
    n_starts = settings.n_restarts if drawn else 1
    for restart in range(n_starts):
        ends = solve_cccp(
            objective,
            rows,
            _start_scores(objective, rows, settings, restart),
            tol=settings.tol,
            max_rounds=settings.max_rounds or 50,
            n_jobs=settings.n_jobs,
            on_class=on_class,
        )
        best = [end.better(old) for end, old in zip(ends, best or ends, strict=True)]
    return best


def _start_scores(
    objective: MaxHinge, rows: GramRows | LandmarkRows, settings: SolverSettings, restart: int
) -> Floats:
    if isinstance(settings.start, str):
        if settings.start == "contrast":
            return contrast_scores(objective, rows, seed=settings.seed)
        return random_scores(objective, rows, seed=settings.seed + restart)
    start = np.asarray(settings.start, dtype=np.float64)
    if start.shape != (rows.n, objective.n_classes) or not np.isfinite(start).all():
        raise InputError(
            f"init is an array of shape {start.shape}; pass finite scores of shape "
            f"({rows.n}, {objective.n_classes}): a row per training instance, a column per class."
        )
    return start
