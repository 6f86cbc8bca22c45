"""Score a Parquet data set part by part, writing as it goes; a stop costs no more than one part."""

import hashlib
import json
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from os import PathLike
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from sklearn.utils.validation import check_is_fitted

from raravis._threads import one_blas_thread
from raravis.bags import Bags
from raravis.errors import InputError
from raravis.estimators.novel_class import NovelClassClassifier
from raravis.kernels import Kernel, against
from raravis.progress import Progress, ProgressCallback
from raravis.scale._workers import in_threads
from raravis.scale.fitting import DEFAULT_BUDGET, Device
from raravis.scale.parts import BagParts, Block
from raravis.scale.passes import block_rows, prefetched
from raravis.scale.problem import TILE_ROWS
from raravis.scale.writing import written_whole
from raravis.scaling import Scaling
from raravis.solvers import SoftLogistic

if TYPE_CHECKING:
    import pyarrow as pa

__all__ = ["Judge", "Judged", "LinearModel", "judge_of", "score_parquet", "scored_part"]

Floats = NDArray[np.floating[Any]]
Singles = NDArray[np.float32]

_META_KEY = b"raravis-scores"
#: Of a block: small, so that there are several of a part to read, judge and write side by side.
_MOST_ROWS = 16 * TILE_ROWS


class Judged(NamedTuple):
    """Of each instance: how known it is, and the position of its likeliest known class."""

    score: NDArray[np.floating[Any]]
    best: NDArray[np.int64]


Judge = Callable[[Block], Judged]


