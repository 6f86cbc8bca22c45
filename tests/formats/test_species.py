"""Species per recording, from tables of all shapes and from the labels of calls."""

import unicodedata
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path

import pytest

from raravis.errors import InputError, RaravisWarning
from raravis.formats import (
    CallTable,
    SpeciesLists,
    read_species,
    write_audacity,
    write_birdnet,
    write_calls,
    write_raven,
)

Write = Callable[..., Path]


@pytest.fixture
def table(tmp_path: Path) -> Write:
    def write(*lines: str, name: str = "species.csv", encoding: str = "utf-8") -> Path:
        path = tmp_path / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes("".join(f"{line}\r\n" for line in lines).encode(encoding))
        return path

    return write


def sets(found: SpeciesLists) -> Mapping[str, set[str]]:
    return {name: set(species) for name, species in found.species.items()}


# ---------------------------------------------------------------------- three shapes


def test_a_list_in_a_cell(table: Write) -> None:
    found = read_species(table("recording,species", "a.wav,wren; owl ;", "b.wav,", "c.wav,owl"))
    assert sets(found) == {"a.wav": {"wren", "owl"}, "b.wav": set(), "c.wav": {"owl"}}
    assert found.classes == ("owl", "wren")
    assert found.labels.to_sets() == [{"owl", "wren"}, set(), {"owl"}]
    assert not found.labels.unknown.any()


def test_a_row_for_each_recording_and_species(table: Write) -> None:
    found = read_species(table("file;species", "a;wren", "b;", "a;owl", "b;owl", "a;wren"))
    assert sets(found) == {"a": {"wren", "owl"}, "b": {"owl"}}


def test_columns_of_one_zero_and_nothing(table: Write) -> None:
    lines = ("recording,site,wren,owl,notes", "a,N,1,0,", "b,S,,1,", "c,S,,,", "d,S,0,0,")
    found = read_species(table(*lines))
    assert found.ignored == ("site", "notes")
    assert found.classes == ("owl", "wren")
    assert sets(found) == {"a": {"wren"}, "b": {"owl"}, "d": set()}
    assert found.labels.status.tolist() == [[-1, 1], [1, 0], [-1, -1]]
    assert found.unlabelled == ("c",)


def test_rows_of_one_recording_in_a_wide_table_add_up(table: Write) -> None:
    found = read_species(table("recording,wren,owl,gull", "a,0,1,", "a,1,,", "b,,,0"))
    assert found.labels.status.tolist() == [[0, 1, 1], [-1, 0, 0]]


def test_named_columns_and_separator(table: Write) -> None:
    path = table("File name,Site,Heard", "a.wav,1,Wren|Tawny Owl")
    found = read_species(path, species_column="heard", separator="|")
    assert sets(found) == {"a.wav": {"Wren", "Tawny Owl"}}
    found = read_species(path, recording_column="Site", species_column="Heard", separator="|")
    assert found.recordings == ("1",)


@pytest.mark.parametrize("encoding", ["utf-8", "utf-8-sig", "utf-16"])
@pytest.mark.parametrize("mark", [",", ";", "\t"])
def test_what_spreadsheets_leave(encoding: str, mark: str, table: Write) -> None:
    path = table(
        f"sep={mark}", f"recording{mark}species", f"ä.wav{mark}Mönchsgrasmücke", encoding=encoding
    )
    assert sets(read_species(path)) == {"ä.wav": {"Mönchsgrasmücke"}}


def test_latin_1_is_read_with_a_warning(table: Write) -> None:
    path = table("recording,species", "a.wav,Mönchsgrasmücke", encoding="latin-1")
    with pytest.warns(RaravisWarning, match="Windows-1252"):
        assert sets(read_species(path)) == {"a.wav": {"Mönchsgrasmücke"}}


def test_names_are_kept_verbatim(table: Write) -> None:
    found = read_species(table("recording,species", 'a,"Corvus sp.; WREN;wren;7;=x"'))
    assert set(found.classes) == {"Corvus sp.", "WREN", "wren", "7", "=x"}


