"""Kernels, their widths, and products with a Gram matrix that never has to exist at once.

A kernel is a frozen description with two methods: ``block(A, B)`` gives the matrix of k(a, b), and
``diagonal(A)`` gives k(a, a). ``product`` forms K(A, B) @ W block by block under a memory budget.
"""

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any, Literal, Protocol, get_args, runtime_checkable

import numpy as np
from numpy.typing import NDArray

from raravis._threads import map_in_threads, one_blas_thread
from raravis.errors import InputError

__all__ = [
    "DEFAULT_BUDGET",
    "CallableKernel",
    "Gaussian",
    "Kernel",
    "KernelName",
    "Laplacian",
    "Linear",
    "Polynomial",
    "Precomputed",
    "against",
    "automatic_gamma",
    "local_squared_distance",
    "make_kernel",
    "mean_absolute_distance",
    "mean_squared_distance",
    "median_gamma",
    "product",
    "relative_gamma",
]

Floats = NDArray[np.floating[Any]]
KernelName = Literal["gaussian", "laplacian", "polynomial", "linear", "precomputed"]

#: Bytes that cached Gram rows may take unless the caller says otherwise.
DEFAULT_BUDGET = 1 << 30

#: Widths of the rule, chosen on HJA birdsong and MNIST bags (docs/accuracy.md).
_GAUSSIAN_FACTOR = 4.0
_LAPLACIAN_FACTOR = 4.0

#: A block this large stays in the second-level cache between the product and the exponential.
_TILE_BYTES = 1 << 21


@runtime_checkable
class Kernel(Protocol):
    """What a kernel must offer."""

    def block(self, A: Floats, B: Floats) -> Floats:
        """Return the matrix of k(a, b)."""
        ...

    def diagonal(self, A: Floats) -> Floats:
        """Return k(a, a) for every row of A."""
        ...


@dataclass(frozen=True)
class Gaussian:
    """exp(-gamma * ||a - b||^2).

    Examples
    --------
    >>> import numpy as np
    >>> Gaussian(gamma=1.0).block(np.array([[0.0]]), np.array([[0.0], [1.0]])).round(3)
    array([[1.   , 0.368]])
    """

    gamma: float

    def block(self, A: Floats, B: Floats) -> Floats:
        """Return the matrix of k(a, b)."""
        return self.against(B)(A)

    def against(self, B: Floats) -> Callable[[Floats], Floats]:
        """Return the function of A that gives ``block(A, B)``, with what B needs done once."""
        exponents = _negative_scaled_distances(B, self.gamma)

        def block(A: Floats) -> Floats:
            exponent = exponents(A)
            np.minimum(exponent, 0.0, out=exponent)
            return np.exp(exponent, out=exponent)

        return block

    def diagonal(self, A: Floats) -> Floats:
        """Return ones: every point is its own best match."""
        return np.ones(len(A), dtype=A.dtype)


@dataclass(frozen=True)
class Laplacian:
    """exp(-gamma * ||a - b||_1)."""

    gamma: float

    def block(self, A: Floats, B: Floats) -> Floats:
        """Return the matrix of k(a, b)."""
        from scipy.spatial.distance import cdist

        exponent: Floats = cdist(A, B, "cityblock").astype(A.dtype, copy=False)
        exponent *= -self.gamma
        return np.exp(exponent, out=exponent)

    def diagonal(self, A: Floats) -> Floats:
        """Return ones: every point is its own best match."""
        return np.ones(len(A), dtype=A.dtype)


@dataclass(frozen=True)
class Polynomial:
    """(gamma * <a, b> + coef0) ** degree."""

    gamma: float
    degree: int = 3
    coef0: float = 1.0

    def block(self, A: Floats, B: Floats) -> Floats:
        """Return the matrix of k(a, b)."""
        K: Floats = np.matmul(A, B.T)
        K *= self.gamma
        K += self.coef0
        K **= self.degree
        return K

    def diagonal(self, A: Floats) -> Floats:
        """Return k(a, a) for every row of A."""
        squares: Floats = np.einsum("ij,ij->i", A, A)
        squares *= self.gamma
        squares += self.coef0
        squares **= self.degree
        return squares


