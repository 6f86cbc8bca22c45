import numpy as np
import pytest
from tests.audio.sounds import RATE_HZ, noise, tone, write

from raravis.audio.noise import _stretches, excess_parts
from raravis.audio.reading import open_recording
from raravis.audio.recipes import SpectrogramRecipe
from raravis.audio.spectrogram import Grid, power_parts


def excess_of(path, **settings):
    recipe = SpectrogramRecipe(**settings)
    with open_recording(path) as sound:
        grid = Grid.of(recipe, sound.sample_rate_hz)
        parts = [*excess_parts(sound, grid, recipe)]
    return parts, grid


def test_noise_is_level_whatever_its_spectrum(tmp_path):
    samples = np.cumsum(noise(20.0))
    parts, _ = excess_of(write(tmp_path / "a.wav", samples / np.abs(samples).max()))
    assert np.median(np.concatenate(parts), axis=0) == pytest.approx(1.5, abs=0.7)


def test_a_level_that_changes_is_followed(tmp_path):
    swell = 10 ** (np.linspace(-1, 1, 120 * RATE_HZ) / 2)
    parts, _ = excess_of(write(tmp_path / "a.wav", noise(120.0) * swell), noise_window_s=15)
    over_time = np.concatenate(parts).mean(axis=1)
    quarters = [quarter.mean() for quarter in np.split(over_time[: len(over_time) // 4 * 4], 4)]
    # 20 dB in all, and 5 dB a quarter: less than one is left.
    assert np.ptp(quarters) < 1


def test_a_sound_that_goes_on_all_the_time_is_noise(tmp_path):
    drone = tone(3000, 20.0) + noise(20.0)
    parts, grid = excess_of(write(tmp_path / "a.wav", drone))
    assert np.concatenate(parts)[100:-100, grid.bin_at(3000)].max() < 3


@pytest.mark.parametrize("duration_s", [0.5, 14.0, 16.0, 44.0, 46.0, 75.0])
def test_no_stretch_is_shorter_than_half_unless_it_is_all(duration_s, tmp_path):
    path = write(tmp_path / "a.wav", noise(duration_s))
    with open_recording(path) as sound:
        grid = Grid.of(SpectrogramRecipe(), sound.sample_rate_hz)
        stretches = _stretches(power_parts(sound, grid), round(10 / grid.step_s))
        lengths = [len(stretch) * grid.step_s for stretch in stretches]
    assert sum(lengths) == pytest.approx(duration_s, abs=0.02)
    assert lengths[:-1] == pytest.approx([10.0] * (len(lengths) - 1), abs=0.01)
    assert 5 <= lengths[-1] <= 15.01 or len(lengths) == 1


def test_rounding_alone_is_no_sound(tmp_path):
    quiet = np.random.default_rng(0).integers(0, 2, 5 * RATE_HZ) / 32768
    quiet[: 4 * RATE_HZ] = 0
    parts, _ = excess_of(write(tmp_path / "a.wav", quiet))
    assert np.concatenate(parts).max() < 10
