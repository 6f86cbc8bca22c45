"""Spectrograms: power over time and frequency, a part of a recording at a time."""

import math
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Self, TypeAlias

import numpy as np
import numpy.typing as npt

from raravis.audio.reading import (
    BLOCK_FRAMES,
    Channel,
    PathLike,
    Samples,
    Sound,
    clip,
    open_recording,
)
from raravis.audio.recipes import SpectrogramRecipe
from raravis.errors import InputError

__all__ = ["Grid", "Picture", "power_parts", "spectrogram_image", "with_context"]

Power: TypeAlias = npt.NDArray[np.float32]
FloatArray: TypeAlias = npt.NDArray[np.float64]

# Frames that are transformed at once. Parts begin at multiples of it, whatever the file is read
# in, so that the last bits do not depend on that.
_FRAMES_A_PART = 1024
#: Power that counts as nothing: -150 dB of a full-scale sine.
_NO_POWER = 1e-15


@dataclass(frozen=True, slots=True)
class Grid:
    """Where the points of a spectrogram lie: frames in time, bins in frequency.

    Parameters
    ----------
    sample_rate_hz : int
    window, hop : int
        Samples in a frame, and from one frame to the next.
    first_bin, n_bins : int
        The bins that are kept; bin b is at ``b * step_hz``.
    """

    sample_rate_hz: int
    window: int
    hop: int
    first_bin: int
    n_bins: int

    @classmethod
    def of(cls, recipe: SpectrogramRecipe, sample_rate_hz: int) -> Self:
        """Lay a recipe's grid over a sample rate; no bins if all frequencies lie outside."""
        window = max(2, round(recipe.window_s * sample_rate_hz))
        hop = max(1, round(recipe.hop_s * sample_rate_hz))
        step_hz = sample_rate_hz / window
        first = math.ceil(recipe.min_hz / step_hz - 1e-9)
        highest = math.inf if recipe.max_hz is None else recipe.max_hz / step_hz + 1e-9
        last = math.floor(min(highest, window // 2))
        return cls(sample_rate_hz, window, hop, first, max(0, last - first + 1))

    @property
    def step_s(self) -> float:
        """Seconds from one frame to the next."""
        return self.hop / self.sample_rate_hz

    @property
    def step_hz(self) -> float:
        """Hertz from one bin to the next."""
        return self.sample_rate_hz / self.window

    def n_frames(self, n_samples: int) -> int:
        """Count the frames of so many samples; silence fills up the last one."""
        return math.ceil(max(0, n_samples - self.window) / self.hop) + 1 if n_samples else 0

    def frame_edge_s(self, frame: npt.ArrayLike) -> FloatArray:
        """Return where a frame begins to be the nearest one, which is where the last one ends."""
        middle = np.asarray(frame, dtype=np.float64) * self.hop + self.window / 2
        return (middle - self.hop / 2) / self.sample_rate_hz

    def bin_edge_hz(self, index: npt.ArrayLike) -> FloatArray:
        """Return the lower edge of a kept bin, counted from the first one that is kept."""
        return (np.asarray(index, dtype=np.float64) + self.first_bin - 0.5) * self.step_hz

    def frame_at(self, time_s: npt.ArrayLike) -> npt.NDArray[np.int64]:
        """Return the first frame whose middle is not before a time."""
        middle = np.asarray(time_s, dtype=np.float64) * self.sample_rate_hz - self.window / 2
        first: FloatArray = np.ceil(middle / self.hop - 1e-6)
        return np.maximum(0, first).astype(np.int64)

    def bin_at(self, frequency_hz: npt.ArrayLike) -> npt.NDArray[np.int64]:
        """Return the first kept bin that is not below a frequency."""
        index: FloatArray = np.asarray(frequency_hz, dtype=np.float64) / self.step_hz
        kept: FloatArray = np.ceil(index - 1e-6) - self.first_bin
        return np.minimum(np.maximum(0, kept), self.n_bins).astype(np.int64)


def power_parts(
    sound: Sound, grid: Grid, *, channel: Channel = "mix", block_frames: int = BLOCK_FRAMES
) -> Iterator[Power]:
    """Return power, as a share of a full-scale sine's, in parts of shape (frames, kept bins).

    Equal to what `scipy.signal.ShortTimeFFT` computes of the same frames, in single precision.
    """
    samples = sound.blocks(block_frames=block_frames, channel=channel)
    return (_power(frames, grid) for frames in _frames(samples, grid))


def _frames(blocks: Iterator[Samples], grid: Grid) -> Iterator[Samples]:
    """Return overlapping frames, `_FRAMES_A_PART` at a time, one a row."""
    step = _FRAMES_A_PART * grid.hop
    needed = step - grid.hop + grid.window
    held = np.empty(0, np.float32)
    n_done = 0
    for block in blocks:
        held = np.concatenate([held, block])
        while len(held) >= needed:
            yield _framed(held, _FRAMES_A_PART, grid)
            held = held[step:]
            n_done += _FRAMES_A_PART
    # A tail that is no more than what two frames share was seen already.
    if len(held) > (grid.window - grid.hop if n_done else 0):
        n_frames = grid.n_frames(len(held))
        missing = (n_frames - 1) * grid.hop + grid.window - len(held)
        yield _framed(np.pad(held, (0, missing)), n_frames, grid)


def _framed(samples: Samples, n_frames: int, grid: Grid) -> Samples:
    every = np.lib.stride_tricks.sliding_window_view(samples, grid.window)
    return every[: (n_frames - 1) * grid.hop + 1 : grid.hop]


def _power(frames: Samples, grid: Grid) -> Power:
    from scipy.fft import rfft

    taper = _hann(grid.window)
    kept = slice(grid.first_bin, grid.first_bin + grid.n_bins)
    spectrum = rfft(frames * (taper * np.float32(2 / taper.sum())), axis=1)[:, kept]
    power: Power = np.square(spectrum.real)
    power += np.square(spectrum.imag)
    return power


def _hann(length: int) -> Samples:
    """Return a periodic Hann window, as `scipy.signal.windows.hann` with ``sym=False``."""
    return (0.5 - 0.5 * np.cos(2 * np.pi * np.arange(length) / length)).astype(np.float32)


def with_context(parts: Iterator[Power], reach: int) -> Iterator[Power]:
    """Return the same frames with `reach` more on both sides of every part.

    Before the first frame and after the last one their copies stand in. Parts may come out
    larger or smaller than they went in, but never without a frame of their own.
    """
    held: Power | None = None
    for part in parts:
        held = np.concatenate([np.repeat(part[:1], reach, axis=0) if held is None else held, part])
        if len(held) > 2 * reach:
            yield held
            held = held[len(held) - 2 * reach :]
    if held is not None and reach:
        yield np.concatenate([held, np.repeat(held[-1:], reach, axis=0)])


# ---------------------------------------------------------------------- pictures


@dataclass(frozen=True, eq=False)
class Picture:
    """A spectrogram to look at.

    Parameters
    ----------
    decibels : array of shape (n_frequencies, n_times)
        Relative to a full-scale sine; the lowest frequency comes first.
    times_s, frequencies_hz : array
        The middle of every column, since the start of the recording, and of every row.
    """

    decibels: Power
    times_s: FloatArray
    frequencies_hz: FloatArray


def spectrogram_image(
    path: PathLike,
    begin_s: float,
    end_s: float,
    *,
    low_hz: float = 0.0,
    high_hz: float | None = None,
    window_s: float = 0.016,
    max_columns: int = 1000,
    channel: Channel = "mix",
) -> Picture:
    """Compute the spectrogram of a stretch of a recording, for a picture.

    Parameters
    ----------
    path : path
    begin_s, end_s : float
        What lies outside the recording is left out.
    low_hz, high_hz : float
        The frequencies to show; up to half the sample rate by default.
    window_s : float
        Length of the Hann window. Longer shows frequencies finer and times coarser.
    max_columns : int
        At most so many columns are computed; windows overlap by three quarters if they can.
    channel : int or "mix"
    """
    if max_columns < 1:
        raise InputError(f"max_columns is {max_columns}; pass a number of at least 1")
    recipe = SpectrogramRecipe(window_s=window_s, hop_s=window_s / 4, min_hz=low_hz, max_hz=high_hz)
    with open_recording(path, channel=channel) as sound:
        rate = sound.sample_rate_hz
    grid = Grid.of(recipe, rate)
    half_s = grid.window / 2 / rate
    # Half a window more on both sides, so that the picture begins and ends where it was asked to.
    first_s = max(0.0, begin_s - half_s)
    samples, _ = clip(path, first_s, end_s + half_s, channel=channel)
    hop = max(grid.hop, math.ceil(len(samples) / max_columns))
    grid = Grid(rate, grid.window, hop, grid.first_bin, grid.n_bins)
    parts = [_power(frames, grid) for frames in _frames(iter([samples]), grid)]
    power = np.concatenate([np.empty((0, grid.n_bins), np.float32), *parts])
    times = first_s + (np.arange(len(power)) * hop + grid.window / 2) / rate
    return Picture(
        decibels=np.ascontiguousarray(10 * np.log10(np.maximum(power, _NO_POWER)).T),
        times_s=times,
        frequencies_hz=grid.bin_edge_hz(np.arange(grid.n_bins)) + grid.step_hz / 2,
    )
