import tracemalloc

import numpy as np
import pytest
from tests.audio.sounds import noise, tone, write

from raravis.audio import AudioError, clip
from raravis.audio.reading import open_recording
from raravis.errors import InputError

FORMS = [
    ("pcm8.wav", "WAV", "PCM_U8", 1 / 128),
    ("pcm16.wav", "WAV", "PCM_16", 1 / 32768),
    ("pcm24.wav", "WAV", "PCM_24", 1e-6),
    ("pcm32.wav", "WAV", "PCM_32", 1e-6),
    ("float32.wav", "WAV", "FLOAT", 1e-7),
    ("float64.wav", "WAV", "DOUBLE", 1e-7),
    ("extensible.wav", "WAVEX", "PCM_24", 1e-6),
    ("rf64.wav", "RF64", "PCM_16", 1 / 32768),
    ("sony.w64", "W64", "PCM_16", 1 / 32768),
    ("a.flac", "FLAC", "PCM_16", 1 / 32768),
    ("a.aiff", "AIFF", "PCM_16", 1 / 32768),
    ("a.ogg", "OGG", "VORBIS", 0.02),
    ("a.mp3", "MP3", "MPEG_LAYER_III", 0.02),
]


def read(path, *, channel="mix", **options):
    with open_recording(path, channel=channel) as sound:
        return np.concatenate([np.empty(0), *sound.blocks(channel=channel, **options)])


@pytest.mark.parametrize(("name", "form", "subtype", "tolerance"), FORMS)
def test_every_format_gives_its_samples(name, form, subtype, tolerance, tmp_path):
    samples = tone(1000, 0.5)
    path = write(tmp_path / name, samples, format=form, subtype=subtype)
    found = read(path, block_frames=1000)
    lossless = form not in {"OGG", "MP3"}
    assert len(found) == len(samples) if lossless else len(found) >= len(samples)
    assert np.abs(found[: len(samples)] - samples).max() <= 1.01 * tolerance


@pytest.mark.parametrize("rate_hz", [8_000, 16_000, 44_100, 96_000, 384_000])
def test_any_sample_rate(rate_hz, tmp_path):
    path = write(tmp_path / "a.wav", noise(0.1, rate_hz=rate_hz), rate_hz=rate_hz)
    samples, found_hz = clip(path, 0, 1)
    assert (found_hz, len(samples)) == (rate_hz, rate_hz // 10)


def test_a_channel_or_the_mean_of_all(tmp_path):
    left, right = tone(500, 0.2), tone(900, 0.2)
    both = np.stack([left, right, 0 * left], axis=1)
    path = write(tmp_path / "a.wav", both, subtype="FLOAT")
    assert read(path, channel=1) == pytest.approx(right, abs=1e-6)
    assert read(path) == pytest.approx((left + right) / 3, abs=1e-6)
    with pytest.raises(AudioError, match="has 3 channels and channel is 3"):
        read(path, channel=3)


@pytest.mark.parametrize("block_frames", [1, 77, 4410, 10_000])
def test_blocks_join_to_the_whole(block_frames, tmp_path):
    samples = noise(0.1)
    path = write(tmp_path / "a.wav", samples, subtype="DOUBLE")
    assert np.array_equal(read(path, block_frames=block_frames), samples.astype(np.float32))


def test_a_clip_is_what_lies_between(tmp_path):
    samples = np.arange(1000) / 1000
    path = write(tmp_path / "a.wav", samples, rate_hz=1000, subtype="FLOAT")
    assert clip(path, 0.25, 0.5)[0] == pytest.approx(samples[250:500])
    assert clip(path, 0.9, 5.0)[0] == pytest.approx(samples[900:])
    assert len(clip(path, 3.0, 5.0)[0]) == len(clip(path, 0.5, 0.5)[0]) == 0
    for begin_s, end_s in ((-1, 1), (2, 1), (float("nan"), 1)):
        with pytest.raises(InputError, match="0 <= begin_s <= end_s"):
            clip(path, begin_s, end_s)


def test_samples_that_are_not_finite_are_silence(tmp_path):
    samples = np.array([0.5, np.nan, np.inf, -np.inf, 0.25])
    path = write(tmp_path / "a.wav", samples, subtype="DOUBLE")
    assert read(path).tolist() == [0.5, 0, 0, 0, 0.25]


@pytest.mark.parametrize(
    ("name", "content"),
    [("notes.wav", b"a wren, twice"), ("empty.wav", b""), ("a.raw", b"\0\1" * 99), ("a.mp3", b"x")],
)
def test_what_is_no_sound_is_an_audio_error(name, content, tmp_path):
    path = tmp_path / name
    path.write_bytes(content)
    with pytest.raises(AudioError, match=r"is no sound that can be read .*; convert it"):
        clip(path, 0, 1)
    with pytest.raises(AudioError, match="there is no recording"):
        clip(tmp_path / "missing.wav", 0, 1)


def test_memory_does_not_grow_with_length(tmp_path):
    path = write(tmp_path / "a.wav", np.zeros(3_000_000))
    peaks = []
    for n_blocks in (3, 30):
        tracemalloc.start()
        with open_recording(path) as sound:
            for number, _ in enumerate(sound.blocks(block_frames=100_000)):
                if number == n_blocks:
                    break
        peaks.append(tracemalloc.get_traced_memory()[1])
        tracemalloc.stop()
    assert peaks[1] < 1.5 * peaks[0] < 3_000_000
