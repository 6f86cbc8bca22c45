import numpy as np
import pytest
from tests.audio.sounds import scene, write

from raravis.audio import (
    AudioError,
    FeatureRecipe,
    Segments,
    extract_features,
    feature_names,
    segment_recording,
)


@pytest.fixture(scope="module")
def recording(tmp_path_factory):
    calls = scene(6.0, (1.0, 3000, 0.2), (1.05, 6000, 0.2), (4.2, 1500, 0.3))
    return write(tmp_path_factory.mktemp("sounds") / "scene.wav", calls)


def described(path, segments):
    return [
        dict(zip(feature_names(), row, strict=True)) for row in extract_features(path, segments)
    ]


def test_one_row_a_segment_and_all_finite(recording):
    segments = segment_recording(recording)
    features = extract_features(recording, segments)
    assert features.shape == (len(segments), len(feature_names())) == (3, 38)
    assert np.isfinite(features).all()


def test_features_say_where_the_sound_is(recording):
    low, high, last = described(recording, segment_recording(recording))
    for row, frequency_hz in ((low, 3000), (high, 6000), (last, 1500)):
        assert row["frequency_mean_hz"] == pytest.approx(frequency_hz, abs=40)
        assert row["frequency_of_maximum_hz"] == pytest.approx(frequency_hz, abs=40)
    assert last["duration_s"] == pytest.approx(0.3, abs=0.03)


def test_a_box_from_outside_gets_the_mask_of_the_sound_in_it(recording):
    tight = described(recording, segment_recording(recording).take([2]))[0]
    wide = described(recording, Segments([3.8], [5.0], [500], [4000]))[0]
    assert wide["duration_s"] == pytest.approx(tight["duration_s"], abs=0.03)
    assert wide["frequency_mean_hz"] == pytest.approx(tight["frequency_mean_hz"], abs=40)


def test_a_segment_that_begins_after_the_end_is_refused(recording):
    with pytest.raises(AudioError, match=r"segment 0 begins at 9 s"):
        extract_features(recording, Segments([9.0], [9.5], [0], [5000]))


def test_no_segments_no_rows(recording):
    assert extract_features(recording, Segments.empty()).shape == (0, 38)


def test_names_of_embeddings():
    assert len(set(feature_names(FeatureRecipe(kind="birdnet")))) == 1024
