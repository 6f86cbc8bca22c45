"""What a call looks and sounds like: a spectrogram in context and a clip, to stand in a page."""

import io
import math
import wave
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import numpy.typing as npt

from raravis._html.colours import night_amber
from raravis._html.pictures import embed, indexed_png
from raravis.audio import clip, spectrogram_image

__all__ = ["Shot", "View", "play", "shoot", "view_of"]

# Loudness shown, at least; a stretch without a sound stays as dark as it is.
_RANGE_DB = 32.0
# Fewer colours than this show steps, more cost bytes.
_N_COLOURS = 96
# Louder than this share of full scale no clip is made, and a faint one not more than this times.
_PEAK, _MOST_GAIN = 0.6, 200.0
_FADE_S = 0.01
_RATES_HZ = (16_000, 24_000, 32_000)
# Above this nobody hears anything: such calls are played slower.
_AUDIBLE_HZ, _SLOWER = 18_000.0, 10

Samples = npt.NDArray[np.float32]


@dataclass(frozen=True)
class View:
    """A stretch of a recording and of the frequency axis."""

    begin_s: float
    end_s: float
    low_hz: float
    high_hz: float


@dataclass(frozen=True)
class Shot:
    """A spectrogram as the address of an image, and what of the recording it shows."""

    image: str
    view: View


def view_of(
    begin_s: float, end_s: float, *, width_s: float, high_hz: float, duration_s: float
) -> View:
    """Return a view with a call in its middle, of a width that leaves room around it.

    >>> view_of(0.1, 0.4, width_s=2.0, high_hz=8000.0, duration_s=60.0)
    View(begin_s=0.0, end_s=2.0, low_hz=0.0, high_hz=8000.0)
    """
    width = min(max(width_s, 1.5 * (end_s - begin_s)), duration_s)
    begin = min(max(0.0, (begin_s + end_s - width) / 2), max(0.0, duration_s - width))
    return View(begin, begin + width, 0.0, high_hz)


def shoot(path: Path, view: View, *, columns: int) -> Shot:
    """Draw the spectrogram of a view."""
    found = spectrogram_image(
        path,
        view.begin_s,
        view.end_s,
        low_hz=view.low_hz,
        high_hz=view.high_hz,
        max_columns=columns,
    )
    decibels = found.decibels
    if not decibels.size:
        decibels = np.zeros((1, 1), dtype=np.float32)
    floor = float(np.median(decibels))
    ceiling = max(float(np.percentile(decibels, 99.9)), floor + _RANGE_DB)
    share = np.clip((decibels - floor) / (ceiling - floor), 0.0, 1.0)
    index = np.round((_N_COLOURS - 1) * share).astype(np.uint8)
    # A picture begins at its top, a spectrogram at its bottom.
    return Shot(embed(indexed_png(index[::-1], night_amber(_N_COLOURS)), "image/png"), view)


def play(path: Path, begin_s: float, end_s: float, *, high_hz: float) -> tuple[str, int]:
    """Return a clip as the address of a sound, and how many times slower it plays."""
    samples, rate = clip(path, begin_s, end_s)
    slower = _SLOWER if high_hz > _AUDIBLE_HZ else 1
    if slower == 1:
        samples, rate = _resampled(samples, rate, high_hz)
    return embed(_wav(_levelled(samples, rate), rate // slower), "audio/wav"), slower


def _resampled(samples: Samples, rate: int, high_hz: float) -> tuple[Samples, int]:
    """Keep what is needed to hear the call: a page of clips is large enough as it is."""
    wanted = next((r for r in _RATES_HZ if r >= 2.5 * high_hz and r < rate), rate)
    if wanted == rate or not len(samples):
        return samples, rate
    from scipy.signal import resample_poly

    shared = math.gcd(wanted, rate)
    return resample_poly(samples, wanted // shared, rate // shared).astype(np.float32), wanted


def _levelled(samples: Samples, rate: int) -> Samples:
    """Bring a clip to one loudness with the others, and fade it in and out."""
    loudest = float(np.abs(samples).max(initial=0.0))
    gain = min(_PEAK / loudest, _MOST_GAIN) if loudest else 0.0
    ramp = np.arange(len(samples)) / max(1.0, _FADE_S * rate)
    fade = np.minimum(1.0, np.minimum(ramp, ramp[::-1]))
    levelled: Samples = (gain * fade * samples).astype(np.float32)
    return levelled


def _wav(samples: Samples, rate: int) -> bytes:
    target = io.BytesIO()
    with wave.open(target, "wb") as file:
        file.setnchannels(1)
        file.setsampwidth(2)
        file.setframerate(rate)
        file.writeframes(np.round(32767 * samples).astype("<i2").tobytes())
    return target.getvalue()
