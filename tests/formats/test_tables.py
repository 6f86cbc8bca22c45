"""CSV and Parquet with units in the names of columns; what spreadsheets leave; what is what."""

import math
import os
from pathlib import Path
from typing import Any

import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from raravis.errors import InputError, RaravisWarning
from raravis.formats import (
    CallTable,
    _parquet,
    _sheet,
    _text,
    read_any,
    read_calls,
    read_raven,
    recognise,
    write_audacity,
    write_birdnet,
    write_calls,
    write_raven,
)

CALLS = CallTable(
    ["ä.wav", "b, c.wav"],
    [0.5, 2],
    [1.25, 2.5],
    [math.nan, 100],
    [9000, math.nan],
    ['the "wren"', None],
    [0.25, math.nan],
    [[0.5], [math.nan]],
    ["wren"],
    [1, 2],
    {"By": ["x\ny", ""]},
)


def test_what_stands_in_the_file(tmp_path: Path) -> None:
    write_calls(CALLS, tmp_path / "a.csv")
    assert (tmp_path / "a.csv").read_text(encoding="utf-8") == (
        "recording,begin_s,end_s,low_hz,high_hz,label,channel,By,novelty,wren\n"
        'ä.wav,0.5,1.25,,9000.0,"the ""wren""",1,"x\ny",0.25,0.5\n'
        '"b, c.wav",2.0,2.5,100.0,,,2,,,\n'
    )


def test_pandas_reads_the_same_from_both(tmp_path: Path) -> None:
    write_calls(CALLS, tmp_path / "a.csv")
    write_calls(CALLS, tmp_path / "a.parquet")
    text, binary = pd.read_csv(tmp_path / "a.csv"), pd.read_parquet(tmp_path / "a.parquet")
    pd.testing.assert_frame_equal(text, binary, check_dtype=False)
    assert list(binary.dtypes[["begin_s", "channel", "wren"]]) == ["float64", "int64", "float64"]


def test_an_empty_table_keeps_its_columns(tmp_path: Path) -> None:
    for name in ("a.csv", "a.parquet"):
        write_calls(CallTable.empty(["wren", "owl"]), tmp_path / name)
        assert read_any(tmp_path / name) == CallTable.empty(["wren", "owl"])


@pytest.mark.parametrize("encoding", ["utf-8", "utf-8-sig", "utf-16", "utf-16-le", "cp1252"])
@pytest.mark.parametrize("mark", [",", ";", "\t"])
@pytest.mark.parametrize("end", ["\n", "\r\n", "\r"])
def test_whatever_a_spreadsheet_leaves(encoding: str, mark: str, end: str, tmp_path: Path) -> None:
    lines = ["Recording,Begin_S,end s,Label", "", '"a.wav",1,2.5,Ä', ",,,", "b.wav,3,4,"]
    text = end.join(lines).replace(",", mark)
    data = text.encode(encoding)
    (tmp_path / "a.csv").write_bytes(b"\xff\xfe" + data if encoding == "utf-16-le" else data)
    if encoding == "cp1252":
        with pytest.warns(RaravisWarning, match="Windows-1252"):
            calls = read_any(tmp_path / "a.csv")
    else:
        calls = read_any(tmp_path / "a.csv")
    assert calls == CallTable(["a.wav", "b.wav"], [1, 3], [2.5, 4], label=["Ä", None])


def test_only_times_are_required(tmp_path: Path) -> None:
    (tmp_path / "dawn.csv").write_text("end_s,begin_s\n2,1\n")
    assert read_calls(tmp_path / "dawn.csv") == CallTable(["dawn"], [1], [2])
    assert read_calls(tmp_path / "dawn.csv", recording="x.wav").recordings == ("x.wav",)
    (tmp_path / "dawn.csv").write_text("end_s,from\n2,1\n")
    with pytest.raises(InputError, match="no column 'begin_s'; its columns are 'end_s', 'from'"):
        read_calls(tmp_path / "dawn.csv")