@pytest.mark.parametrize(
    ("lines", "message"),
    [
        (("recording,heard", "a,wren"), "species_column"),
        (("place,species", "a,wren"), "recording_column"),
        (("recording,species", ",wren"), "line 2 of .*species.csv names no recording"),
        (("recording,wren", "a,1", "b,3"), "line 3 of .*'3' under 'wren'"),
        (("recording,species", "a,wren,owl"), "has 3 cells"),
        ((), "is empty|lacks"),
    ],
)
def test_what_cannot_be_read_is_named(lines: Sequence[str], message: str, table: Write) -> None:
    path = table(*lines)
    with pytest.raises(InputError, match=message):
        read_species(path, recording_column=None if lines else "recording")


def test_a_workbook_is_refused_with_advice(tmp_path: Path) -> None:
    (tmp_path / "a.xlsx").write_bytes(b"PK\x03\x04 and so on")
    with pytest.raises(InputError, match="save the sheet as CSV"):
        read_species(tmp_path / "a.xlsx")


# ---------------------------------------------------------------------- which recording


def matched(table: Write, name: str, recordings: Sequence[str]) -> SpeciesLists:
    return read_species(table("recording,species", f"{name},wren"), recordings)


@pytest.mark.parametrize(
    ("name", "recording"),
    [
        ("a.wav", "a.wav"),
        ("a", "a.wav"),
        ("A.WAV", "a.wav"),
        ("a.mp3", "a.wav"),
        ("site/a.wav", "site/a.wav"),
        ("site/a", "site/a.wav"),
        ("a.wav", "site/a.wav"),
        ("a", "site/a.wav"),
        (r"C:\data\site\a.wav", "site/a.wav"),
        ("/mnt/x/site/a.wav", "site/a.wav"),
        ("./site/a.wav", "site/a.wav"),
        ("dawn.v2", "dawn.v2.wav"),
        (unicodedata.normalize("NFD", "grünspecht.wav"), "grünspecht.wav"),
        ("grünspecht", unicodedata.normalize("NFD", "grünspecht.wav")),
    ],
)
def test_names_match(name: str, recording: str, table: Write) -> None:
    found = matched(table, name, ["other.wav", recording])
    assert found.species == {recording: ("wren",)}
    assert found.unlabelled == ("other.wav",)
    assert not found.unmatched
    assert not found.ambiguous


@pytest.mark.parametrize("name", ["b.wav", "aa", "a.txt", "wav", ".wav"])
def test_names_that_match_nothing_are_listed(name: str, table: Write) -> None:
    found = matched(table, name, ["a.wav"])
    assert found.unmatched == (name,)
    assert found.unlabelled == ("a.wav",)
    assert not found.species


def test_a_name_that_fits_several_labels_none(table: Write) -> None:
    found = matched(table, "a.wav", ["north/a.wav", "south/a.wav"])
    assert found.ambiguous == {"a.wav": ("north/a.wav", "south/a.wav")}
    assert found.unlabelled == ("north/a.wav", "south/a.wav")


def test_a_longer_path_decides(table: Write) -> None:
    found = matched(table, "x/north/a.wav", ["a.wav", "north/a.wav", "south/a.wav"])
    assert list(found.species) == ["north/a.wav"]


def test_case_decides_where_it_tells_recordings_apart(table: Write) -> None:
    found = matched(table, "A.wav", ["a.wav", "A.wav"])
    assert list(found.species) == ["A.wav"]


def test_of_two_names_the_better_one_has_the_recording(table: Write) -> None:
    path = table("recording,species", "north/a.wav,wren", "south/a.wav,owl")
    found = read_species(path, ["north/a.wav"])
    assert found.species == {"north/a.wav": ("wren",)}
    assert found.unmatched == ("south/a.wav",)
    assert found.classes == ("wren",)


def test_two_names_that_fit_alike_label_nothing(table: Write) -> None:
    path = table("recording,species", "x/a.wav,wren", "y/a.wav,owl")
    found = read_species(path, ["a.wav"])
    assert found.ambiguous == {"x/a.wav": ("a.wav",), "y/a.wav": ("a.wav",)}
    assert found.unlabelled == ("a.wav",)


