import gzip
import struct

import numpy as np
import pytest

from raravis.datasets import (
    DatasetError,
    fetch_mnist,
    fetch_mnist_bags,
    fetch_mnist_components,
    mnist,
)
from raravis.datasets._registry import MNIST_FILES
from raravis.datasets.mnist import _parse_idx, _principal_axes, _project
from raravis.errors import InputError


def idx(array):
    header = struct.pack(">BBBB", 0, 0, 8, array.ndim) + struct.pack(
        f">{array.ndim}I", *array.shape
    )
    return gzip.compress(header + array.tobytes(), mtime=0)


@pytest.fixture
def forget():
    """Forget the basis of the real training images, and that of made-up ones afterwards."""
    mnist._training_basis.cache_clear()
    yield
    mnist._training_basis.cache_clear()


@pytest.fixture
def tiny(alone, forget, serve, remote, monkeypatch):
    """MNIST in small, offered by a mirror on this machine."""
    rng = np.random.default_rng(0)
    arrays, files = {}, {}
    for part, n in (("train", 30), ("t10k", 12)):
        arrays[part] = rng.integers(0, 256, (n, 6, 6), dtype=np.uint8), rng.permutation(n) % 10
        for what, values in zip(("images-idx3", "labels-idx1"), arrays[part], strict=True):
            name = f"{part}-{what}-ubyte.gz"
            content = idx(values.astype(np.uint8))
            files[name] = remote(content, serve(content).url, path=f"mnist/{name}")
    monkeypatch.setattr(mnist, "MNIST_FILES", files)
    return arrays


def test_idx_round_trip():
    array = np.arange(24, dtype=np.uint8).reshape(2, 3, 4)
    np.testing.assert_array_equal(_parse_idx(gzip.decompress(idx(array))), array)


def test_idx_of_another_type_is_refused():
    with pytest.raises(InputError, match="not an idx file of bytes"):
        _parse_idx(b"\0\0\x0d\1" + struct.pack(">I", 1) + b"\0" * 4)


def test_images_are_downloaded_scaled_and_kept(tiny, alone):
    X, y = fetch_mnist()
    images, digits = tiny["train"]
    assert X.dtype == np.float32
    np.testing.assert_array_equal(X, images.reshape(30, 36).astype(np.float32) / np.float32(255))
    np.testing.assert_array_equal(y, digits)
    assert sorted(path.name for path in (alone / "mnist").iterdir()) == [
        "train-images-idx3-ubyte.gz",
        "train-labels-idx1-ubyte.gz",
    ]


def test_all_is_training_then_test(tiny):
    (train, a), (test, b), (both, c) = (fetch_mnist(subset=s) for s in ("train", "test", "all"))
    np.testing.assert_array_equal(both, np.concatenate([train, test]))
    np.testing.assert_array_equal(c, np.concatenate([a, b]))


def test_progress_is_reported(tiny):
    calls = []
    fetch_mnist(progress=lambda *args: calls.append(args))
    assert calls
    assert all(0 < done <= total for done, total in calls)


def test_components_are_those_of_the_training_images(tiny):
    train, _ = fetch_mnist_components(5)
    test, _ = fetch_mnist_components(5, subset="test")
    X, _ = fetch_mnist()
    mean = X.mean(axis=0, dtype=float)
    _, _, axes = np.linalg.svd(X - mean, full_matrices=False)
    axes = axes[:5] * np.sign(axes[np.arange(5), np.abs(axes[:5]).argmax(axis=1)])[:, None]
    np.testing.assert_allclose(train, (X - mean) @ axes.T, atol=1e-5)
    np.testing.assert_allclose(test, (fetch_mnist(subset="test")[0] - mean) @ axes.T, atol=1e-5)


def test_bags_hold_the_components_of_the_images_that_their_ids_name(tiny):
    for subset in ("train", "test"):
        data = fetch_mnist_bags(known=[1, 2], n_bags=7, bag_size=4, n_components=3, subset=subset)
        Z, y = fetch_mnist_components(3, subset=subset)
        np.testing.assert_allclose(data.bags.instances, Z[data.instance_ids], atol=1e-12)
        np.testing.assert_array_equal(data.instance_labels, y[data.instance_ids])
        assert data.labels.classes == (1, 2)


def test_no_network_says_how_to_do_without(alone, monkeypatch, remote):
    files = {
        name: remote(b"", "http://127.0.0.1:9/x", path=f.path) for name, f in MNIST_FILES.items()
    }
    monkeypatch.setattr(mnist, "MNIST_FILES", files)
    with pytest.raises(DatasetError, match=r"could not be downloaded(.|\n)*RARAVIS_DATA=FOLDER"):
        fetch_mnist()


@pytest.mark.parametrize("n_components", [0, 785, 2.0, "20"])
def test_impossible_number_of_components(alone, n_components):
    with pytest.raises(InputError, match="from 1 to 784"):
        fetch_mnist_components(n_components)


def test_unknown_subset(alone):
    with pytest.raises(InputError, match="subset is 'validation'"):
        fetch_mnist(subset="validation")


def test_constant_pixels_and_few_images_do_no_harm():
    pixels = np.zeros((5, 9), np.uint8)
    pixels[:, 3] = [0, 50, 100, 150, 200]
    basis = _principal_axes(pixels)
    Z = _project(pixels, basis, 2)
    np.testing.assert_allclose(Z[:, 0], (pixels[:, 3] - 100.0) / 255, atol=1e-12)
    np.testing.assert_allclose(Z[:, 1], 0, atol=1e-12)


# ------------------------------------------------------------------------------------ real data


@pytest.fixture(scope="module")
def real_test_images(real_data):
    return fetch_mnist(subset="test", data_home=real_data, allow_download=False)


@pytest.mark.data
def test_real_test_images(real_test_images):
    X, y = real_test_images
    assert X.shape == (10_000, 784)
    assert X.min() == 0
    assert X.max() == 1
    assert np.bincount(y).tolist() == [980, 1135, 1032, 1010, 982, 892, 958, 1028, 974, 1009]


@pytest.mark.data
def test_real_training_components(real_data):
    Z, y = fetch_mnist_components(data_home=real_data, allow_download=False)
    assert Z.shape == (60_000, 20)
    assert np.bincount(y).tolist() == [
        5923, 6742, 5958, 6131, 5842, 5421, 5918, 6265, 5851, 5949,
    ]  # fmt: skip
    np.testing.assert_allclose(Z.mean(axis=0), 0, atol=1e-9)
    covariance = np.cov(Z, rowvar=False, bias=True)
    variances = np.diag(covariance)
    assert (np.diff(variances) < 0).all()
    np.testing.assert_allclose(covariance, np.diag(variances), atol=1e-9)
    # The first 20 of 784 are known to carry 64 percent of the variance of 52.7 in all.
    assert variances.sum() / 52.73 == pytest.approx(0.644, abs=0.002)


@pytest.mark.data
def test_damaged_real_file_is_refused(alone, real_data, tmp_path):
    name = "t10k-labels-idx1-ubyte.gz"
    content = bytearray((real_data / "mnist" / name).read_bytes())
    content[len(content) // 2] ^= 1
    (tmp_path / "mnist").mkdir()
    (tmp_path / "mnist" / name).write_bytes(content)
    images = "t10k-images-idx3-ubyte.gz"
    (tmp_path / "mnist" / images).symlink_to(real_data / "mnist" / images)
    with pytest.raises(DatasetError, match=rf"{name} is damaged.*expected SHA-256.*got"):
        fetch_mnist(subset="test", data_home=tmp_path, allow_download=False)
