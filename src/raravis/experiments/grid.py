"""Running models over label sets and repeats, in parallel, journalled and interruptible."""

import math
import multiprocessing
import signal
import time
import warnings
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, NamedTuple

from threadpoolctl import threadpool_limits

from raravis.experiments.journal import Journal, Record, fingerprint
from raravis.experiments.models import MODELS, ModelSpec
from raravis.experiments.protocols import BagProtocol, Source, Trial
from raravis.experiments.results import Cell
from raravis.progress import Progress, ProgressCallback

__all__ = ["Arm", "GridResult", "RunOptions", "run_grid"]


@dataclass(frozen=True)
class Arm:
    """Models under one protocol, and how many repeats each gets.

    Parameters
    ----------
    name : str
        What the cells of this arm are found under.
    protocol : DigitBags or BirdBags
    label_sets : sequence of tuples of known classes
    repeats : mapping
        Number of repeats of every model, by name.
    """

    name: str
    protocol: BagProtocol
    label_sets: tuple[tuple[Any, ...], ...]
    repeats: Mapping[str, int]


@dataclass(frozen=True)
class RunOptions:
    """How a grid is run; nothing here changes a figure except the seed."""

    stage: str = "experiment"
    seed: int = 0
    jobs: int = 1
    data_home: Any = None
    journal: Journal | None = None
    progress: ProgressCallback | None = None


@dataclass(frozen=True)
class GridResult:
    """Figures of every (arm, label set, model), by repeat, and whether all of them are there."""

    records: Mapping["_Key", Record] = field(default_factory=dict)
    complete: bool = True

    @property
    def n_older(self) -> int:
        """Number of figures that the journal had from other code."""
        return sum(record.older for record in self.records.values())

    def cells(
        self,
        arm: Arm,
        *,
        paper: Callable[[tuple[Any, ...]], float | None] = lambda _: None,
        classes: tuple[Any, ...] | None = None,
    ) -> tuple[Cell, ...]:
        """Return the cells of an arm, models within label sets; those not begun are left out."""
        made = [
            self._cell(arm, known, model, paper(known), classes)
            for known in arm.label_sets
            for model in arm.repeats
        ]
        return tuple(cell for cell in made if cell.aucs)

    def _cell(
        self,
        arm: Arm,
        known: tuple[Any, ...],
        model: str,
        paper: float | None,
        classes: tuple[Any, ...] | None,
    ) -> Cell:
        keys = [_Key(arm.name, known, repeat, model) for repeat in range(arm.repeats[model])]
        # An interrupted run keeps the place of a missing repeat, so that pairs stay pairs.
        found = [self.records.get(key, Record(math.nan, 0.0)) for key in keys]
        any_found = any(key in self.records for key in keys)
        return Cell(
            known=known,
            novel=None if classes is None else tuple(c for c in classes if c not in known),
            model=model,
            aucs=tuple(record.auc for record in found) if any_found else (),
            paper=paper,
            seconds=sum(record.seconds for record in found),
        )


class _Key(NamedTuple):
    arm: str
    known: tuple[Any, ...]
    repeat: int
    model: str


class _Task(NamedTuple):
    """One trial and the models that are still to be run on it."""

    arm: Arm
    known: tuple[Any, ...]
    repeat: int
    models: tuple[str, ...]


def run_grid(arms: Sequence[Arm], options: RunOptions) -> GridResult:
    """Run every model on every trial of every arm.

    Finished tasks go to the journal at once; what the journal holds already is not run again.
    Ctrl-C stops the workers and returns what is finished.
    """
    journalled = options.journal.read() if options.journal else {}
    tasks = list(_tasks(arms))
    records = _known_records(tasks, options.seed, journalled)
    open_tasks = [left for task in tasks if (left := _remaining(task, records)).models]
    done = len(tasks) - len(open_tasks)
    complete = True
    try:
        _tell(options, done, len(tasks))
        for task, found in _run(open_tasks, options):
            if options.journal:
                options.journal.append(_keyed(task, found, options.seed))
            records.update({_key(task, model): record for model, record in found.items()})
            done += 1
            _tell(options, done, len(tasks))
    except KeyboardInterrupt:
        complete = done == len(tasks)
    return GridResult(records, complete)


