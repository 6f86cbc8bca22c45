import numpy as np
import pytest
from tests.audio.sounds import RATE_HZ, noise, scene, write

from raravis.audio import AudioError, SegmentRecipe, Segments, segment_recording

CALLS = ((1.0, 3000, 0.2), (1.05, 6000, 0.2), (2.5, 4000, 0.1), (4.2, 1500, 0.3))


@pytest.fixture(scope="module")
def recording(tmp_path_factory):
    return write(tmp_path_factory.mktemp("sounds") / "scene.wav", scene(6.0, *CALLS))


def test_every_tone_is_one_segment_in_its_place(recording):
    found = segment_recording(recording)
    assert len(found) == len(CALLS)
    for row, (begin_s, frequency_hz, duration_s) in enumerate(sorted(CALLS)):
        assert found.begin_s[row] == pytest.approx(begin_s, abs=0.015)
        assert found.end_s[row] == pytest.approx(begin_s + duration_s, abs=0.015)
        assert found.low_hz[row] < frequency_hz < found.high_hz[row]
        assert found.high_hz[row] - found.low_hz[row] < 800


def test_sounds_at_the_same_time_but_not_frequency_are_two(tmp_path):
    path = write(tmp_path / "two.wav", scene(3.0, (1.0, 3000, 0.3), (1.0, 5150, 0.3)))
    found = segment_recording(path)
    assert len(found) == 2
    assert found.high_hz[0] < found.low_hz[1]


def test_partials_of_one_tone_are_one_sound_unless_told_otherwise(tmp_path):
    path = write(tmp_path / "tone.wav", scene(3.0, (1.0, 2500, 0.3), (1.0, 5000, 0.3)))
    assert len(segment_recording(path)) == 1
    assert len(segment_recording(path, SegmentRecipe(merge_overlap=1.1))) == 2


@pytest.mark.parametrize("block_frames", [100, 4_999, 65_536])
def test_the_size_of_blocks_makes_no_difference(recording, block_frames):
    assert segment_recording(recording, block_frames=block_frames) == segment_recording(recording)


def test_noise_alone_holds_no_sounds(tmp_path):
    assert len(segment_recording(write(tmp_path / "noise.wav", noise(20.0)))) == 0


def test_silence_holds_no_sounds(tmp_path):
    assert len(segment_recording(write(tmp_path / "silence.wav", np.zeros(RATE_HZ)))) == 0


def test_no_samples_hold_no_sounds(tmp_path):
    assert segment_recording(write(tmp_path / "none.wav", np.empty(0))) == Segments.empty()


def test_a_file_that_is_no_sound_is_an_audio_error(tmp_path):
    path = tmp_path / "notes.wav"
    path.write_text("a wren, twice")
    with pytest.raises(AudioError, match=r"notes\.wav is no sound"):
        segment_recording(path)
