"""Sounds for the tests, and files that hold them."""

from pathlib import Path

import numpy as np

RATE_HZ = 22_050


def noise(duration_s, *, level=0.003, seed=0, rate_hz=RATE_HZ):
    return level * np.random.default_rng(seed).standard_normal(round(duration_s * rate_hz))


def tone(frequency_hz, duration_s, *, level=0.1, rate_hz=RATE_HZ):
    """A tone that swells and fades over a hundredth of a second."""
    n = round(duration_s * rate_hz)
    ramp = np.minimum(1, np.arange(n) / (0.01 * rate_hz))
    return level * ramp * ramp[::-1] * np.sin(2 * np.pi * frequency_hz * np.arange(n) / rate_hz)


def scene(duration_s, *calls, rate_hz=RATE_HZ, seed=0):
    """Noise with tones in it: (begin_s, frequency_hz, duration_s) each."""
    sound = noise(duration_s, seed=seed, rate_hz=rate_hz)
    for begin_s, frequency_hz, length_s in calls:
        call = tone(frequency_hz, length_s, rate_hz=rate_hz)
        first = round(begin_s * rate_hz)
        sound[first : first + len(call)] += call
    return sound


def write(path, samples, *, rate_hz=RATE_HZ, **form) -> Path:
    import soundfile

    soundfile.write(path, samples, rate_hz, **form)
    return path
