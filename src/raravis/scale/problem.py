"""What a pass over the data computes: the value and the gradient of the union likelihood.

Minimised over one weight vector a class, for landmark features phi (a constant last),

    - 1/n sum over bags of log P(labels of the bag)  +  lam/2 ||W||^2,

where P is the union likelihood of softmax(phi(x)' W). This is what EM climbs, round by round, with
a fit of soft labels in each; but value and gradient of it need no rounds: the gradient by the
scores of an instance is its probabilities minus their posterior given the labels of its bag.

Features are never whitened: phi(x)' W = k(x, Z) (L^-T W), so a pass makes three thin products and
one exponential a kernel value, tile by tile, while the tile is in the cache.
"""

from collections.abc import Callable, Hashable, Iterable, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from raravis._threads import one_blas_thread
from raravis.kernels import Kernel, against
from raravis.objectives import UnionLikelihood
from raravis.scale._workers import in_threads
from raravis.scale.parts import Block
from raravis.scaling import Scaling
from raravis.solvers.soft_logistic import log_softmax

__all__ = [
    "Problem",
    "Ready",
    "Sums",
    "bags_of",
    "block_sums",
    "groups_of_parts",
    "prepared",
    "tile_bounds",
    "total",
    "whole_value",
]

Floats = NDArray[np.floating[Any]]
Doubles = NDArray[np.float64]
Indices = NDArray[np.int64]

#: Instances of a tile, whose kernel values stay in the cache; tiles of a piece of parallel work.
TILE_ROWS = 2048
_TILES_A_PIECE = 8
_PARTS_A_GROUP = 64
#: Weight of a listed class that no instance has, as in UnionLikelihood.
_MISSED = 1e-3


@dataclass(frozen=True)
class Problem:
    """What all passes share; small, so that it can be sent anywhere."""

    kernel: Kernel
    landmarks: Floats
    whitening: Doubles
    scaling: Scaling
    classes: tuple[Hashable, ...]
    n_instances: int
    lam: float
    dtype: Any = np.float32

    @property
    def shape(self) -> tuple[int, int]:
        """Of the weights: landmarks and a constant, by novel and the classes."""
        return len(self.landmarks) + 1, len(self.classes) + 1

    def coefficients(self, weights: Doubles) -> Doubles:
        """Return what kernel values are multiplied with, a row a landmark; the constant is last."""
        return np.vstack([self.whitening @ weights[:-1], weights[-1:]])

    def without_whitening(self) -> "Problem":
        """Return what a pass needs, and no more: to be sent far."""
        return replace(self, whitening=np.empty((0, 0)))


@dataclass(frozen=True)
class Ready:
    """A block as passes need it: scaled instances, and what the labels say.

    ``kept`` says whether the same block will be seen again.
    """

    instances: Floats
    union: UnionLikelihood
    kept: bool = False


@dataclass(frozen=True)
class Sums:
    """Sums over bags: log-likelihood, kernel values times errors, errors."""

    value: float
    kernel_errors: Doubles
    errors: Doubles

    @classmethod
    def zero(cls, problem: Problem) -> "Sums":
        """Return the sums of nothing."""
        n_landmarks, n_columns = problem.shape[0] - 1, problem.shape[1]
        return cls(0.0, np.zeros((n_landmarks, n_columns)), np.zeros(n_columns))

    def __add__(self, other: "Sums") -> "Sums":
        return Sums(
            self.value + other.value,
            self.kernel_errors + other.kernel_errors,
            self.errors + other.errors,
        )


def total(parts: Iterable[Sums], problem: Problem) -> Sums:
    """Add sums one after the other: the same order gives the same bits."""
    return sum(parts, Sums.zero(problem))


def groups_of_parts(n_parts: int) -> list[range]:
    """Return which parts are summed together first, wherever that is done."""
    return [range(i, min(i + _PARTS_A_GROUP, n_parts)) for i in range(0, n_parts, _PARTS_A_GROUP)]


def whole_value(problem: Problem, sums: Sums, weights: Doubles) -> tuple[float, Doubles]:
    """Return the objective and its gradient by the weights."""
    n = problem.n_instances
    flat = weights.ravel()
    value = -sums.value / n + 0.5 * problem.lam * float(flat @ flat)
    gradient = problem.lam * weights
    gradient[:-1] += problem.whitening.T @ sums.kernel_errors / n
    gradient[-1] += sums.errors / n
    return value, gradient