@dataclass(frozen=True)
class Linear:
    """<a, b>."""

    def block(self, A: Floats, B: Floats) -> Floats:
        """Return the matrix of k(a, b)."""
        return A @ B.T

    def diagonal(self, A: Floats) -> Floats:
        """Return the squared norm of every row of A."""
        squares: Floats = np.einsum("ij,ij->i", A, A)
        return squares


@dataclass(frozen=True)
class Precomputed:
    """The rows passed in *are* rows of the Gram matrix, a column per training instance."""

    def block(self, A: Floats, B: Floats) -> Floats:
        """Return A: row i of it holds k(a_i, every training instance)."""
        if A.shape[1] != len(B):
            raise InputError(
                f"precomputed kernel rows have {A.shape[1]} columns, but the model was trained on "
                f"{len(B)} instances; pass k(new, training), a column per training instance."
            )
        return A

    def diagonal(self, A: Floats) -> Floats:
        """Return the diagonal of a square Gram matrix."""
        return np.ascontiguousarray(np.diagonal(A))


@dataclass(frozen=True)
class CallableKernel:
    """A function of two arrays that returns the matrix of k(a, b)."""

    function: Callable[[Floats, Floats], Any]

    def block(self, A: Floats, B: Floats) -> Floats:
        """Return what the function gives, checked for shape and finiteness."""
        K = np.asarray(self.function(A, B), dtype=A.dtype)
        if K.shape != (len(A), len(B)):
            raise InputError(
                f"the kernel function returned shape {K.shape} for {len(A)} and {len(B)} "
                f"instances; it must return ({len(A)}, {len(B)})."
            )
        if not np.isfinite(K).all():
            raise InputError("the kernel function returned NaN or infinity; it must be finite.")
        return np.ascontiguousarray(K)

    def diagonal(self, A: Floats) -> Floats:
        """Return k(a, a) for every row of A."""
        if not len(A):
            return np.zeros(0, dtype=A.dtype)
        return np.concatenate([self.block(A[i : i + 1], A[i : i + 1])[0] for i in range(len(A))])


def make_kernel(
    kernel: KernelName | Kernel | Callable[[Floats, Floats], Any],
    *,
    gamma: float,
    degree: int = 3,
    coef0: float = 1.0,
) -> Kernel:
    """Return the kernel that a name, a function or a kernel object stands for.

    Examples
    --------
    >>> make_kernel("gaussian", gamma=2.0)
    Gaussian(gamma=2.0)
    """
    if isinstance(kernel, str):
        return _named(kernel, gamma, degree, coef0)
    if isinstance(kernel, Kernel):
        return kernel
    if callable(kernel):
        return CallableKernel(kernel)
    raise InputError(
        f"kernel is {kernel!r}; pass one of {', '.join(get_args(KernelName))}, a function of two "
        "arrays, or an object with block() and diagonal()."
    )


def _named(name: str, gamma: float, degree: int, coef0: float) -> Kernel:
    kernels: dict[str, Callable[[], Kernel]] = {
        "gaussian": lambda: Gaussian(gamma),
        "laplacian": lambda: Laplacian(gamma),
        "polynomial": lambda: Polynomial(gamma, degree, coef0),
        "linear": Linear,
        "precomputed": Precomputed,
    }
    if name not in kernels:
        raise InputError(f"kernel is {name!r}; the names known are {', '.join(kernels)}.")
    return kernels[name]()


