from collections import Counter

import numpy as np
import pytest
import soundfile

from raravis.audio import Segments
from raravis.datasets import UNLABELLED, DatasetError, load_syllables, match_notes, window_bags
from raravis.errors import InputError
from raravis.formats import CallTable

RATE_HZ = 1000


def note(position, length, label):
    return (
        f"<Note><Position>{position}</Position><Length>{length}</Length>"
        f"<Label>{label}</Label></Note>"
    )


def sequence(name, position, *notes):
    return (
        f"<Sequence><WaveFileName>{name}</WaveFileName><Position>{position}</Position>"
        f"<Length>9</Length><NumNote>{len(notes)}</NumNote>{''.join(notes)}</Sequence>"
    )


def document(*sequences, head='<?xml version="1.0" encoding="UTF-8"?>'):
    return f"{head}<Sequences><NumSequence>1</NumSequence>{''.join(sequences)}</Sequences>"


@pytest.fixture
def home(tmp_path):
    folder = tmp_path / "birdsongrec"
    (folder / "Wave").mkdir(parents=True)
    (folder / "flac").mkdir()
    soundfile.write(folder / "Wave" / "0.wav", np.zeros(3000), RATE_HZ)
    soundfile.write(folder / "flac" / "1.flac", np.zeros(2000), RATE_HZ)
    text = document(
        sequence("0.wav", 500, note(0, 100, "a"), note(200, 100, "b")),
        sequence("0.wav", 2000, note(100, 200, "a")),
        sequence("1.wav", 100, note(0, 50, "c &amp; d")),
    )
    (folder / "Annotation.xml").write_text(text)
    return tmp_path


def annotate(home, text):
    (home / "birdsongrec" / "Annotation.xml").write_text(text)


def test_times_of_notes_count_from_the_start_of_the_recording(home):
    song = load_syllables(data_home=home)
    assert list(song.paths) == ["0.wav", "1.wav"]
    assert song.notes.recording == ("0.wav", "0.wav", "0.wav", "1.wav")
    assert song.notes.label == ("a", "b", "a", "c & d")
    assert song.notes.begin_s == pytest.approx([0.5, 0.7, 2.1, 0.1])
    assert song.notes.end_s == pytest.approx([0.6, 0.8, 2.3, 0.15])
    assert dict(song.durations_s) == {"0.wav": 3.0, "1.wav": 2.0}


def test_some_of_the_recordings(home):
    song = load_syllables(data_home=home).take(["1.wav"])
    assert list(song.paths) == ["1.wav"]
    assert song.notes.label == ("c & d",)


@pytest.mark.parametrize(
    "name", ["../../secret.wav", "/etc/passwd", "a\\b.wav", "..", "", "C:x.wav"]
)
def test_a_name_that_leads_elsewhere_is_refused(name, home):
    annotate(home, document(sequence(name, 0, note(0, 1, "a"))))
    with pytest.raises(DatasetError, match="that is no file name"):
        load_syllables(data_home=home)


def test_entities_are_refused_before_they_grow(home):
    bomb = '<!DOCTYPE x [<!ENTITY a "aaaa"><!ENTITY b "&a;&a;&a;&a;">]>'
    annotate(home, document(sequence("0.wav", 0, note(0, 1, "&b;")), head=bomb))
    with pytest.raises(DatasetError, match="document type"):
        load_syllables(data_home=home)


@pytest.mark.parametrize(
    "text",
    [
        "",
        "<Sequences>",
        document(sequence("0.wav", "-5", note(0, 1, "a"))),
        document(sequence("0.wav", 0, note("1e9", 1, "a"))),
        document(sequence("0.wav", "9" * 20, note(0, 1, "a"))),
        document("<Sequence><Note><Label>a</Label></Note></Sequence>"),
    ],
)
def test_what_is_no_annotation_is_refused(text, home):
    annotate(home, text)
    with pytest.raises(DatasetError, match="is no annotation of BirdsongRecognition"):
        load_syllables(data_home=home)


def test_a_recording_that_is_missing_or_no_sound_is_told(home):
    annotate(home, document(sequence("7.wav", 0, note(0, 1, "a"))))
    with pytest.raises(DatasetError, match=r"the recording 7\.wav is missing; place it as"):
        load_syllables(data_home=home)
    (home / "birdsongrec" / "7.wav").write_text("no sound")
    with pytest.raises(DatasetError, match=r"7\.wav is unreadable"):
        load_syllables(data_home=home)


def test_no_data_is_told_with_the_folders_looked_in(tmp_path, monkeypatch):
    monkeypatch.delenv("RARAVIS_DATA", raising=False)
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    with pytest.raises(DatasetError, match=r"Annotation\.xml is missing\. Looked in: .*nowhere"):
        load_syllables(data_home=tmp_path / "nowhere")


def boxes(*times):
    begin, end = zip(*times, strict=True)
    return Segments(begin, end, [0] * len(times), [500] * len(times))


def test_a_segment_is_of_the_note_that_shares_most_with_it():
    notes = CallTable(("x",) * 2, [1.0, 2.0], [1.4, 2.5], label=("a", "b"))
    found = match_notes(boxes((0.2, 0.6), (0.9, 1.5), (1.3, 1.9), (1.35, 2.3), (2.1, 2.2)), notes)
    assert found.tolist() == [-1, 0, -1, 1, 1]
    assert match_notes(Segments.empty(), notes).tolist() == []
    assert match_notes(boxes((0, 1)), notes.take([])).tolist() == [-1]


def test_windows_are_bags_and_list_what_is_noted_in_them(home):
    song = load_syllables(data_home=home)
    segments = {
        "0.wav": boxes((0.1, 0.2), (0.5, 0.6), (1.2, 1.3), (2.1, 2.3)),
        "1.wav": Segments.empty(),
    }
    features = {"0.wav": np.arange(8.0).reshape(4, 2), "1.wav": np.empty((0, 2))}
    data = window_bags(song, segments, features)
    assert data.bags.keys == (("0.wav", 0), ("0.wav", 2), ("1.wav", 0))
    assert data.labels.to_sets() == [{"a", "b"}, {"a"}, {"c & d"}]
    assert data.bags.sizes.tolist() == [2, 1, 0]
    assert data.bags.instances.tolist() == [[0, 1], [2, 3], [6, 7]]
    assert data.instance_labels.tolist() == [UNLABELLED, "a", "a"]
    assert window_bags(song, segments, features, window_s=10).bags.n_bags == 2
    with pytest.raises(InputError, match="window_s is 0"):
        window_bags(song, segments, features, window_s=0)


@pytest.mark.data
def test_the_published_notes(real_data):
    song = load_syllables(data_home=real_data)
    assert (len(song.paths), len(song.notes)) == (135, 7652)
    counts = Counter(song.notes.label)
    assert [counts[str(i)] for i in range(9)] == [1930, 625, 756, 477, 477, 1387, 872, 473, 655]
    last = {name: song.notes.for_recording(name).end_s.max() for name in song.paths}
    assert all(last[name] <= song.durations_s[name] for name in song.paths)
