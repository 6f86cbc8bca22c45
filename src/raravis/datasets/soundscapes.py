"""Recordings that are made up, with the truth about them: for tests, for trying things out."""

import math
import os
import secrets
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from pathlib import Path
from types import MappingProxyType
from typing import Any, Final, TypeAlias

import numpy as np
import numpy.typing as npt

from raravis.datasets.voices import SPECIES, Species, draw_individual, sing
from raravis.errors import InputError
from raravis.formats import CallTable

__all__ = ["Soundscapes", "make_soundscapes"]

FloatArray: TypeAlias = npt.NDArray[np.float64]
Range: TypeAlias = tuple[float, float]

_FIRST_RECORDING: Final = datetime(2024, 5, 1, 4, 30)
_BETWEEN_RECORDINGS: Final = timedelta(minutes=10)
# Root of the mean square of the noise, where full scale is 1.
_NOISE_LEVEL: Final = 0.004
_LOUDEST: Final = 0.98
_DROP_S: Final = 0.004
# How long it is quiet at least between two calls of one animal.
_BREATH_S: Final = 0.15


@dataclass(frozen=True, eq=False)
class Soundscapes:
    """Recordings on disk and what is to be heard in them.

    Parameters
    ----------
    folder : Path
        Where the recordings lie.
    recordings : tuple of str
        The names of the files.
    calls : CallTable
        Every call: recording, times, the band that holds 99% of its energy, and its species.
        ``extra["snr_db"]`` says how far the call's power is above the noise in that band.
    species : mapping of str to tuple of str
        The species of every recording, in alphabetical order; none for one without calls.
    """

    folder: Path
    recordings: tuple[str, ...]
    calls: CallTable
    species: Mapping[str, tuple[str, ...]]


def make_soundscapes(
    folder: str | os.PathLike[str],
    *,
    n_recordings: int = 24,
    duration_s: float = 20.0,
    species: Sequence[Species] = SPECIES,
    species_per_recording: tuple[int, int] = (1, 4),
    snr_db: Range = (10.0, 25.0),
    rain_share: float = 0.25,
    sample_rate_hz: int = 22_050,
    seed: int = 0,
) -> Soundscapes:
    """Make up recordings of species that do not exist and write them as 16-bit WAV files.

    In every recording some animals, one of each of its species, call at times of their own, so
    calls overlap; beneath is noise that falls with frequency, gusts of wind, and in some rain. A
    recording depends on the seed and its number alone: the first ten of twenty are the ten of ten.

    Parameters
    ----------
    folder : path
        Made if it is not there. Files that have the names of these recordings are replaced.
    n_recordings : int
    duration_s : float
        Of each recording.
    species : sequence of Species
    species_per_recording : tuple of int
        The least and the most.
    snr_db : tuple of float
        The range from which the loudness of each animal is drawn, in decibels above the noise in
        its call's band. Its calls vary around that by 1.5 dB.
    rain_share : float
        The share of recordings in which it rains.
    sample_rate_hz : int
    seed : int

    Examples
    --------
    >>> made = make_soundscapes("sounds", n_recordings=50)  # doctest: +SKIP
    >>> made.species["20240501_043000.wav"]  # doctest: +SKIP
    ('Amber whistler', 'Dusk horn')
    """
    target = Path(folder)
    _check(n_recordings, duration_s, species, species_per_recording, snr_db, rain_share)
    _check_rate_and_seed(sample_rate_hz, seed)
    target.mkdir(parents=True, exist_ok=True)
    names = tuple(_name(number) for number in range(n_recordings))
    tables, present = [], {}
    for number, name in enumerate(names):
        rng = np.random.default_rng([seed, number])
        sound = _background(duration_s, sample_rate_hz, rain_share, rng)
        n_species = min(len(species), int(rng.integers(*species_per_recording, endpoint=True)))
        chosen = [species[i] for i in sorted(rng.permutation(len(species))[:n_species])]
        noise = _Noise.of(sound, sample_rate_hz)
        rows = [row for one in chosen for row in _add_calls(sound, noise, one, snr_db, rng)]
        _write_wav(target / name, sound, sample_rate_hz)
        tables.append(_table(name, sorted(rows)))
        present[name] = tuple(sorted({row[-2] for row in rows}))
    return Soundscapes(target, names, CallTable.concat(tables), MappingProxyType(present))


