"""The same work on a Dask cluster: a task a part, sums in the order of the parts.

Everything a task needs is in its arguments or on disk, so a worker that dies takes nothing along:
the scheduler gives its tasks to others, and the result is the same to the bit. What a worker has
read it keeps for the next pass, under the budget; that is all it remembers.
"""

import secrets
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from typing import Any, TypeVar

import numpy as np
from numpy.typing import NDArray

from raravis.errors import InputError
from raravis.scale.parts import BagParts
from raravis.scale.passes import Backend, LocalPasses
from raravis.scale.problem import Problem, Sums, groups_of_parts, total
from raravis.scale.survey import PartSurvey, Survey, look_at, merged

__all__ = ["DaskEngine", "DaskPasses", "each_part"]

Doubles = NDArray[np.float64]
T = TypeVar("T")

#: On a worker: the passes of the fit at work, with the instances they keep.
_AT_WORK: dict[str, LocalPasses] = {}


def each_part(client: Any, run: Callable[[int], T], n_parts: int) -> Iterator[T]:
    """Yield ``run(part)`` of every part in order, on a cluster if there is one."""
    if client is None:
        yield from map(run, range(n_parts))
        return
    _require_client(client)
    task = client.submit(_itself, run, pure=False)
    futures = [client.submit(_apply, task, part, pure=False) for part in range(n_parts)]
    for part, future in enumerate(futures):
        yield future.result()
        futures[part] = None


@dataclass(frozen=True)
class DaskEngine:
    """A cluster; the sample, which is small, is worked on here."""

    client: Any
    memory_budget: int
    n_jobs: int | None
    device: str

    @property
    def backend(self) -> Backend:
        """What sums over one block here."""
        from raravis.scale.torch_backend import backend_of

        return backend_of(self.device, n_jobs=self.n_jobs)

    def survey(self, parts: BagParts, look: dict[str, Any], tell: Callable[[int], None]) -> Survey:
        """Look at all parts side by side."""
        found = []
        for survey in each_part(self.client, _Look(_resolved(parts), look), len(parts.files)):
            found.append(survey)
            tell(len(found))
        return merged(parts, found)

    def passes(self, parts: BagParts, problem: Problem) -> "DaskPasses":
        """Get ready to pass over all parts."""
        return DaskPasses(self, _resolved(parts), problem)


@dataclass(frozen=True)
class _Look:
    parts: BagParts
    look: dict[str, Any]

    def __call__(self, part: int) -> PartSurvey:
        return look_at(self.parts, part, **self.look)


class DaskPasses:
    """Passes over all parts by the workers of a cluster."""

    def __init__(self, engine: DaskEngine, parts: BagParts, problem: Problem) -> None:
        _require_client(engine.client)
        self.client = engine.client
        self.problem = problem
        self.n_parts = len(parts.files)
        # A task of its own, not scattered data, which would be gone with its last holder.
        self.pass_ = self.client.submit(
            _Pass,
            secrets.token_hex(8),
            parts,
            problem.without_whitening(),
            engine.memory_budget,
            engine.n_jobs,
            engine.device,
            pure=False,
        )

    def __call__(self, weights: Doubles, on_part: Callable[[int], None] | None = None) -> Sums:
        """Return the sums over all bags, added up as one process would."""
        told = self.client.submit(_itself, self.problem.coefficients(weights), pure=False)
        sums = [
            self.client.submit(_apply, self.pass_, part, told, pure=False)
            for part in range(self.n_parts)
        ]
        groups = [
            self.client.submit(_added, [sums[part] for part in group], self.pass_, pure=False)
            for group in groups_of_parts(self.n_parts)
        ]
        del sums
        found = []
        for group, parts in zip(groups, groups_of_parts(self.n_parts), strict=True):
            found.append(group.result())
            if on_part is not None:
                on_part(parts.stop)
        return total(found, self.problem)


@dataclass(frozen=True)
class _Pass:
    """What the tasks of all passes of a fit share."""

    name: str
    parts: BagParts
    problem: Problem
    memory_budget: int
    n_jobs: int | None
    device: str

    def __call__(self, part: int, coefficients: Doubles) -> Sums:
        passes = _AT_WORK.get(self.name)
        if passes is None:
            from raravis.scale.torch_backend import backend_of

            passes = LocalPasses(
                self.parts,
                self.problem,
                memory_budget=self.memory_budget,
                backend=backend_of(self.device, n_jobs=self.n_jobs),
            )
            _AT_WORK.clear()
            _AT_WORK[self.name] = passes
        return passes.part(part, coefficients)


def _itself(value: T) -> T:
    return value


def _apply(function: Callable[..., T], *arguments: Any) -> T:
    return function(*arguments)


def _added(sums: list[Sums], of: _Pass) -> Sums:
    return total(sums, of.problem)


def _resolved(parts: BagParts) -> BagParts:
    """Return the same parts by full paths: workers may stand in another folder."""
    return replace(parts, files=tuple(file.resolve() for file in parts.files))


def _require_client(client: Any) -> None:
    if not hasattr(client, "submit") or not hasattr(client, "scheduler"):
        raise InputError(
            f"client is a {type(client).__name__}; pass a dask.distributed.Client (the extra "
            "'distributed'), such as Client(LocalCluster())."
        )
