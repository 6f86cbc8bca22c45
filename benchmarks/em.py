"""EM against the matrix products that it makes itself, and a forest round against its peer."""

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from _data import hja_split, scaled
from _report import run_part
from _timing import Figure, blas_threads, interleaved, ratio, spread
from raravis.kernels import Gaussian, relative_gamma
from raravis.objectives import UnionLikelihood
from raravis.solvers import KernelLogistic, TreeForest, expectation_maximisation
from raravis.solvers.em import uniform_start
from raravis.solvers.soft_logistic import LogisticFitter

MOST_PRODUCTS = 3.0
TOL, MAX_ROUNDS = 1e-4, 200


def measure(quick: bool) -> list[Figure]:
    """EM on the HJA training bags, eight known classes, by precision, on one core."""
    rounds = 3 if quick else 11
    problem = _Problem.load()
    figures = []
    with blas_threads(1):
        for dtype in (np.float32, np.float64):
            figures += _against_products(problem, dtype, rounds=rounds)
        return [*figures, _forest(problem, rounds=rounds)]


@dataclass(frozen=True)
class _Problem:
    X: NDArray[Any]
    groups: NDArray[Any]
    union: UnionLikelihood
    start: NDArray[np.float64]

    @classmethod
    def load(cls) -> "_Problem":
        train, _ = hja_split()
        union = UnionLikelihood.from_bags(train.bags, train.labels)
        start = uniform_start(train.bags.n_instances, union.n_classes)
        return cls(
            scaled(train.bags), train.bags.bag_index, union, union.posterior(start).instances
        )


@dataclass
class _Counting(LogisticFitter):
    """The M-step, counting how often value and gradient are asked for."""

    n_calls: int = field(default=0, init=False)

    def value_and_gradient(
        self, flat: NDArray[np.float64], Q: NDArray[np.float64]
    ) -> tuple[float, NDArray[np.float64]]:
        """Count, and compute."""
        self.n_calls += 1
        return super().value_and_gradient(flat, Q)


def _against_products(problem: _Problem, dtype: Any, *, rounds: int) -> list[Figure]:
    kernel = Gaussian(relative_gamma(problem.X, 4.0))
    fitter = KernelLogistic(kernel, dtype=dtype).prepare(problem.X, problem.groups)
    counting = _Counting(fitter.features, fitter.phi, fitter.lam, fitter.max_steps)
    n_rounds = len(_run(problem, counting).path)
    n_forward = counting.n_calls + n_rounds
    W = np.ones((fitter.phi.shape[1], problem.start.shape[1]), dtype=dtype)
    E = problem.start.astype(dtype)

    def products() -> None:
        for i in range(n_forward):
            fitter.phi @ W
            if i < counting.n_calls:
                fitter.phi.T @ E

    log_p = fitter.fit(problem.start, None).log_p
    tasks: dict[str, Callable[[], object]] = {
        "em": lambda: _run(problem, fitter),
        "products": products,
        "estep": lambda: problem.union.posterior(log_p),
    }
    times = interleaved(tasks, rounds=rounds)
    setting = np.dtype(dtype).name
    note = f"{times['em'].median:.2f} s, {n_rounds} rounds, {counting.n_calls} gradients"
    return [
        ratio(
            f"EM / its matrix products: {setting}",
            times["em"],
            times["products"],
            target=MOST_PRODUCTS,
            note=note,
        ),
        spread(
            f"E-step: {setting}",
            np.array(times["estep"].seconds) / len(log_p) * 1e6,
            unit="us/instance",
        ),
    ]


def _run(problem: _Problem, fitter: Any) -> Any:
    return expectation_maximisation(
        problem.union, fitter, problem.start, max_rounds=MAX_ROUNDS, tol=TOL
    )


def _forest(problem: _Problem, *, rounds: int) -> Figure:
    """One round of the forest M-step, out-of-bag answers included."""
    from sklearn.ensemble import ExtraTreesRegressor

    narrow = problem.X.astype(np.float32)
    fitter = TreeForest().prepare(problem.X, problem.groups)

    def peer() -> object:
        return ExtraTreesRegressor(
            80, max_features=1 / 3, bootstrap=True, max_samples=0.63, oob_score=True
        ).fit(narrow, problem.start)

    tasks: dict[str, Callable[[], object]] = {
        "forest": lambda: fitter.fit(problem.start, None),
        "peer": peer,
    }
    times = interleaved(tasks, rounds=max(3, rounds // 3))
    return ratio(
        "forest round / scikit-learn's ExtraTreesRegressor, out of bag by instance",
        times["forest"],
        times["peer"],
        note=f"{times['forest'].median:.2f} s",
    )


if __name__ == "__main__":
    run_part("em", measure)
