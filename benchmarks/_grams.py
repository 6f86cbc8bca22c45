"""What a fit and a scoring run are held against: plain NumPy and scikit-learn."""

from typing import Any

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.floating[Any]]

#: Rows of the Gram matrix formed at a time: the block stays in the cache for the exponential.
_ROWS = 256


def gram_sklearn(X: Floats, gamma: float) -> Floats:
    """Return the Gaussian Gram matrix as scikit-learn forms it."""
    from sklearn.metrics.pairwise import rbf_kernel

    K: Floats = rbf_kernel(X, gamma=gamma)
    return K


def gram_in_place(X: Floats, gamma: float) -> Floats:
    """Return the Gaussian Gram matrix in the fewest passes, block by block where it will stand."""
    left, right = widened(X, X, gamma)
    K = np.empty((len(X), len(X)), dtype=X.dtype)
    for start in range(0, len(X), _ROWS):
        _exponentiate(left[start : start + _ROWS], right, K[start : start + _ROWS])
    return K


def kernel_product(A: Floats, B: Floats, W: Floats, gamma: float, *, block: int) -> Floats:
    """Return K(A, B) @ W, ``block`` rows at a time: product, exponential, product."""
    left, right = widened(A, B, gamma)
    out = np.empty((len(A), W.shape[1]), dtype=A.dtype)
    K = np.empty((block, len(B)), dtype=A.dtype)
    for start in range(0, len(A), block):
        rows = left[start : start + block]
        part = K[: len(rows)]
        _exponentiate(rows, right, part)
        np.matmul(part, W, out=out[start : start + block])
    return out


def widened(A: Floats, B: Floats, gamma: float) -> tuple[Floats, Floats]:
    """Return rows and columns whose product is -gamma ||a - b||^2."""
    left = np.empty((len(A), A.shape[1] + 2), dtype=A.dtype)
    right = np.empty((len(B), B.shape[1] + 2), dtype=B.dtype)
    left[:, :-2], right[:, :-2] = 2.0 * gamma * A, B
    left[:, -2], left[:, -1] = -gamma * np.einsum("ij,ij->i", A, A), 1.0
    right[:, -2], right[:, -1] = 1.0, -gamma * np.einsum("ij,ij->i", B, B)
    return left, np.ascontiguousarray(right.T)


def _exponentiate(left: Floats, right: Floats, out: Floats) -> None:
    np.matmul(left, right, out=out)
    np.minimum(out, 0.0, out=out)
    np.exp(out, out=out)
