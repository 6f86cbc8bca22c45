"""The 38 features of the HJA work: the shape of a sound in its spectrogram.

After Briggs, Lakshminarayanan, Neal, Fern, Raich, Hadley, Hadley and Betts, "Acoustic
classification of multiple simultaneous bird species: a multi-instance multi-label approach",
Journal of the Acoustical Society of America 131, 2012. Skewness and kurtosis are standardised here,
and values are decibels above the noise.
"""

from typing import Final

import numpy as np
import numpy.typing as npt

from raravis.audio.recipes import FeatureRecipe
from raravis.audio.spectrogram import Grid, Power

__all__ = ["NAMES", "describe_shape"]

FloatArray = npt.NDArray[np.float64]
BoolArray = npt.NDArray[np.bool_]

_N_DIRECTIONS: Final = 16

NAMES: Final = (
    "frequency_gini",
    "time_gini",
    "frequency_mean_hz",
    "time_mean_share",
    "frequency_variance_hz2",
    "time_variance_share2",
    "frequency_skewness",
    "time_skewness",
    "frequency_kurtosis",
    "time_kurtosis",
    "frequency_of_maximum_hz",
    "time_of_maximum_share",
    "mask_mean_db",
    "mask_std_db",
    "min_frequency_hz",
    "max_frequency_hz",
    "bandwidth_hz",
    "duration_s",
    "area_s_khz",
    "perimeter_points",
    "noncompactness",
    "rectangularity",
    *(f"gradient_{22.5 * i:05.1f}_deg" for i in range(_N_DIRECTIONS)),
)
"""The features, in the order of the published data."""


def describe_shape(patch: Power, first_bin: int, grid: Grid, recipe: FeatureRecipe) -> FloatArray:
    """Return the 38 features of one segment.

    Parameters
    ----------
    patch : array of shape (frames, bins)
        Decibels above the noise in the segment's box.
    first_bin : int
        The first bin of the box among those that are kept.
    grid : Grid
    recipe : FeatureRecipe
    """
    mask = _mask(patch, recipe)
    times, bins = _extent(mask, axis=1), _extent(mask, axis=0)
    patch, mask = patch[times, bins], mask[times, bins]
    weight = np.where(mask, np.maximum(patch, 0), 0).astype(np.float64)
    if not weight.any():
        weight = mask.astype(np.float64)
    low_hz = (grid.first_bin + first_bin + bins.start - 0.5) * grid.step_hz
    frequency = _profile(weight.sum(axis=0), low_hz, grid.step_hz)
    time = _profile(weight.sum(axis=1), 0.0, 1 / len(patch))
    inside = patch[mask]
    return np.array(
        [
            *(value for both in zip(frequency, time, strict=True) for value in both),
            inside.mean(dtype=np.float64),
            inside.std(dtype=np.float64),
            *_outline(mask, low_hz, grid),
            *_directions(patch, mask),
        ]
    )


def _mask(patch: Power, recipe: FeatureRecipe) -> BoolArray:
    """Say which points are of the sound; all of them where nothing stands out."""
    threshold = max(recipe.mask_db, float(patch.max()) - recipe.peak_range_db)
    mask: BoolArray = patch >= threshold
    return mask if mask.any() else np.ones_like(mask)


def _extent(mask: BoolArray, *, axis: int) -> slice:
    used = np.flatnonzero(mask.any(axis=axis))
    return slice(int(used[0]), int(used[-1]) + 1)


def _profile(weights: FloatArray, low: float, step: float) -> tuple[float, ...]:
    """Return Gini impurity, mean, variance, skewness, kurtosis and place of the maximum."""
    share = weights / weights.sum()
    place = low + (np.arange(len(share)) + 0.5) * step
    mean = float(share @ place)
    centred = (place - mean) / step
    second, third, fourth = (float(share @ centred**power) for power in (2, 3, 4))
    # Of what has no width, the shape is that of a point.
    skewness, kurtosis = (third / second**1.5, fourth / second**2) if second > 1e-6 else (0.0, 0.0)
    gini = 1 - float(share @ share)
    return gini, mean, second * step**2, skewness, kurtosis, float(place[share.argmax()])


def _outline(mask: BoolArray, low_hz: float, grid: Grid) -> tuple[float, ...]:
    from raravis.audio._loops import count_sides

    n_frames, n_bins = mask.shape
    area = int(np.count_nonzero(mask))
    perimeter = float(count_sides(mask))
    return (
        low_hz,
        low_hz + n_bins * grid.step_hz,
        n_bins * grid.step_hz,
        n_frames * grid.step_s,
        area * grid.step_s * grid.step_hz / 1000,
        perimeter,
        perimeter**2 / (4 * np.pi * area),
        area / mask.size,
    )


def _directions(patch: Power, mask: BoolArray) -> FloatArray:
    """Return how the steepness in the mask is shared among 16 directions.

    0 degrees is a rise over time, 90 degrees one over frequency.
    """
    from raravis.audio._loops import count_directions

    total: FloatArray = count_directions(patch, mask, _N_DIRECTIONS)
    return total / total.sum() if total.any() else np.full(_N_DIRECTIONS, 1 / _N_DIRECTIONS)
