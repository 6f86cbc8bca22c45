"""The million on one GPU: bandwidth, features, one gradient and the fit, all in one call."""

import time
from collections.abc import Callable
from typing import Any

import numpy as np

from _timing import Figure, run_child, single

N, N_LANDMARKS = 1_000_000, 2_048


def gpu_figures(folder: str, quick: bool) -> list[Figure]:
    """Time on the device against its own copy bandwidth; says so where there is no GPU."""
    del quick
    try:
        import torch
    except ImportError:
        return [single("torch is not installed: GPU not measured", 0.0, unit="")]
    if not torch.cuda.is_available():
        return [single("torch finds no GPU: GPU not measured", 0.0, unit="")]
    run_child("scale", threads=2, task="make", folder=folder, n=N)
    bandwidth = _bandwidth(torch)
    features, products = _steps(torch)
    fit, closest = _fit(f"{folder}/mixture-{N}")
    K_bytes = 4.0 * N * N_LANDMARKS
    return [
        single("copy bandwidth", bandwidth / 1e12, unit="TB/s"),
        single(
            "feature step, share of the bandwidth",
            K_bytes / features / bandwidth,
            unit="",
            target=0.4,
            at_most=False,
            note=f"{1e3 * features:.1f} ms",
        ),
        single(
            "gradient over features at hand, share of the bandwidth",
            2 * K_bytes / products / bandwidth,
            unit="",
            target=0.6,
            at_most=False,
            note=f"{1e3 * products:.1f} ms",
        ),
        single("fit of a million, data on the device", fit, unit="s", target=3.0),
        single(
            "largest difference of a gradient from double precision on the processor",
            closest,
            unit="",
            target=1e-3,
        ),
    ]


def _clocked(torch: Any, work: Callable[[], object]) -> float:
    work()
    best = np.inf
    for _ in range(5):
        torch.cuda.synchronize()
        start = time.perf_counter()
        work()
        torch.cuda.synchronize()
        best = min(best, time.perf_counter() - start)
    return best


def _bandwidth(torch: Any) -> float:
    source = torch.empty(1 << 30, dtype=torch.float32, device="cuda")
    target = torch.empty_like(source)
    return 2 * 4.0 * (1 << 30) / _clocked(torch, lambda: target.copy_(source))


def _steps(torch: Any) -> tuple[float, float]:
    """Return the seconds of all kernel values, and of both products with them."""
    from raravis.kernels import Gaussian
    from raravis.scale.torch_backend import torch_kernel

    X = torch.rand((N, 38), device="cuda")
    kernel = torch_kernel(Gaussian(0.6), X[:N_LANDMARKS])
    with torch.no_grad():
        features = _clocked(torch, lambda: kernel(X))
        K = kernel(X)
        A, E = torch.rand((N_LANDMARKS, 21), device="cuda"), torch.rand((N, 21), device="cuda")
        products = _clocked(torch, lambda: (K @ A, K.T @ E))
    return features, products


def _fit(path: str) -> tuple[float, float]:
    """Return the seconds of the steps over all bags with data on the device, and the difference."""
    from raravis import NovelClassClassifier
    from raravis.scale import BagParts, fit_parquet
    from raravis.scale.torch_backend import TorchBackend

    model = NovelClassClassifier(n_landmarks=N_LANDMARKS)
    marks: list[tuple[str, float]] = []
    fit_parquet(
        model,
        path,
        device="cuda",
        progress=lambda told: marks.append((told.stage, time.perf_counter())),
    )
    steps = [when for stage, when in marks if stage == "steps on all bags"]
    looked = max(when for stage, when in marks if stage == "parts looked at")
    return steps[-1] - looked, _difference(model, BagParts.open(path), TorchBackend("cuda"))


def _difference(model: Any, parts: Any, backend: Any) -> float:
    """Return how far sums over the first part are from double precision, of their largest entry."""
    from raravis.landmarks import LandmarkMap
    from raravis.scale.passes import LocalPasses
    from raravis.scale.problem import Problem

    soft = model.model_.instances
    features = LandmarkMap.from_landmarks(soft.kernel, soft.landmarks)
    coefficients = np.vstack([soft.coefficients, soft.constant])
    sums = {}
    for dtype, chosen in ((np.float32, backend), (np.float64, None)):
        problem = Problem(
            soft.kernel,
            soft.landmarks,
            features.whitening,
            model.scaling_,
            tuple(model.classes_),
            N,
            model.lam,
            dtype,
        )
        passes = LocalPasses(parts, problem, memory_budget=4 << 30, n_jobs=-1, backend=chosen)
        sums[dtype] = passes.part(0, coefficients).kernel_errors
    exact = sums[np.float64]
    return float(np.abs(sums[np.float32] - exact).max() / np.abs(exact).max())
