"""What is written here, other people's programs read as it was meant."""

import math
from functools import partial
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from raravis import BagLabels, Bags
from raravis.formats import (
    CallTable,
    read_audacity,
    read_miml_arff,
    read_raven,
    write_audacity,
    write_miml_arff,
    write_raven,
)

# crowsetta renames columns in place, which pandas is about to drop.
uses_old_pandas = pytest.mark.filterwarnings("ignore:The inplace keyword:DeprecationWarning")

NUMBERS = st.floats(0, 1e6)
# They refuse calls without a duration or a bandwidth, and read numbers to the last bit but one.
PAIRS = st.lists(st.floats(0, 1e6), min_size=2, max_size=2, unique=True).map(sorted)
same = partial(np.testing.assert_allclose, rtol=1e-14)
WORDS = st.text("abcdefgh ä", min_size=1, max_size=6).filter(lambda word: word == word.strip())


@st.composite
def boxed(draw: st.DrawFn) -> CallTable:
    """Calls of one recording that all have a label and a box, which these programs need."""
    n = draw(st.integers(1, 6))
    times, edges = (np.array([draw(PAIRS) for _ in range(n)]) for _ in "tf")
    return CallTable(
        ["dawn.wav"] * n,
        times[:, 0],
        times[:, 1],
        edges[:, 0],
        edges[:, 1],
        [draw(WORDS) for _ in range(n)],
        [draw(NUMBERS) for _ in range(n)],
        [[draw(NUMBERS)] for _ in range(n)],
        ["robin"],
    )


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("readers")


@uses_old_pandas
def test_crowsetta_reads_raven_tables(folder: Path) -> None:
    import crowsetta

    @settings(max_examples=25, deadline=None)
    @given(calls=boxed())
    def law(calls: CallTable) -> None:
        write_raven(calls, folder / "a.txt")
        boxes = crowsetta.formats.bbox.Raven.from_file(folder / "a.txt").to_bbox()
        same([box.onset for box in boxes], calls.begin_s)
        same([box.offset for box in boxes], calls.end_s)
        same([box.low_freq for box in boxes], calls.low_hz)
        same([box.high_freq for box in boxes], calls.high_hz)
        assert tuple(box.label for box in boxes) == calls.label

    law()


@uses_old_pandas
def test_crowsetta_reads_audacity_labels(folder: Path) -> None:
    import crowsetta

    @settings(max_examples=25, deadline=None)
    @given(calls=boxed())
    def law(calls: CallTable) -> None:
        write_audacity(calls, folder / "a.txt")
        boxes = crowsetta.formats.bbox.AudBBox.from_file(folder / "a.txt").to_bbox()
        same([(box.onset, box.offset) for box in boxes], np.c_[calls.begin_s, calls.end_s])
        same([(box.low_freq, box.high_freq) for box in boxes], np.c_[calls.low_hz, calls.high_hz])
        assert tuple(box.label for box in boxes) == calls.label

    law()


@uses_old_pandas
def test_what_crowsetta_writes_is_read(tmp_path: Path) -> None:
    import crowsetta

    calls = CallTable(["a"], [0.5], [1.25], [900.0], [8000.5], ["wren"])
    write_raven(calls, tmp_path / "a.txt")
    write_audacity(calls, tmp_path / "b.txt")
    crowsetta.formats.bbox.Raven.from_file(tmp_path / "a.txt").to_file(tmp_path / "c.txt")
    crowsetta.formats.bbox.AudBBox.from_file(tmp_path / "b.txt").to_file(tmp_path / "d.txt")
    assert read_raven(tmp_path / "c.txt") == calls
    assert read_audacity(tmp_path / "d.txt", recording="a") == calls


