"""Syllables from sound alone: what of a finch's song is found, and novel syllables among it.

The first figures hold the segments against the noted syllables, by time. Then a bag is a second
of song, its labels are the syllables noted in it, and its instances are what the segmentation finds
there, or boxes at the noted times. One or two of the nine syllables are struck from all labels; a
model learns from 70% of the recordings and ranks the instances of the others.

Features and finished figures are kept under ``results/syllables``, so a run that was stopped goes
on where it was.
"""

import json
import time
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from itertools import combinations
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import coo_array
from scipy.sparse.csgraph import maximum_bipartite_matching

from _report import run_part
from _timing import HERE, Figure, single, spread
from raravis import KernelScorer, NovelClassClassifier, NoveltyDetector
from raravis.audio import (
    FeatureRecipe,
    SegmentRecipe,
    Segments,
    extract_features,
    segment_recording,
)
from raravis.datasets import BagDataset, Syllables, load_syllables, window_bags
from raravis.formats import CallTable
from raravis.metrics import auc

KEPT = HERE / "results" / "syllables"
TRAINING_SHARE = 0.7
#: The defaults of SegmentRecipe were chosen on every fifteenth recording; the others judge them.
TUNED_ON = 15
#: Intersection over union in time at which a segment is the note.
OVERLAP = 0.5
#: A longer pause than this ends a song: what is found there was never annotated.
PAUSE_S = 0.5


@dataclass(frozen=True)
class Model:
    """How a model is made, and whether it scores an instance with the rest of its bag in view."""

    make: Callable[[], Any]
    context: bool = False

    def auc(self, train: BagDataset, test: BagDataset, hidden: set[Any]) -> float:
        """Return the AUC of known against hidden syllables in the test windows."""
        known = [label for label in train.labels.classes if label not in hidden]
        fitted = self.make().fit(train.bags, train.restrict(known).labels)
        scores = fitted.score_samples(test.bags, **({"context": True} if self.context else {}))
        noted = test.labelled
        return auc(test.known(known)[noted], scores[noted])


MODELS: Mapping[str, Model] = {
    "KernelScorer": Model(KernelScorer),
    "NovelClassClassifier, forest, context": Model(
        lambda: NovelClassClassifier("forest", random_state=0), context=True
    ),
    "NoveltyDetector, context": Model(lambda: NoveltyDetector(random_state=0), context=True),
}


@dataclass(frozen=True)
class Row:
    """What the instances are, how they are described, and how many syllables are hidden."""

    instances: str
    kind: Any
    n_hidden: int


ROWS = (
    Row("segments", "shape38", 1),
    Row("segments", "birdnet", 1),
    Row("notes", "shape38", 1),
    Row("segments", "shape38", 2),
    Row("segments", "birdnet", 2),
)


def measure(quick: bool) -> list[Figure]:
    """Syllables found, and novelty AUC over all choices of one and of two hidden ones."""
    song = load_syllables()
    names = list(song.paths)
    tuned = _found("recordings used for tuning", song.take(names[::TUNED_ON]))
    if quick:
        return [tuned, _figure(song, ROWS[0], "KernelScorer")]
    others = [name for i, name in enumerate(names) if i % TUNED_ON]
    judged = _found("recordings not used for tuning", song.take(others))
    return [judged, tuned, *(_figure(song, row, model) for row in ROWS for model in MODELS)]


# ---------------------------------------------------------------------- what is found


def _found(name: str, song: Syllables) -> Figure:
    """F1 of segments against noted syllables, one to one, by overlap in time."""
    n_hits = n_notes = n_found = n_outside = 0
    for recording, path in song.paths.items():
        notes = song.notes.for_recording(recording)
        segments = segment_recording(path, SegmentRecipe())
        n_hits += count_matches(notes, segments)
        n_notes += len(notes)
        n_found += len(segments)
        n_outside += int((~_within_songs(notes, segments)).sum())
    return single(
        f"event F1: {name}",
        2 * n_hits / (n_notes + n_found),
        unit="",
        note=f"{n_notes} notes, {n_found} segments; precision {n_hits / n_found:.3f}, recall "
        f"{n_hits / n_notes:.4f} at {OVERLAP:.0%} overlap; without the {n_outside} segments "
        f"outside of songs {2 * n_hits / (n_notes + n_found - n_outside):.3f}",
    )


def count_matches(notes: CallTable, segments: Segments) -> int:
    """Return how many notes can have a segment of their own that is them."""
    begin = np.maximum(notes.begin_s[:, None], segments.begin_s)
    end = np.minimum(notes.end_s[:, None], segments.end_s)
    shared = np.maximum(0, end - begin)
    joint = np.maximum(notes.end_s[:, None], segments.end_s) - np.minimum(
        notes.begin_s[:, None], segments.begin_s
    )
    pairs = coo_array(shared >= OVERLAP * joint).tocsr()
    return int((maximum_bipartite_matching(pairs) >= 0).sum()) if pairs.nnz else 0


def _within_songs(notes: CallTable, segments: Segments) -> NDArray[np.bool_]:
    """Say which segments have their middle between the first and the last note of a song."""
    order = np.argsort(notes.begin_s)
    begin_s, end_s = notes.begin_s[order], notes.end_s[order]
    pauses = np.flatnonzero(begin_s[1:] - end_s[:-1] > PAUSE_S)
    first = begin_s[np.r_[0, pauses + 1]]
    last = end_s[np.r_[pauses, len(end_s) - 1]]
    middle = (segments.begin_s + segments.end_s)[:, None] / 2
    within: NDArray[np.bool_] = ((middle >= first) & (middle <= last)).any(axis=1)
    return within


# ---------------------------------------------------------------------- what is novel


def _figure(song: Syllables, row: Row, model: str) -> Figure:
    data = gather(song, row.instances, FeatureRecipe(kind=row.kind))
    train, test = split_by_recording(data)
    found = []
    for hidden in combinations(data.labels.classes, row.n_hidden):
        instances = f"{row.instances}, {row.kind}, {data.bags.fingerprint()[:12]}"
        key = f"{instances} | {model} | {' '.join(map(str, hidden))}"
        found.append(_kept(key, lambda: MODELS[model].auc(train, test, set(hidden))))  # noqa: B023
    return spread(
        f"AUC, {row.n_hidden} hidden: {row.instances}, {row.kind}; {model}",
        [value for value, _ in found],
        unit="",
        note=f"mean {np.mean([a for a, _ in found]):.3f}, lowest {min(found)[0]:.3f} of "
        f"{len(found)}; {np.mean([s for _, s in found]):.1f} CPU seconds each",
    )


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
    start = time.process_time()
    found = compute()
    seconds = time.process_time() - start
    with journal.open("a", encoding="utf-8") as file:
        file.write(json.dumps({"key": key, "auc": found, "seconds": round(seconds, 2)}) + "\n")
    return found, seconds


if __name__ == "__main__":
    run_part("syllables", measure)
