import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.signal import ShortTimeFFT
from scipy.signal.windows import hann
from tests.audio.sounds import RATE_HZ, noise, tone, write

from raravis.audio import SegmentRecipe, spectrogram_image
from raravis.audio.reading import open_recording
from raravis.audio.recipes import SpectrogramRecipe
from raravis.audio.spectrogram import Grid, power_parts, with_context
from raravis.errors import InputError


def power_of(path, recipe, **options):
    with open_recording(path) as sound:
        grid = Grid.of(recipe, sound.sample_rate_hz)
        return np.concatenate([*power_parts(sound, grid, **options)]), grid


@pytest.mark.parametrize("rate_hz", [8_000, 22_050, 44_100])
def test_equal_to_scipys_short_time_fft(rate_hz, tmp_path):
    samples = noise(3.0, level=0.1, rate_hz=rate_hz).astype(np.float32)
    path = write(tmp_path / "a.wav", samples, rate_hz=rate_hz, subtype="FLOAT")
    power, grid = power_of(path, SpectrogramRecipe(min_hz=1000, max_hz=3000))
    scipys = ShortTimeFFT(hann(grid.window, sym=False), grid.hop, rate_hz, scale_to="magnitude")
    # Its frame p is centred on sample p * hop; our first begins at sample 0.
    first, shift = divmod(grid.window // 2, grid.hop)
    theirs = 4 * scipys.spectrogram(samples[shift:], p0=first, p1=first + len(power) - 10)
    kept = slice(grid.first_bin, grid.first_bin + grid.n_bins)
    assert np.array_equal(scipys.f[kept], scipys.f[(scipys.f >= 1000) & (scipys.f <= 3000)])
    assert len(power) > 600
    assert power[:-10] == pytest.approx(theirs[kept].T, rel=1e-3, abs=1e-9)


def test_a_full_scale_sine_has_power_one(tmp_path):
    path = write(tmp_path / "a.wav", tone(2000, 1.0, level=1.0, rate_hz=8000), rate_hz=8000)
    power, grid = power_of(path, SpectrogramRecipe(window_s=0.016, hop_s=0.004, min_hz=0))
    assert power.max() == pytest.approx(1, rel=0.01)
    assert (power[100].argmax() + grid.first_bin) * grid.step_hz == 2000


@pytest.mark.parametrize("block_frames", [1, 500, 22_050, 1 << 19])
def test_the_size_of_blocks_changes_no_bit(block_frames, tmp_path):
    path = write(tmp_path / "a.wav", noise(1.7))
    recipe = SpectrogramRecipe()
    whole, _ = power_of(path, recipe)
    assert np.array_equal(power_of(path, recipe, block_frames=block_frames)[0], whole)


@pytest.mark.parametrize("n_samples", [1, 10, 352, 353, 354, 441, 442, 90_000, 90_500])
def test_every_sample_is_in_some_frame(n_samples, tmp_path):
    path = write(tmp_path / "a.wav", noise(n_samples / RATE_HZ))
    power, grid = power_of(path, SpectrogramRecipe())
    assert len(power) == grid.n_frames(n_samples)
    last = (len(power) - 1) * grid.hop + grid.window
    assert last - grid.hop < max(n_samples, grid.window) <= last


@given(
    st.lists(st.integers(1, 9), min_size=1, max_size=8),
    st.integers(0, 6),
    st.integers(0, 2**32 - 1),
)
@settings(max_examples=60, deadline=None)
def test_context_is_what_stands_around_a_part(lengths, reach, seed):
    whole = np.random.default_rng(seed).random((sum(lengths), 2)).astype(np.float32)
    padded = np.pad(whole, ((reach, reach), (0, 0)), mode="edge")
    parts = np.split(whole, np.cumsum(lengths)[:-1])
    first, middles = 0, []
    for extended in with_context(iter(parts), reach):
        assert np.array_equal(extended, padded[first : first + len(extended)])
        middles.append(extended[reach : len(extended) - reach])
        first += len(middles[-1])
        assert len(middles[-1])
    assert np.array_equal(np.concatenate(middles), whole)


@given(st.integers(8_000, 200_000), st.floats(0, 100), st.floats(0, 4_000))
def test_edges_lead_back_to_frames_and_bins(rate_hz, time_s, frequency_hz):
    grid = Grid.of(SegmentRecipe(), rate_hz)
    frame, index = grid.frame_at(time_s), grid.bin_at(frequency_hz)
    assert grid.frame_at(max(0, grid.frame_edge_s(frame))) == frame
    assert grid.bin_at(grid.bin_edge_hz(index)) == index


def test_a_picture_shows_the_tone_where_it_is(tmp_path):
    samples = np.concatenate([noise(1.0), tone(3000, 0.5) + noise(0.5), noise(1.0)])
    path = write(tmp_path / "a.wav", samples)
    picture = spectrogram_image(path, 0.5, 2.0, low_hz=1000, high_hz=6000)
    assert picture.decibels.shape == (len(picture.frequencies_hz), len(picture.times_s))
    row, column = np.unravel_index(picture.decibels.argmax(), picture.decibels.shape)
    assert picture.frequencies_hz[row] == pytest.approx(3000, abs=62)
    assert 1.0 < picture.times_s[column] < 1.5
    assert picture.decibels.max() == pytest.approx(-20, abs=1)
    assert picture.times_s[0] == pytest.approx(0.5, abs=0.01)
    assert picture.times_s[-1] == pytest.approx(2.0, abs=0.01)
    assert 1000 <= picture.frequencies_hz[0] < picture.frequencies_hz[-1] <= 6000


def test_a_picture_of_a_long_stretch_has_no_more_columns_than_asked(tmp_path):
    path = write(tmp_path / "a.wav", noise(20.0))
    picture = spectrogram_image(path, 0, 20, max_columns=300)
    assert 280 <= picture.decibels.shape[1] <= 301
    with pytest.raises(InputError, match="max_columns is 0"):
        spectrogram_image(path, 0, 20, max_columns=0)


def test_a_picture_of_silence_and_of_nothing(tmp_path):
    path = write(tmp_path / "a.wav", np.zeros(RATE_HZ))
    assert np.isfinite(spectrogram_image(path, 0, 1).decibels).all()
    assert spectrogram_image(path, 5, 6).decibels.shape[1] == 0
