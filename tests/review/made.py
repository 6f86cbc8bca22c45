"""Made-up studies to review: synthetic voices in noise, and scores as a model may give them."""

from pathlib import Path
from typing import Any

import numpy as np
import soundfile

from raravis import Bags
from raravis.formats import CallTable
from raravis.review.items import ReviewItems
from raravis.review.media import FeatureMedia, SoundMedia
from raravis.study import CandidateClass, ModelNote, Recording, Settings, Study, StudyResults

RATE = 32_000
KNOWN = ("Song wren", "Tawny owl", "Reed warbler", "Great tit")
STRANGERS = ("buzz", "whistle")
VOICES = (*KNOWN, *STRANGERS)
SECONDS = 12.0


def voice(kind: int, seconds: float, rng: np.random.Generator) -> tuple[Any, float, float]:
    """Return a call of a kind and the frequencies that it lies between."""
    t = np.arange(round(seconds * RATE)) / RATE
    share = t / seconds
    low, high = [(3800, 7200), (700, 1300), (2400, 5200), (5200, 6400), (1900, 2700), (7000, 9800)][
        kind
    ]
    sweep = [
        0.5 + 0.5 * np.sin(2 * np.pi * (9 + rng.uniform(-1, 1)) * t),
        0.5 + 0.4 * np.sin(np.pi * share),
        np.abs(np.mod(6 * share, 1.0) * 2 - 1),
        (np.mod(4 * share, 1.0) < 0.5) * 1.0,
        0.5 + 0.5 * np.sin(2 * np.pi * 55 * t),
        1 - share**2,
    ][kind]
    phase = 2 * np.pi * np.cumsum(low + (high - low) * sweep) / RATE
    gate = np.ones_like(t)
    if kind in (0, 3, 5):
        gate = 0.5 + 0.5 * np.clip(8 * np.sin(2 * np.pi * [11, 0, 0, 5, 0, 7][kind] * t), -1, 1)
    sound = np.sin(phase) + 0.25 * np.sin(2 * phase)
    return sound * gate * np.sin(np.pi * share) ** 0.4, low * 0.93, high * 1.07


def soundscape(kinds: list[int], rng: np.random.Generator) -> tuple[Any, list[tuple[float, ...]]]:
    """Return a recording with one call of each kind, and the boxes of the calls."""
    n = round(SECONDS * RATE)
    white = rng.normal(size=n + 2)
    sound = 0.004 * (white[2:] - 0.5 * white[:-2])
    boxes = []
    for k, kind in enumerate(kinds):
        seconds = float(rng.uniform(0.5, 0.95))
        begin = (k + rng.uniform(0.05, 0.25)) * SECONDS / len(kinds)
        call, low, high = voice(kind, seconds, rng)
        at = round(begin * RATE)
        call = call[: n - at]
        sound[at : at + len(call)] += rng.uniform(0.08, 0.3) * call
        boxes.append((round(begin, 4), round(begin + seconds, 4), low, high))
    return np.clip(sound, -1, 1), boxes


def make_results(folder: Path, *, n_recordings: int = 12, seed: int = 0) -> StudyResults:
    """Make a study of a few recordings on disk, with scores that mostly tell the truth."""
    rng = np.random.default_rng(seed)
    sounds = folder / "recordings"
    (sounds / "site <b>1</b>").mkdir(parents=True)
    study = Study.create(folder / "dawn chorus", Settings(recordings=str(sounds)))
    recordings, rows, species = [], [], {}
    for k in range(n_recordings):
        name = f"site <b>1</b>/2026-05-{k + 1:02d} 05h.wav"
        kinds = [*rng.choice(len(VOICES), size=5, p=[0.2, 0.18, 0.18, 0.18, 0.16, 0.1])]
        sound, boxes = soundscape(kinds, rng)
        soundfile.write(sounds / name, sound, RATE)
        recordings.append(Recording(name, 1, 1, "0" * 64, "ok", "", SECONDS, RATE, 1))
        rows += [(name, box, kind) for box, kind in zip(boxes, kinds, strict=True)]
        if k % 4 != 3:
            species[name] = tuple(sorted({KNOWN[kind] for kind in kinds if kind < len(KNOWN)}))
    calls, candidates = _scored(rows, rng)
    return StudyResults(
        study=study,
        recordings=tuple(recordings),
        problems={},
        calls=calls,
        species=species,
        unmatched=(),
        model=ModelNote("model-1", "NoveltyDetector", KNOWN, n_recordings, len(calls)),
        threshold=0.5,
        promise="",
        candidates=candidates,
        run="run-1",
        scored_at="2026-05-20T08:00:00+00:00",
    )


