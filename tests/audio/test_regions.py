import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import ndimage

from raravis.audio import SegmentRecipe
from raravis.audio._loops import flood, order_by_level
from raravis.audio.regions import find_regions
from raravis.audio.spectrogram import Grid

RECIPE = SegmentRecipe(low_db=8, high_db=12, valley_db=1e6, peak_reach_s=0)
GRID = Grid.of(RECIPE, 8000)


def columns(regions):
    names = ("first_frame", "end_frame", "first_bin", "end_bin", "n_points")
    return sorted(zip(*(getattr(regions, name).tolist() for name in names), strict=True))


def by_scipy(excess, recipe):
    labels, n = ndimage.label(excess >= recipe.low_db, structure=np.ones((3, 3)))
    peaks = ndimage.maximum(excess, labels, np.arange(1, n + 1))
    return sorted(
        (t.start, t.stop, f.start, f.stop, int(np.count_nonzero(labels == i + 1)))
        for i, (t, f) in enumerate(ndimage.find_objects(labels))
        if peaks[i] >= recipe.high_db
    )


@given(
    st.integers(0, 2**32 - 1), st.lists(st.integers(1, 30), min_size=1, max_size=6), st.floats(0, 9)
)
@settings(max_examples=60, deadline=None)
def test_without_valleys_regions_are_connected_components_whatever_the_parts(seed, lengths, mean):
    rng = np.random.default_rng(seed)
    excess = rng.normal(mean, 5, (sum(lengths), 12)).astype(np.float32)
    parts = np.split(excess, np.cumsum(lengths)[:-1])
    grid = Grid(8000, GRID.window, GRID.hop, 0, 12)
    assert columns(find_regions(iter(parts), grid, RECIPE)) == by_scipy(excess, RECIPE)


def two_hills(valley_db):
    """Two peaks of 20 and 25 dB along time, with what is between them at a given level."""
    line = np.interp(np.arange(41), [0, 10, 20, 30, 40], [0, 20, valley_db, 25, 0])
    return np.repeat(line[:, np.newaxis], 3, axis=1).astype(np.float32)


@pytest.mark.parametrize(("valley_db", "n_expected"), [(18, 1), (11, 1), (9, 2), (0, 2)])
def test_hills_are_two_if_the_valley_is_deep_enough(valley_db, n_expected):
    level = two_hills(valley_db)
    points = np.flatnonzero(level.ravel() > 1)
    order = order_by_level(level.ravel()[points], 1.0, 0.05)
    labels, n_basins = flood(level, points[order], np.float32(10))
    assert n_basins == n_expected
    assert set(np.unique(labels)) == set(range(n_expected + 1))
    if n_expected == 2:
        assert len(np.unique(labels[5:16])) == len(np.unique(labels[25:36])) == 1


@given(st.lists(st.floats(0, 60, width=32), min_size=1, max_size=80))
def test_order_by_level_falls(values):
    values = np.array(values, dtype=np.float32)
    order = order_by_level(values, 0.0, 0.5)
    assert sorted(order) == list(range(len(values)))
    assert (np.diff(values[order]) <= 0.5).all()


@given(st.integers(0, 2**32 - 1), st.floats(0.5, 15))
@settings(max_examples=40, deadline=None)
def test_basins_divide_components_and_each_has_a_peak_of_its_own(seed, valley):
    rng = np.random.default_rng(seed)
    level = ndimage.gaussian_filter(rng.normal(0, 60, (40, 30)), 1.5).astype(np.float32)
    mask = level > 0
    points = np.flatnonzero(mask)
    order = order_by_level(level.ravel()[points], 0.0, 0.001)
    labels, n_basins = flood(level, points[order], np.float32(valley))
    components, _ = ndimage.label(mask, structure=np.ones((3, 3)))
    assert np.array_equal(labels > 0, mask)
    names = np.arange(1, n_basins + 1)
    assert np.array_equal(
        ndimage.minimum(components, labels, names), ndimage.maximum(components, labels, names)
    )
    peak = np.concatenate([[0], ndimage.maximum(level, labels, names)])
    for one, other in _neighbours(labels.shape):
        meet = (labels[one] != labels[other]) & (labels[one] > 0) & (labels[other] > 0)
        saddle = np.minimum(level[one], level[other])[meet]
        lower = np.minimum(peak[labels[one]], peak[labels[other]])[meet]
        # Both rise above where they meet by the valley's depth, but for the step of sorting.
        assert (lower - saddle >= valley - 0.01).all()


def _neighbours(shape):
    """Index pairs of all points that touch, corner to corner included."""
    t, f = np.indices(shape)
    for step_t, step_f in ((0, 1), (1, 0), (1, 1), (1, -1)):
        there = (t + step_t < shape[0]) & (f + step_f < shape[1]) & (f + step_f >= 0)
        yield (t[there], f[there]), (t[there] + step_t, f[there] + step_f)


def test_what_lies_far_below_a_loud_sound_nearby_is_left_out():
    excess = np.zeros((100, 5), np.float32)
    excess[50:53, 2] = 60
    excess[53:60, 2] = 20
    loose = SegmentRecipe(low_db=8, high_db=12, peak_range_db=50, peak_reach_s=0.1)
    tight = SegmentRecipe(low_db=8, high_db=12, peak_range_db=25, peak_reach_s=0.1)
    grid = Grid(8000, GRID.window, GRID.hop, 0, 5)
    assert columns(find_regions(iter([excess]), grid, loose)) == [(50, 60, 2, 3, 10)]
    assert columns(find_regions(iter([excess]), grid, tight)) == [(50, 53, 2, 3, 3)]


def test_no_part_no_region():
    assert len(find_regions(iter([]), GRID, RECIPE)) == 0
