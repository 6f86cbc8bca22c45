"""Spectrograms as pictures and stretches of sound as WAV, as a browser takes them."""

import struct
from typing import Any, Literal, TypeAlias, get_args

import numpy as np
import numpy.typing as npt

from raravis._html.pictures import png

__all__ = ["COLOURS", "Colours", "grey_png", "spectrogram_png", "wav"]

Colours: TypeAlias = Literal["dark", "light"]
COLOURS: tuple[Colours, ...] = get_args(Colours)

Bytes: TypeAlias = npt.NDArray[np.uint8]

# Lightness changes steadily from one end to the other, and hue does not go from red to green: what
# is loud stands out for the colour-blind and in print alike. Dark follows magma.
_STOPS: dict[Colours, list[tuple[int, int, int]]] = {
    "dark": [
        (6, 5, 16), (20, 14, 54), (59, 15, 112), (100, 26, 128), (140, 41, 129), (183, 55, 121),
        (222, 73, 104), (247, 112, 92), (254, 159, 109), (254, 207, 146), (252, 253, 191),
    ],
    "light": [
        (255, 255, 255), (231, 238, 246), (196, 213, 232), (150, 181, 213), (101, 142, 188),
        (62, 104, 158), (37, 70, 122), (22, 42, 84), (10, 18, 44),
    ],
}  # fmt: skip

# What lies this far below the loudest point is shown as nothing, and noise at most this far.
_WIDEST_DB = 60.0
_NARROWEST_DB = 24.0
# Quiet calls are made louder, but not so much that noise is all there is to hear.
_LOUDEST = 0.7
_MOST_GAIN = 40.0
_FADE_S = 0.004


def _palette(stops: list[tuple[int, int, int]]) -> Bytes:
    at = np.linspace(0, 255, len(stops))
    channels = [np.interp(np.arange(256), at, [stop[c] for stop in stops]) for c in range(3)]
    return np.round(np.stack(channels, axis=1)).astype(np.uint8)


_PALETTES = {name: _palette(stops) for name, stops in _STOPS.items()}


def spectrogram_png(decibels: npt.NDArray[np.floating[Any]], colours: Colours) -> bytes:
    """Paint a spectrogram whose first row is the lowest frequency; one without points is a dot."""
    if not decibels.size:
        return png(np.zeros((1, 1), np.uint8), palette=_PALETTES[colours])
    high = float(decibels.max())
    noise = float(np.percentile(decibels, 55.0))
    low = min(max(noise, high - _WIDEST_DB), high - _NARROWEST_DB)
    share = np.clip((decibels[::-1] - low) / (high - low), 0.0, 1.0)
    return png(np.round(255 * share).astype(np.uint8), palette=_PALETTES[colours], effort=3)


def grey_png(picture: npt.ArrayLike, colours: Colours) -> bytes:
    """Encode a picture of shape (height, width) with values from 0 to 255 as it is."""
    del colours  # a picture is what it is
    return png(np.ascontiguousarray(picture, dtype=np.uint8), effort=6)


def wav(samples: npt.NDArray[np.floating[Any]], rate_hz: int) -> bytes:
    """Write mono sound as 16-bit WAV: made audible, and faded so that a loop does not click."""
    peak = float(np.abs(samples).max(initial=0.0))
    gain = min(_MOST_GAIN, _LOUDEST / peak) if peak > 0 else 1.0
    sound = np.array(samples, dtype=np.float64) * gain
    n_fade = min(len(sound) // 2, round(_FADE_S * rate_hz))
    if n_fade:
        ramp = np.linspace(0.0, 1.0, n_fade, endpoint=False)
        sound[:n_fade] *= ramp
        sound[-n_fade:] *= ramp[::-1]
    data = np.round(32767 * np.clip(sound, -1.0, 1.0)).astype("<i2").tobytes()
    head = struct.pack("<4sI4s4sIHHIIHH", b"RIFF", 36 + len(data), b"WAVE", b"fmt ", 16, 1, 1,
                       rate_hz, 2 * rate_hz, 2, 16)  # fmt: skip
    return head + struct.pack("<4sI", b"data", len(data)) + data
