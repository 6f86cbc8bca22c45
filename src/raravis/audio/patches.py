"""What lies in the boxes of segments: stretches of the spectrogram, cut out on the way through."""

from collections.abc import Iterator

import numpy as np
import numpy.typing as npt

from raravis.audio.errors import AudioError
from raravis.audio.noise import excess_parts
from raravis.audio.reading import Sound
from raravis.audio.recipes import SpectrogramRecipe
from raravis.audio.segments import Segments
from raravis.audio.spectrogram import Grid, Power

__all__ = ["Place", "patches", "places"]

IntArray = npt.NDArray[np.int64]
Place = tuple[int, int, int, int]


def places(segments: Segments, grid: Grid, n_frames: int) -> IntArray:
    """Return first and end frame, first and end bin of every segment: at least one point each."""
    first_frame, end_frame = _at_least_one(
        grid.frame_at(segments.begin_s), grid.frame_at(segments.end_s), n_frames
    )
    first_bin, end_bin = _at_least_one(
        grid.bin_at(segments.low_hz), grid.bin_at(segments.high_hz), grid.n_bins
    )
    return np.stack([first_frame, end_frame, first_bin, end_bin], axis=1)


def _at_least_one(first: IntArray, end: IntArray, n: int) -> tuple[IntArray, IntArray]:
    first = np.minimum(first, n - 1)
    return first, np.maximum(first + 1, np.minimum(end, n))


def patches(
    sound: Sound, segments: Segments, grid: Grid, recipe: SpectrogramRecipe
) -> Iterator[tuple[int, Power]]:
    """Return every segment's number and its decibels above the noise, as segments end.

    What is held is no more than the segments that have begun and not ended.
    """
    where = places(segments, grid, grid.n_frames(sound.n_frames))
    waiting = np.arange(len(segments))
    held = np.empty((0, grid.n_bins), np.float32)
    first = 0
    for part in excess_parts(sound, grid, recipe):
        held = np.concatenate([held, part])
        over = where[waiting, 1] <= first + len(held)
        for row in waiting[over]:
            yield int(row), _cut(held, where[row], first)
        waiting = waiting[~over]
        if not len(waiting):
            return
        needed = min(first + len(held), int(where[waiting, 0].min()))
        held, first = held[max(0, needed - first) :], max(first, needed)
    # The file breaks off earlier than its head says.
    for row in waiting:
        patch = _cut(held, where[row], first)
        if not patch.size:
            raise AudioError(
                f"{sound.path} breaks off before segment {row}, which begins at "
                f"{segments.begin_s[row]:g} s; segment what there is of it"
            )
        yield int(row), patch


def _cut(held: Power, place: IntArray, first: int) -> Power:
    first_frame, end_frame, first_bin, end_bin = place
    return held[max(0, first_frame - first) : max(0, end_frame - first), first_bin:end_bin]
