import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from tests.audio.sounds import noise, write

from raravis.audio import (
    AudioError,
    FeatureRecipe,
    Segments,
    columns,
    extract_features,
    feature_names,
    table_recipe,
)
from raravis.errors import InputError

TABLE = """recording,begin_s,end_s,e0,e1
site1/a.wav,0,5,1,10
site1/a.wav,5,10,2,20
site2/a.wav,0,5,3,30
b.wav,0,5,4,40
"""


@pytest.fixture
def table(tmp_path):
    path = tmp_path / "perch.csv"
    path.write_text(TABLE)
    return path


def sound(tmp_path, name):
    path = tmp_path / name
    path.parent.mkdir(exist_ok=True)
    return write(path, noise(10.0, rate_hz=8000), rate_hz=8000)


def times(*pairs):
    begin, end = zip(*pairs, strict=True)
    return Segments(begin, end, [0] * len(pairs), [4000] * len(pairs))


def test_a_segment_takes_the_row_that_shares_most_with_it(table, tmp_path):
    recipe = table_recipe(table)
    assert feature_names(recipe) == ("e0", "e1")
    segments = times((1.0, 1.5), (4.8, 5.6), (4.0, 6.0), (9.0, 12.0))
    found = extract_features(sound(tmp_path, "site1/a.wav"), segments, recipe)
    assert found.tolist() == [[1, 10], [1, 10], [2, 20], [2, 20]]


def test_recordings_of_one_name_are_told_apart_by_their_folders(table, tmp_path):
    found = extract_features(sound(tmp_path, "site2/a.wav"), times((0, 1)), table_recipe(table))
    assert found.tolist() == [[3, 30]]


def test_parquet_as_well(table, tmp_path):
    path = tmp_path / "aves.parquet"
    columns = {"recording": ["b.wav"], "begin_s": [0.0], "end_s": [3.0], "x": np.array([7], "f4")}
    pq.write_table(pa.table(columns), path)
    found = extract_features(sound(tmp_path, "b.wav"), times((1, 2)), table_recipe(path))
    assert found.tolist() == [[7.0]]


def test_what_the_table_does_not_cover_is_told(table, tmp_path):
    with pytest.raises(AudioError, match=r"no row for b\.wav between 6 and 7 s"):
        extract_features(sound(tmp_path, "b.wav"), times((6, 7)), table_recipe(table))
    with pytest.raises(AudioError, match=r"no row for c\.wav"):
        extract_features(sound(tmp_path, "c.wav"), times((0, 1)), table_recipe(table))


def test_no_segments_no_rows(table, tmp_path):
    found = extract_features(sound(tmp_path, "c.wav"), Segments.empty(), table_recipe(table))
    assert found.shape == (0, 2)


def test_a_table_that_changed_is_refused_and_its_recipe_differs(table, tmp_path):
    before = table_recipe(table)
    path = sound(tmp_path, "b.wav")
    table.write_text(TABLE.replace("4,40", "5,50"))
    assert table_recipe(table).hash != before.hash
    columns._read.cache_clear()
    with pytest.raises(InputError, match="is not what it was when the recipe was made"):
        extract_features(path, times((0, 1)), before)


def test_a_recipe_written_by_hand_is_told_what_is_missing(table):
    recipe = FeatureRecipe(kind="columns", table=str(table))
    with pytest.raises(InputError, match=rf"is '{table_recipe(table).table_sha256}': pass it"):
        feature_names(recipe)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("recording,begin_s,e0\na,0,1\n", "has no column 'end_s'"),
        ("recording,begin_s,end_s\na,0,1\n", "add features"),
        ("recording,begin_s,end_s,e0\na,0,1,wren\n", "'e0' .* something that is no number"),
        ("recording,begin_s,end_s,e0\na,0,1,1\na,0,1,\n", "'e0' .* no number in row 1"),
        ("", "is no CSV or Parquet file"),
    ],
)
def test_tables_that_cannot_be_used_are_refused(text, message, tmp_path):
    path = tmp_path / "t.csv"
    path.write_text(text)
    with pytest.raises(InputError, match=message):
        table_recipe(path)


def test_a_table_that_is_not_there_is_told(tmp_path):
    with pytest.raises(InputError, match="cannot be read"):
        table_recipe(tmp_path / "nowhere.csv")
