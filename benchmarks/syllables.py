"""Novel syllables from sound alone: one bird's song in windows of a second, some classes hidden.

A bag is a second of song, its labels are the syllables noted in it, and its instances are what the
segmentation finds there, or boxes at the noted times. One or two of the nine syllables are struck
from all labels; a model learns from 70% of the recordings and ranks the instances of the others.
Features and finished figures are kept under ``results/syllables``, so a run that was stopped goes
on where it was.
"""

import json
import time
from collections.abc import Callable, Iterator, Mapping
from itertools import combinations, product
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from _report import run_part
from _timing import HERE, Figure, spread
from raravis import KernelScorer, NovelClassClassifier
from raravis.audio import (
    FeatureRecipe,
    SegmentRecipe,
    Segments,
    extract_features,
    segment_recording,
)
from raravis.datasets import BagDataset, Syllables, load_syllables, window_bags
from raravis.metrics import auc

KEPT = HERE / "results" / "syllables"
MODELS: Mapping[str, Callable[[], Any]] = {
    "KernelScorer": KernelScorer,
    "NovelClassClassifier": NovelClassClassifier,
}
ROWS = (("segments", "shape38"), ("notes", "shape38"), ("segments", "birdnet"))
TRAINING_SHARE = 0.7


def measure(quick: bool) -> list[Figure]:
    """Novelty AUC over all choices of one and of two hidden syllables."""
    song = load_syllables()
    figures: list[Figure] = []
    for instances, kind in ROWS[:1] if quick else ROWS:
        data = gather(song, instances, FeatureRecipe(kind=kind))  # type: ignore[arg-type]
        models, numbers = (list(MODELS)[:1], (1,)) if quick else (list(MODELS), (1, 2))
        figures += [
            _figure(data, f"{instances}, {kind}", model, n_hidden)
            for model, n_hidden in product(models, numbers)
        ]
    return figures


def _figure(data: BagDataset, row: str, model: str, n_hidden: int) -> Figure:
    train, test = split_by_recording(data)
    found = []
    for hidden in combinations(data.labels.classes, n_hidden):
        key = f"{row} | {model} | {data.bags.n_instances} | {' '.join(map(str, hidden))}"
        found.append(_kept(key, lambda hidden=hidden: _auc(train, test, model, set(hidden))))
    return spread(
        f"AUC, {n_hidden} hidden: {row}, {model}",
        [value for value, _ in found],
        unit="",
        note=f"mean {np.mean([a for a, _ in found]):.3f} of {len(found)}; "
        f"{np.mean([s for _, s in found]):.1f} s each",
    )


def _auc(train: BagDataset, test: BagDataset, model: str, hidden: set[Any]) -> float:
    known = [label for label in train.labels.classes if label not in hidden]
    fitted = MODELS[model]().fit(train.bags, train.restrict(known).labels)
    noted = test.labelled
    return auc(test.known(known)[noted], fitted.score_samples(test.bags)[noted])


def split_by_recording(data: BagDataset, *, seed: int = 0) -> tuple[BagDataset, BagDataset]:
    """Split so that no recording is on both sides."""
    names = list(dict.fromkeys(name for name, _ in data.bags.keys))
    order = np.random.default_rng(seed).permutation(len(names))
    chosen = {names[i] for i in order[: round(TRAINING_SHARE * len(names))]}
    inside = np.array([name in chosen for name, _ in data.bags.keys])
    return data.take(inside), data.take(~inside)


# ---------------------------------------------------------------------- features, kept


def gather(song: Syllables, instances: str, recipe: FeatureRecipe) -> BagDataset:
    """Return the windows of all recordings, from features that are computed once."""
    found = dict(features_of(song, instances, recipe))
    return window_bags(
        song,
        {name: segments for name, (segments, _) in found.items()},
        {name: features for name, (_, features) in found.items()},
    )


def features_of(
    song: Syllables, instances: str, recipe: FeatureRecipe
) -> Iterator[tuple[str, tuple[Segments, NDArray[Any]]]]:
    """Return the segments and features of each recording in turn."""
    how = SegmentRecipe()
    folder = KEPT / f"{instances}-{recipe.kind}-{how.hash[:8]}-{recipe.hash[:8]}"
    folder.mkdir(parents=True, exist_ok=True)
    for name, path in song.paths.items():
        file = folder / f"{name}.npz"
        if not file.exists():
            segments = _noted(song, name) if instances == "notes" else segment_recording(path, how)
            _keep(file, segments, extract_features(path, segments, recipe))
        with np.load(file) as kept:
            segments = Segments(*(kept[column] for column in ("begin", "end", "low", "high")))
            yield name, (segments, kept["features"])


def _noted(song: Syllables, name: str) -> Segments:
    """Return boxes at the noted times, over all frequencies."""
    notes = song.notes.for_recording(name)
    n_notes = len(notes)
    return Segments(notes.begin_s, notes.end_s, np.zeros(n_notes), np.full(n_notes, 16_000.0))


def _keep(file: Path, segments: Segments, features: NDArray[Any]) -> None:
    draft = file.with_suffix(".part")
    with draft.open("wb") as target:
        np.savez(
            target,
            begin=segments.begin_s,
            end=segments.end_s,
            low=segments.low_hz,
            high=segments.high_hz,
            features=features,
        )
    draft.replace(file)


def _kept(key: str, compute: Callable[[], float]) -> tuple[float, float]:
    """Return a figure and its seconds: those in the journal, or computed and noted there."""
    journal = KEPT / "auc.jsonl"
    lines = journal.read_text(encoding="utf-8").splitlines() if journal.exists() else []
    for line in lines:
        entry = json.loads(line)
        if entry["key"] == key:
            return entry["auc"], entry["seconds"]
    start = time.perf_counter()
    auc = compute()
    seconds = time.perf_counter() - start
    with journal.open("a", encoding="utf-8") as file:
        file.write(json.dumps({"key": key, "auc": auc, "seconds": round(seconds, 2)}) + "\n")
    return auc, seconds


if __name__ == "__main__":
    run_part("syllables", measure)
