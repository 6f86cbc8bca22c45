"""The passes on a torch device: the same sums, tile by tile, with tiles as large as memory allows.

Instances and what their labels say stay on the device from the first pass on, while there is room;
kernel values are made anew in every pass and never leave a tile. Sums are double. Where the device
runs out of memory tiles are halved, and in the end the processor takes over; both are said.
"""

import math
import warnings
from collections.abc import Callable
from dataclasses import dataclass
from itertools import pairwise
from typing import TYPE_CHECKING, Any, get_args

import numpy as np
from numpy.typing import NDArray

from raravis.errors import InputError, RaravisWarning
from raravis.kernels import Gaussian, Kernel, Laplacian, Linear, Polynomial
from raravis.scale.fitting import Device
from raravis.scale.parts import Block
from raravis.scale.passes import Backend, threaded
from raravis.scale.problem import Problem, Ready, Sums, bags_of, tile_bounds
from raravis.scale.scoring import Judge, Judged, LinearModel
from raravis.scale.torch_posteriors import Batches, posterior_errors

if TYPE_CHECKING:
    import torch

__all__ = ["TorchBackend", "TorchJudge", "backend_of", "usable"]

Doubles = NDArray[np.float64]

#: Bytes of kernel values in a tile to begin with, and rows below which halving makes no sense.
_TILE_BYTES = 2 << 30
_LEAST_ROWS = 4096


def usable(device: str) -> str:
    """Return the device to use: "cuda" where it is asked for and there, else "cpu", with a message.

    "auto" takes a GPU if there is one, and says nothing if there is none.
    """
    if device not in get_args(Device):
        raise InputError(f"device is {device!r}; pass one of {', '.join(get_args(Device))}.")
    if device == "cpu":
        return "cpu"
    missing = _why_no_gpu()
    if missing is None:
        return "cuda"
    if device == "cuda":
        warnings.warn(
            f"device is 'cuda', but {missing}; the processor does the work, with the same results.",
            RaravisWarning,
            stacklevel=3,
        )
    return "cpu"


def _why_no_gpu() -> str | None:
    try:
        import torch
    except ImportError:
        return "torch is not installed (pip install 'raravis[gpu]')"
    return None if torch.cuda.is_available() else "torch finds no GPU"


def backend_of(device: str, *, n_jobs: int | None) -> Backend:
    """Return what sums over blocks on that device; on the processor NumPy is faster than torch."""
    return TorchBackend("cuda") if usable(device) == "cuda" else threaded(n_jobs)


@dataclass(frozen=True)
class _Tile:
    X: "torch.Tensor"
    batches: Batches


