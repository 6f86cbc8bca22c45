"""MNIST: the images, their principal components, and bags of them."""

import gzip
from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass, field
from functools import lru_cache, partial
from typing import Literal, NamedTuple, TypeAlias

import numpy as np
import numpy.typing as npt

from raravis.datasets._base import BagDataset, Description
from raravis.datasets._fetch import PathLike, Progress, fetch_bytes
from raravis.datasets._registry import MNIST_FILES
from raravis.datasets.generators import BagSize, Seed, draw_bags, gather_bags
from raravis.errors import InputError

__all__ = ["fetch_mnist", "fetch_mnist_bags", "fetch_mnist_components"]

IntArray: TypeAlias = npt.NDArray[np.int64]
FloatArray: TypeAlias = npt.NDArray[np.float64]
Subset: TypeAlias = Literal["train", "test", "all"]

_PARTS = {"train": ("train",), "test": ("t10k",), "all": ("train", "t10k")}
_IDX_UINT8 = 0x08
_BLOCK = 4096
_N_PIXELS = 784

_DESCRIPTION = Description(
    title="Bags of MNIST handwritten digits, reduced to principal components",
    origin="Y. LeCun, C. Cortes, C. J. C. Burges: the MNIST database of handwritten digits",
    terms="CC BY-SA 3.0",
    citation=(
        "Y. LeCun, L. Bottou, Y. Bengio, P. Haffner. Gradient-based learning applied to document "
        "recognition. Proceedings of the IEEE, 1998."
    ),
)


class _Basis(NamedTuple):
    mean: FloatArray
    axes: FloatArray


@dataclass(frozen=True)
class _Where:
    """Where the files come from. All are equal: the checksums fix what they contain.

    What is computed from the files is therefore computed once, wherever they lie.
    """

    data_home: PathLike | None = field(compare=False)
    allow_download: bool = field(compare=False)
    progress: Progress | None = field(compare=False)


def fetch_mnist(
    *,
    subset: Subset = "train",
    data_home: PathLike | None = None,
    allow_download: bool = True,
    progress: Progress | None = None,
) -> tuple[npt.NDArray[np.float32], IntArray]:
    """Return MNIST images and their digits.

    The files are looked for in `data_home`, in the folder that RARAVIS_DATA names and in the
    user's cache, under ``mnist``; then downloaded. Only files with the right checksum are read.

    Parameters
    ----------
    subset : {"train", "test", "all"}
        The 60,000 training images, the 10,000 test images, or both in this order.
    data_home : path, optional
        The folder to look in first, and to download to.
    allow_download : bool
        Whether the network may be used.
    progress : callable, optional
        Called as ``progress(bytes_so_far, bytes_in_all_or_None)`` during a download.

    Returns
    -------
    X : array of float32 of shape (n, 784)
        Pixels from 0 to 1.
    y : array of int of shape (n,)
        The digits.

    Raises
    ------
    DatasetError
        A file is damaged, or missing and not to be had.

    Examples
    --------
    >>> X, y = fetch_mnist(subset="test")  # doctest: +SKIP
    >>> X.shape  # doctest: +SKIP
    (10000, 784)
    """
    pixels, digits = _load(subset, _Where(data_home, allow_download, progress))
    return pixels.astype(np.float32) / np.float32(255), digits


def fetch_mnist_components(
    n_components: int = 20,
    *,
    subset: Subset = "train",
    data_home: PathLike | None = None,
    allow_download: bool = True,
    progress: Progress | None = None,
) -> tuple[FloatArray, IntArray]:
    """Return the principal components of MNIST images and their digits.

    The components are those of the training images, whatever the subset; the sign of each is such
    that its largest loading is positive.

    Parameters
    ----------
    n_components : int
        How many components, from 1 to 784.
    subset, data_home, allow_download, progress
        As for `fetch_mnist`.

    Returns
    -------
    Z : array of shape (n, n_components)
        The centred images' coordinates, in units of pixels from 0 to 1.
    y : array of int of shape (n,)
        The digits.
    """
    _check_components(n_components)
    where = _Where(data_home, allow_download, progress)
    pixels, digits = _load(subset, where)
    basis = _training_basis(where)
    return _project(pixels, basis, n_components), digits