def test_parquet_of_others(tmp_path: Path) -> None:
    path = tmp_path / "a.parquet"
    frame = pd.DataFrame(
        {
            "begin_s": [1, 2],
            "end_s": [2.5, 3.5],
            "label": pd.Categorical(["wren", None]),
            "sure": [True, False],
            "on": pd.to_datetime(["2026-05-01", "2026-05-02"]).date,
        }
    )
    frame.to_parquet(path)
    calls = read_any(path)
    assert calls.label == ("wren", None)
    assert calls.begin_s.tolist() == [1, 2]
    assert dict(calls.extra) == {"sure": ("true", "false"), "on": ("2026-05-01", "2026-05-02")}


def test_parquet_that_is_no_plain_table(tmp_path: Path) -> None:
    path = tmp_path / "a.parquet"
    pq.write_table(pa.table({"begin_s": [1.0], "end_s": [2.0], "more": [[1, 2]]}), path)
    with pytest.raises(InputError, match=r"'more' holds list.*leave that column out"):
        read_calls(path)
    path.write_bytes(path.read_bytes()[:-20])
    with pytest.raises(InputError, match="truncated or damaged"):
        read_calls(path)


# ---------------------------------------------------------------------- which format


def test_formats_are_told_by_content_whatever_the_name(tmp_path: Path) -> None:
    path = tmp_path / "a.dat"
    calls = CallTable(["a"], [0], [1], label=["wren"])
    for write, name in (
        (write_raven, "raven"),
        (write_audacity, "audacity"),
        (write_birdnet, "birdnet"),
        (write_calls, "calls"),
    ):
        write(calls, path)
        assert recognise(path) == name
    path.write_text("recording,species\na.wav,wren\n")
    assert recognise(path) == "table"
    with pytest.raises(InputError, match=r"no table of calls.*read_species"):
        read_any(path)


# ---------------------------------------------------------------------- limits


