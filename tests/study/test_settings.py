"""What stands in study.toml comes back, and what is wrong in it is told."""

from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from raravis.audio import FeatureRecipe, SegmentRecipe
from raravis.errors import InputError
from raravis.study import Settings, StudyError
from raravis.study.settings import read_settings, write_settings

TEXT = st.text(st.characters(exclude_categories=["Cs"]), min_size=1, max_size=30)
PLACE = st.none() | TEXT


@settings(max_examples=60, deadline=None)
@given(
    changes=st.fixed_dictionaries(
        {
            "recordings": TEXT,
            "labels": PLACE,
            "recording_column": PLACE,
            "separator": TEXT,
            "window_s": st.floats(0.01, 100),
            "hop_s": st.none() | st.floats(0.01, 100),
            "miss_rate": st.none() | st.floats(0.001, 0.999),
            "truth": PLACE,
            "seed": st.integers(0, 2**40),
            "known_labels": st.sampled_from(["use", "ignore"]),
            "segment_recipe": st.builds(
                SegmentRecipe, channel=st.just("mix") | st.integers(0, 7), min_hz=st.floats(0, 900)
            ),
            "feature_recipe": st.builds(
                FeatureRecipe, kind=st.sampled_from(["shape38", "birdnet"])
            ),
        }
    )
)
def test_settings_come_back(tmp_path_factory: pytest.TempPathFactory, changes: Any) -> None:
    path = tmp_path_factory.getbasetemp() / "study.toml"
    before = Settings(**changes)
    write_settings(before, path)
    after = read_settings(path)
    assert after == before
    assert after.segment_recipe.hash == before.segment_recipe.hash


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"segmentation": "magic"}, "segmentation is 'magic'; pass one of 'automatic'"),
        ({"known_labels": None}, "known_labels is None; pass one of 'use', 'ignore'"),
        ({"model": "Oracle"}, "model is 'Oracle'; pass one of"),
        ({"window_s": 0}, "window_s is 0; pass a number above 0"),
        ({"hop_s": True}, "hop_s is True; pass a number above 0"),
        ({"miss_rate": 1.0}, "miss_rate is 1.0; pass a number above 0 and below 1"),
        ({"seed": -1}, "seed is -1; pass a whole number"),
        ({"segmentation": "boxes"}, "there is no table of boxes; name one"),
    ],
)
def test_settings_that_make_no_sense(change: dict[str, Any], message: str) -> None:
    with pytest.raises(InputError, match=message):
        Settings(**{"recordings": "r", **change})


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "has no format; restore it"),
        ("nonsense", "cannot be read"),
        ("[study]\nformat = 99\n", "has format 99, but this raravis reads up to 1; update"),
        ("[study]\nformat = 1\n", "recordings is missing; name the folder"),
        ('[study]\nformat = 1\nrecordings = "r"\ncolour = 1\n', "no setting study.colour; there"),
        ('[study]\nformat = 1\nrecordings = "r"\n[scores]\nmiss_rate = 2\n', "miss_rate is 2"),
        ('[study]\nformat = 1\nrecordings = "r"\n[segments.recipe]\nx = 2\n', "'x' is no setting"),
    ],
)
def test_files_that_are_wrong(tmp_path: Path, text: str, message: str) -> None:
    path = tmp_path / "study.toml"
    path.write_text(text, encoding="utf-8")
    with pytest.raises(StudyError, match=message) as told:
        read_settings(path)
    assert str(path) in str(told.value)


def test_a_setting_left_out_takes_its_default(tmp_path: Path) -> None:
    path = tmp_path / "study.toml"
    path.write_text('[study]\nformat = 1\nrecordings = "r"\n', encoding="utf-8")
    assert read_settings(path) == Settings(recordings="r")
