"""Bird song whose every syllable is noted: BirdsongRecognition, and bags of it.

Koumura and Okanoya recorded Bengalese finches and noted when each syllable begins, how long it
lasts and which of the bird's syllables it is. Cut into windows of a second, whose labels are the
syllables in them, song is data for learning from bags with the truth about every instance.
"""

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from types import MappingProxyType
from typing import Any, TypeAlias
from xml.parsers import expat

import numpy as np
import numpy.typing as npt

from raravis.audio import Segments, inspect_recording
from raravis.bags import Bags
from raravis.datasets._base import UNLABELLED, BagDataset, Description
from raravis.datasets._fetch import DatasetError, PathLike, data_folders
from raravis.errors import InputError
from raravis.formats import CallTable
from raravis.labels import BagLabels

__all__ = ["Syllables", "load_syllables", "match_notes", "window_bags"]

IntArray: TypeAlias = npt.NDArray[np.int64]

_FOLDER = "birdsongrec"
_ANNOTATION = "Annotation.xml"
_MAX_BYTES = 50_000_000
# A segment is of the note that shares at least this part of the shorter one's time with it.
_OVERLAP = 0.5

_DESCRIPTION = Description(
    title="Windows of Bengalese finch song, one bird, a syllable an instance",
    origin="T. Koumura, K. Okanoya: BirdsongRecognition, figshare 3470165",
    terms="CC BY 4.0",
    citation=(
        "T. Koumura, K. Okanoya. Automatic recognition of element classes and boundaries in the "
        "birdsong with variable sequences. PLOS ONE 11, 2016."
    ),
)


@dataclass(frozen=True, eq=False)
class Syllables:
    """Recordings of one bird and its syllables.

    Parameters
    ----------
    paths : mapping of str to Path
        The sound file of every recording, by the name that the notes have for it.
    notes : CallTable
        Every syllable: recording, times, and its class as the label; no frequencies.
    durations_s : mapping of str to float
    """

    paths: Mapping[str, Path]
    notes: CallTable
    durations_s: Mapping[str, float]

    def take(self, recordings: Sequence[str]) -> "Syllables":
        """Return some of the recordings."""
        chosen = set(recordings)
        return Syllables(
            MappingProxyType({name: self.paths[name] for name in recordings}),
            self.notes.take([name in chosen for name in self.notes.recording]),
            MappingProxyType({name: self.durations_s[name] for name in recordings}),
        )


def load_syllables(*, data_home: PathLike | None = None) -> Syllables:
    """Read the notes of one bird and find its recordings.

    Nothing is downloaded: a bird's folder of BirdsongRecognition is to be unpacked as
    ``FOLDER/birdsongrec``, where FOLDER is `data_home` or what the environment variable
    RARAVIS_DATA names. Recordings may be WAV (in ``Wave``) or FLAC (in ``flac``).

    Parameters
    ----------
    data_home : path, optional

    Examples
    --------
    >>> song = load_syllables()  # doctest: +SKIP
    >>> len(song.paths), len(song.notes)  # doctest: +SKIP
    (135, 7652)
    """
    folders = [folder / _FOLDER for folder in data_folders(data_home)]
    for folder in folders:
        if (folder / _ANNOTATION).is_file():
            return _load(folder)
    looked = ", ".join(str(folder) for folder in folders)
    raise DatasetError(
        f"{_ANNOTATION} is missing. Looked in: {looked}. Unpack a bird of BirdsongRecognition "
        "(figshare 3470165) there, or pass data_home= the folder above it."
    )


def _load(folder: Path) -> Syllables:
    content = (folder / _ANNOTATION).read_bytes()
    rows = _parse(content, folder / _ANNOTATION)
    paths = {name: _sound_file(folder, name) for name in dict.fromkeys(row[0] for row in rows)}
    infos = {name: inspect_recording(path, scan=False) for name, path in paths.items()}
    unusable = [info for info in infos.values() if not info.usable]
    if unusable:
        raise DatasetError(f"{unusable[0].path} is {unusable[0].status}: {unusable[0].detail}")
    rates = {name: info.sample_rate_hz for name, info in infos.items()}
    # What is noted in samples counts those of the recording.
    begin_s = [begin / rates[name] for name, begin, _, _ in rows]
    end_s = [(begin + length) / rates[name] for name, begin, length, _ in rows]
    notes = CallTable(
        tuple(row[0] for row in rows),
        np.array(begin_s),
        np.array(end_s),
        label=tuple(row[3] for row in rows),
    )
    durations = {name: info.duration_s for name, info in infos.items()}
    return Syllables(MappingProxyType(paths), notes, MappingProxyType(durations))


def _sound_file(folder: Path, name: str) -> Path:
    # A name from the file reaches the disk only if it is a plain name.
    if name in {"", ".", ".."} or any(mark in name for mark in "/\\:\0"):
        raise DatasetError(f"{_ANNOTATION} names the recording {name!r}; that is no file name")
    stem = name.rpartition(".")[0] or name
    choices = [folder / "Wave" / name, folder / "flac" / f"{stem}.flac", folder / name]
    for path in choices:
        if path.is_file():
            return path
    raise DatasetError(
        f"the recording {name} is missing; place it as " + " or ".join(map(str, choices))
    )


# ---------------------------------------------------------------------- the notes

_Row: TypeAlias = tuple[str, int, int, str]


