"""Files and folders of calls in another format."""

from pathlib import Path

import pytest

from raravis.errors import InputError
from raravis.formats import CallTable, convert, read_any, recognise, write_audacity, write_calls

CALLS = CallTable(
    ["north/a.wav", "b.wav", "north/a.wav"],
    [0, 1, 2],
    [1, 2, 3],
    label=["wren", None, "owl"],
    novelty=[0.1, 0.5, 0.25],
)


@pytest.fixture
def source(tmp_path: Path) -> Path:
    write_calls(CALLS, tmp_path / "calls.csv")
    return tmp_path / "calls.csv"


@pytest.mark.parametrize(
    ("name", "known"),
    [
        ("a.parquet", "calls"),
        ("a.selections.txt", "raven"),
        ("new/a.BirdNET.selection.table.txt", "raven"),
    ],
)
def test_to_a_file_and_back(name: str, known: str, source: Path, tmp_path: Path) -> None:
    done = convert(source, tmp_path / name)
    assert (done.calls, done.recordings) == (3, ("north/a.wav", "b.wav"))
    assert done.written == (tmp_path / name,)
    # Without a confidence BirdNET's table is one of Raven's.
    assert recognise(tmp_path / name) in {known, "birdnet"}
    convert(tmp_path / name, tmp_path / "back.csv")
    assert read_any(tmp_path / "back.csv") == CALLS


@pytest.mark.parametrize("to", ["raven", "audacity", "birdnet", "csv", "parquet"])
def test_to_a_folder_and_back(to: str, source: Path, tmp_path: Path) -> None:
    done = convert(source, tmp_path / "out", to=to)  # type: ignore[arg-type]
    assert [path.relative_to(tmp_path / "out").parts[0] for path in done.written] == [
        "north",
        done.written[1].name,
    ]
    again = convert(tmp_path / "out", tmp_path / "back.csv")
    assert again.recordings == ("b.wav", "north/a.wav")
    found = read_any(tmp_path / "back.csv").by_recording()
    for name, calls in CALLS.by_recording().items():
        assert found[name].label == calls.label
        assert found[name].begin_s.tolist() == calls.begin_s.tolist()
        assert (found[name].novelty is None) == (to == "audacity")


def test_recordings_without_calls_keep_their_files(tmp_path: Path) -> None:
    (tmp_path / "in" / "north").mkdir(parents=True)
    write_audacity(CallTable.empty(), tmp_path / "in" / "north" / "quiet.wav.labels.txt")
    write_audacity(CALLS.take([1]), tmp_path / "in" / "b.wav.labels.txt")
    (tmp_path / "in" / "notes.csv").write_text("one,two\n")
    done = convert(tmp_path / "in", tmp_path / "out", to="raven")
    assert done.ignored == ("notes.csv",)
    names = [path.relative_to(tmp_path / "out").as_posix() for path in done.written]
    assert names == ["b.wav.selections.txt", "north/quiet.wav.selections.txt"]
    assert len(read_any(done.written[1])) == 0


def test_names_in_a_file_lead_nowhere_else(tmp_path: Path) -> None:
    names = ["../../etc/x.wav", "/abs/y.wav", r"..\z.wav", "C:\\d\\w.wav", "..", "a:b\n.wav"]
    write_calls(CallTable(names, [0] * 6, [1] * 6), tmp_path / "in.csv")
    done = convert(tmp_path / "in.csv", tmp_path / "out", to="csv")
    assert [path.relative_to(tmp_path / "out").as_posix() for path in done.written] == [
        "etc/x.wav.csv",
        "abs/y.wav.csv",
        "z.wav.csv",
        "d/w.wav.csv",
        "recording.csv",
        "a_b_.wav.csv",
    ]


def test_two_recordings_never_share_a_file(tmp_path: Path) -> None:
    write_calls(CallTable(["a.wav", "../A.wav"], [0, 0], [1, 1]), tmp_path / "in.csv")
    with pytest.raises(InputError, match=r"'a\.wav' and '\.\./A\.wav' would both"):
        convert(tmp_path / "in.csv", tmp_path / "out", to="csv")
    assert not (tmp_path / "out").exists()


@pytest.mark.parametrize(
    ("target", "to", "message"),
    [
        ("a.txt", None, "does not say in which format"),
        ("out", None, "does not say in which format"),
        ("a.labels.txt", None, "calls of 2 recordings.*name a folder"),
        ("a.csv", "parquet", r"end it in \.parquet"),
        ("a.parquet", "csv", r"end it in \.csv"),
        ("a.txt", "parquet", r"end it in \.parquet"),
        ("a.txt", "xml", "to is 'xml'"),
        ("calls.csv", None, "the source itself"),
        ("there.csv", None, "is there already"),
    ],
)
def test_what_cannot_be_converted(
    target: str, to: str | None, message: str, source: Path, tmp_path: Path
) -> None:
    (tmp_path / "there.csv").write_text("mine")
    with pytest.raises(InputError, match=message):
        convert(source, tmp_path / target, to=to)  # type: ignore[arg-type]
    assert (tmp_path / "there.csv").read_text() == "mine"
    assert read_any(source) == CALLS


def test_files_are_replaced_if_that_is_allowed(source: Path, tmp_path: Path) -> None:
    (tmp_path / "there.csv").write_text("mine")
    convert(source, tmp_path / "there.csv", overwrite=True)
    assert read_any(tmp_path / "there.csv") == CALLS


def test_a_folder_without_calls(tmp_path: Path) -> None:
    (tmp_path / "in").mkdir()
    with pytest.raises(InputError, match="no file of calls"):
        convert(tmp_path / "in", tmp_path / "a.csv")
