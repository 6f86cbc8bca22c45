"""Invented species and their calls: what a call is made of, and how no two are quite alike."""

import math
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from raravis.errors import InputError

__all__ = ["SPECIES", "Call", "Species", "draw_individual", "sing"]

FloatArray = npt.NDArray[np.float64]

# How far individuals of a species, and calls of an individual, lie apart: standard deviations of
# the logarithm of pitch and of tempo, and of the logarithm of a partial's amplitude.
_PITCH, _TEMPO, _TIMBRE = 0.035, 0.07, 0.2
_CALL_SHARE = 0.35
_ATTACK_S = 0.006
# Sound scattered by leaves and trunks arrives after the call itself.
_SCATTER_S, _SCATTER_SHARE = 0.018, 0.25
# The box of a call holds this share of its energy on the frequency axis.
_BOX_ENERGY = 0.99


@dataclass(frozen=True, kw_only=True)
class Species:
    """A species that does not exist, by its call: syllables that follow a contour.

    Parameters
    ----------
    name : str
    contour_hz : tuple of float
        The pitch at equal steps through a syllable, and straight lines in between.
    syllable_s : float
    n_syllables : tuple of int
        The least and the most in a call.
    gap_s : float
        Between syllables.
    partials : tuple of float
        The amplitude of the fundamental and of each harmonic above it.
    vibrato_hz, vibrato_share : float
        How often in a second the pitch swings, and by what part of itself.
    pulse_hz, pulse_depth : float
        How often in a second the loudness swings, and how far (1: down to nothing).
    noise_hz : float
        The width of the noise that stands in for a tone; 0 is a tone.
    calls_per_minute : float
        While it is there.

    Examples
    --------
    >>> Species(name="Reedling", contour_hz=(3000.0, 4000.0), syllable_s=0.2).name
    'Reedling'
    """

    name: str
    contour_hz: tuple[float, ...]
    syllable_s: float
    n_syllables: tuple[int, int] = (1, 1)
    gap_s: float = 0.0
    partials: tuple[float, ...] = (1.0,)
    vibrato_hz: float = 0.0
    vibrato_share: float = 0.0
    pulse_hz: float = 0.0
    pulse_depth: float = 0.0
    noise_hz: float = 0.0
    calls_per_minute: float = 14.0

    def __post_init__(self) -> None:
        _require(bool(self.name.strip()), self, "name", "pass a name that is not empty")
        above_zero = "pass positive numbers, at least one"
        _require(_all_positive(self.contour_hz), self, "contour_hz", above_zero)
        _require(_all_positive((self.syllable_s,)), self, "syllable_s", "pass seconds above 0")
        _require(_all_positive(self.partials), self, "partials", above_zero)
        rate = "pass a number above 0"
        _require(_all_positive((self.calls_per_minute,)), self, "calls_per_minute", rate)
        least, most = self.n_syllables
        _require(1 <= least <= most, self, "n_syllables", "pass (least, most), 1 <= least <= most")


@dataclass(frozen=True)
class Individual:
    """One animal: how it differs from the middle of its species, as factors."""

    pitch: float
    tempo: float
    timbre: tuple[float, ...]


@dataclass(frozen=True, eq=False)
class Call:
    """The sound of one call, of mean square 1, and the band that holds 99% of its energy."""

    samples: FloatArray
    low_hz: float
    high_hz: float


def draw_individual(species: Species, rng: np.random.Generator) -> Individual:
    """Draw an animal of a species."""
    return Individual(
        pitch=math.exp(_PITCH * rng.standard_normal()),
        tempo=math.exp(_TEMPO * rng.standard_normal()),
        timbre=tuple(np.exp(_TIMBRE * rng.standard_normal(len(species.partials))).tolist()),
    )


def sing(species: Species, individual: Individual, rate_hz: int, rng: np.random.Generator) -> Call:
    """Let an animal call once; no two of its calls are quite alike."""
    pitch = individual.pitch * math.exp(_CALL_SHARE * _PITCH * rng.standard_normal())
    tempo = individual.tempo * math.exp(_CALL_SHARE * _TEMPO * rng.standard_normal())
    least, most = species.n_syllables
    silence = np.zeros(round(species.gap_s / tempo * rate_hz))
    parts: list[FloatArray] = []
    for _ in range(int(rng.integers(least, most + 1))):
        n_frames = max(8, round(species.syllable_s / tempo * rate_hz))
        parts += [_syllable(species, individual, pitch, n_frames, rate_hz, rng), silence]
    dry = np.concatenate(parts[:-1])
    samples = _scattered(dry, rate_hz, rng)
    samples /= math.sqrt(float(np.mean(samples**2)))
    low, high = _band(samples, rate_hz)
    return Call(samples, low, high)


