"""Jobs of the scale benchmark, each run in a process of its own by ``_child.py``."""

import time
import warnings
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from raravis import NovelClassClassifier
from raravis.scale import BagParts, fit_parquet, mixture_chunks, score_parquet, write_mixture

N_CLASSES, N_TEST, N_LANDMARKS = 20, 20_000, 600


def make(folder: str, n: int) -> dict[str, float]:
    """Write the mixture of a size, unless it is there."""
    place = Path(folder) / f"mixture-{n}"
    if not (place / "_parts.json").exists():
        for file in place.glob("*.parquet"):
            file.unlink()
        write_mixture(place, n, n_classes=N_CLASSES)
    return {}


def fit(folder: str, n: int, n_jobs: int, status: Any) -> dict[str, Any]:
    """Fit and say how long it took, what was resident at most, and how well test bags are ranked.

    All that is resident counts, the interpreter and its libraries included.
    """
    reset, peak = status
    path = f"{folder}/mixture-{n}"
    _warm(folder, n_jobs)
    reset()
    stages: dict[str, float] = {}
    steps: dict[str, int] = {}
    start = time.perf_counter()

    def told(progress: Any) -> None:
        stages[progress.stage] = time.perf_counter() - start
        steps[progress.stage] = progress.done

    model = _model(n_jobs)
    fit_parquet(model, path, progress=told)
    seconds, most = time.perf_counter() - start, peak()
    from raravis import save

    save(model, f"{folder}/model-{n}.raravis")
    return {
        "seconds": seconds,
        "peak_bytes": most,
        "auc": _auc(model.score_samples),
        "stages": stages,
        "steps": steps,
    }


def full_kernel(folder: str, n: int) -> dict[str, float]:
    """Fit the model of all landmarks in memory, by EM, as far as that goes."""
    chunks = list(mixture_chunks(n, n_classes=N_CLASSES))
    del folder
    bags, labels = chunks[0].bags, chunks[0].labels
    start = time.perf_counter()
    model = NovelClassClassifier(n_landmarks=None, n_jobs=2).fit(bags, labels)
    return {"seconds": time.perf_counter() - start, "auc": _auc(model.score_samples)}


