"""Feature vectors of segments, of every kind behind one function."""

import numpy as np
import numpy.typing as npt

from raravis.audio import birdnet, columns, shape38
from raravis.audio.errors import AudioError
from raravis.audio.patches import patches, places
from raravis.audio.reading import PathLike, Sound, open_recording
from raravis.audio.recipes import FeatureRecipe
from raravis.audio.segments import Segments
from raravis.audio.spectrogram import Grid

__all__ = ["extract_features", "feature_names", "feature_terms"]

FloatArray = npt.NDArray[np.float64]


def feature_names(recipe: FeatureRecipe | None = None) -> tuple[str, ...]:
    """Return what the columns of `extract_features` are called, units included.

    Examples
    --------
    >>> names = feature_names()
    >>> len(names), names[:3]
    (38, ('frequency_gini', 'time_gini', 'frequency_mean_hz'))
    """
    recipe = FeatureRecipe() if recipe is None else recipe
    if recipe.kind == "columns":
        return columns.column_names(recipe)
    return birdnet.NAMES if recipe.kind == "birdnet" else shape38.NAMES


def feature_terms(recipe: FeatureRecipe | None = None) -> str:
    """Return the terms that features come with, to be shown to whoever uses them; or nothing."""
    kind = (FeatureRecipe() if recipe is None else recipe).kind
    return birdnet.LICENCE_NOTE if kind == "birdnet" else ""


def extract_features(
    path: PathLike, segments: Segments, recipe: FeatureRecipe | None = None
) -> FloatArray:
    """Compute the features of segments of a recording.

    Where the segments come from makes no difference: a box is enough, and what stands out in it
    is found anew. The recording is read in blocks, and memory does not grow with its length.

    Parameters
    ----------
    path : path
    segments : Segments
        A segment may reach beyond the end of the recording, but not begin there.
    recipe : FeatureRecipe, optional

    Returns
    -------
    array of shape (n_segments, n_features)
        Finite; the columns are `feature_names`.
    """
    recipe = FeatureRecipe() if recipe is None else recipe
    with open_recording(path, channel=recipe.channel) as sound:
        _require_within(segments, sound)
        if recipe.kind == "birdnet":
            return birdnet.embed_segments(sound, segments, recipe)
        if recipe.kind == "columns":
            return columns.column_features(sound.path, segments, recipe)
        return _shapes(sound, segments, recipe)


def _shapes(sound: Sound, segments: Segments, recipe: FeatureRecipe) -> FloatArray:
    grid = Grid.of(recipe, sound.sample_rate_hz)
    features = np.empty((len(segments), len(shape38.NAMES)))
    if not len(segments):
        return features
    if not grid.n_bins:
        raise AudioError(
            f"{sound.path} has {sound.sample_rate_hz} samples a second, and no frequency between "
            f"min_hz ({recipe.min_hz:g}) and max_hz; lower min_hz"
        )
    first_bins = places(segments, grid, grid.n_frames(sound.n_frames))[:, 2]
    for row, patch in patches(sound, segments, grid, recipe):
        features[row] = shape38.describe_shape(patch, int(first_bins[row]), grid, recipe)
    return features


def _require_within(segments: Segments, sound: Sound) -> None:
    beyond = np.flatnonzero(segments.begin_s > sound.duration_s)
    if beyond.size:
        row = beyond[0]
        raise AudioError(
            f"segment {row} begins at {segments.begin_s[row]:g} s, but {sound.path} ends at "
            f"{sound.duration_s:g} s; pass segments of this recording"
        )