def _syllable(
    species: Species,
    individual: Individual,
    pitch: float,
    n_frames: int,
    rate_hz: int,
    rng: np.random.Generator,
) -> FloatArray:
    time_s = np.arange(n_frames) / rate_hz
    knots = np.array(species.contour_hz) * pitch
    knots *= np.exp(_CALL_SHARE * _PITCH * rng.standard_normal(len(knots)))
    track = np.interp(np.linspace(0, 1, n_frames), np.linspace(0, 1, len(knots)), knots)
    track *= 1 + species.vibrato_share * np.sin(
        2 * np.pi * (species.vibrato_hz * time_s + rng.random())
    )
    phase = 2 * np.pi * np.cumsum(track) / rate_hz
    total = np.zeros(n_frames)
    for number, weight in enumerate(np.multiply(species.partials, individual.timbre), start=1):
        # A partial above half the sample rate would come back as another pitch.
        audible = number * track < 0.48 * rate_hz
        carried = _carried(number * phase, species.noise_hz, rate_hz, rng)
        total += weight * np.where(audible, carried, 0.0)
    swing = 0.5 - 0.5 * np.cos(2 * np.pi * species.pulse_hz * time_s)
    return total * _envelope(n_frames, rate_hz) * (1 - species.pulse_depth * (1 - swing))


def _carried(
    phase: FloatArray, noise_hz: float, rate_hz: int, rng: np.random.Generator
) -> FloatArray:
    """Return a tone, or noise of a width around it."""
    if noise_hz == 0:
        return np.sin(phase)
    from scipy.signal import butter, sosfilt

    shape = butter(3, min(0.45, noise_hz / 2 / rate_hz), fs=1.0, output="sos")
    slow = sosfilt(shape, rng.standard_normal((2, len(phase))), axis=1)
    slow *= math.sqrt(rate_hz / noise_hz)
    noise: FloatArray = slow[0] * np.sin(phase) + slow[1] * np.cos(phase)
    return noise


def _envelope(n_frames: int, rate_hz: int) -> FloatArray:
    """Return an attack, a plateau that bends a little, and a decay of twice the attack."""
    attack = max(2, min(round(_ATTACK_S * rate_hz), n_frames // 4))
    decay = min(2 * attack, n_frames // 2)
    shape = 0.75 + 0.25 * np.sin(np.linspace(0.15 * np.pi, np.pi, n_frames))
    shape[:attack] *= np.sin(np.linspace(0, np.pi / 2, attack)) ** 2
    shape[-decay:] *= np.cos(np.linspace(0, np.pi / 2, decay)) ** 2
    return shape


def _scattered(dry: FloatArray, rate_hz: int, rng: np.random.Generator) -> FloatArray:
    """Add what comes back from trees: a tail of noise that decays, convolved with the call."""
    from scipy.signal import fftconvolve

    n_tail = round(3 * _SCATTER_S * rate_hz)
    decay = np.exp(-np.arange(n_tail) / (_SCATTER_S * rate_hz))
    tail = rng.standard_normal(n_tail) * decay
    tail *= _SCATTER_SHARE / math.sqrt(float(np.sum(tail**2)))
    tail[0] = 1.0
    wet: FloatArray = fftconvolve(dry, tail)[: len(dry)]
    return wet


def _band(samples: FloatArray, rate_hz: int) -> tuple[float, float]:
    energy = np.cumsum(np.abs(np.fft.rfft(samples)) ** 2)
    edge = (1 - _BOX_ENERGY) / 2 * energy[-1]
    low, high = np.searchsorted(energy, [edge, energy[-1] - edge])
    step_hz = rate_hz / len(samples)
    return float(low * step_hz), float((high + 1) * step_hz)


def _all_positive(values: tuple[float, ...]) -> bool:
    return bool(values) and all(math.isfinite(value) and value > 0 for value in values)


def _require(good: bool, species: Species, name: str, advice: str) -> None:
    if not good:
        raise InputError(f"{name} of a species is {getattr(species, name)!r}; {advice}.")


#: Species that do not exist, different enough to be told apart and alike enough to be work.
SPECIES = (
    Species(
        name="Amber whistler",
        contour_hz=(3900.0, 3650.0, 3250.0, 3000.0),
        syllable_s=0.42,
        partials=(1.0, 0.06),
    ),
    Species(
        name="Brook chirper",
        contour_hz=(2300.0, 3400.0, 5600.0),
        syllable_s=0.075,
        n_syllables=(2, 4),
        gap_s=0.05,
        partials=(1.0, 0.1),
    ),
    Species(
        name="Copper triller",
        contour_hz=(4700.0, 4900.0, 4600.0),
        syllable_s=0.6,
        vibrato_hz=27.0,
        vibrato_share=0.09,
        pulse_hz=27.0,
        pulse_depth=0.5,
    ),
    Species(
        name="Dusk horn",
        contour_hz=(620.0, 760.0, 780.0, 640.0),
        syllable_s=0.3,
        partials=(1.0, 0.9, 0.7, 0.45, 0.3, 0.15),
    ),
    Species(
        name="Ember buzzer",
        contour_hz=(6300.0, 6700.0),
        syllable_s=0.34,
        noise_hz=1500.0,
        pulse_hz=60.0,
        pulse_depth=0.6,
    ),
    Species(
        name="Fen hooter",
        contour_hz=(500.0, 540.0, 530.0, 490.0),
        syllable_s=0.32,
        partials=(1.0, 0.2),
    ),
    Species(
        name="Glass ladder",
        contour_hz=(7200.0, 6500.0, 5200.0, 4300.0),
        syllable_s=0.13,
        n_syllables=(1, 2),
        gap_s=0.07,
        partials=(1.0,),
    ),
    Species(
        name="Heath rattler",
        contour_hz=(2700.0, 2500.0),
        syllable_s=0.45,
        noise_hz=1100.0,
        pulse_hz=22.0,
        pulse_depth=0.97,
    ),
)