def passes(folder: str, n: int, n_jobs: int) -> dict[str, list[float]]:
    """Time a pass, the products that it makes, and those with kernel values read from disk."""
    import tempfile

    from raravis._threads import map_in_threads, one_blas_thread
    from raravis.kernels import Gaussian, against
    from raravis.landmarks import LandmarkMap
    from raravis.scale.problem import TILE_ROWS, Problem, block_sums, prepared
    from raravis.scaling import Scaling

    parts = BagParts.open(f"{folder}/mixture-{n}")
    block = next(parts.blocks(0, rows=n))
    scaling = Scaling.learn(block.instances, "minmax")
    X = scaling.apply(block.instances)
    landmarks = X[:: len(X) // N_LANDMARKS][:N_LANDMARKS].copy()
    features = LandmarkMap.from_landmarks(Gaussian(0.8), landmarks)
    problem = Problem(
        features.kernel,
        landmarks,
        features.whitening,
        scaling,
        tuple(range(N_CLASSES)),
        len(X),
        1e-4,
    )
    ready = prepared(block, problem)
    weights = 0.1 * np.random.default_rng(0).standard_normal(problem.shape)
    coefficients = problem.coefficients(weights)
    A = coefficients[:-1].astype(np.float32)
    errors = np.random.default_rng(1).standard_normal((len(X), N_CLASSES + 1)).astype(np.float32)
    kernel = against(features.kernel, landmarks)
    tiles = [slice(i, i + TILE_ROWS) for i in range(0, len(X), TILE_ROWS)]

    def made(i: int) -> None:
        K = kernel(X[tiles[i]])
        K @ A, K.T @ errors[tiles[i]]

    with tempfile.TemporaryDirectory(dir=folder) as place:
        np.save(f"{place}/K.npy", np.concatenate([kernel(X[tile]) for tile in tiles]))
        table = np.load(f"{place}/K.npy", mmap_mode="r")

        def read(i: int) -> None:
            K = np.asarray(table[tiles[i]])
            K @ A, K.T @ errors[tiles[i]]

        found: dict[str, list[float]] = {"pass": [], "made": [], "read": [], "parquet": []}
        for _ in range(6):
            start = time.perf_counter()
            for fresh in parts.blocks(0, rows=1 << 16):
                prepared(fresh, problem)
            found["parquet"].append(time.perf_counter() - start)
            start = time.perf_counter()
            block_sums(problem, ready, coefficients, n_jobs=n_jobs)
            found["pass"].append(time.perf_counter() - start)
            for name, work in (("made", made), ("read", read)):
                start = time.perf_counter()
                with one_blas_thread():
                    map_in_threads(work, len(tiles), n_jobs=n_jobs)
                found[name].append(time.perf_counter() - start)
    return {name: seconds[1:] for name, seconds in found.items()} | {"n": [len(X)]}


def score(folder: str, n: int, n_jobs: int) -> dict[str, float]:
    """Score all parts to disk, and make the same kernel products in memory, in turn."""
    import shutil

    from raravis import load
    from raravis._threads import map_in_threads, one_blas_thread
    from raravis.kernels import against
    from raravis.scale.problem import TILE_ROWS
    from raravis.scale.scoring import LinearModel

    model = load(f"{folder}/model-{n}.raravis")
    model.n_jobs = n_jobs
    parts = BagParts.open(f"{folder}/mixture-{n}")
    linear = LinearModel.of(model)
    blocks = parts.blocks(0, rows=1 << 17)
    X = linear.scaling.apply(np.concatenate([b.instances for b in blocks]))
    kernel = against(linear.kernel, linear.landmarks)

    def product(i: int) -> None:
        kernel(X[i * TILE_ROWS : (i + 1) * TILE_ROWS]) @ linear.coefficients

    scoring, products = [], []
    for _ in range(3):
        shutil.rmtree(f"{folder}/scores", ignore_errors=True)
        start = time.perf_counter()
        score_parquet(model, parts, f"{folder}/scores")
        scoring.append(time.perf_counter() - start)
        start = time.perf_counter()
        with one_blas_thread():
            for _part in parts.files:
                map_in_threads(product, -(-len(X) // TILE_ROWS), n_jobs=n_jobs)
        products.append(time.perf_counter() - start)
    shutil.rmtree(f"{folder}/scores", ignore_errors=True)
    return {"scoring": scoring, "products": products}  # type: ignore[dict-item]


def peer(name: str, folder: str, n: int, status: Any) -> dict[str, Any]:
    """Fit a one-class method on all training instances, unlabelled, and score the test bags."""
    reset, peak = status
    X = _instances(folder, n)
    low = X.min(axis=0)
    scale = np.maximum(X.max(axis=0) - low, 1e-12)
    X = (X - low) / scale
    gamma = 4.0 / float(2.0 * X.var(axis=0).sum())
    test = _test()
    fresh = (test.bags.instances - low) / scale
    reset()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        start = time.perf_counter()
        model = _peer(name, gamma).fit(X)
        fitted = time.perf_counter()
        scores = model.score_samples(fresh)
        done = time.perf_counter()
    return {
        "seconds": fitted - start,
        "score_seconds": done - fitted,
        "peak_bytes": peak(),
        "auc": _ranked(scores),
    }


def ours(folder: str, n: int, status: Any) -> dict[str, Any]:
    """Fit ours on the same instances with their bags, and score the test bags."""
    found = fit(folder, n, 2, status)
    from raravis import load

    model, test = load(f"{folder}/model-{n}.raravis"), _test()
    start = time.perf_counter()
    model.score_samples(test.bags)
    return {**found, "score_seconds": time.perf_counter() - start}


def _peer(name: str, gamma: float) -> Any:
    from sklearn.ensemble import IsolationForest
    from sklearn.kernel_approximation import Nystroem
    from sklearn.linear_model import SGDOneClassSVM
    from sklearn.pipeline import make_pipeline
    from sklearn.svm import OneClassSVM

    if name == "OneClassSVM":
        return OneClassSVM(gamma=gamma)
    if name == "IsolationForest":
        return IsolationForest(random_state=0, n_jobs=2)
    features = Nystroem(gamma=gamma, n_components=N_LANDMARKS, random_state=0)
    return make_pipeline(features, SGDOneClassSVM(random_state=0))


def _instances(folder: str, n: int) -> NDArray[np.float32]:
    parts = BagParts.open(f"{folder}/mixture-{n}", labels=None)
    found = np.empty((n, parts.n_features), dtype=np.float32)
    at = 0
    for part in range(len(parts.files)):
        for block in parts.blocks(part, rows=1 << 16):
            found[at : at + block.n_instances] = block.instances
            at += block.n_instances
    return found


def _model(n_jobs: int) -> NovelClassClassifier:
    return NovelClassClassifier(n_landmarks=N_LANDMARKS, n_jobs=n_jobs)


def _warm(folder: str, n_jobs: int) -> None:
    """Load and compile everything that a fit uses."""
    place = Path(folder) / "mixture-warm"
    if not (place / "_parts.json").exists():
        write_mixture(place, 2000, n_classes=3)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        fit_parquet(NovelClassClassifier(n_landmarks=20, max_rounds=2, n_jobs=n_jobs), place)


def _test() -> Any:
    return next(mixture_chunks(N_TEST, n_classes=N_CLASSES, rows_a_chunk=N_TEST, draw=1))


def _auc(score_samples: Any) -> float:
    return _ranked(score_samples(_test().bags))


def _ranked(scores: NDArray[Any]) -> float:
    from sklearn.metrics import roc_auc_score

    return float(roc_auc_score(_test().instance_labels < N_CLASSES, scores))