def test_opensoundscape_reads_raven_tables(tmp_path: Path) -> None:
    annotations = pytest.importorskip(
        "opensoundscape.annotations", reason="opensoundscape is not installed"
    )
    calls = CallTable(
        ["a.wav"] * 2,
        [0.1, 2.0],
        [1.25, 2.5],
        [100.0, math.nan],
        [3000.5, math.nan],
        ["wren", None],
        [0.1, 0.9],
    )
    write_raven(calls, tmp_path / "a.txt")
    found = annotations.BoxedAnnotations.from_raven_files(
        [tmp_path / "a.txt"], "Annotation", audio_files=["a.wav"]
    )
    found.to_raven_files(tmp_path, audio_files=["a.wav"])
    again = read_raven(tmp_path / "a.selections.txt")
    for table in (found.df.rename(columns={"start_time": "begin_s", "end_time": "end_s"}), again):
        np.testing.assert_array_equal(table.begin_s, calls.begin_s)
        np.testing.assert_array_equal(table.end_s, calls.end_s)
    np.testing.assert_array_equal(found.df.high_f, calls.high_hz)
    assert found.df.annotation[0] == "wren"
    assert again.label == calls.label


# ---------------------------------------------------------------------- MIML ARFF

# mimllearning never closes the files that it reads.
leaves_files_open = pytest.mark.filterwarnings(
    "ignore:.*unclosed file.*arff:ResourceWarning",
    "ignore:pkg_resources is deprecated:DeprecationWarning",
    "ignore:Deprecated call to .pkg_resources:DeprecationWarning",
)


@leaves_files_open
def test_mimllearning_reads_arff(tmp_path: Path) -> None:
    from miml.data import load_dataset

    rng = np.random.default_rng(0)
    sizes = [1, 4, 2]
    bags = Bags.from_list([rng.normal(size=(n, 3)) for n in sizes], keys=["a.wav", "b.wav", "c"])
    labels = BagLabels.from_sets([{"wren"}, set(), {"owl", "wren"}], keys=bags.keys)
    write_miml_arff(bags, labels, tmp_path / "calls.arff")
    found = load_dataset(str(tmp_path / "calls.arff"))
    assert found.get_labels_name() == ["owl", "wren"]
    assert found.get_features_name() == ["feature_0", "feature_1", "feature_2"]
    assert found.get_number_bags() == 3
    for i, key in enumerate(bags.keys):
        assert found.get_bag(i).key == key
        np.testing.assert_array_equal(found.get_features_by_bag()[i], bags[i])
        np.testing.assert_array_equal(found.get_bag(i).get_labels()[0], labels.present[i])


@leaves_files_open
@pytest.mark.parametrize("name", ["toy.arff", "miml_birds.arff", "miml_birds_random_20test.arff"])
def test_the_data_that_mimllearning_ships_are_read(name: str) -> None:
    import miml
    from miml.data import load_dataset

    path = Path(miml.__file__).parent / "datasets" / name
    theirs = load_dataset(str(path))
    bags, labels = read_miml_arff(path)
    assert list(labels.classes) == theirs.get_labels_name()
    assert list(bags.feature_names or ()) == [n.strip() for n in theirs.get_features_name()]
    np.testing.assert_array_equal(bags.instances, theirs.get_features())
    theirs_by_bag = [theirs.get_bag(i) for i in range(theirs.get_number_bags())]
    assert list(bags.keys) == [bag.key for bag in theirs_by_bag]
    marks = [bag.get_labels()[0] for bag in theirs_by_bag]
    np.testing.assert_array_equal(labels.present, np.array(marks))


@leaves_files_open
def test_what_mimllearning_writes_is_read(tmp_path: Path) -> None:
    """It leaves out the commas beside the instances of a bag."""
    import miml
    from miml.data import load_dataset

    path = Path(miml.__file__).parent / "datasets" / "toy.arff"
    load_dataset(str(path)).save_arff(str(tmp_path / "again.arff"))
    assert "bag1'42.0" in (tmp_path / "again.arff").read_text()
    bags, labels = read_miml_arff(tmp_path / "again.arff")
    wanted, wanted_labels = read_miml_arff(path)
    assert bags == wanted
    np.testing.assert_array_equal(labels.status, wanted_labels.status)
