"""Raven selection tables as Raven and others write them."""

from collections.abc import Callable
from pathlib import Path

import pytest

from raravis.errors import InputError, RaravisWarning
from raravis.formats import CallTable, read_raven, write_raven

Write = Callable[..., Path]

HEADER = (
    "Selection\tView\tChannel\tBegin Time (s)\tEnd Time (s)\tLow Freq (Hz)\tHigh Freq (Hz)\tSpecies"
)


@pytest.fixture
def table(tmp_path: Path) -> Write:
    def write(*lines: str, name: str = "dawn.Table.1.selections.txt") -> Path:
        (tmp_path / name).write_text("".join(f"{line}\n" for line in lines), encoding="utf-8")
        return tmp_path / name

    return write


def test_as_raven_writes_it(table: Write) -> None:
    path = table(
        HEADER,
        "1\tWaveform 1\t1\t154.387792767\t154.911598217\t2878.2\t4049.0\tEATO",
        "1\tSpectrogram 1\t1\t154.387792767\t154.911598217\t2878.2\t4049.0\tEATO",
        "2\tSpectrogram 1\t2\t167.5\t168\t2731\t3902.7\t",
        "3\tWaveform 1\t1\t170\t171\t0\t16000\tEATO",
    )
    assert read_raven(path) == CallTable(
        ["dawn"] * 3,
        [154.387792767, 167.5, 170],
        [154.911598217, 168, 171],
        [2878.2, 2731, 0],
        [4049.0, 3902.7, 16000],
        ["EATO", None, "EATO"],
        channel=[1, 2, 1],
        extra={"View": ["Spectrogram 1", "Spectrogram 1", "Waveform 1"]},
    )


def test_times_of_a_table_over_several_files_count_from_each(table: Write) -> None:
    path = table(
        "Begin Time (s)\tEnd Time (s)\tBegin File\tFile Offset (s)",
        "1\t2.5\ta.wav\t1",
        "61.5\t62.75\tb.wav\t1.5",
    )
    calls = read_raven(path)
    assert calls.recording == ("a.wav", "b.wav")
    assert calls.begin_s.tolist() == [1, 1.5]
    assert calls.end_s.tolist() == [2.5, 2.75]


def test_several_files_without_offsets_are_warned_of(table: Write) -> None:
    path = table("Begin Time (s)\tEnd Time (s)\tBegin File", "1\t2\ta.wav", "1\t2\tb.wav")
    with pytest.warns(RaravisWarning, match="several files, but no column 'File Offset"):
        assert read_raven(path).begin_s.tolist() == [1, 1]


def test_the_column_of_labels_can_be_named(table: Write) -> None:
    path = table("Begin Time (s)\tEnd Time (s)\tAnnotation\tcall type", "1\t2\twren\tsong")
    assert read_raven(path).label == ("wren",)
    calls = read_raven(path, annotation_column="Call_Type", recording="a.wav")
    assert calls.label == ("song",)
    assert dict(calls.extra) == {"Annotation": ("wren",)}
    assert calls.recordings == ("a.wav",)
    with pytest.raises(InputError, match=r"no column 'Kind'.*annotation_column"):
        read_raven(path, annotation_column="Kind")


def test_what_raven_shows_is_in_the_file(tmp_path: Path) -> None:
    calls = CallTable(
        ["a.wav"],
        [0.5],
        [2],
        [100],
        [9000],
        ["wren"],
        [0.25],
        [[0.75]],
        ["owl"],
        extra={"By": ["x"]},
    )
    write_raven(calls, tmp_path / "new" / "a.txt")
    header, row = (tmp_path / "new" / "a.txt").read_text().splitlines()
    cells = dict(zip(header.split("\t"), row.split("\t"), strict=True))
    assert cells == {
        "Selection": "1",
        "View": "Spectrogram 1",
        "Begin Time (s)": "0.5",
        "End Time (s)": "2.0",
        "Low Freq (Hz)": "100.0",
        "High Freq (Hz)": "9000.0",
        "Begin File": "a.wav",
        "File Offset (s)": "0.5",
        "Annotation": "wren",
        "By": "x",
        "Novelty": "0.25",
        "owl": "0.75",
    }