def _scored(
    rows: list[Any], rng: np.random.Generator
) -> tuple[CallTable, tuple[CandidateClass, ...]]:
    kinds = np.array([kind for _, _, kind in rows])
    scores = rng.normal(-0.9, 0.2, size=(len(rows), len(KNOWN)))
    known = kinds < len(KNOWN)
    scores[np.flatnonzero(known), kinds[known]] = rng.normal(0.8, 0.35, size=known.sum())
    novelty = 1 / (1 + np.exp(3.0 * scores.max(axis=1)))
    novel = novelty > 0.5
    best = scores.argmax(axis=1)
    boxes = np.array([box for _, box, _ in rows])
    calls = CallTable(
        [name for name, _, _ in rows],
        *boxes.T,
        label=["novel" if n else KNOWN[b] for n, b in zip(novel, best, strict=True)],
        novelty=novelty,
        class_scores=scores,
        classes=KNOWN,
    )
    groups = []
    for k in range(len(STRANGERS)):
        members = np.flatnonzero(kinds == len(KNOWN) + k)
        if len(members):
            groups.append((f"group {len(groups) + 1}", members))
    found = [CandidateClass(name, m, int(m[0])) for name, m in groups]
    return calls, tuple(found)


def features_of(results: StudyResults) -> Any:
    """Return features by which calls of one voice resemble each other."""
    calls = results.calls
    return np.stack([calls.low_hz, calls.high_hz, calls.end_s - calls.begin_s], axis=1)


def make_items(folder: Path, **options: Any) -> ReviewItems:
    """Make what a study's page shows, with features that no file holds."""
    results = make_results(folder, **options)
    items = ReviewItems.from_study(results)
    return with_features(items, features_of(results))


def with_features(items: ReviewItems, features: Any) -> ReviewItems:
    fields = {name: getattr(items, name) for name in items.__dataclass_fields__}
    return ReviewItems(**{**fields, "features": lambda: features})


def many_items(
    n: int, *, n_classes: int = 6, seed: int = 0, sound: Path | None = None
) -> ReviewItems:
    """Make a great many calls; all hear the same file, or have nothing but features."""
    rng = np.random.default_rng(seed)
    classes = tuple(f"species {k + 1}" for k in range(n_classes))
    features = rng.random((n, 24))
    scores = rng.normal(size=(n, n_classes))
    novelty = -scores.max(axis=1)
    label = [
        "novel" if v > 0 else classes[b] for v, b in zip(novelty, scores.argmax(1), strict=True)
    ]
    begin = np.arange(n) % 100 * 0.1
    names = [f"recording {i // 100:05d}.wav" for i in range(n)]
    low = rng.uniform(500, 3000, n)
    calls = CallTable(names, begin, begin + 0.5, low, low + 2000, label, novelty, scores, classes)
    media = FeatureMedia(features) if sound is None else SoundMedia(
        calls, lambda _name: sound, dict.fromkeys(calls.recordings, SECONDS)
    )  # fmt: skip
    order = np.argsort(-novelty, kind="stable")
    return ReviewItems(
        title=f"{n} calls",
        run="many",
        model="made up",
        calls=calls,
        threshold=0.0,
        media=media,
        features=lambda: features,
        groups={f"group {k + 1}": order[40 * k : 40 * k + 40] for k in range(5)},
    )


class NearestMean:
    """A model without mercy: one mean a class."""

    def __init__(self, classes: tuple[str, ...], means: Any, offset: float) -> None:
        self.classes_ = classes
        self.means = np.asarray(means)
        self.offset_ = offset

    def class_scores(self, bags: Bags) -> Any:
        return -np.linalg.norm(bags.instances[:, None] - self.means, axis=2)

    def score_samples(self, bags: Bags) -> Any:
        return self.class_scores(bags).max(axis=1)