def prepared(block: Block, problem: Problem, *, kept: bool = False) -> Ready:
    """Scale the instances and read the label lists of a block."""
    X = problem.scaling.apply(block.instances).astype(problem.dtype, copy=False)
    return Ready(X, union_of(block, problem.classes), kept)


def union_of(block: Block, classes: Sequence[Hashable]) -> UnionLikelihood:
    """Return what the lists of a block say; a bag that lists too much is softened."""
    column = {label: i + 1 for i, label in enumerate(classes)}
    everything = list(range(1, len(classes) + 1))
    present, unknown, n_present, n_unknown = [], [], [], []
    for item in block.label_lists:
        listed = [] if item is None else sorted(column[label] for label in item)
        open_ = everything if item is None else []
        present += listed
        unknown += open_
        n_present.append(len(listed))
        n_unknown.append(len(open_))
    short = np.array(n_present) > np.diff(block.offsets)
    return UnionLikelihood(
        offsets=np.ascontiguousarray(block.offsets, dtype=np.int64),
        n_classes=len(classes),
        present_starts=np.concatenate([[0], np.cumsum(n_present)]).astype(np.int64),
        present=np.array(present, dtype=np.int64),
        unknown_starts=np.concatenate([[0], np.cumsum(n_unknown)]).astype(np.int64),
        unknown=np.array(unknown, dtype=np.int64),
        missed=np.where(short, _MISSED, 0.0),
        max_exact=12,
    )


def block_sums(
    problem: Problem, ready: Ready, coefficients: Doubles, *, n_jobs: int | None = None
) -> Sums:
    """Return the sums over one block; they do not depend on ``n_jobs``."""
    A, constant = coefficients[:-1].astype(problem.dtype), coefficients[-1]
    kernel = against(problem.kernel, problem.landmarks.astype(problem.dtype, copy=False))
    bounds = tile_bounds(ready.union.offsets, TILE_ROWS)
    pieces = range(0, len(bounds) - 1, _TILES_A_PIECE)

    def run(i: int) -> Sums:
        last = min(pieces[i] + _TILES_A_PIECE, len(bounds) - 1)
        tiles = zip(bounds[pieces[i] : last], bounds[pieces[i] + 1 : last + 1], strict=True)
        return _piece(problem, ready, (kernel, A, constant), tiles)

    with one_blas_thread():
        return total(in_threads(run, len(pieces), n_jobs=n_jobs), problem)


def _piece(
    problem: Problem,
    ready: Ready,
    model: tuple[Callable[[Floats], Floats], Floats, Doubles],
    tiles: Iterable[tuple[int, int]],
) -> Sums:
    kernel, A, constant = model
    value, (_, n_columns) = 0.0, problem.shape
    kernel_errors, errors = np.zeros((len(A), n_columns)), np.zeros(n_columns)
    for first, last in tiles:
        union = bags_of(ready.union, first, last)
        start = int(ready.union.offsets[first])
        K = kernel(ready.instances[start : start + union.n_instances])
        log_p = log_softmax((K @ A).astype(np.float64) + constant)
        posterior, log_likelihood = union.posterior(log_p)
        wrong = np.exp(log_p, out=log_p)
        wrong -= posterior
        value += float(log_likelihood.sum())
        kernel_errors += K.T @ wrong.astype(problem.dtype, copy=False)
        errors += wrong.sum(axis=0)
    return Sums(value, kernel_errors, errors)


def tile_bounds(offsets: Indices, rows: int) -> list[int]:
    """Cut bags into runs of at most ``rows`` instances, one bag at least."""
    bounds = [0]
    n_bags = len(offsets) - 1
    while bounds[-1] < n_bags:
        end = int(np.searchsorted(offsets, offsets[bounds[-1]] + rows, side="right")) - 1
        bounds.append(min(n_bags, max(bounds[-1] + 1, end)))
    return bounds


def bags_of(union: UnionLikelihood, first: int, last: int) -> UnionLikelihood:
    """Return what the labels of some consecutive bags say."""
    return UnionLikelihood(
        offsets=union.offsets[first : last + 1] - union.offsets[first],
        n_classes=union.n_classes,
        present_starts=union.present_starts[first : last + 1],
        present=union.present,
        unknown_starts=union.unknown_starts[first : last + 1],
        unknown=union.unknown,
        missed=union.missed[first:last],
        max_exact=union.max_exact,
    )
