"""Landmark features against the kernel they stand for."""

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal

from raravis.errors import InputError
from raravis.kernels import CallableKernel, Gaussian, Laplacian, Linear, Polynomial
from raravis.landmarks import LandmarkMap, choose_landmarks


def data(n=40, d=4, seed=0):
    return np.random.default_rng(seed).standard_normal((n, d))


@pytest.mark.parametrize(
    "kernel", [Gaussian(0.3), Laplacian(0.3), Polynomial(0.2, 2, 1.0), Linear()]
)
@pytest.mark.parametrize(("dtype", "atol"), [(np.float64, 1e-5), (np.float32, 5e-3)])
def test_features_of_landmarks_reproduce_the_kernel(kernel, dtype, atol):
    Z = data().astype(dtype)
    phi = LandmarkMap.from_landmarks(kernel, Z)(Z)
    assert phi.dtype == dtype
    assert_allclose(phi @ phi.T, kernel.block(Z, Z), atol=atol)


def test_features_are_a_projection():
    """Of new instances only what the landmarks span is left: never more than the kernel."""
    Z, X = data(10), data(50, seed=1)
    kernel = Gaussian(0.3)
    phi = LandmarkMap.from_landmarks(kernel, Z)(X)
    expected = kernel.block(X, Z) @ np.linalg.solve(kernel.block(Z, Z), kernel.block(Z, X))
    assert_allclose(phi @ phi.T, expected, atol=1e-6)
    assert ((phi**2).sum(axis=1) <= 1 + 1e-6).all()


@pytest.mark.parametrize("dtype", [np.float64, np.float32])
def test_duplicates_and_constant_data_have_finite_features(dtype):
    Z = np.repeat(data(5), 4, axis=0).astype(dtype)
    phi = LandmarkMap.from_landmarks(Gaussian(1.0), Z)(Z)
    assert_allclose(phi @ phi.T, Gaussian(1.0).block(Z, Z), atol=1e-2)
    same = LandmarkMap.from_landmarks(Gaussian(1.0), np.ones((6, 2), dtype))(np.ones((3, 2), dtype))
    assert np.isfinite(same).all()
    zero = LandmarkMap.from_landmarks(Linear(), np.zeros((3, 2), dtype))(np.ones((2, 2), dtype))
    assert_array_equal(zero, 0.0)


def test_a_kernel_that_is_none_is_refused():
    minus = CallableKernel(lambda a, b: -np.ones((len(a), len(b))))
    with pytest.raises(InputError, match="not positive semi-definite"):
        LandmarkMap.from_landmarks(minus, data(3))


@pytest.mark.parametrize("choice", ["uniform", "kmeans++", "leverage"])
def test_choices_are_distinct_ordered_and_seeded(choice):
    X, kernel = data(200), Gaussian(0.3)
    rows = choose_landmarks(X, 30, choice=choice, seed=1, kernel=kernel)
    assert len(np.unique(rows)) == 30
    assert_array_equal(rows, np.sort(rows))
    assert_array_equal(rows, choose_landmarks(X, 30, choice=choice, seed=1, kernel=kernel))
    again = choose_landmarks(X, 30, choice=choice, seed=2, kernel=kernel)
    assert not np.array_equal(rows, again)
    assert_array_equal(choose_landmarks(X, 200, choice=choice), np.arange(200))


def test_rare_kinds_are_met_by_distance():
    X = np.concatenate([0.01 * data(500), 10.0 + 0.01 * data(2)])
    for seed in range(5):
        assert choose_landmarks(X, 5, choice="kmeans++", seed=seed)[-1] >= 500


def test_leverage_stands_for_more_of_the_kernel_than_chance():
    """Of a crowd and a sprinkling around it, what is left out is smaller; it needs a kernel."""
    rng = np.random.default_rng(0)
    X = np.concatenate([0.05 * rng.standard_normal((2000, 3)), 3 * rng.standard_normal((60, 3))])
    kernel, left_out = Gaussian(0.5), {}
    for choice in ("uniform", "leverage"):
        found = []
        for seed in range(5):
            rows = choose_landmarks(X, 30, choice=choice, seed=seed, kernel=kernel)
            phi = LandmarkMap.from_landmarks(kernel, X[rows])(X)
            found.append(len(X) - np.square(phi).sum())
        left_out[choice] = np.mean(found)
    assert left_out["leverage"] < 0.7 * left_out["uniform"]
    with pytest.raises(InputError, match="pass kernel="):
        choose_landmarks(X, 30, choice="leverage")


def test_duplicates_leave_enough_landmarks():
    rows = choose_landmarks(np.zeros((50, 2)), 10, choice="kmeans++")
    assert len(np.unique(rows)) == 10


def test_an_unknown_choice():
    with pytest.raises(InputError, match="by 'best'; pass one of uniform, kmeans"):
        choose_landmarks(data(), 3, choice="best")


def test_workers_do_not_matter():
    X = data(3000)
    features = LandmarkMap.from_landmarks(Gaussian(0.3), X[:200])
    assert_array_equal(features(X, n_jobs=1), features(X, n_jobs=2))