def _name(number: int) -> str:
    """Name a recording as AudioMoth does."""
    return f"{_FIRST_RECORDING + number * _BETWEEN_RECORDINGS:%Y%m%d_%H%M%S}.wav"


_Row: TypeAlias = tuple[float, float, float, float, str, float]


def _table(name: str, rows: list[_Row]) -> CallTable:
    begin_s, end_s, low_hz, high_hz, label, snr_db = zip(*rows, strict=True) if rows else [()] * 6
    return CallTable(
        (name,) * len(rows),
        np.array(begin_s, dtype=np.float64),
        np.array(end_s, dtype=np.float64),
        np.array(low_hz, dtype=np.float64),
        np.array(high_hz, dtype=np.float64),
        label,
        extra={"snr_db": tuple(f"{value:.1f}" for value in snr_db)},
    )


# ---------------------------------------------------------------------- sound


@dataclass(frozen=True, eq=False)
class _Noise:
    """What there is beneath the calls: mean square by frequency."""

    rate_hz: int
    power: FloatArray

    @classmethod
    def of(cls, sound: FloatArray, rate_hz: int) -> "_Noise":
        power = 2 * np.abs(np.fft.rfft(sound)) ** 2 / len(sound) ** 2
        return cls(rate_hz, power)

    def between(self, low_hz: float, high_hz: float) -> float:
        bins_a_hz = 2 * (len(self.power) - 1) / self.rate_hz
        return float(self.power[round(low_hz * bins_a_hz) : round(high_hz * bins_a_hz)].sum())


def _add_calls(
    sound: FloatArray, noise: _Noise, species: Species, snr_db: Range, rng: np.random.Generator
) -> list[_Row]:
    """Let one animal call, into the sound; return what it did."""
    animal = draw_individual(species, rng)
    loudness_db = rng.uniform(*snr_db)
    rate_hz = noise.rate_hz
    rows: list[_Row] = []
    free_s = 0.0
    for begin_s in _call_times(len(sound) / rate_hz, species.calls_per_minute, rng):
        call = sing(species, animal, rate_hz, rng)
        first = round(max(begin_s, free_s) * rate_hz)
        last = first + len(call.samples)
        if last > len(sound):
            break
        level_db = float(loudness_db + rng.normal(0, 1.5))
        power = noise.between(call.low_hz, call.high_hz) * 10 ** (level_db / 10)
        sound[first:last] += math.sqrt(power) * call.samples
        free_s = last / rate_hz + _BREATH_S
        times = (first / rate_hz, last / rate_hz)
        rows.append((*times, call.low_hz, call.high_hz, species.name, level_db))
    return rows


def _call_times(duration_s: float, calls_per_minute: float, rng: np.random.Generator) -> FloatArray:
    """Draw when an animal calls: at least once, if there is room for it."""
    n_calls = max(1, int(rng.poisson(calls_per_minute * duration_s / 60)))
    return np.sort(rng.uniform(0, duration_s * 0.97, n_calls))


def _background(
    duration_s: float, rate_hz: int, rain_share: float, rng: np.random.Generator
) -> FloatArray:
    n_samples = round(duration_s * rate_hz)
    sound = _falling_noise(n_samples, rate_hz, 0.5, rng)
    wind = _falling_noise(n_samples, rate_hz, 1.5, rng) * _gusts(n_samples, rate_hz, rng)
    sound += 0.7 * wind
    if rng.random() < rain_share:
        sound += _rain(n_samples, rate_hz, rng)
    sound *= _NOISE_LEVEL
    return sound