def _parse(content: bytes, path: Path) -> list[_Row]:
    """Return recording, first sample, number of samples and class of every note."""
    if len(content) > _MAX_BYTES:
        raise DatasetError(f"{path} has {len(content)} bytes; no annotation is as large")
    reader = _Reader()
    parser = expat.ParserCreate()
    parser.StartDoctypeDeclHandler = reader.refuse
    parser.StartElementHandler = reader.begin
    parser.CharacterDataHandler = reader.text
    parser.EndElementHandler = reader.end
    try:
        parser.Parse(content, True)
    except (expat.ExpatError, ValueError, LookupError) as error:
        raise DatasetError(f"{path} is no annotation of BirdsongRecognition: {error}") from error
    return reader.rows


class _Reader:
    """Collects notes from ``<Sequence>`` elements.

    A sequence has its place in the recording, and its notes have theirs in the sequence.
    """

    def __init__(self) -> None:
        self.rows: list[_Row] = []
        self._path: list[str] = []
        self._words = ""
        self._sequence: dict[str, str] = {}
        self._note: dict[str, str] = {}
        self._notes: list[dict[str, str]] = []

    def refuse(self, *_: Any) -> None:
        # Where there is no document type there are no entities to expand.
        raise ValueError("it has a document type")

    def begin(self, name: str, _: Mapping[str, str]) -> None:
        self._path.append(name)
        self._words = ""
        if name == "Sequence":
            self._sequence, self._notes = {}, []
        elif name == "Note":
            self._note = {}

    def text(self, words: str) -> None:
        self._words += words

    def end(self, name: str) -> None:
        self._path.pop()
        parent = self._path[-1] if self._path else ""
        if parent == "Note":
            self._note[name] = self._words.strip()
        elif name == "Note":
            self._notes.append(self._note)
        elif parent == "Sequence":
            self._sequence[name] = self._words.strip()
        elif name == "Sequence":
            self.rows += self._finished()

    def _finished(self) -> Iterator[_Row]:
        first = _count(self._sequence["Position"])
        for note in self._notes:
            begin = first + _count(note["Position"])
            yield self._sequence["WaveFileName"], begin, _count(note["Length"]), note["Label"]


def _count(text: str) -> int:
    if not text.isascii() or not text.isdigit() or len(text) > 15:
        raise ValueError(f"{text!r} is no number of samples")
    return int(text)


# ---------------------------------------------------------------------- bags


def match_notes(segments: Segments, notes: CallTable) -> IntArray:
    """Return, for every segment, the row of the note that covers most of it; -1 if none does.

    A note has to cover half of a segment's time, or a segment half of a note's.
    """
    begin = np.maximum(segments.begin_s[:, np.newaxis], notes.begin_s)
    end = np.minimum(segments.end_s[:, np.newaxis], notes.end_s)
    shared = np.maximum(0, end - begin)
    if not shared.size:
        return np.full(len(segments), -1)
    best = shared.argmax(axis=1)
    most = shared[np.arange(len(segments)), best]
    shorter = np.minimum(segments.duration_s, (notes.end_s - notes.begin_s)[best])
    return np.where((most > 0) & (most >= _OVERLAP * shorter), best, -1)


def window_bags(
    song: Syllables,
    segments: Mapping[str, Segments],
    features: Mapping[str, npt.ArrayLike],
    *,
    window_s: float = 1.0,
) -> BagDataset:
    """Cut recordings into windows and make each a bag.

    Most songs hold most syllables, so a whole one says little as a bag; a second of it holds a
    few. What has its middle in a window belongs to it.

    Parameters
    ----------
    song : Syllables
    segments, features : mapping
        By recording: what was found in it, and a row of features for each segment.
    window_s : float

    Returns
    -------
    BagDataset
        Keys are (recording, number of the window). Labels of a bag are the classes of all notes
        in the window, found or not; windows without notes are left out. The class of a segment
        that is of no note is `UNLABELLED`.
    """
    if not (math.isfinite(window_s) and window_s > 0):
        raise InputError(f"window_s is {window_s!r}; pass a positive number")
    listed: dict[tuple[str, int], set[str]] = {}
    for name in song.paths:
        notes = song.notes.for_recording(name)
        for window, label in zip(_windows(notes, window_s), notes.label, strict=True):
            listed.setdefault((name, int(window)), set()).add(str(label))
    rows, keys, truth = [], [], []
    for name in song.paths:
        notes = song.notes.for_recording(name)
        owner = match_notes(segments[name], notes)
        vectors = np.asarray(features[name])
        for row, window in enumerate(_windows(segments[name], window_s)):
            if (name, int(window)) in listed:
                rows.append(vectors[row])
                keys.append((name, int(window)))
                truth.append(UNLABELLED if owner[row] < 0 else notes.label[owner[row]])
    place = {key: number for number, key in enumerate(listed)}
    order = np.argsort([place[key] for key in keys], kind="stable")
    bags = Bags.from_arrays(np.stack(rows), keys, keys=list(listed))
    classes = sorted(set().union(*listed.values()))
    return BagDataset(
        bags=bags,
        labels=BagLabels.from_sets(listed.values(), classes=classes, keys=bags.keys),
        instance_labels=np.array(truth, dtype=object)[order],
        instance_ids=order,
        name="syllables",
        description=_DESCRIPTION,
    )


def _windows(boxes: Segments | CallTable, window_s: float) -> IntArray:
    middle = (boxes.begin_s + boxes.end_s) / 2
    return np.asarray(middle // window_s, dtype=np.int64)
