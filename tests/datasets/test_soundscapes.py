from dataclasses import replace

import numpy as np
import pytest
from scipy.io import wavfile

from raravis.audio import Segments, segment_recording, time_from_name
from raravis.datasets import SPECIES, make_soundscapes
from raravis.errors import InputError


@pytest.fixture(scope="module")
def made(tmp_path_factory):
    return make_soundscapes(tmp_path_factory.mktemp("sounds"), n_recordings=6, seed=3)


def test_what_is_written_is_what_is_told(made):
    for name in made.recordings:
        rate_hz, samples = wavfile.read(made.folder / name)
        calls = made.calls.for_recording(name)
        assert (rate_hz, len(samples), samples.dtype) == (22_050, 20 * 22_050, np.int16)
        assert set(calls.label) == set(made.species[name])
        assert 0 <= calls.begin_s.min() < calls.end_s.max() <= 20
        assert calls.high_hz.max() < 22_050 / 2
        assert time_from_name(name) is not None
    assert sorted(path.name for path in made.folder.iterdir()) == sorted(made.recordings)


def test_a_seed_gives_the_same_recordings_and_fewer_are_the_first_of_more(made, tmp_path):
    again = make_soundscapes(tmp_path, n_recordings=2, seed=3)
    for name in again.recordings:
        assert (tmp_path / name).read_bytes() == (made.folder / name).read_bytes()
        assert again.calls.for_recording(name) == made.calls.for_recording(name)
    other = make_soundscapes(tmp_path, n_recordings=2, seed=4)
    assert other.calls != again.calls


def test_calls_are_as_far_above_the_noise_as_told(tmp_path):
    loud = (30.0, 30.0)
    made = make_soundscapes(tmp_path, n_recordings=3, snr_db=loud, rain_share=0, seed=1)
    measured = []
    for name in made.recordings:
        rate_hz, samples = wavfile.read(tmp_path / name)
        calls = made.calls.for_recording(name)
        quiet = np.ones(len(samples), dtype=bool)
        for begin_s, end_s in zip(calls.begin_s, calls.end_s, strict=True):
            quiet[round(begin_s * rate_hz) : round(end_s * rate_hz)] = False
        noise = samples[quiet][: 4 * rate_hz]
        for row in range(len(calls)):
            box = calls.begin_s[row], calls.end_s[row], calls.low_hz[row], calls.high_hz[row]
            there = samples[round(box[0] * rate_hz) : round(box[1] * rate_hz)]
            ratio = _power(there, rate_hz, *box[2:]) / _power(noise, rate_hz, *box[2:])
            measured.append(10 * np.log10(ratio) - float(calls.extra["snr_db"][row]))
    assert len(measured) > 10
    assert np.median(measured) == pytest.approx(0, abs=1.0)


def _power(samples, rate_hz, low_hz, high_hz):
    power = np.abs(np.fft.rfft(samples / 32768)) ** 2 / len(samples) ** 2
    frequency = np.fft.rfftfreq(len(samples), 1 / rate_hz)
    return power[(frequency >= low_hz) & (frequency <= high_hz)].sum()


def test_calls_of_different_species_overlap(tmp_path):
    made = make_soundscapes(
        tmp_path, n_recordings=3, species_per_recording=(6, 6), duration_s=30, seed=0
    )
    calls = made.calls
    together = [
        (i, j)
        for i in range(len(calls))
        for j in range(i)
        if calls.recording[i] == calls.recording[j]
        and calls.begin_s[i] < calls.end_s[j]
        and calls.begin_s[j] < calls.end_s[i]
    ]
    assert together
    assert all(calls.label[i] != calls.label[j] for i, j in together)


def test_the_segmentation_finds_the_calls(made):
    hit = total = 0
    for name in made.recordings:
        found, calls = segment_recording(made.folder / name), made.calls.for_recording(name)
        for row in range(len(calls)):
            box = calls.begin_s[row], calls.end_s[row], calls.low_hz[row], calls.high_hz[row]
            hit += _covers(found, *box)
            total += 1
    assert total > 30
    assert hit / total >= 0.95


def _covers(found: Segments, begin_s, end_s, low_hz, high_hz):
    """Whether the segments in a call's band cover half of its time."""
    band = (found.low_hz < high_hz) & (found.high_hz > low_hz)
    times = np.linspace(begin_s, end_s, 50)
    inside = (found.begin_s[band, None] <= times) & (times < found.end_s[band, None])
    return bool(inside.any(axis=0).mean() > 0.5)


def test_a_recording_may_hold_nothing(tmp_path):
    made = make_soundscapes(tmp_path, n_recordings=1, species_per_recording=(0, 0))
    assert made.species[made.recordings[0]] == ()
    assert len(made.calls) == 0


@pytest.mark.parametrize("species", SPECIES, ids=lambda one: one.name)
def test_every_species_can_be_heard(species, tmp_path):
    made = make_soundscapes(
        tmp_path, n_recordings=1, species=[species], snr_db=(20, 20), rain_share=0
    )
    assert made.species[made.recordings[0]] == (species.name,)
    assert len(segment_recording(tmp_path / made.recordings[0])) >= len(made.calls)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"n_recordings": 0}, "n_recordings is 0"),
        ({"duration_s": 0.1}, "duration_s is 0.1"),
        ({"species": []}, "pass at least one"),
        ({"species": [SPECIES[0], SPECIES[0]]}, "each name once"),
        ({"species_per_recording": (3, 2)}, "species_per_recording is"),
        ({"snr_db": (20.0, 10.0)}, "snr_db is"),
        ({"rain_share": 2}, "rain_share is 2"),
        ({"sample_rate_hz": 100}, "sample_rate_hz is 100"),
        ({"seed": -1}, "seed is -1"),
    ],
)
def test_what_cannot_be_made_is_refused(options, message, tmp_path):
    with pytest.raises(InputError, match=message):
        make_soundscapes(tmp_path, **options)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"name": " "}, "name"),
        ({"contour_hz": ()}, "contour_hz"),
        ({"syllable_s": 0.0}, "syllable_s"),
        ({"partials": (1.0, float("nan"))}, "partials"),
        ({"calls_per_minute": -1.0}, "calls_per_minute"),
        ({"n_syllables": (2, 1)}, "n_syllables"),
    ],
)
def test_a_species_that_makes_no_sense_is_refused(change, message):
    with pytest.raises(InputError, match=message):
        replace(SPECIES[0], **change)
