"""The convex-concave procedure: fix the positive witnesses, solve the rest exactly, repeat.

Fixing a positive bag's best instance majorises its concave part, and a negative bag's loss is
convex as it stands, so the objective falls at every round. By the representer theorem a round's
solution lives on the witnesses and on the negative instances that press against their margin: a
few hundred of many thousand. So each class keeps a working set, solves its dual there
(``raravis.solvers.dual``), scores all instances, and admits the worst offender of every violated
negative bag until the duality gap over *all* instances is below tolerance.

A class is a generator that yields the Gram rows it needs next. Where the whole Gram matrix fits
the memory budget the classes run freely in threads; otherwise they advance in step, so that a row
is computed once for all of them, and always in the same order.
"""

from collections.abc import Callable, Generator, Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from raravis._threads import map_in_threads, one_blas_thread
from raravis.gram import GramRows
from raravis.landmark_rows import LandmarkRows
from raravis.objectives import MaxHinge
from raravis.solvers.descent import Descent, Reason

__all__ = ["solve_cccp"]

Floats = NDArray[np.floating[Any]]
Doubles = NDArray[np.float64]
Indices = NDArray[np.int64]
ClassRun = Generator[Indices, None, Descent]

#: Sweeps over the working set before all instances are looked at again, and how often at most.
_MAX_SWEEPS = 500
_MAX_ASCENTS = 60


def solve_cccp(
    objective: MaxHinge,
    rows: GramRows | LandmarkRows,
    start_scores: Floats,
    *,
    tol: float = 1e-3,
    max_rounds: int = 50,
    n_jobs: int | None = None,
    on_class: Callable[[int], None] | None = None,
) -> list[Descent]:
    """Descend from ``start_scores`` (n_instances, n_classes); one ``Descent`` a class.

    ``tol`` bounds the relative duality gap of every inner solution, and the relative decrease of
    the objective below which rounds end.
    """

    def begin(c: int) -> ClassRun:
        return _ClassDescent(objective, c, rows, tol, max_rounds).run(start_scores[:, c])

    if rows.complete:
        with one_blas_thread():
            return map_in_threads(
                lambda c: _exhaust(begin(c)), objective.n_classes, n_jobs=n_jobs, on_done=on_class
            )
    return _in_step([begin(c) for c in range(objective.n_classes)], rows, n_jobs, on_class)


def _exhaust(run: ClassRun) -> Descent:
    """Run a class to its end when every row is already there."""
    while True:
        try:
            next(run)
        except StopIteration as stop:
            result: Descent = stop.value
            return result


def _in_step(
    runs: list[ClassRun],
    rows: GramRows | LandmarkRows,
    n_jobs: int | None,
    on_class: Callable[[int], None] | None,
) -> list[Descent]:
    """Advance all classes together, group by group of those whose rows fit the budget at once."""
    results: dict[int, Descent] = {}
    wanted: dict[int, Indices] = {c: np.empty(0, dtype=np.int64) for c in range(len(runs))}
    while wanted:
        for group, union in _groups_that_fit(wanted, rows.capacity):
            rows.ensure(union)
            for c, step in zip(group, _advance(group, runs, n_jobs), strict=True):
                if isinstance(step, Descent):
                    results[c] = step
                    del wanted[c]
                    if on_class is not None:
                        on_class(len(results))
                else:
                    wanted[c] = step
    return [results[c] for c in range(len(runs))]


def _groups_that_fit(
    wanted: dict[int, Indices], capacity: int
) -> Iterator[tuple[list[int], Indices]]:
    """Split the classes, in order, into groups whose union of rows fits."""
    group: list[int] = []
    union = np.empty(0, dtype=np.int64)
    for c, indices in list(wanted.items()):
        larger = np.union1d(union, indices)
        if group and len(larger) > capacity:
            yield group, union
            group, larger = [], indices
        group.append(c)
        union = larger
    if group:
        yield group, union


def _advance(group: list[int], runs: list[ClassRun], n_jobs: int | None) -> list[Descent | Indices]:
    def step(i: int) -> Descent | Indices:
        try:
            return next(runs[group[i]])
        except StopIteration as stop:
            result: Descent = stop.value
            return result

    with one_blas_thread():
        return map_in_threads(step, len(group), n_jobs=n_jobs)