@dataclass(frozen=True)
class LinearModel:
    """A fitted kernel model in single precision: scores are k(x, landmarks) @ A + constant."""

    kernel: Kernel
    landmarks: Singles
    coefficients: Singles
    constant: Singles
    scaling: Scaling

    @classmethod
    def of(cls, model: NovelClassClassifier) -> "LinearModel":
        """Narrow the model of instances."""
        soft = model.model_.instances
        if not isinstance(soft, SoftLogistic):
            raise InputError(
                f"the model of instances is a {type(soft).__name__}; pass one fitted with "
                "m_step='kernel'."
            )
        return cls(
            soft.kernel,
            soft.landmarks.astype(np.float32, copy=False),
            soft.coefficients.astype(np.float32),
            soft.constant.astype(np.float32),
            model.scaling_,
        )

    def judge(self, block: Block, *, n_jobs: int | None = None) -> Judged:
        """Judge the instances of a block; the answer does not depend on ``n_jobs``."""
        n = block.n_instances
        score, best = np.empty(n, dtype=np.float32), np.empty(n, dtype=np.int64)
        kernel = against(self.kernel, self.landmarks)

        def run(i: int) -> None:
            tile = slice(i * TILE_ROWS, (i + 1) * TILE_ROWS)
            X = self.scaling.apply(block.instances[tile])
            scores = kernel(X) @ self.coefficients
            scores += self.constant
            score[tile], best[tile] = judged(scores)

        with one_blas_thread():
            in_threads(run, -(-n // TILE_ROWS), n_jobs=n_jobs)
        return Judged(score, best)


def judged(scores: Floats) -> Judged:
    """Return the log-odds of known and the best known class; column 0 of the scores is novel."""
    known = scores[:, 1:]
    best = known.argmax(axis=1)
    highest = np.take_along_axis(known, best[:, None], axis=1)
    odds = np.log(np.exp(known - highest).sum(axis=1)) + highest[:, 0] - scores[:, 0]
    return Judged(odds, best)


def judge_of(model: Any, *, n_jobs: int | None, device: Device = "cpu") -> Judge:
    """Return the fastest way to judge blocks that a model has."""
    from raravis.scale.torch_backend import TorchJudge, usable

    check_is_fitted(model)
    soft = getattr(getattr(model, "model_", None), "instances", None)
    if isinstance(soft, SoftLogistic):
        linear = LinearModel.of(model)
        if usable(device) == "cuda":
            return TorchJudge(linear, "cuda")
        return lambda block: linear.judge(block, n_jobs=n_jobs)

    def by_bags(block: Block) -> Judged:
        bags = Bags(block.instances, block.offsets)
        scores = model.class_scores(bags)
        return Judged(model.score_samples(bags), scores.argmax(axis=1))

    return by_bags


def score_parquet(
    model: Any,
    path: str | PathLike[str] | Sequence[str | PathLike[str]] | BagParts,
    out: str | PathLike[str],
    *,
    bag: str = "bag",
    features: Sequence[str] | None = None,
    memory_budget: int = DEFAULT_BUDGET,
    device: Device = "cpu",
    client: Any = None,
    progress: ProgressCallback | None = None,
) -> tuple[Path, ...]:
    """Score every instance of a data set, and write one file of scores for each part.

    Row for row, the files hold the bag, ``score`` (high = known, as ``score_samples`` gives it, in
    single precision for kernel models), ``known`` (whether it reaches ``model.offset_``), and
    ``class``: the likeliest known class. A file that an earlier call wrote for the same part with
    the same model is left as it is.

    Parameters
    ----------
    model : fitted estimator
    path, bag, features
        As for :meth:`BagParts.open`; lists of classes are not read.
    out : path
        Folder of the files; each has the name of its part.
    memory_budget : int
        Bytes that instances in memory may take.
    device : {"cpu", "auto", "cuda"}
        As for :func:`fit_parquet`; kernel models only.
    client : dask.distributed.Client, optional
        A cluster whose workers can read the parts and write to ``out``.
    progress : function of a ``raravis.progress.Progress``, optional

    Returns
    -------
    tuple of paths
        The files, in the order of the parts.
    """
    from raravis.scale.distributed import each_part

    parts = opened(model, path, out, bag=bag, features=features)
    score = _PartScorer(model, parts, Path(out).resolve(), memory_budget, device, signature(model))
    done = each_part(client, score, len(parts.files))
    files = []
    for part, file in enumerate(done):
        files.append(file)
        if progress is not None:
            progress(Progress("parts scored", part + 1, len(parts.files)))
    return tuple(files)


@dataclass(frozen=True)
class _PartScorer:
    """Scores parts by number, here or on a worker."""

    model: Any
    parts: BagParts
    out: Path
    memory_budget: int
    device: Device
    told: str

    def __call__(self, part: int) -> Path:
        """Write the scores of one part, unless they are there."""
        judge = judge_of(self.model, n_jobs=getattr(self.model, "n_jobs", None), device=self.device)
        return scored_part(
            self.model,
            self.parts,
            part,
            self.out,
            judge=judge,
            told=self.told,
            memory_budget=self.memory_budget,
        )


def opened(
    model: Any, path: Any, out: str | PathLike[str], *, bag: str, features: Sequence[str] | None
) -> BagParts:
    """Open the data set, see that it fits the model, and make the folder."""
    check_is_fitted(model)
    parts = BagParts.open(path, bag=bag, features=features, labels=None).without_labels()
    if parts.n_features != model.n_features_in_:
        raise InputError(
            f"{parts.files[0]} has {parts.n_features} features, but the model was fitted to "
            f"{model.n_features_in_}; name the right ones with features=."
        )
    place = Path(out)
    if place.resolve() in {file.resolve().parent for file in parts.files}:
        raise InputError(f"out is {place}, where the instances are; name another folder.")
    place.mkdir(parents=True, exist_ok=True)
    return parts


def signature(model: Any) -> str:
    """Return a text that differs for models that judge differently."""
    from raravis._npy import to_npy

    state = model.__raravis_state__()
    digest = hashlib.sha256(json.dumps([state.params, state.fitted], sort_keys=True).encode())
    for name, array in sorted(state.arrays.items()):
        digest.update(name.encode() + to_npy(array, what=name))
    return digest.hexdigest()


def scored_part(
    model: Any,
    parts: BagParts,
    part: int,
    out: Path,
    *,
    judge: Judge,
    told: str,
    memory_budget: int,
) -> Path:
    """Write the scores of one part, unless they are there."""
    import pyarrow.parquet as pq

    target = out / parts.files[part].name
    mark = f"{told} {parts.files[part].stat().st_size} {parts.rows[part]}".encode()
    if target.exists() and _mark_of(target) == mark:
        return target
    names = _class_column(model)
    rows = min(block_rows(parts.n_features, memory_budget), _MOST_ROWS)

    def tables() -> "Iterator[pa.Table]":
        for block in prefetched(parts.blocks(part, rows=rows)):
            yield _table(block, judge(block), names, float(model.offset_))

    def write(draft: Path) -> None:
        writer = None
        try:
            # Reading, judging and writing go on side by side, each on a block of its own.
            for table in prefetched(tables()):
                if writer is None:
                    schema = table.schema.with_metadata({_META_KEY: mark})
                    writer = pq.ParquetWriter(draft, schema)
                writer.write_table(table.cast(writer.schema))
        finally:
            if writer is not None:
                writer.close()

    if parts.rows[part]:
        written_whole(target, write)
    return target


def _mark_of(file: Path) -> bytes | None:
    import pyarrow as pa
    import pyarrow.parquet as pq

    try:
        return (pq.read_schema(file).metadata or {}).get(_META_KEY)
    except (pa.ArrowException, OSError):
        return None


def _class_column(model: Any) -> "pa.Array":
    """Return the classes of a model as an Arrow array; as text where they are of mixed kinds."""
    import pyarrow as pa

    classes = list(model.classes_)
    try:
        return pa.array(classes)
    except (pa.ArrowInvalid, pa.ArrowTypeError):
        return pa.array([str(label) for label in classes])


def _table(block: Block, found: Judged, names: "pa.Array", offset: float) -> "pa.Table":
    import pyarrow as pa

    which = np.repeat(np.arange(block.n_bags), np.diff(block.offsets))
    return pa.table(
        {
            "bag": pa.array(block.keys).take(pa.array(which)),
            "score": pa.array(found.score),
            "known": pa.array(found.score >= offset),
            "class": names.take(pa.array(found.best)),
        }
    )
