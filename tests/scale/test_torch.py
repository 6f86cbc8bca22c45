"""The torch path on the processor, against NumPy in double precision; what a GPU would lack."""

import warnings
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from tests.scale.made import made

from raravis import NovelClassClassifier
from raravis.errors import InputError, RaravisWarning
from raravis.kernels import CallableKernel, Gaussian, Kernel, Laplacian, Linear, Polynomial
from raravis.landmarks import LandmarkMap
from raravis.scale import fit_parquet, mixture_chunks
from raravis.scale.parts import Block
from raravis.scale.problem import Problem, Ready, block_sums, prepared
from raravis.scale.scoring import LinearModel
from raravis.scaling import Scaling

torch = pytest.importorskip("torch")

from raravis.scale import torch_backend  # noqa: E402
from raravis.scale.torch_backend import TorchBackend, TorchJudge, usable  # noqa: E402


@pytest.fixture(autouse=True, scope="module")
def _one_thread() -> Any:
    before = torch.get_num_threads()
    torch.set_num_threads(1)
    yield
    torch.set_num_threads(before)


def _case(
    dtype: Any = np.float64, kernel: Kernel | None = None, crowded: bool = False
) -> tuple[Problem, Ready, Any]:
    data = next(mixture_chunks(800, n_classes=6, n_features=4, rows_a_chunk=800))
    lists: list[Any] = [tuple(sorted(item or ())) for item in data.labels.to_sets()]
    lists[3], lists[4] = None, ()
    if crowded:
        small = int(np.argmin(data.bags.sizes))
        lists[small] = (0, 1, 2, 3, 4, 5)
    bags = data.bags
    block = Block(0, bags.instances, bags.offsets, list(bags.keys), lists)
    scaling = Scaling.learn(bags.instances, "minmax")
    Z = scaling.apply(bags.instances[::20]).astype(dtype)
    features = LandmarkMap.from_landmarks(kernel or Gaussian(1.5), Z)
    problem = Problem(
        features.kernel, Z, features.whitening, scaling, tuple(range(6)), 800, 1e-3, dtype
    )
    weights = np.random.default_rng(2).standard_normal(problem.shape)
    return problem, prepared(block, problem, kept=True), weights


@pytest.mark.parametrize("kernel", [Gaussian(1.5), Laplacian(0.8), Linear(), Polynomial(0.3)])
@pytest.mark.parametrize(("dtype", "close"), [(np.float64, 1e-8), (np.float32, 2e-3)])
def test_sums_are_those_of_numpy_in_double_precision(
    kernel: Kernel, dtype: Any, close: float
) -> None:
    double, ready, weights = _case(kernel=kernel)
    expected = block_sums(double, ready, weights)
    problem, narrow, _ = _case(dtype, kernel)
    found = TorchBackend("cpu", tile_bytes=1 << 16)(problem, narrow, weights)
    scale = np.abs(expected.kernel_errors).max()
    assert found.value == pytest.approx(expected.value, rel=close)
    assert np.abs(found.kernel_errors - expected.kernel_errors).max() < close * scale
    assert np.abs(found.errors - expected.errors).max() < close * np.abs(expected.errors).max()


def test_crowded_extreme_and_many_labelled_bags_are_right_too() -> None:
    problem, ready, weights = _case(crowded=True)
    for steep in (1.0, 300.0):
        expected = block_sums(problem, ready, steep * weights)
        found = TorchBackend("cpu")(problem, ready, steep * weights)
        assert found.value == pytest.approx(expected.value, rel=1e-8)
        assert np.abs(found.errors - expected.errors).max() < 1e-6
    few = Ready(ready.instances, _with_limit(ready.union, 1), kept=True)
    expected = block_sums(problem, few, weights)
    found = TorchBackend("cpu")(problem, few, weights)
    assert found.value == pytest.approx(expected.value, rel=1e-8)


def _with_limit(union: Any, limit: int) -> Any:
    from dataclasses import replace

    return replace(union, max_exact=limit)


def test_what_is_kept_on_the_device_does_not_change_a_pass() -> None:
    problem, ready, weights = _case()
    backend = TorchBackend("cpu", tile_bytes=1 << 16)
    first, again = backend(problem, ready, weights), backend(problem, ready, weights)
    assert first.value == again.value
    assert np.array_equal(first.kernel_errors, again.kernel_errors)


def test_without_memory_tiles_shrink_and_then_the_processor_takes_over(monkeypatch: Any) -> None:
    problem, ready, weights = _case()
    expected = block_sums(problem, ready, weights)
    usual, limit = torch_backend._tile_sums, [500]

    def short_of_memory(kernel: Any, A: Any, constant: Any, tile: Any) -> Any:
        if len(tile.X) > limit[0]:
            raise torch.OutOfMemoryError("made up")
        return usual(kernel, A, constant, tile)

    monkeypatch.setattr(torch_backend, "_tile_sums", short_of_memory)
    monkeypatch.setattr(torch_backend, "_LEAST_ROWS", 100)
    backend = TorchBackend("cpu")
    backend.tile_rows = 1600
    with warnings.catch_warnings(record=True) as told:
        warnings.simplefilter("always")
        found = backend(problem, ready, weights)
    assert [str(w.message) for w in told] == [
        f"cpu ran out of memory; going on with tiles of {rows} instances." for rows in (800, 400)
    ]
    assert found.value == pytest.approx(expected.value, rel=1e-9)
    limit[0] = 0
    with warnings.catch_warnings(record=True) as told:
        warnings.simplefilter("always")
        found = backend(problem, ready, weights)
    assert "the processor does the rest" in str(told[-1].message)
    assert found.value == expected.value
    assert backend.given_up


def test_other_errors_of_the_device_are_not_hidden(monkeypatch: Any) -> None:
    def broken(*_: Any) -> Any:
        raise RuntimeError("illegal address")

    monkeypatch.setattr(torch_backend, "_tile_sums", broken)
    problem, ready, weights = _case()
    with pytest.raises(RuntimeError, match="illegal address"):
        TorchBackend("cpu")(problem, ready, weights)
    other = Problem(**{**problem.__dict__, "kernel": CallableKernel(lambda a, b: a @ b.T)})
    with pytest.raises(InputError, match="device='cpu'"):
        TorchBackend("cpu")(other, ready, weights)


def test_scores_of_torch_are_those_of_numpy(tmp_path: Path) -> None:
    parts = made(tmp_path)
    model = fit_parquet(NovelClassClassifier(n_landmarks=30), parts)
    linear = LinearModel.of(model)
    block = next(parts.blocks(0, rows=1000))
    ours, theirs = TorchJudge(linear, "cpu", tile_bytes=1)(block), linear.judge(block)
    assert np.abs(ours.score - theirs.score).max() < 1e-3
    assert (ours.best == theirs.best).mean() > 0.99


@pytest.mark.skipif(torch.cuda.is_available(), reason="there is a GPU")
def test_without_a_gpu_the_processor_is_used_and_it_is_said(tmp_path: Path) -> None:
    with pytest.warns(RaravisWarning, match="finds no GPU"):
        assert usable("cuda") == "cpu"
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert usable("auto") == "cpu"
    with pytest.raises(InputError, match="device is 'tpu'"):
        usable("tpu")
    with pytest.warns(RaravisWarning, match="same results"):
        fit_parquet(
            NovelClassClassifier(n_landmarks=10, max_rounds=3), made(tmp_path), device="cuda"
        )