class TorchBackend:
    """Sums over blocks on a torch device.

    Parameters
    ----------
    device : str
        As torch names it, such as "cuda" or "cpu".
    tile_bytes : int
        Of the kernel values of a tile, to begin with.
    n_jobs : int or None
        Threads where the processor has to take over.
    """

    def __init__(
        self, device: str, *, tile_bytes: int = _TILE_BYTES, n_jobs: int | None = None
    ) -> None:
        self.device = device
        self.tile_bytes = tile_bytes
        self.tile_rows: int | None = None
        self.given_up = False
        self.processor = threaded(n_jobs)
        # The block itself is kept with its tiles, so that no other can get its id.
        self._tiles: dict[int, tuple[Ready, list[_Tile]]] = {}

    def __call__(self, problem: Problem, ready: Ready, coefficients: Doubles) -> Sums:
        """Return the sums over one block."""
        while not self.given_up:
            try:
                return self._sums(problem, ready, coefficients)
            except RuntimeError as error:
                if not _out_of_memory(error):
                    raise
            self._shrink(problem)
        return self.processor(problem, ready, coefficients)

    def _shrink(self, problem: Problem) -> None:
        """Forget what is on the device and halve the tiles, or give up."""
        import torch

        self._tiles.clear()
        if torch.cuda.is_available():
            torch.cuda.empty_cache()
        rows = self._rows(problem) // 2
        if rows < _LEAST_ROWS:
            self.given_up = True
            how = "the processor does the rest"
        else:
            self.tile_rows = rows
            how = f"going on with tiles of {rows:,} instances"
        warnings.warn(f"{self.device} ran out of memory; {how}.", RaravisWarning, stacklevel=3)

    def _rows(self, problem: Problem) -> int:
        if self.tile_rows is None:
            wide = (problem.shape[0] + 8 * problem.shape[1]) * np.dtype(problem.dtype).itemsize
            self.tile_rows = max(_LEAST_ROWS, self.tile_bytes // wide)
        return self.tile_rows

    def _sums(self, problem: Problem, ready: Ready, coefficients: Doubles) -> Sums:
        import torch

        kernel = torch_kernel(problem.kernel, self._moved(problem.landmarks, problem.dtype))
        A = self._moved(coefficients[:-1], problem.dtype)
        constant = self._moved(coefficients[-1], np.float64)
        with torch.no_grad():
            sums = None
            for tile in self._tiles_of(problem, ready):
                found = _tile_sums(kernel, A, constant, tile)
                sums = found if sums is None else [a + b for a, b in zip(sums, found, strict=True)]
            if sums is None:
                return Sums.zero(problem)
            value, kernel_errors, errors = sums
            return Sums(float(value), kernel_errors.cpu().numpy(), errors.cpu().numpy())

    def _tiles_of(self, problem: Problem, ready: Ready) -> list[_Tile]:
        kept = self._tiles.get(id(ready))
        if kept is not None:
            return kept[1]
        tiles = []
        bounds = tile_bounds(ready.union.offsets, self._rows(problem))
        for first, last in pairwise(bounds):
            union = bags_of(ready.union, first, last)
            start = int(ready.union.offsets[first])
            X = self._moved(ready.instances[start : start + union.n_instances], problem.dtype)
            tiles.append(_Tile(X, Batches.of(union, self.device)))
        if ready.kept:
            self._tiles[id(ready)] = (ready, tiles)
        return tiles

    def _moved(self, array: NDArray[Any], dtype: Any) -> "torch.Tensor":
        import torch

        return torch.as_tensor(np.array(array, dtype=dtype), device=self.device)


def _tile_sums(
    kernel: Callable[["torch.Tensor"], "torch.Tensor"],
    A: "torch.Tensor",
    constant: "torch.Tensor",
    tile: _Tile,
) -> list["torch.Tensor"]:
    import torch

    K = kernel(tile.X)
    log_p = torch.log_softmax((K @ A).double() + constant, dim=1)
    wrong, value = posterior_errors(log_p, tile.batches)
    return [value, (K.T @ wrong.to(K.dtype)).double(), wrong.sum(dim=0)]


def torch_kernel(kernel: Kernel, Z: "torch.Tensor") -> Callable[["torch.Tensor"], "torch.Tensor"]:
    """Return the function of X that gives k(X, Z) on their device."""
    import torch

    if isinstance(kernel, Gaussian):
        return _gaussian(Z, kernel.gamma)
    if isinstance(kernel, Linear):
        return lambda X: X @ Z.T
    if isinstance(kernel, Polynomial):
        return lambda X: (X @ Z.T * kernel.gamma + kernel.coef0) ** kernel.degree
    if isinstance(kernel, Laplacian):
        return lambda X: torch.cdist(X, Z, p=1.0).mul_(-kernel.gamma).exp_()
    raise InputError(
        f"the kernel is {kernel!r}, which runs on the processor only; pass device='cpu', or one "
        "of the kernels that have a name."
    )


def _gaussian(Z: "torch.Tensor", gamma: float) -> Callable[["torch.Tensor"], "torch.Tensor"]:
    """One product gives the exponents, as in raravis.kernels, and they are turned in place."""
    import torch

    centre = Z.mean(dim=0)
    right = Z - centre
    squares = right.square().sum(dim=1, keepdim=True).mul_(-gamma)
    wide = torch.cat([right, torch.ones_like(squares), squares], dim=1).T.contiguous()

    def block(X: "torch.Tensor") -> "torch.Tensor":
        left = X - centre
        own = left.square().sum(dim=1, keepdim=True).mul_(-gamma)
        exponent = torch.cat([left * (2 * gamma), own, torch.ones_like(own)], dim=1) @ wide
        return exponent.clamp_max_(0.0).exp_()

    return block


class TorchJudge:
    """Scores of blocks on a torch device."""

    def __init__(self, model: LinearModel, device: str, *, tile_bytes: int = _TILE_BYTES) -> None:
        self.model = model
        self.device = device
        self.rows = max(_LEAST_ROWS, tile_bytes // (4 * len(model.landmarks)))
        self.processor: Judge = model.judge

    def __call__(self, block: Block) -> Judged:
        """Judge the instances of a block."""
        while self.rows >= _LEAST_ROWS:
            try:
                return self._judge(block)
            except RuntimeError as error:
                if not _out_of_memory(error):
                    raise
            self.rows //= 2
            warnings.warn(
                f"{self.device} ran out of memory; going on with smaller tiles, or on the "
                "processor.",
                RaravisWarning,
                stacklevel=2,
            )
        return self.processor(block)

    def _judge(self, block: Block) -> Judged:
        import torch

        def moved(array: NDArray[Any]) -> "torch.Tensor":
            return torch.as_tensor(np.array(array, dtype=np.float32), device=self.device)

        kernel = torch_kernel(self.model.kernel, moved(self.model.landmarks))
        A, constant = moved(self.model.coefficients), moved(self.model.constant)
        X = self.model.scaling.apply(block.instances)
        score, best = [], []
        with torch.no_grad():
            for i in range(math.ceil(len(X) / self.rows)):
                scores = kernel(moved(X[i * self.rows : (i + 1) * self.rows])) @ A + constant
                score.append((scores[:, 1:].logsumexp(dim=1) - scores[:, 0]).cpu().numpy())
                best.append(scores[:, 1:].argmax(dim=1).cpu().numpy())
        return Judged(np.concatenate(score), np.concatenate(best))


def _out_of_memory(error: RuntimeError) -> bool:
    import torch

    return isinstance(error, torch.OutOfMemoryError)
