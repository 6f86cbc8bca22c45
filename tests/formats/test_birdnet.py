"""BirdNET's results in the shapes that its versions and its friends give them."""

import math
from pathlib import Path

import pytest

from raravis.errors import InputError
from raravis.formats import CallTable, read_any, read_birdnet, recognise, write_birdnet

# Columns as BirdNET-Analyzer 1.x, 2.0 and 2.4 write them; the times of two files run through.
TABLE_1 = (
    "Selection\tView\tChannel\tBegin Time (s)\tEnd Time (s)\tLow Freq (Hz)\tHigh Freq (Hz)\t"
    "Common Name\tSpecies Code\tConfidence\tBegin Path\tFile Offset (s)\n"
    "1\tSpectrogram 1\t1\t3.0\t6.0\t0\t15000\tEurasian Wren\teurwre\t0.8123\t/x/a.wav\t3.0\n"
    "2\tSpectrogram 1\t1\t60.5\t63.5\t0\t15000\tTawny Owl\ttawowl1\t0.2000\t/x/b.wav\t0.5\n"
)
TABLE_2 = (
    "Selection\tBegin Time (s)\tEnd Time (s)\tCommon Name\tScientific Name\tSpecies Code\t"
    "Confidence\tView\tChannel\tFile Offset (s)\tLow Freq (Hz)\tHigh Freq (Hz)\tBegin Path\n"
    "1\t3.0\t6.0\tEurasian Wren\tTroglodytes troglodytes\teurwre\t0.8123\tSpectrogram 1\t1\t3.0\t"
    "0\t15000\t/x/a.wav\n"
    "2\t60.5\t63.5\tTawny Owl\tStrix aluco\ttawowl1\t0.2000\tSpectrogram 1\t1\t0.5\t0\t15000\t"
    "/x/b.wav\n"
)
CSV = (
    "Start (s),End (s),Scientific name,Common name,Confidence,File,lat,lon,week\n"
    "3.0,6.0,Troglodytes troglodytes,Eurasian Wren,0.8123,/x/a.wav,50,8,20\n"
    "0.5,3.5,Strix aluco,Tawny Owl,0.2000,/x/b.wav,50,8,20\n"
)
R_TABLE = (
    "filepath,start,end,scientific_name,common_name,confidence,lat\n"
    "/x/a.wav,3.0,6.0,Troglodytes troglodytes,Eurasian Wren,0.8123,50\n"
    "/x/b.wav,0.5,3.5,Strix aluco,Tawny Owl,0.2000,50\n"
)
KALEIDOSCOPE = (
    "INDIR,FOLDER,IN FILE,OFFSET,DURATION,scientific_name,common_name,confidence,week\n"
    ",x,a.wav,3.0,3.0,Troglodytes troglodytes,Eurasian Wren,0.8123,20\n"
    ",x,b.wav,0.5,3.0,Strix aluco,Tawny Owl,0.2000,20\n"
)
TOP_MATCH = (
    "INDIR,FOLDER,IN FILE,OFFSET,DURATION,TOP1MATCH,TOP1DIST\n"
    ",x,a.wav,3.0,3.0,Eurasian Wren,0.8123\n,x,b.wav,0.5,3.0,Tawny Owl,0.2000\n"
)


@pytest.mark.parametrize("text", [TABLE_1, TABLE_2, CSV, R_TABLE, KALEIDOSCOPE, TOP_MATCH])
def test_all_shapes_say_the_same(text: str, tmp_path: Path) -> None:
    path = tmp_path / "results.txt"
    path.write_text(text)
    assert recognise(path) == "birdnet"
    calls = read_any(path)
    assert [Path(name).name for name in calls.recording] == ["a.wav", "b.wav"]
    assert calls.begin_s.tolist() == [3.0, 0.5]
    assert calls.end_s.tolist() == [6.0, 3.5]
    assert calls.label == ("Eurasian Wren", "Tawny Owl")
    if text != TOP_MATCH:
        assert calls.extra["Confidence"] == ("0.8123", "0.2000")
        assert len(read_birdnet(path, min_confidence=0.5)) == 1
        assert len(read_birdnet(path, min_confidence=0.2)) == 2
    if "Strix" in text:
        assert read_birdnet(path, name="scientific").label[1] == "Strix aluco"