class _WorkingSet:
    """Instances with a dual weight, and their Gram matrix in the corner of a growing square.

    An instance that leaves is only marked as resting, so that its return costs nothing.
    """

    def __init__(self, rows: GramRows | LandmarkRows, bag_of: Indices, sign_of: Doubles) -> None:
        self.rows = rows
        self.bag_of = bag_of
        self.sign_of = sign_of
        self.slot_of: Indices = np.full(rows.n, -1, dtype=np.int64)
        self.instances: Indices = np.empty(0, dtype=np.int64)
        self.live: NDArray[np.bool_] = np.empty(0, dtype=bool)
        self.alpha: Doubles = np.empty(0)
        self.square: Floats = np.empty((0, 0), dtype=rows.X.dtype)

    @property
    def sign(self) -> Doubles:
        """+1 for instances of positive bags, -1 for those of negative ones."""
        return self.sign_of[self.instances]

    def takes_part(self, instances: Indices) -> NDArray[np.bool_]:
        """Say of each instance whether it is in the set and not resting."""
        slots = self.slot_of[instances]
        part: NDArray[np.bool_] = (slots >= 0) & np.append(self.live, False)[slots]
        return part

    def admit(self, instances: Indices) -> None:
        """Have these instances take part; the new ones enter with no weight."""
        slots = self.slot_of[instances]
        self.live[slots[slots >= 0]] = True
        new = instances[slots < 0]
        if len(new):
            self._append(new)

    def _append(self, new: Indices) -> None:
        old, size = len(self.instances), len(self.instances) + len(new)
        self.slot_of[new] = np.arange(old, size)
        self.instances = np.concatenate([self.instances, new])
        self.live = np.concatenate([self.live, np.ones(len(new), dtype=bool)])
        self.alpha = np.concatenate([self.alpha, np.zeros(len(new))])
        if size > len(self.square):
            self._grow(old, max(size, len(self.square) * 3 // 2))
        block = self.rows.between(new, self.instances)
        self.square[old:size, :size] = block
        self.square[:old, old:size] = block[:, :old].T

    def _grow(self, used: int, capacity: int) -> None:
        square = np.empty((capacity, capacity), dtype=self.rows.X.dtype)
        square[:used, :used] = self.square[:used, :used]
        self.square = square

    def rest(self, mask: NDArray[np.bool_]) -> None:
        """Let the instances under ``mask`` take no part; drop them once most of the set rests."""
        self.live &= ~mask
        self.alpha[mask] = 0.0
        if 2 * self.live.sum() < len(self.live):
            self._compact()

    def _compact(self) -> None:
        kept = np.flatnonzero(self.live)
        self.slot_of[self.instances[~self.live]] = -1
        self.square = np.ascontiguousarray(self.square[np.ix_(kept, kept)])
        self.instances, self.alpha = self.instances[kept], self.alpha[kept]
        self.live = np.ones(len(kept), dtype=bool)
        self.slot_of[self.instances] = np.arange(len(kept))

    def by_bag(self) -> tuple[Indices, Indices]:
        """Return the live slots bag by bag, and where each bag begins among them."""
        slots = np.flatnonzero(self.live)
        bags = self.bag_of[self.instances[slots]]
        order = slots[np.argsort(bags, kind="stable")]
        starts = np.flatnonzero(np.diff(self.bag_of[self.instances[order]], prepend=-1))
        return order, np.append(starts, len(order))

    def weights(self) -> Doubles:
        """Return alpha of the score function over all instances."""
        weights = np.zeros(self.rows.n)
        weights[self.instances] = self.sign * self.alpha
        return weights


@dataclass
class _ClassDescent:
    """The descent of one class."""

    objective: MaxHinge
    c: int
    rows: GramRows | LandmarkRows
    tol: float
    max_rounds: int

    def __post_init__(self) -> None:
        y = self.objective.status[:, self.c]
        self.positive = np.flatnonzero(y > 0)
        self.negative = np.flatnonzero(y < 0)
        self.bag_of = np.repeat(np.arange(len(y)), self.objective.sizes)
        self.floor = 1e-6 if self.rows.X.dtype == np.float32 else 1e-11
        sign_of = y[self.bag_of].astype(np.float64)
        self.working = _WorkingSet(self.rows, self.bag_of, sign_of)
        self.weights = np.zeros(self.rows.n)
        self.scores = np.zeros(self.rows.n)

    def run(self, start_scores: Floats) -> ClassRun:
        """Descend round by round; yields the rows needed, returns where it ended."""
        witnesses = self.objective.witnesses(start_scores)
        path: list[float] = []
        best = (self.weights, self.scores)
        for _ in range(self.max_rounds):
            self._place(witnesses)
            tol = self.tol
            value = yield from self._solve(tol)
            while path and value > path[-1] and tol > self.floor:
                tol = max(tol / 10, self.floor)
                value = yield from self._solve(tol)
            if path and value > path[-1]:
                return self._result(*best, path, "rounding limit")
            settled = bool(path) and path[-1] - value <= self.tol * abs(value)
            path.append(value)
            best = (self.weights, self.scores.copy())
            previous, witnesses = witnesses, self.objective.witnesses(self.scores)
            if np.array_equal(witnesses[self.positive], previous[self.positive]):
                return self._result(*best, path, "witnesses settled")
            if settled:
                return self._result(*best, path, "objective settled")
        return self._result(*best, path, "round limit")

    def _result(
        self, weights: Doubles, scores: Doubles, path: list[float], reason: Reason
    ) -> Descent:
        if not self.exact:
            reason = "sweep limit"
        converged = reason not in ("round limit", "sweep limit")
        return Descent(weights, scores, tuple(path), converged, reason)

    def _place(self, witnesses: Indices) -> None:
        """Put the positive witnesses and each negative bag's best instance into the working set.

        A bag whose witness moved hands its weight to the new one: the warm start of the round.
        """
        working = self.working
        chosen = witnesses[self.positive]
        positive = working.sign > 0
        handed = np.zeros(len(self.objective.starts))
        np.add.at(handed, self.bag_of[working.instances[positive]], working.alpha[positive])
        is_chosen = np.zeros(self.rows.n, dtype=bool)
        is_chosen[chosen] = True
        working.rest(np.where(positive, ~is_chosen[working.instances], working.alpha == 0))
        working.admit(chosen)
        working.alpha[working.slot_of[chosen]] = handed[self.positive]
        working.admit(witnesses[self.negative])

    def _solve(self, tol: float) -> Generator[Indices, None, float]:
        """Solve the convex problem to a relative gap over all instances; return the objective."""
        inner = max(0.3 * tol, self.floor)
        yield from self._rescore()
        self.exact = False
        for _ in range(_MAX_ASCENTS):
            self._ascend(inner)
            yield from self._rescore()
            gap, offenders = self._gap()
            if gap <= tol:
                self.exact = True
                break
            if len(offenders):
                self.working.admit(offenders)
            else:
                inner = max(0.1 * inner, self.floor)
        return self.objective.value(self.c, self.scores, self._squared_norm())

    def _ascend(self, tol: float) -> None:
        from raravis.solvers.dual import ascend

        working = self.working
        order, bounds = working.by_bag()
        scores = self.scores[working.instances]
        box = self.objective.box
        ascend(
            working.square,
            working.sign,
            order,
            bounds,
            working.alpha,
            scores,
            box,
            tol,
            _MAX_SWEEPS,
        )

    def _rescore(self) -> Generator[Indices, None, None]:
        """Bring f at all instances up to date by the rows whose weight has changed."""
        weights = self.working.weights()
        changed = np.flatnonzero(weights != self.weights)
        for start in range(0, len(changed), max(1, self.rows.capacity)):
            part = changed[start : start + self.rows.capacity]
            yield part
            amounts = weights[part] - self.weights[part]
            self.rows.add_rows(part, amounts, self.scores)
        self.weights = weights

    def _squared_norm(self) -> float:
        return float(self.weights @ self.scores)

    def _gap(self) -> tuple[float, Indices]:
        """Return the relative duality gap, and the worst instance of each violated negative bag."""
        working = self.working
        taking_part = working.instances[working.live]
        slack = np.zeros(len(self.objective.starts))
        margins = 1.0 - working.sign_of[taking_part] * self.scores[taking_part]
        np.maximum.at(slack, self.bag_of[taking_part], margins)
        worst = self.objective.witnesses(self.scores)[self.negative]
        losses = np.maximum(0.0, 1.0 + self.scores[worst])
        violated = losses > slack[self.negative] * (1.0 + 1e-12) + 1e-12
        offenders = worst[violated]
        offenders = offenders[~working.takes_part(offenders)]
        slack[self.negative] = losses
        squared = self._squared_norm()
        primal = 0.5 * squared + self.objective.box * float(slack.sum())
        dual = float(working.alpha.sum()) - 0.5 * squared
        return (primal - dual) / max(abs(primal), 1e-300), offenders
