"""A colour map for spectrograms: night blue over violet to amber and cream."""

from functools import cache

import numpy as np
import numpy.typing as npt

__all__ = ["night_amber"]

FloatArray = npt.NDArray[np.float64]

# Lightness rises evenly from one end to the other, so that equal steps in decibels look equal,
# also in grey and to those who do not tell red from green. Position, chroma and hue in Oklch.
_LIGHTNESS = (0.13, 0.985)
_KNOTS = (
    (0.00, 0.015, 265.0),
    (0.30, 0.075, 262.0),
    (0.50, 0.070, 300.0),
    (0.65, 0.100, 380.0),
    (0.85, 0.150, 430.0),
    (1.00, 0.050, 460.0),
)


@cache
def night_amber(n_colours: int = 256) -> npt.NDArray[np.uint8]:
    """Return the colours as an array of shape (n_colours, 3), from dark to light.

    >>> night_amber()[[0, -1]].tolist()
    [[5, 7, 13], [255, 251, 226]]
    """
    position = np.linspace(0.0, 1.0, n_colours)
    at, chromas, hues = np.array(_KNOTS).T
    lightness = np.interp(position, (0.0, 1.0), _LIGHTNESS)
    hue = np.radians(np.interp(position, at, hues))
    chroma = np.interp(position, at, chromas)
    linear = _linear(lightness, chroma, hue)
    # A colour that no screen has loses chroma, never lightness, until one has it.
    while (outside := ((linear < -1e-4) | (linear > 1 + 1e-4)).any(axis=1)).any():
        chroma = np.where(outside, 0.97 * chroma, chroma)
        linear = _linear(lightness, chroma, hue)
    linear = np.clip(linear, 0.0, 1.0)
    encoded = np.where(linear <= 0.0031308, 12.92 * linear, 1.055 * linear ** (1 / 2.4) - 0.055)
    colours = np.round(255 * encoded).astype(np.uint8)
    colours.setflags(write=False)
    return colours


def _linear(lightness: FloatArray, chroma: FloatArray, hue: FloatArray) -> FloatArray:
    """Return linear red, green and blue of colours in Oklch (Björn Ottosson's matrices)."""
    a, b = chroma * np.cos(hue), chroma * np.sin(hue)
    cones = np.stack(
        [
            lightness + 0.3963377774 * a + 0.2158037573 * b,
            lightness - 0.1055613458 * a - 0.0638541728 * b,
            lightness - 0.0894841775 * a - 1.2914855480 * b,
        ]
    )
    to_rgb = np.array(
        [
            [4.0767416621, -3.3077115913, 0.2309699292],
            [-1.2684380046, 2.6097574011, -0.3413193965],
            [-0.0041960863, -0.7034186147, 1.7076147010],
        ]
    )
    mixed: FloatArray = (to_rgb @ cones**3).T
    return mixed
