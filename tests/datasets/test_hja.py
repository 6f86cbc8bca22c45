import warnings

import numpy as np
import pytest

from raravis.datasets import DatasetError, fetch_hja_birdsong
from raravis.datasets.hja import _parse_bag_labels, _parse_class_names, _parse_table
from raravis.errors import InputError, RaravisWarning

COUNTS = [602, 810, 501, 494, 82, 277, 32, 345, 139, 120, 190, 1280, 126]


def test_parse_table_skips_the_header():
    assert _parse_table(b"bag_id, [x]\n1,0.5,-1\n1,2,3e4\n").tolist() == [[1, 0.5, -1], [1, 2, 3e4]]


def test_parse_bag_labels_keeps_bags_without_labels():
    assert _parse_bag_labels(b"bag_id, [labels]\n1,1,3\n2\n7,12\n") == {
        1: {1, 3},
        2: set(),
        7: {12},
    }


def test_parse_class_names_drops_the_code():
    assert _parse_class_names(b"1\tBRCR - Brown Creeper\n3\tPSFL - Pacific-slope Flycatcher\n") == {
        1: "Brown Creeper",
        3: "Pacific-slope Flycatcher",
    }


@pytest.mark.parametrize(
    "options", [{"instances": "unlabelled"}, {"labels": "union"}, {"labels": "instance"}]
)
def test_unknown_choice(alone, options):
    with pytest.raises(InputError):
        fetch_hja_birdsong(**options, allow_download=False)


def test_missing_files_are_named(alone):
    with pytest.raises(DatasetError, match="hja_birdsong/hja_birdsong"):
        fetch_hja_birdsong(allow_download=False)


# ------------------------------------------------------------------------------------ real data


@pytest.fixture(scope="module")
def fetch(real_data):
    def fetch(instances, labels=None):
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", RaravisWarning)
            return fetch_hja_birdsong(
                instances=instances, labels=labels, data_home=real_data, allow_download=False
            )

    return fetch


@pytest.mark.data
def test_labelled_instances_are_those_of_the_paper(fetch):
    data = fetch("labelled")
    assert data.bags.n_bags == 548
    assert data.bags.n_instances == 4998
    assert data.bags.n_features == 38
    assert (data.bags.sizes.min(), data.bags.sizes.max()) == (1, 26)
    assert data.bags.sizes.mean() == pytest.approx(9.12, abs=0.005)
    assert np.bincount(data.instance_labels).tolist() == [0, *COUNTS]
    assert data.labelled.all()
    assert data.labels.classes == tuple(range(1, 14))
    assert len(data.class_names) == 13
    assert data.class_names[5] == "Dark-eyed Junco"


@pytest.mark.data
def test_all_instances(fetch):
    data = fetch("all")
    assert data.bags.n_bags == 548
    assert data.bags.n_instances == 10_232
    assert data.labelled.sum() == 4998
    assert data.bags.sizes.max() == 43
    assert data.bags.sizes.mean() == pytest.approx(18.67, abs=0.005)
    assert [int(data.known([c]).sum()) for c in data.labels.classes] == COUNTS
    labels_a_bag = data.labels.present.sum(axis=1)
    assert labels_a_bag.mean() == pytest.approx(2.14, abs=0.005)
    assert labels_a_bag.max() == 5


@pytest.mark.data
def test_labelled_instances_are_rows_of_all(fetch):
    labelled, everything = fetch("labelled"), fetch("all")
    rows = labelled.instance_ids
    np.testing.assert_array_equal(everything.instance_ids, np.arange(10_232))
    np.testing.assert_array_equal(everything.bags.instances[rows], labelled.bags.instances)
    np.testing.assert_array_equal(everything.instance_labels[rows], labelled.instance_labels)
    assert labelled.bags.keys == everything.bags.keys == tuple(range(1, 549))


@pytest.mark.data
@pytest.mark.parametrize("instances", ["labelled", "all"])
def test_the_two_sources_of_labels_differ_in_62_bags_never_the_reverse(fetch, instances):
    union, file = (fetch(instances, labels).labels.present for labels in ("instances", "file"))
    assert (union <= file).all()
    assert (union != file).any(axis=1).sum() == 62


@pytest.mark.data
def test_defaults_agree_with_themselves(fetch):
    assert fetch("labelled").labels == fetch("labelled", "instances").labels
    assert fetch("all").labels == fetch("all", "file").labels


@pytest.mark.data
@pytest.mark.parametrize("instances", ["labelled", "all"])
def test_notes_name_what_was_used(fetch, instances):
    notes = {labels: fetch(instances, labels).description.notes for labels in ("instances", "file")}
    assert "union" in notes["instances"]
    assert "bag-label file" in notes["file"]
    assert all(("10,232" in note) == (instances == "all") for note in notes.values())


@pytest.mark.data
@pytest.mark.parametrize(
    ("instances", "labels", "advice"),
    [("labelled", "file", "labels='instances'"), ("all", "instances", "labels='file'")],
)
def test_contradictory_combinations_warn(real_data, instances, labels, advice):
    with pytest.warns(RaravisWarning, match=rf"62 of the 548 bags.*{advice}"):
        fetch_hja_birdsong(instances=instances, labels=labels, data_home=real_data)


@pytest.mark.data
def test_consistent_combinations_do_not_warn(real_data):
    for options in ({}, {"instances": "all"}, {"instances": "all", "labels": "file"}):
        fetch_hja_birdsong(data_home=real_data, **options)


@pytest.mark.data
def test_found_through_the_environment(real_data, alone, monkeypatch):
    monkeypatch.setenv("RARAVIS_DATA", str(real_data))
    assert fetch_hja_birdsong(allow_download=False).bags.n_instances == 4998
    assert not alone.exists()


@pytest.mark.data
@pytest.mark.parametrize(
    "damage", [lambda b: b[:-100], lambda b: b.replace(b"0.965614", b"0.965615")]
)
def test_damaged_file_is_refused(real_data, alone, tmp_path, damage):
    folder = tmp_path / "hja_birdsong"
    folder.mkdir()
    for source in (real_data / "hja_birdsong").iterdir():
        content = source.read_bytes()
        features = source.name == "hja_birdsong_features.txt"
        (folder / source.name).write_bytes(damage(content) if features else content)
    with pytest.raises(DatasetError, match=r"hja_birdsong_features\.txt is damaged"):
        fetch_hja_birdsong(data_home=tmp_path)


@pytest.mark.data
def test_restriction_to_a_known_set_of_the_paper(fetch):
    data = fetch("labelled").restrict([1, 2, 4, 8])
    known = data.known([1, 2, 4, 8])
    assert known.sum() == 602 + 810 + 494 + 345
    held = np.array([known[data.bags.bag_index == i].any() for i in range(548)])
    np.testing.assert_array_equal(data.labels.present.any(axis=1), held)