def _falling_noise(
    n_samples: int, rate_hz: int, slope: float, rng: np.random.Generator
) -> FloatArray:
    """Return noise of mean square 1 whose amplitude falls as frequency to the power `slope`."""
    spectrum = np.fft.rfft(rng.standard_normal(n_samples))
    frequency_hz = np.arange(len(spectrum)) * (rate_hz / n_samples)
    spectrum /= np.maximum(frequency_hz, 100.0) ** slope
    noise: FloatArray = np.fft.irfft(spectrum, n_samples)
    return noise / math.sqrt(float(np.mean(noise**2)))


def _gusts(n_samples: int, rate_hz: int, rng: np.random.Generator) -> FloatArray:
    """Return a loudness that changes over seconds, between 0 and 1."""
    knots = rng.random(max(2, math.ceil(n_samples / rate_hz / 2)) + 1) ** 2
    return np.interp(np.linspace(0, len(knots) - 1, n_samples), np.arange(len(knots)), knots)


def _rain(n_samples: int, rate_hz: int, rng: np.random.Generator) -> FloatArray:
    """Return drops: short noise over all frequencies, some near and some far."""
    n_drops = int(rng.poisson(rng.uniform(5, 40) * n_samples / rate_hz))
    length = max(2, round(_DROP_S * rate_hz))
    fading = np.exp(-np.arange(length) / (length / 4))
    rain = np.zeros(n_samples + length)
    for first, level in zip(
        rng.integers(0, n_samples, n_drops), rng.pareto(3.0, n_drops), strict=True
    ):
        rain[first : first + length] += 2 * level * fading * rng.standard_normal(length)
    return rain[:n_samples]


def _write_wav(path: Path, sound: FloatArray, rate_hz: int) -> None:
    from scipy.io import wavfile

    # Turned down as a whole where a call would be clipped: what is above the noise by how much
    # stays as it is.
    scaled = sound * min(1.0, _LOUDEST / max(_LOUDEST, float(np.abs(sound).max())))
    draft = path.with_name(f".{path.name}.{secrets.token_hex(4)}.part")
    try:
        wavfile.write(draft, rate_hz, np.round(scaled * 32767).astype(np.int16))
        draft.replace(path)
    finally:
        draft.unlink(missing_ok=True)


# ---------------------------------------------------------------------- checks


def _check(
    n_recordings: int,
    duration_s: float,
    species: Sequence[Species],
    species_per_recording: tuple[int, int],
    snr_db: Range,
    rain_share: float,
) -> None:
    if n_recordings < 1:
        raise InputError(f"n_recordings is {n_recordings!r}; pass a number of at least 1")
    if not 1 <= duration_s <= 3600:
        raise InputError(f"duration_s is {duration_s!r}; pass 1 to 3600 seconds")
    names = [one.name for one in species]
    if not names or len(set(names)) < len(names):
        raise InputError(f"species are {names}; pass at least one, each name once")
    least, most = species_per_recording
    if not 0 <= least <= most:
        raise InputError(
            f"species_per_recording is {species_per_recording!r}; pass (least, most), neither "
            "below 0"
        )
    if not -20 <= snr_db[0] <= snr_db[1] <= 60:
        raise InputError(f"snr_db is {snr_db!r}; pass (lowest, highest), between -20 and 60")
    if not 0 <= rain_share <= 1:
        raise InputError(f"rain_share is {rain_share!r}; pass a number from 0 to 1")


def _check_rate_and_seed(sample_rate_hz: Any, seed: Any) -> None:
    if not 8000 <= sample_rate_hz <= 192_000:
        raise InputError(f"sample_rate_hz is {sample_rate_hz!r}; pass 8000 to 192000")
    if isinstance(seed, bool) or not isinstance(seed, int) or seed < 0:
        raise InputError(f"seed is {seed!r}; pass a whole number, at least 0")