def _negative_scaled_distances(B: Floats, gamma: float) -> Callable[[Floats], Floats]:
    """Return the function of A that gives -gamma * ||a - b||^2 from a single matrix product.

    Rows are widened by two columns that carry the squares. Both sets are moved near the centre of B
    first: a kernel of differences does not change, and the squares that cancel stay small.
    """
    centre = _rough_centre(B)
    right = B - centre
    wide_right = np.empty((len(B), B.shape[1] + 2), dtype=B.dtype)
    wide_right[:, :-2] = right
    wide_right[:, -2] = 1.0
    np.multiply(np.einsum("ij,ij->i", right, right), -gamma, out=wide_right[:, -1])

    def exponents(A: Floats) -> Floats:
        left = A - centre
        wide_left = np.empty((len(A), A.shape[1] + 2), dtype=B.dtype)
        np.multiply(left, 2.0 * gamma, out=wide_left[:, :-2])
        np.multiply(np.einsum("ij,ij->i", left, left), -gamma, out=wide_left[:, -2])
        wide_left[:, -1] = 1.0
        product_: Floats = np.matmul(wide_left, wide_right.T)
        return product_

    return exponents


def _rough_centre(X: Floats) -> Floats:
    """Return the mean of some rows: any point among the data serves, and this one is cheap."""
    if not len(X):
        return np.zeros(X.shape[1], dtype=X.dtype)
    centre: Floats = X[:: max(1, len(X) // 32)].mean(axis=0)
    return centre


def mean_squared_distance(X: Floats) -> float:
    """Return the mean of ||x_i - x_j||^2 over all pairs, i = j included, in linear time.

    Examples
    --------
    >>> import numpy as np
    >>> mean_squared_distance(np.array([[0.0], [2.0]]))
    2.0
    """
    return float(2.0 * np.var(X, axis=0, dtype=np.float64).sum())


def relative_gamma(X: Floats, factor: float) -> float:
    """Return ``factor`` / mean squared distance: a Gaussian width that follows the data's scale.

    Constant data have no scale; any width gives the same kernel there, so 1 is returned.
    """
    spread = mean_squared_distance(X)
    return factor / spread if spread > 0 else 1.0


def mean_absolute_distance(X: Floats) -> float:
    """Return the mean of ||x_i - x_j||_1 over all pairs, i = j included, by sorting.

    Examples
    --------
    >>> import numpy as np
    >>> mean_absolute_distance(np.array([[0.0], [2.0]]))
    1.0
    """
    n = len(X)
    rank = 2.0 * np.arange(n) - (n - 1)
    return float(2.0 * (rank @ np.sort(X.astype(np.float64), axis=0)).sum() / n**2)


def local_squared_distance(
    X: Floats, groups: NDArray[np.int64], *, rank: int = 10, max_queries: int = 256, seed: int = 0
) -> float:
    """Return the median squared distance to the ``rank``-th nearest instance of another group.

    Above ``max_queries`` instances the median is over that many, drawn with ``seed``. Where other
    groups hold fewer than ``rank`` instances the farthest of them counts; with one group, 0.

    Examples
    --------
    >>> import numpy as np
    >>> X = np.array([[0.0], [0.1], [1.0], [3.0]])
    >>> round(local_squared_distance(X, np.array([0, 0, 1, 2]), rank=1), 3)
    0.905
    """
    queries = np.arange(len(X))
    if len(X) > max_queries:
        queries = np.random.default_rng(seed).choice(len(X), max_queries, replace=False)
    found = []
    negative_distances = _negative_scaled_distances(X, 1.0)
    for part in row_blocks(len(queries), len(X), 8, 64 * _TILE_BYTES):
        chosen = queries[part]
        distances = np.maximum(-negative_distances(X[chosen]), 0.0)
        distances[groups[chosen][:, None] == groups] = np.inf
        nearest = np.sort(np.partition(distances, min(rank, len(X)) - 1)[:, :rank], axis=1)
        reached = np.isfinite(nearest).sum(axis=1)
        found.append(nearest[reached > 0, reached[reached > 0] - 1])
    distances = np.concatenate(found)
    return float(np.median(distances)) if len(distances) else 0.0


def automatic_gamma(
    kernel: object, X: Floats, groups: NDArray[np.int64], *, seed: int = 0
) -> float:
    """Return a width that follows the data, for the kernels that have one.

    Gaussian: a constant over the geometric mean of the global and the local scale, the mean squared
    distance and the squared distance to the tenth neighbour in another bag: narrower where classes
    form tight clusters. Laplacian: 4 / mean absolute distance. Polynomial: such that an instance's
    product with itself is about 1. Others take no width; 1 is returned.
    """
    if kernel == "gaussian":
        return _gaussian_gamma(X, groups, seed)
    if kernel == "laplacian":
        spread = mean_absolute_distance(X)
        return _LAPLACIAN_FACTOR / spread if spread > 0 else 1.0
    if kernel == "polynomial":
        square = float(np.einsum("ij,ij->", X, X, dtype=np.float64)) / max(1, len(X))
        return 1.0 / square if square > 0 else 1.0
    return 1.0


def _gaussian_gamma(X: Floats, groups: NDArray[np.int64], seed: int) -> float:
    spread = mean_squared_distance(X)
    if spread <= 0:
        return 1.0
    local = local_squared_distance(X, groups, seed=seed)
    # Duplicated data have no local scale; a hundredth of the global one bounds the width.
    return _GAUSSIAN_FACTOR / float(np.sqrt(spread * max(local, 0.01 * spread)))


def median_gamma(X: Floats, *, max_instances: int = 1000, seed: int = 0) -> float:
    """Return 1 / (median squared distance between instances), the median heuristic.

    Above ``max_instances`` the median is taken over that many instances drawn with ``seed``.

    Examples
    --------
    >>> import numpy as np
    >>> median_gamma(np.array([[0.0], [1.0], [3.0]]))
    0.25
    """
    from scipy.spatial.distance import pdist

    if len(X) > max_instances:
        X = X[np.random.default_rng(seed).choice(len(X), max_instances, replace=False)]
    distances = pdist(X, "sqeuclidean")
    distances = distances[distances > 0]
    return float(1.0 / np.median(distances)) if len(distances) else 1.0


def row_blocks(n_rows: int, n_columns: int, itemsize: int, budget: int) -> Iterator[slice]:
    """Cut rows so that one block of the Gram matrix fits the cache, and always the budget."""
    bytes_a_row = max(1, n_columns * itemsize)
    step = max(1, min(budget, max(_TILE_BYTES, 64 * bytes_a_row)) // bytes_a_row)
    for start in range(0, n_rows, step):
        yield slice(start, min(start + step, n_rows))


def against(kernel: Kernel, B: Floats) -> Callable[[Floats], Floats]:
    """Return the function of A that gives ``kernel.block(A, B)``, for many A and one B."""
    if isinstance(kernel, Gaussian):
        return kernel.against(B)
    return lambda A: kernel.block(A, B)


def product(
    kernel: Kernel,
    A: Floats,
    B: Floats,
    W: Floats,
    *,
    budget: int = DEFAULT_BUDGET,
    n_jobs: int | None = None,
) -> NDArray[np.float64]:
    """Return K(A, B) @ W without holding more than ``budget`` bytes of K.

    Examples
    --------
    >>> import numpy as np
    >>> product(Linear(), np.eye(2), np.eye(2), np.array([[1.0], [2.0]])).ravel()
    array([1., 2.])
    """
    out = np.empty((len(A), W.shape[1]), dtype=np.float64)
    block = against(kernel, B)
    parts = list(row_blocks(len(A), len(B), A.dtype.itemsize, budget))

    def fill(i: int) -> None:
        out[parts[i]] = block(A[parts[i]]) @ W

    with one_blas_thread():
        map_in_threads(fill, len(parts), n_jobs=n_jobs)
    return out