def _tasks(arms: Sequence[Arm]) -> Iterator[_Task]:
    """Repeat by repeat, so that a run cut short has something on every label set."""
    most = max((n for arm in arms for n in arm.repeats.values()), default=0)
    for repeat in range(most):
        for arm in arms:
            models = tuple(model for model, n in arm.repeats.items() if repeat < n)
            for known in arm.label_sets:
                if models:
                    yield _Task(arm, known, repeat, models)


def _key(task: _Task, model: str) -> _Key:
    return _Key(task.arm.name, task.known, task.repeat, model)


def _fingerprint(task: _Task, model: str, seed: int) -> str:
    protocol = task.arm.protocol.describe()
    how = f"{model}: {MODELS[model].identity}"
    return fingerprint(protocol, task.known, task.repeat, seed=seed, model=how)


def _keyed(task: _Task, found: Mapping[str, Record], seed: int) -> dict[str, Record]:
    return {_fingerprint(task, model, seed): record for model, record in found.items()}


def _known_records(
    tasks: Iterable[_Task], seed: int, journalled: Mapping[str, Record]
) -> dict[_Key, Record]:
    if not journalled:
        return {}
    keys = {
        _key(task, model): _fingerprint(task, model, seed)
        for task in tasks
        for model in task.models
    }
    return {key: journalled[print_] for key, print_ in keys.items() if print_ in journalled}


def _remaining(task: _Task, records: Mapping[_Key, Record]) -> _Task:
    left = tuple(model for model in task.models if _key(task, model) not in records)
    return task._replace(models=left)


def _tell(options: RunOptions, done: int, total: int) -> None:
    if options.progress is not None:
        options.progress(Progress(options.stage, done, total))


def _run(tasks: Sequence[_Task], options: RunOptions) -> Iterator[tuple[_Task, dict[str, Record]]]:
    """Run tasks as workers come free. Closing the iterator stops the workers."""
    if not tasks:
        return
    from joblib import Parallel, delayed

    sources = _load({task.arm.name: task.arm.protocol for task in tasks}, options.data_home)
    parallel = Parallel(n_jobs=options.jobs, return_as="generator_unordered")
    calls = (
        delayed(_evaluate)(
            i,
            sources[task.arm.name].trial(task.known, task.repeat, options.seed),
            {name: MODELS[name] for name in task.models},
        )
        for i, task in enumerate(tasks)
    )
    results = parallel(calls)
    try:
        for i, found in results:
            yield tasks[i], found
    finally:
        with warnings.catch_warnings():
            # What is cancelled is what was asked for; the caller says so in its own words.
            warnings.simplefilter("ignore", UserWarning)
            results.close()


def _load(protocols: Mapping[str, BagProtocol], data_home: Any) -> dict[str, Source]:
    return {name: protocol.load(data_home) for name, protocol in protocols.items()}


def _evaluate(
    position: int, trial: Trial, models: Mapping[str, ModelSpec]
) -> tuple[int, dict[str, Record]]:
    """Run models on one trial, on one core: the figures then do not depend on the workers."""
    if multiprocessing.parent_process() is not None:
        # Ctrl-C reaches every process of the terminal; the parent decides, and stops the workers.
        signal.signal(signal.SIGINT, signal.SIG_IGN)
    with threadpool_limits(1):
        return position, {name: _record(trial, model) for name, model in models.items()}


def _record(trial: Trial, model: ModelSpec) -> Record:
    from sklearn.exceptions import ConvergenceWarning

    if trial.test_known.all() or not trial.test_known.any():
        return Record(math.nan, 0.0)
    # Processor time: on one thread it is the wall time of a core that does nothing else.
    start = time.process_time()
    with warnings.catch_warnings():
        # A model at its limit of rounds is judged by its figure like any other.
        warnings.simplefilter("ignore", ConvergenceWarning)
        curve = model.curve(trial)
    return Record(float(curve.auc), time.process_time() - start)