def test_recordings_are_a_list(table: Write) -> None:
    with pytest.raises(InputError, match="give a list"):
        matched(table, "a.wav", "a.wav")


# ---------------------------------------------------------------------- labels of calls

CALLS = CallTable(["a.wav", "a.wav", "b.wav"], [0, 1, 2], [1, 2, 3], label=["wren", "owl", None])
WANTED = {"a.wav": {"wren", "owl"}, "b.wav": set[str]()}


def test_from_a_raven_table(tmp_path: Path) -> None:
    write_raven(CALLS, tmp_path / "calls.txt")
    assert sets(read_species(tmp_path / "calls.txt")) == WANTED


def test_from_a_table_of_calls(tmp_path: Path) -> None:
    for name in ("calls.csv", "calls.parquet"):
        write_calls(CALLS, tmp_path / name)
        assert sets(read_species(tmp_path / name)) == WANTED


def test_from_a_folder_of_audacity_labels(tmp_path: Path) -> None:
    for name in ("a.wav", "b.wav"):
        write_audacity(CALLS.for_recording(name), tmp_path / name.replace(".wav", ".txt"))
    write_audacity(CallTable.empty(), tmp_path / "silence.txt")
    (tmp_path / "notes.md").write_text("not of calls")
    found = read_species(tmp_path, ["a.wav", "b.wav", "silence.wav", "more.wav"])
    assert sets(found) == {**WANTED, "silence.wav": set()}
    assert found.unlabelled == ("more.wav",)
    assert found.ignored == ("notes.md",)


def test_folders_tell_files_of_one_name_apart(tmp_path: Path) -> None:
    for site, label in (("north", "wren"), ("south", "owl")):
        calls = CallTable(["a.wav"], [0.0], [1.0], label=[label])
        write_audacity(calls, tmp_path / site / "a.txt")
        write_raven(calls, tmp_path / site / "a.selections.txt")
    found = read_species(tmp_path, ["north/a.wav", "south/a.wav"])
    assert sets(found) == {"north/a.wav": {"wren"}, "south/a.wav": {"owl"}}


def test_birdnet_says_what_it_listened_to(tmp_path: Path) -> None:
    path = tmp_path / "results.txt"
    calls = CallTable(
        ["/x/a.wav", "/x/a.wav", "/x/quiet.wav", "/x/faint.wav"],
        [0, 3, 0, 0],
        [3, 6, 3, 3],
        label=["Wren", "Tawny Owl", "nocall", "Wren"],
        extra={
            "Confidence": ["0.9", "0.4", "1.0", "0.2"],
            "Species Code": ["eurwre", "tawowl1", "nocall", "eurwre"],
        },
    )
    write_birdnet(calls, path)
    found = read_species(path, ["a.wav", "quiet.wav", "faint.wav"], min_confidence=0.5)
    assert sets(found) == {"a.wav": {"Wren"}, "quiet.wav": set(), "faint.wav": set()}


def test_a_folder_without_calls_is_refused(tmp_path: Path) -> None:
    (tmp_path / "a.txt").write_text("one,two\n1,2\n")
    with pytest.raises(InputError, match="no file of calls"):
        read_species(tmp_path)


@pytest.mark.parametrize("mark", [",", "|"])
def test_another_separator_is_warned_of(mark: str, table: Write) -> None:
    path = table("recording\tspecies", f"a.wav\twren{mark} owl", "b.wav\tgull")
    with pytest.warns(RaravisWarning, match=r"pass\s+separator="):
        assert f"wren{mark} owl" in read_species(path).classes
    assert read_species(path, separator=mark).classes == ("gull", "owl", "wren")


def test_hours_of_a_survey_are_no_times_of_calls(table: Write) -> None:
    path = table("file,start_time,end_time,species", "a.wav,05:00,05:10,wren;owl", "b.wav,6,7,")
    assert sets(read_species(path)) == {"a.wav": {"wren", "owl"}, "b.wav": set()}