def test_a_file_has_to_be_of_modest_size(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    write_calls(CALLS, tmp_path / "a.csv")
    monkeypatch.setattr(_text, "MAX_BYTES", 100)
    with pytest.raises(InputError, match="split it by recording"):
        read_calls(tmp_path / "a.csv")


def test_a_few_bytes_do_not_become_many_cells(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(_sheet, "MAX_FILLED_UP", 100_000)
    many = ",".join(f"c{i}" for i in range(40_000))
    (tmp_path / "a.csv").write_text(f"begin_s,end_s,{many}\n" + "1,2\n" * 3)
    with pytest.raises(InputError, match="and so it goes in too many lines"):
        read_calls(tmp_path / "a.csv")
    (tmp_path / "a.csv").write_text(f"begin_s,end_s,{many},{many.replace('c', 'd')}\n")
    with pytest.raises(InputError, match="leave out those that you do not need"):
        read_calls(tmp_path / "a.csv")


def test_a_few_bytes_of_parquet_do_not_become_many_cells(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(_parquet, "MAX_CELLS", 1_000_000)
    path = tmp_path / "a.parquet"
    ones = pa.array([1.0] * 1_000_001)
    pq.write_table(pa.table({"c": ones}), path, row_group_size=1_000_001)
    assert path.stat().st_size < 10_000
    with pytest.raises(InputError, match="split it by recording"):
        read_calls(path)


@pytest.mark.parametrize("n", [5_000, 10_000])
def test_equal_long_texts_are_held_once(n: int, tmp_path: Path) -> None:
    path = tmp_path / "a.parquet"
    label = pa.DictionaryArray.from_arrays(pa.array([0] * n, pa.int32()), ["x" * 1_000_000])
    times = pa.array([0.0] * n)
    table = pa.table({"begin_s": times, "end_s": times, "label": label})
    pq.write_table(table, path, store_schema=False)
    assert path.stat().st_size < 1_000_000
    if n < 8_600:
        assert len({id(text) for text in read_calls(path).label}) == 1
    else:
        with pytest.raises(InputError, match="'label' unpacks to 10,000,000,000 characters"):
            read_calls(path)


@pytest.mark.parametrize(
    "content", [b"PK\x03\x04\0\0", b"\xd0\xcf\x11\xe0", b"RIFF\0\0", b"\0" * 9]
)
def test_what_is_no_text(content: bytes, tmp_path: Path) -> None:
    (tmp_path / "a.csv").write_bytes(content)
    with pytest.raises(InputError, match="save"):
        read_any(tmp_path / "a.csv")


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="no pipes with names on this system")
def test_a_pipe_is_not_waited_for(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "a.csv")
    with pytest.raises(InputError, match="is no file"):
        read_any(tmp_path / "a.csv")


def test_a_file_that_may_not_be_read(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "a.csv").write_text("x")

    def refuse(*_: Any, **__: Any) -> None:
        raise PermissionError(13, "Permission denied")

    monkeypatch.setattr(Path, "open", refuse)
    with pytest.raises(InputError, match="that you may read"):
        read_any(tmp_path / "a.csv")


def test_a_full_disk_leaves_the_old_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    write_raven(CALLS.take([1]), tmp_path / "a.txt")
    before = (tmp_path / "a.txt").read_bytes()

    def full(_: Any, __: Any) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(Path, "replace", full)
    with pytest.raises(InputError, match=r"No space left.*on a disk with room"):
        write_raven(CALLS.take([1, 1]), tmp_path / "a.txt")
    assert (tmp_path / "a.txt").read_bytes() == before
    assert len(list(tmp_path.iterdir())) == 1


def test_limits_are_as_documented() -> None:
    assert (_text.MAX_BYTES, _sheet.MAX_COLUMNS, _parquet.MAX_CELLS) == (2**30, 50_000, 200_000_000)


def test_a_raven_cell_that_starts_with_a_quote(tmp_path: Path) -> None:
    calls = CallTable(["a"] * 3, [0] * 3, [1] * 3, label=['"wren', '"wren"', 'a "wren"'])
    write_raven(calls, tmp_path / "a.txt")
    assert read_raven(tmp_path / "a.txt") == calls
    assert list(pd.read_csv(tmp_path / "a.txt", sep="\t").Annotation) == list(calls.label)


@pytest.mark.parametrize(
    "header",
    [
        "recording,start_offset_s,end_offset_s,label,label_type",
        "audio_file,start_time,end_time,low_f,high_f,annotation",
        "filename,min_t,max_t,min_f,max_f,label",
        "audiofilename,start,end,label:species",
        "notated_path,onset_s,offset_s,low_freq,high_freq,label",
    ],
)
def test_tables_of_other_programs(header: str, tmp_path: Path) -> None:
    row = {"low_f": "100", "min_f": "100", "low_freq": "100", "label_type": "positive"}
    row |= {"high_f": "900", "max_f": "900", "high_freq": "900", "notated_path": "a.wav"}
    names = header.split(",")
    cells = [row.get(name, "") for name in names]
    cells[1:3] = ["0.5", "2"]
    cells[0] = "a.wav"
    label = next(i for i, name in enumerate(names) if name.startswith(("label", "annot")))
    cells[label] = "wren"
    (tmp_path / "a.csv").write_text(f"{header}\n{','.join(cells)}\n")
    calls = read_any(tmp_path / "a.csv", recording="a.wav")
    assert (calls.recordings, calls.label) == (("a.wav",), ("wren",))
    assert (calls.begin_s[0], calls.end_s[0]) == (0.5, 2)
    if len(names) == 6:
        assert (calls.low_hz[0], calls.high_hz[0]) == (100, 900)
    assert set(calls.extra) <= {"label_type", "notated_path"}