def fetch_mnist_bags(
    *,
    known: Collection[int],
    n_bags: int = 100,
    bag_size: BagSize = 20,
    beta: float | Sequence[float] = 0.1,
    filtered: bool = False,
    replace: bool = True,
    seed: Seed = 0,
    n_components: int = 20,
    subset: Subset = "train",
    data_home: PathLike | None = None,
    allow_download: bool = True,
    progress: Progress | None = None,
) -> BagDataset:
    """Draw bags of MNIST digits as the paper does, in principal components.

    Draw training bags with ``subset="train"`` and test bags with ``subset="test"``: they share no
    image, and the components are those of the training images in both. Give them different seeds,
    or their bags have the same class proportions, one by one.

    Parameters
    ----------
    known : collection of int
        The digits that bag labels list; the others are novel.
    n_bags, bag_size, beta, filtered, replace, seed
        As for `draw_bags`.
    n_components : int
        How many principal components to keep.
    subset, data_home, allow_download, progress
        As for `fetch_mnist`.

    Returns
    -------
    BagDataset
        ``instance_ids`` are rows of ``fetch_mnist(subset=subset)``.
    """
    _check_components(n_components)
    where = _Where(data_home, allow_download, progress)
    pixels, digits = _load(subset, where)
    basis = _training_basis(where)
    draw = partial(draw_bags, n_bags=n_bags, bag_size=bag_size, beta=beta, filtered=filtered)
    return gather_bags(
        lambda ids: _project(pixels[ids], basis, n_components),
        digits,
        draw(digits, known=known, replace=replace, seed=seed),
        known=list(known),
        name="mnist",
        description=_DESCRIPTION,
    )


def _load(subset: Subset, where: _Where) -> tuple[npt.NDArray[np.uint8], IntArray]:
    if subset not in _PARTS:
        raise InputError(f"subset is {subset!r}; pass one of {sorted(_PARTS)}")
    parts = _PARTS[subset]
    images = np.concatenate([_read_idx(f"{part}-images-idx3-ubyte.gz", where) for part in parts])
    digits = np.concatenate([_read_idx(f"{part}-labels-idx1-ubyte.gz", where) for part in parts])
    return images.reshape(len(images), -1), digits.astype(np.int64)


def _read_idx(name: str, where: _Where) -> npt.NDArray[np.uint8]:
    content = fetch_bytes(
        MNIST_FILES[name],
        data_home=where.data_home,
        allow_download=where.allow_download,
        progress=where.progress,
    )
    return _parse_idx(gzip.decompress(content))


def _parse_idx(content: bytes) -> npt.NDArray[np.uint8]:
    """Read the idx format: two zero bytes, type, number of axes, their lengths, the values."""
    kind, n_axes = content[2], content[3]
    shape = np.frombuffer(content, dtype=">u4", count=n_axes, offset=4)
    if content[:2] != b"\0\0" or kind != _IDX_UINT8:
        raise InputError(f"not an idx file of bytes: it starts with {content[:4]!r}")
    return np.frombuffer(content, dtype=np.uint8, offset=4 + 4 * n_axes).reshape(shape)


@lru_cache(maxsize=1)
def _training_basis(where: _Where) -> _Basis:
    pixels, _ = _load("train", where)
    return _principal_axes(pixels)


def _principal_axes(pixels: npt.NDArray[np.uint8]) -> _Basis:
    """Eigen-decompose the covariance of images, largest variance first."""
    total = np.zeros(pixels.shape[1])
    square = np.zeros((pixels.shape[1], pixels.shape[1]))
    # Sums of products of bytes are whole numbers well below 2^53: exact, whatever the order.
    for block in _blocks(pixels):
        total += block.sum(axis=0)
        square += block.T @ block
    mean = total / len(pixels)
    _, axes = np.linalg.eigh(square / len(pixels) - np.outer(mean, mean))
    axes = axes[:, ::-1]
    largest = axes[np.abs(axes).argmax(axis=0), np.arange(axes.shape[1])]
    return _Basis(mean, axes * np.sign(largest))


def _project(pixels: npt.NDArray[np.uint8], basis: _Basis, n_components: int) -> FloatArray:
    axes = basis.axes[:, :n_components] / 255.0
    parts = [block @ axes for block in _blocks(pixels)]
    return np.concatenate([np.empty((0, n_components)), *parts]) - basis.mean @ axes


def _blocks(pixels: npt.NDArray[np.uint8]) -> Iterator[FloatArray]:
    """Convert a block of images at a time: all of them as doubles take 376 MB."""
    for start in range(0, len(pixels), _BLOCK):
        yield pixels[start : start + _BLOCK].astype(np.float64)


def _check_components(n_components: object) -> None:
    whole = int(n_components) if isinstance(n_components, int | np.integer) else 0
    if not 1 <= whole <= _N_PIXELS:
        raise InputError(
            f"n_components is {n_components!r}; pass a whole number from 1 to {_N_PIXELS}"
        )