def test_a_table_saved_again_by_a_spreadsheet(tmp_path: Path) -> None:
    (tmp_path / "dawn.csv").write_bytes(
        "Begin Time (s);End Time (s);Annotation\r\n1;2;Weißstorch\r\n".encode("utf-8-sig")
    )
    assert read_raven(tmp_path / "dawn.csv").label == ("Weißstorch",)


def test_a_column_after_the_novelty_that_holds_text_is_no_class(table: Write) -> None:
    path = table(
        "Begin Time (s)\tEnd Time (s)\tNovelty\twren\tComment",
        "1\t2\t0.5\t0.25\tfaint",
        "3\t4\t\t\t",
    )
    calls = read_raven(path)
    assert calls.classes == ("wren",)
    assert calls.extra["Comment"] == ("faint", "")


@pytest.mark.parametrize(
    ("lines", "message"),
    [
        (["Begin Time (s)\tSpecies", "1\tx"], "no column 'End Time .s.'.*save it again from Raven"),
        ([HEADER, "1\tS\t1\t1\t2\t0\t1\tx", "2\tS\t1\t3\t2\t0\t1\tx"], "line 3 of .*begins at 3.0"),
        ([HEADER, "1\tS\t1\t1\t\t0\t1\tx"], "line 2 of .*ends at nan"),
        ([HEADER, "1\tS\t1\t1\t2\t5\t1\tx"], "line 2 of .*lowest frequency 5.0"),
        ([HEADER, "1\tS\t1\t1\t2\t5\t1e999\tx"], "line 2 of .*the highest inf Hz"),
        (
            [HEADER, "1\tS\t1\t1,5\t2\t0\t1\tx"],
            r"line 2 of .*'Begin Time \(s\)': '1,5' has a decimal",
        ),
        ([HEADER, "", "1\tS\t1\tone\t2\t0\t1\tx"], "line 3 of .*'one' is no number"),
        ([HEADER, "1\tS\t1\t1_0\t2\t0\t1\tx"], "line 2 of .*'1_0' is no number"),
        ([HEADER, "1\tS\t0\t1\t2\t0\t1\tx"], "line 2 of .*channel is '0'"),
        ([HEADER, "1\tS\t1\t1\t2\t0\t1\tx\ty"], "Line 2 of .*9 cells, but there are 8"),
        (
            ["Begin Time (s)\tEnd Time (s)\tNovelty\twren", "1\t2\t0\t1", "1\t2\t0\tx"],
            "line 3 of .*'wren': 'x' is no number",
        ),
        (["Begin Time (s)\tEnd Time (s)\tA\tA", "1\t2\t\t"], "two columns 'A'"),
        (
            ["Begin Time (s)\tEnd Time (s)\tBegin File", "1\t2\ta", "1\t2\t"],
            "line 3 of .*names no recording",
        ),
        ([], "is empty; a table without rows"),
    ],
)
def test_what_is_wrong_is_named_with_its_line(lines: list[str], message: str, table: Write) -> None:
    with pytest.raises(InputError, match=message):
        read_raven(table(*lines))


@pytest.mark.parametrize("there", ["folder", "nothing"])
def test_what_is_no_file(there: str, tmp_path: Path) -> None:
    path = tmp_path if there == "folder" else tmp_path / "a.txt"
    with pytest.raises(InputError, match="name a file that is there"):
        read_raven(path)
    with pytest.raises(InputError, match="name a file in"):
        write_raven(CallTable.empty(), tmp_path)


def test_times_that_need_not_move_keep_their_last_bit(table: Write) -> None:
    path = table("Begin Time (s)\tEnd Time (s)\tFile Offset (s)", "0.377\t2.884\t0.377")
    assert 0.377 + (2.884 - 0.377) != 2.884
    assert read_raven(path).end_s[0] == 2.884


def test_the_name_of_a_file_goes_before_its_path(table: Write) -> None:
    path = table("Begin Time (s)\tEnd Time (s)\tBegin Path\tBegin File", "1\t2\t/x/a.wav\ta.wav")
    calls = read_raven(path)
    assert calls.recordings == ("a.wav",)
    assert dict(calls.extra) == {"Begin Path": ("/x/a.wav",)}
