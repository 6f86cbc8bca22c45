"""Kernels against plain loops and scikit-learn, and products under a budget."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.metrics import pairwise

from raravis.errors import InputError
from raravis.kernels import (
    CallableKernel,
    Gaussian,
    Kernel,
    Laplacian,
    Linear,
    Polynomial,
    Precomputed,
    automatic_gamma,
    local_squared_distance,
    make_kernel,
    mean_absolute_distance,
    mean_squared_distance,
    median_gamma,
    product,
    relative_gamma,
)

RNG = np.random.default_rng(0)
A, B = RNG.standard_normal((7, 4)), RNG.standard_normal((5, 4))
PEERS = [
    (Gaussian(0.7), lambda a, b: pairwise.rbf_kernel(a, b, gamma=0.7)),
    (Laplacian(0.7), lambda a, b: pairwise.laplacian_kernel(a, b, gamma=0.7)),
    (Polynomial(0.7, 3, 0.5), lambda a, b: pairwise.polynomial_kernel(a, b, 3, 0.7, 0.5)),
    (Linear(), pairwise.linear_kernel),
    (CallableKernel(pairwise.linear_kernel), pairwise.linear_kernel),
]


@pytest.mark.parametrize(("kernel", "peer"), PEERS, ids=lambda v: type(v).__name__)
@pytest.mark.parametrize("dtype", [np.float64, np.float32])
def test_blocks_equal_the_peer(kernel, peer, dtype):
    a, b = A.astype(dtype), B.astype(dtype)
    K = kernel.block(a, b)
    assert K.dtype == dtype
    assert_allclose(K, peer(a, b), rtol=1e-12 if dtype == np.float64 else 2e-5)
    assert_allclose(kernel.diagonal(a), np.diag(kernel.block(a, a)), rtol=1e-5)
    assert isinstance(kernel, Kernel)


@given(offset=st.floats(-1e6, 1e6), gamma=st.floats(1e-3, 10))
def test_gaussian_does_not_care_where_the_data_lie(offset, gamma):
    far = Gaussian(gamma).block(A + offset, B + offset)
    assert_allclose(far, Gaussian(gamma).block(A, B), atol=1e-6)
    assert (far <= 1).all()


@pytest.mark.parametrize("budget", [1, 100, 1 << 20])
def test_product_under_any_budget(budget):
    W = RNG.standard_normal((5, 3))
    K = Gaussian(0.4).block(A, B)
    assert_allclose(product(Gaussian(0.4), A, B, W, budget=budget), K @ W, rtol=1e-12)


def test_product_of_nothing():
    assert product(Gaussian(1.0), A[:0], B, np.ones((5, 2))).shape == (0, 2)


def test_mean_distances_in_linear_time_equal_all_pairs():
    squared = pairwise.euclidean_distances(A, squared=True)
    assert_allclose(mean_squared_distance(A), squared.mean(), rtol=1e-12)
    assert_allclose(mean_absolute_distance(A), pairwise.manhattan_distances(A).mean(), rtol=1e-12)
    assert_allclose(relative_gamma(A, 3.0), 3.0 / squared.mean())


def test_widths_of_constant_data_are_defined():
    same, bags = np.ones((6, 2)), np.arange(6)
    widths = [automatic_gamma(k, same, bags) for k in ("gaussian", "laplacian", "linear")]
    assert widths == [1.0, 1.0, 1.0]
    assert automatic_gamma("polynomial", np.zeros((6, 2)), bags) == 1.0
    assert median_gamma(same) == relative_gamma(same, 8.0) == 1.0


@given(seed=st.integers(0, 1000), n=st.integers(1, 40), rank=st.integers(1, 12))
def test_local_distance_is_that_of_a_plain_loop(seed, n, rank):
    rng = np.random.default_rng(seed)
    X, groups = rng.standard_normal((n, 3)), rng.integers(0, 4, n)
    expected = []
    for i in range(n):
        others = sorted(((X[groups != groups[i]] - X[i]) ** 2).sum(axis=1))
        expected += others[:rank][-1:]
    found = local_squared_distance(X, groups, rank=rank)
    assert_allclose(found, np.median(expected) if expected else 0.0, rtol=1e-9)


@given(scale=st.floats(1e-3, 1e3))
def test_automatic_width_follows_the_unit_of_the_data(scale):
    bags = np.arange(7) // 2
    unit, scaled = (automatic_gamma("gaussian", x, bags) for x in (A, A * scale))
    assert_allclose(scaled * scale**2, unit, rtol=1e-6)


def test_duplicated_data_still_have_a_width():
    twice = np.repeat(np.array([[0.0], [1.0]]), 40, axis=0)
    assert 0 < automatic_gamma("gaussian", twice, np.arange(80)) < 1000


def test_median_width_is_drawn_by_seed():
    many = RNG.standard_normal((3000, 2))
    assert median_gamma(many, seed=1) == median_gamma(many, seed=1)
    assert_allclose(median_gamma(many, seed=1), median_gamma(many, seed=2), rtol=0.1)


def test_names_functions_and_objects_make_kernels():
    assert make_kernel("polynomial", gamma=2.0, degree=2) == Polynomial(2.0, 2, 1.0)
    assert make_kernel(Linear(), gamma=1.0) == Linear()
    assert_array_equal(make_kernel(lambda a, b: a @ b.T, gamma=1.0).block(A, B), A @ B.T)


@pytest.mark.parametrize(("kernel", "words"), [("rbf", "gaussian, laplacian"), (3, "a function")])
def test_what_is_no_kernel_is_refused(kernel, words):
    with pytest.raises(InputError, match=words):
        make_kernel(kernel, gamma=1.0)


def test_a_function_that_returns_nonsense_is_refused():
    with pytest.raises(InputError, match=r"returned shape \(4, 4\).*must return \(7, 5\)"):
        CallableKernel(lambda a, b: np.ones((4, 4))).block(A, B)
    with pytest.raises(InputError, match="NaN or infinity"):
        CallableKernel(lambda a, b: np.full((7, 5), np.nan)).block(A, B)


def test_precomputed_rows_must_match_the_training_instances():
    assert_array_equal(Precomputed().block(A, B[:4]), A)
    with pytest.raises(InputError, match="4 columns, but the model was trained on 5"):
        Precomputed().block(A, B)
