"""How far a sound stands out of the noise at its frequency."""

import math
from collections.abc import Iterator
from typing import NamedTuple

import numpy as np

from raravis.audio.reading import BLOCK_FRAMES, Sound
from raravis.audio.recipes import SpectrogramRecipe
from raravis.audio.spectrogram import Grid, Power, power_parts, with_context

__all__ = ["excess_parts"]

# The noise level never counts as lower than this share of a full-scale sine's power: a recording
# that is silent but for the rounding of its samples holds no calls.
_LEAST_NOISE = 1e-11
# Frames overlap: every fourth says as much about the noise as all of them.
_EVERY = 4
_FRAMES_A_PART = 2048


def excess_parts(
    sound: Sound, grid: Grid, recipe: SpectrogramRecipe, *, block_frames: int = BLOCK_FRAMES
) -> Iterator[Power]:
    """Return decibels above the noise, in parts of shape (frames, kept bins).

    Power is smoothed over time and frequency first. The noise level of a frequency is a
    percentile over the frames of a stretch; between the middles of stretches it goes in a straight
    line, in decibels. The last stretch is half to one and a half times as long as the others.
    """
    parts = power_parts(sound, grid, channel=recipe.channel, block_frames=block_frames)
    reach = round(recipe.smooth_s / grid.step_s / 2)
    width = round(recipe.smooth_hz / grid.step_hz / 2)
    smooth = (_smoothed(part, reach, width) for part in with_context(parts, reach))
    n_frames = max(1, round(recipe.noise_window_s / grid.step_s))
    return _above_level(_stretches(smooth, n_frames), recipe.noise_percentile)


def _smoothed(part: Power, reach: int, width: int) -> Power:
    """Return means over boxes, without the `reach` frames of context on both sides.

    Sums of a few shifted copies: running sums would carry their rounding along, and the result
    would depend on where a part begins.
    """
    if reach:
        n_frames = len(part) - 2 * reach
        part = _mean([part[i : i + n_frames] for i in range(2 * reach + 1)])
    if width:
        n_bins = part.shape[1]
        wide = np.pad(part, ((0, 0), (width, width)), mode="edge")
        part = _mean([wide[:, i : i + n_bins] for i in range(2 * width + 1)])
    return part


def _mean(copies: list[Power]) -> Power:
    total = copies[0] + copies[1]
    for copy in copies[2:]:
        total += copy
    total *= np.float32(1 / len(copies))
    return total


def _stretches(parts: Iterator[Power], n_frames: int) -> Iterator[Power]:
    """Cut into stretches of `n_frames`; the last one is no shorter than half that, if it can."""
    held: list[Power] = []
    n_held = 0
    for part in parts:
        held.append(part)
        n_held += len(part)
        # What is left over is always enough to be a last stretch.
        while n_held >= n_frames + math.ceil(n_frames / 2):
            joined = np.concatenate(held)
            yield joined[:n_frames]
            held = [joined[n_frames:].copy()]
            n_held -= n_frames
    if n_held:
        yield np.concatenate(held)


def _above_level(stretches: Iterator[Power], percentile: float) -> Iterator[Power]:
    before: _Level | None = None
    current: tuple[Power, _Level] | None = None
    for stretch in stretches:
        decibels = _decibels(stretch)
        level = np.percentile(decibels[::_EVERY], percentile, axis=0).astype(np.float32)
        following = _Level(level, len(decibels))
        if current is not None:
            yield from _subtracted(*current, before, following)
            before = current[1]
        current = (decibels, following)
    if current is not None:
        yield from _subtracted(*current, before, None)


class _Level(NamedTuple):
    """The noise level of a stretch of so many frames."""

    level: Power
    n_frames: int


def _decibels(power: Power) -> Power:
    decibels = np.maximum(power, np.float32(_LEAST_NOISE))
    np.log(decibels, out=decibels)
    decibels *= np.float32(10 / math.log(10))
    return decibels


def _subtracted(
    decibels: Power, own: _Level, before: _Level | None, following: _Level | None
) -> Iterator[Power]:
    """Subtract the level, which leads from the stretch before to the one that follows."""
    middle = len(decibels) / 2
    for first in range(0, len(decibels), _FRAMES_A_PART):
        excess = decibels[first : first + _FRAMES_A_PART] - own.level
        place = np.arange(first, first + len(excess), dtype=np.float32) + np.float32(0.5 - middle)
        for neighbour, distance in ((before, -place), (following, place)):
            if neighbour is not None:
                share = np.maximum(0, distance) / np.float32(middle + neighbour.n_frames / 2)
                rows = np.flatnonzero(share)
                if len(rows):
                    beyond = slice(rows[0], rows[-1] + 1)
                    excess[beyond] -= share[beyond, np.newaxis] * (neighbour.level - own.level)
        yield excess
