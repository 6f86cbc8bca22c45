import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from raravis.audio import FeatureRecipe
from raravis.audio.shape38 import NAMES, describe_shape
from raravis.audio.spectrogram import Grid

RECIPE = FeatureRecipe(mask_db=8, peak_range_db=25)
# 10 ms a frame, 100 Hz a bin; the first bin that is kept is at 300 Hz.
GRID = Grid(10_000, 100, 100, 3, 40)


def describe(patch, first_bin=0):
    features = describe_shape(np.array(patch, dtype=np.float32), first_bin, GRID, RECIPE)
    return dict(zip(NAMES, features, strict=True))


def directions(row):
    return np.array([row[name] for name in NAMES if name.startswith("gradient")])


def test_a_full_rectangle():
    patch = np.zeros((20, 10))
    patch[4:12, 2:7] = 20
    row = describe(patch, first_bin=5)
    assert row["min_frequency_hz"] == pytest.approx((3 + 5 + 2 - 0.5) * 100)
    assert row["bandwidth_hz"] == pytest.approx(500)
    assert row["max_frequency_hz"] == row["min_frequency_hz"] + row["bandwidth_hz"]
    assert row["duration_s"] == pytest.approx(0.08)
    assert row["area_s_khz"] == pytest.approx(0.08 * 0.5)
    assert row["perimeter_points"] == 2 * (8 + 5)
    assert row["noncompactness"] == pytest.approx(26**2 / (4 * np.pi * 40))
    assert row["rectangularity"] == 1
    assert (row["mask_mean_db"], row["mask_std_db"]) == (20, 0)
    # Uniform profiles of five bins and eight frames.
    assert row["frequency_gini"] == pytest.approx(1 - 1 / 5)
    assert row["time_gini"] == pytest.approx(1 - 1 / 8)
    assert row["frequency_mean_hz"] == pytest.approx(row["min_frequency_hz"] + 250)
    assert row["time_mean_share"] == pytest.approx(0.5)
    assert row["frequency_variance_hz2"] == pytest.approx((25 - 1) / 12 * 100**2)
    assert row["time_variance_share2"] == pytest.approx((64 - 1) / 12 / 64)
    assert row["frequency_skewness"] == pytest.approx(0, abs=1e-9)
    assert row["time_kurtosis"] == pytest.approx(3 * (3 * 64 - 7) / (5 * (64 - 1)))


def test_profiles_against_numpy():
    rng = np.random.default_rng(0)
    patch = rng.uniform(9, 30, (30, 12))
    row = describe(patch)
    weights = np.where(patch >= max(8, patch.max() - 25), patch, 0).sum(axis=0)
    share = weights / weights.sum()
    place = 300 + 100 * np.arange(12)
    mean = np.average(place, weights=share)
    std = np.sqrt(np.average((place - mean) ** 2, weights=share))
    assert row["frequency_mean_hz"] == pytest.approx(mean)
    assert row["frequency_variance_hz2"] == pytest.approx(std**2)
    third = np.average(((place - mean) / std) ** 3, weights=share)
    assert row["frequency_skewness"] == pytest.approx(third)
    fourth = np.average(((place - mean) / std) ** 4, weights=share)
    assert row["frequency_kurtosis"] == pytest.approx(fourth)
    assert row["frequency_of_maximum_hz"] == place[share.argmax()]
    assert row["frequency_gini"] == pytest.approx(1 - (share**2).sum())


@pytest.mark.parametrize(
    ("rise_t", "rise_f", "degrees"), [(1, 0, 0), (1, 1, 45), (0, 1, 90), (-1, 0, 180), (0, -1, 270)]
)
def test_a_slope_is_in_its_direction(rise_t, rise_f, degrees):
    t, f = np.indices((9, 9))
    row = describe(20 + rise_t * t + rise_f * f)
    assert directions(row)[round(degrees / 22.5)] == pytest.approx(1)


def test_the_mask_leaves_out_the_faint_and_what_is_far_below_the_peak():
    patch = np.zeros((10, 10))
    patch[2:4, 2:4] = 60
    patch[6:9, 6:9] = 30
    row = describe(patch)
    assert row["duration_s"] == pytest.approx(0.02)
    patch[2:4, 2:4] = 40
    assert describe(patch)["duration_s"] == pytest.approx(0.07)


@given(
    st.integers(1, 12), st.integers(1, 12), st.floats(-60, 60), st.floats(0, 30), st.integers(0, 99)
)
@settings(max_examples=150, deadline=None)
def test_every_box_has_finite_features(n_frames, n_bins, mean, spread, seed):
    patch = np.random.default_rng(seed).normal(mean, spread, (n_frames, n_bins))
    row = describe(patch)
    assert np.isfinite(list(row.values())).all()
    assert directions(row).sum() == pytest.approx(1)
    assert 0 < row["rectangularity"] <= 1
    assert row["noncompactness"] >= 1
    assert row["min_frequency_hz"] <= row["frequency_mean_hz"] <= row["max_frequency_hz"]


def test_where_nothing_stands_out_the_box_is_the_sound():
    row = describe(np.full((6, 5), -3.0))
    assert row["duration_s"] == pytest.approx(0.06)
    assert row["bandwidth_hz"] == pytest.approx(500)
