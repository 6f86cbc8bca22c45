"""Feature scaling, also of features that do not vary."""

import numpy as np
import pytest
from numpy.testing import assert_allclose
from sklearn import preprocessing

from raravis.errors import InputError
from raravis.scaling import Scaling

X = np.random.default_rng(0).normal(3, [1, 50, 1e-4], size=(40, 3))
PEERS = {
    "minmax": preprocessing.MinMaxScaler(),
    "standard": preprocessing.StandardScaler(),
    "robust": preprocessing.RobustScaler(),
}


@pytest.mark.parametrize("name", PEERS)
@pytest.mark.parametrize("dtype", [np.float64, np.float32])
def test_equals_the_peer_and_keeps_the_dtype(name, dtype):
    scaled = Scaling.learn(X.astype(dtype), name).apply(X.astype(dtype))
    assert scaled.dtype == dtype
    expected = PEERS[name].fit_transform(X)
    # In float32 the smallest feature, 3 +- 1e-4, keeps only a few digits of its spread.
    tolerance = 1e-9 if dtype == np.float64 else 1e-2
    assert_allclose(scaled, expected, rtol=tolerance, atol=tolerance)


@pytest.mark.parametrize("name", [*PEERS, "none"])
def test_a_constant_feature_stays_finite(name):
    flat = np.column_stack([X[:, 0], np.full(40, 7.0)])
    scaled = Scaling.learn(flat, name).apply(flat)
    assert np.isfinite(scaled).all()
    assert np.ptp(scaled[:, 1]) == 0


def test_numbers_too_large_to_square_are_refused():
    with pytest.raises(InputError, match=r"reaches 1\.5e\+308; above 1e\+150 squares overflow"):
        Scaling.learn(np.array([[-1.5e308], [0.0]]), "minmax")


def test_an_unknown_name_is_refused():
    with pytest.raises(InputError, match="minmax, standard, robust, none"):
        Scaling.learn(X, "z-score")
