import pytest
from hypothesis import given
from hypothesis import strategies as st

from raravis.audio import FeatureRecipe, SegmentRecipe
from raravis.audio.recipes import SpectrogramRecipe
from raravis.errors import InputError

KINDS = [SpectrogramRecipe, SegmentRecipe, FeatureRecipe]


@pytest.mark.parametrize("kind", KINDS)
def test_a_recipe_survives_being_written_down(kind):
    recipe = kind(min_hz=123.5, max_hz=8000, channel=1)
    assert kind.from_dict(recipe.to_dict()) == recipe
    assert kind.from_dict(recipe.to_dict()).hash == recipe.hash
    assert kind.from_dict({}) == kind()


@pytest.mark.parametrize("kind", KINDS)
def test_every_setting_changes_the_hash(kind):
    hashes = {kind().hash}
    for name, value in kind().to_dict().items():
        if name == "table":
            hashes.add(FeatureRecipe(kind="columns", table="a.csv").hash)
            continue
        other = {
            "channel": 2,
            "kind": "birdnet",
            "max_hz": 9999.0,
            "isolate": False,
            "table_sha256": "0" * 64,
        }.get(name, value * 1.01 if isinstance(value, float) and value else 0.0123)
        hashes.add(kind.from_dict({name: other}).hash)
    assert len(hashes) == len(kind().to_dict()) + 1


def test_recipes_of_different_kinds_differ_and_whole_numbers_are_numbers():
    assert len({kind().hash for kind in KINDS}) == 3
    assert SegmentRecipe(min_hz=500).hash == SegmentRecipe(min_hz=500.0).hash


def test_a_hash_is_the_same_tomorrow():
    # A change of this value orphans all that was computed before: raise `version` on purpose only.
    assert len(SegmentRecipe().hash) == 64
    assert SegmentRecipe(min_hz=1000).hash == SegmentRecipe(min_hz=1000).hash


@pytest.mark.parametrize(
    ("kind", "settings", "message"),
    [
        (SpectrogramRecipe, {"window_s": 0}, "window_s is 0; pass a positive"),
        (SpectrogramRecipe, {"window_s": "1"}, "window_s is '1'; pass a number"),
        (SpectrogramRecipe, {"hop_s": 0.1}, "pass a hop no longer than the window"),
        (SpectrogramRecipe, {"min_hz": -1}, "min_hz is -1"),
        (SpectrogramRecipe, {"max_hz": 100}, "pass a frequency above min_hz"),
        (SpectrogramRecipe, {"smooth_hz": -1}, "smooth_hz is -1"),
        (SpectrogramRecipe, {"noise_percentile": 100}, "noise_percentile is 100"),
        (SpectrogramRecipe, {"channel": -1}, "channel is -1"),
        (SpectrogramRecipe, {"channel": True}, "channel is True"),
        (SpectrogramRecipe, {"channel": "left"}, "channel is 'left'"),
        (SpectrogramRecipe, {"windows": 1}, "'windows' is no setting of a SpectrogramRecipe"),
        (SegmentRecipe, {"high_db": 5}, "pass a high threshold"),
        (SegmentRecipe, {"valley_db": 0}, "valley_db is 0"),
        (SegmentRecipe, {"max_duration_s": 0.01}, "pass a maximum above the minimum"),
        (SegmentRecipe, {"merge_gap_hz": float("nan")}, "merge_gap_hz is nan"),
        (FeatureRecipe, {"kind": "perch"}, "pass 'shape38' or 'birdnet' or 'columns'"),
        (FeatureRecipe, {"kind": "columns"}, "pass a table with the kind 'columns'"),
        (FeatureRecipe, {"table": "a.csv"}, "pass a table with the kind 'columns'"),
        (FeatureRecipe, {"kind": "columns", "table": ""}, "table is ''; pass text"),
        (FeatureRecipe, {"isolate": 1}, "isolate is 1; pass True or False"),
        (FeatureRecipe, {"mask_db": float("inf")}, "mask_db is inf"),
    ],
)
def test_settings_that_make_no_sense_are_refused(kind, settings, message):
    with pytest.raises(InputError, match=message):
        kind.from_dict(settings)


@given(st.floats(0.001, 1), st.floats(0, 1), st.floats(0, 5000))
def test_equal_settings_have_equal_hashes(window_s, share, min_hz):
    settings = {"window_s": window_s, "hop_s": window_s * max(share, 1e-3), "min_hz": min_hz}
    assert SegmentRecipe(**settings).hash == SegmentRecipe.from_dict(settings).hash
