"""Steps that make one file for each recording: kept under the content they were made from.

A file's name holds the SHA-256 of the recording's content and the key of what was computed, so a
recording that is renamed or moved keeps its files, and one that is replaced gets new ones.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Literal

from raravis.audio import AudioError
from raravis.progress import Progress, ProgressCallback
from raravis.study.files import read_json, write_json, write_table
from raravis.study.workers import DIED, map_tasks

__all__ = ["Made", "Outcome", "Problem", "Product", "Task", "carry_out", "make_products"]


@dataclass(frozen=True)
class Problem:
    """A recording that a step could do nothing with."""

    recording: str
    what: str


@dataclass(frozen=True)
class Product:
    """A file that is to be made for a recording.

    Parameters
    ----------
    recording, path : str
        The recording's name, and its file.
    size_bytes, mtime_ns : int
        Of that file, when it was hashed.
    target : Path
        What is made.
    about : mapping
        What it says of itself.
    inputs : mapping
        Whatever else the work needs; plain data.
    """

    recording: str
    path: str
    size_bytes: int
    mtime_ns: int
    target: Path
    about: Mapping[str, Any]
    inputs: Mapping[str, Any] = field(default_factory=dict)

    @property
    def failure_path(self) -> Path:
        """Where it stands that the content is at fault, and how."""
        return self.target.with_suffix(".failed.json")

    @property
    def problem(self) -> str | None:
        """What is wrong with the content, if that is known."""
        found = read_json(self.failure_path)
        return None if found is None else str(found.get("problem"))


@dataclass(frozen=True)
class Task:
    """A product with the function that computes its columns."""

    product: Product
    compute: Callable[[Product], Mapping[str, Any]]


@dataclass(frozen=True)
class Outcome:
    """What became of a task: the number of rows, or what went wrong.

    "failed" is for good, the content being at fault; "passing" is worth another try.
    """

    n_rows: int = 0
    problem: str | None = None
    kind: Literal["made", "failed", "passing"] = "made"


@dataclass(frozen=True)
class Made:
    """What a step made: rows by recording, how many files are new, and what went wrong.

    ``passing`` holds the files that may be made another time, each with what went wrong.
    """

    n_rows: Mapping[str, int]
    n_made: int
    n_kept: int
    problems: tuple[Problem, ...]
    passing: Mapping[str, str] = field(default_factory=dict)


def make_products(
    products: Sequence[Product],
    compute: Callable[[Product], Mapping[str, Any]],
    *,
    stage: str,
    workers: int,
    progress: ProgressCallback | None = None,
) -> Made:
    """Make the files that are not there yet."""
    there = {product.recording: _what_is_there(product) for product in products}
    # Recordings of one content share a file: it is made once.
    due = {p.target: p for p in reversed(products) if there[p.recording] is None}
    tasks = [Task(product, compute) for product in reversed(due.values())]
    outcomes: dict[Path, Outcome] = {}
    for task, outcome in map_tasks(carry_out, tasks, workers=workers):
        outcomes[task.product.target] = _settled(task.product, outcome)
        if progress is not None:
            progress(Progress(stage, len(outcomes), len(tasks)))
    found = {p.recording: there[p.recording] or outcomes[p.target] for p in products}
    return Made(
        n_rows={name: it.n_rows for name, it in found.items() if it.kind == "made"},
        n_made=sum(it.kind == "made" for it in outcomes.values()),
        n_kept=sum(there[name] is not None and it.kind == "made" for name, it in found.items()),
        problems=tuple(Problem(name, it.problem) for name, it in found.items() if it.problem),
        passing={
            target.name: str(it.problem)
            for target, it in sorted(outcomes.items())
            if it.kind == "passing"
        },
    )


def carry_out(task: Task) -> Outcome:
    """Compute and write one product; runs in a process of its own."""
    from raravis._threads import one_blas_thread

    product = task.product
    if _changed(product):
        return _CHANGED
    try:
        with one_blas_thread():
            columns = task.compute(product)
    except AudioError as error:
        outcome = Outcome(problem=str(error), kind="failed")
    except OSError as error:
        outcome = Outcome(problem=error.strerror or str(error), kind="passing")
    else:
        outcome = Outcome(len(next(iter(columns.values()))))
    if _changed(product):
        return _CHANGED
    if outcome.kind == "made":
        write_table(columns, product.target, about=product.about)
    return outcome


_CHANGED = Outcome(
    problem="the file changed or vanished while it was read; give the command again",
    kind="passing",
)


def _settled(product: Product, outcome: object) -> Outcome:
    """Keep on disk that a recording cannot be used, so that it is not tried again and again."""
    if outcome is DIED:
        return Outcome(problem="the process that read it died", kind="passing")
    if not isinstance(outcome, Outcome):
        raise TypeError(outcome)
    if outcome.kind == "failed":
        write_json({"problem": outcome.problem}, product.failure_path)
    return outcome


def _what_is_there(product: Product) -> Outcome | None:
    import pyarrow as pa
    import pyarrow.parquet as pq

    try:
        return Outcome(pq.read_metadata(product.target).num_rows)
    except (OSError, ValueError, pa.ArrowException):
        pass  # missing, or damaged: it is made anew
    problem = product.problem
    return None if problem is None else Outcome(problem=problem, kind="failed")


def _changed(product: Product) -> bool:
    try:
        state = Path(product.path).stat()
    except OSError:
        return True
    return (state.st_size, state.st_mtime_ns) != (product.size_bytes, product.mtime_ns)
