"""Recordings: speed against real time, memory over a day, embeddings."""

import os
import tempfile
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import numpy as np

from _report import run_part
from _timing import Figure, interleaved, ratio, run_child, single, spread
from raravis.audio import (
    FeatureRecipe,
    birdnet,
    clip,
    extract_features,
    segment_recording,
)
from raravis.datasets import Syllables, load_syllables

LEAST_SPEED = 150
MOST_MEMORY_MB = 500
MINUTE = "soundscapes/one_minute.wav"


def measure(quick: bool) -> list[Figure]:
    """Segmentation, features and embeddings of real recordings."""
    song = load_syllables()
    few = song.take([n for i, n in enumerate(song.paths) if bool(i % 15) is not quick])
    return [
        *_speed(few, rounds=2 if quick else 5),
        _memory(hours=1 if quick else 24),
        _embedding(rounds=5 if quick else 20),
    ]


# ---------------------------------------------------------------------- speed


def _speed(song: Syllables, *, rounds: int) -> list[Figure]:
    """Seconds of sound in a second, segmentation and the 38 features together."""
    files = [str(data_file(MINUTE)), *map(str, song.paths.values())]
    sets = {"a dense minute of forest": files[:1], "song of a finch": files[1:]}
    figures = []
    for name, paths in sets.items():
        done = [_process(paths) for _ in range(rounds)]
        rates = [one["audio_seconds"] / one["cpu_seconds"] for one in done]
        note = f"{done[0]['audio_seconds']:.0f} s of sound, {done[0]['n_segments']} segments"
        figures.append(spread(f"speed on one core: {name}", rates, unit="x real time", note=note))
    n_cores = min(2, os.cpu_count() or 1)
    together = [_together(files[1:], n_cores) for _ in range(rounds)]
    figures.append(
        spread(
            f"speed on {n_cores} cores: song of a finch",
            together,
            unit="x real time",
            target=LEAST_SPEED,
            at_most=False,
            note="wall clock, a process a core",
        )
    )
    return figures


def _together(paths: Sequence[str], n: int) -> float:
    """Share the recordings among processes; return seconds of sound a second of wall clock."""
    with ThreadPoolExecutor(n) as pool:
        jobs = [pool.submit(_process, paths[i::n]) for i in range(n)]
        done = [job.result() for job in jobs]
    return sum(one["audio_seconds"] for one in done) / max(one["seconds"] for one in done)


def _process(paths: Sequence[str]) -> Any:
    """Segment recordings and compute their features in a process of its own."""
    warm_up = str(data_file("soundscapes/birds_10s.wav"))
    return run_child("process", threads=1, paths=list(paths), warm_up=warm_up)


def _memory(*, hours: int) -> Figure:
    """Peak of a process that segments a long recording and computes its features."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder, "long.wav")
        _write_long(path, hours)
        done = _process([str(path)])
    return single(
        f"peak memory, {hours} hours at 16 kHz",
        done["peak_bytes"] / 1e6,
        unit="MB",
        target=MOST_MEMORY_MB,
        note=f"{done['n_segments']:,} segments, {done['audio_seconds'] / done['cpu_seconds']:.0f} "
        "x real time",
    )


def _write_long(path: Path, hours: int) -> None:
    import soundfile
    from scipy.signal import resample_poly

    samples, rate_hz = clip(data_file(MINUTE), 0, 60)
    minute = resample_poly(samples, 16_000, rate_hz)
    with soundfile.SoundFile(path, "w", 16_000, 1, "PCM_16") as file:
        for _ in range(60 * hours):
            file.write(minute)


def _embedding(*, rounds: int) -> Figure:
    """Embeddings of segments, against the interpreter alone on samples that are at hand."""
    path = data_file(MINUTE)
    segments = segment_recording(path)
    few = segments.take(slice(0, 10))
    recipe = FeatureRecipe(kind="birdnet")
    hear = _interpreter_alone()
    times = interleaved(
        {
            "ours": lambda: extract_features(path, few, recipe),
            "alone": lambda: [hear() for _ in range(len(few))],
        },
        rounds=rounds,
    )
    each_ms = 1000 * times["ours"].median / len(few)
    return ratio(
        "BirdNET embeddings / the interpreter alone",
        times["ours"],
        times["alone"],
        note=f"{each_ms:.0f} ms a segment on one core",
    )


def _interpreter_alone() -> Callable[[], object]:
    from ai_edge_litert.interpreter import Interpreter

    interpreter = Interpreter(model_path=str(birdnet.model_path()), num_threads=1)
    interpreter.allocate_tensors()
    into = interpreter.get_input_details()[0]["index"]
    samples = np.random.default_rng(0).standard_normal((1, 144_000)).astype(np.float32) * 0.01

    def hear() -> None:
        interpreter.set_tensor(into, samples)
        interpreter.invoke()

    return hear


def data_file(name: str) -> Path:
    """Return a file of the folder of real data."""
    return Path(os.environ["RARAVIS_DATA"], name)


if __name__ == "__main__":
    run_part("audio", measure)