@pytest.mark.parametrize(("text", "kind"), [(TABLE_2, "table"), (CSV, "csv"), (CSV, "parquet")])
def test_what_is_written_says_the_same(text: str, kind: str, tmp_path: Path) -> None:
    (tmp_path / "a").write_text(text)
    calls = read_birdnet(tmp_path / "a")
    write_birdnet(calls, tmp_path / "b", kind=kind)  # type: ignore[arg-type]
    assert read_birdnet(tmp_path / "b") == calls


def test_a_csv_made_a_table_keeps_its_names(tmp_path: Path) -> None:
    (tmp_path / "a.csv").write_text(CSV)
    write_birdnet(read_birdnet(tmp_path / "a.csv"), tmp_path / "a.txt")
    header, row, _ = (tmp_path / "a.txt").read_text().splitlines()
    cells = dict(zip(header.split("\t"), row.split("\t"), strict=True))
    assert cells["Scientific Name"] == "Troglodytes troglodytes"
    assert cells["Confidence"] == "0.8123"
    assert cells["File Offset (s)"] == "3.0"


def test_the_line_of_a_recording_without_calls_is_no_call(tmp_path: Path) -> None:
    path = tmp_path / "a.txt"
    row = "1\tSpectrogram 1\t1\t0\t3\t0\t15000\tnocall\tnocall\t1.0\t/x/a.wav\t0\n"
    path.write_text(TABLE_1.splitlines(keepends=True)[0] + row)
    assert len(read_birdnet(path)) == 0


def test_calls_of_others_become_birdnet_results(tmp_path: Path) -> None:
    calls = CallTable(["a.wav"], [0.5], [1], [100], [math.nan], ["Strix aluco"], [0.5])
    write_birdnet(calls, tmp_path / "a.csv", name="scientific")
    assert read_birdnet(tmp_path / "a.csv") == calls
    assert (tmp_path / "a.csv").read_text().splitlines()[1] == (
        "0.5,1.0,Strix aluco,,,a.wav,100.0,,0.5"
    )


def test_labels_need_a_column_of_their_own(tmp_path: Path) -> None:
    calls = CallTable(["a"], [0], [1], label=["wren"], extra={"Common Name": ["Wren"]})
    with pytest.raises(InputError, match="choose another name than 'common'"):
        write_birdnet(calls, tmp_path / "a.txt")
    write_birdnet(calls, tmp_path / "a.txt", name="scientific")
    assert read_birdnet(tmp_path / "a.txt", name="scientific") == calls


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("Start (s),End (s),File\n1,2,a\n", "no column 'Common Name'.*name another reader"),
        ("Common name,File\nwren,a\n", "no column 'Start .s.'.*name another reader"),
        ("Start (s),End (s),Common name\n1,x,wren\n", "line 2 of .*'x' is no number"),
        ('Start (s),End (s),Common name\n1,2,"wren\n', "no valid CSV"),
    ],
)
def test_what_is_wrong_is_named(text: str, message: str, tmp_path: Path) -> None:
    (tmp_path / "a.csv").write_text(text)
    with pytest.raises(InputError, match=message):
        read_birdnet(tmp_path / "a.csv")


def test_options_are_checked(tmp_path: Path) -> None:
    (tmp_path / "a.csv").write_text(TOP_MATCH)
    with pytest.raises(InputError, match="name is 'latin'"):
        read_birdnet(tmp_path / "a.csv", name="latin")  # type: ignore[arg-type]
    with pytest.raises(InputError, match="Leave min_confidence at 0"):
        read_birdnet(tmp_path / "a.csv", min_confidence=0.5)
    with pytest.raises(InputError, match="kind is 'xml'"):
        write_birdnet(CallTable.empty(), tmp_path / "b", kind="xml")  # type: ignore[arg-type]


def test_a_call_that_somebody_named_nocall_is_one(tmp_path: Path) -> None:
    calls = CallTable(["a.wav"], [0], [1], label=["nocall"], extra={"Species Code": ["x"]})
    write_birdnet(calls, tmp_path / "a.txt")
    assert read_birdnet(tmp_path / "a.txt") == calls
