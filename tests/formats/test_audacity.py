"""Audacity label tracks as Audacity and others write them."""

import math
from pathlib import Path

import pytest

from raravis.errors import InputError
from raravis.formats import CallTable, read_any, read_audacity, write_audacity


def written(tmp_path: Path, text: str) -> Path:
    (tmp_path / "dawn.txt").write_text(text, encoding="utf-8")
    return tmp_path / "dawn.txt"


@pytest.mark.data
def test_real_labels(real_data: Path) -> None:
    calls = read_any(real_data / "soundscapes" / "spinetail.txt")
    assert len(calls) == 18
    assert set(calls.label) == {"SP", "CRER"}
    assert calls.recordings == ("spinetail",)
    assert (calls.begin_s[0], calls.end_s[-1]) == (0.101385, 19.465889)
    assert (calls.low_hz[0], calls.high_hz[-1]) == (6441.064453, 12296.577148)


def test_with_and_without_frequencies(tmp_path: Path) -> None:
    path = written(
        tmp_path,
        "0.5\t1.25\twren\n\\\t100.0\t9000.5\n2\t2\t\n3\t4\towl\n\\\t-1.000000\t5000\n5\t6\n",
    )
    assert read_audacity(path) == CallTable(
        ["dawn"] * 4,
        [0.5, 2, 3, 5],
        [1.25, 2, 4, 6],
        [100, math.nan, math.nan, math.nan],
        [9000.5, math.nan, 5000, math.nan],
        ["wren", None, "owl", None],
    )


def test_three_columns_and_a_line_of_frequencies(tmp_path: Path) -> None:
    calls = CallTable(
        ["a"] * 2, [0.5, 2], [1, 3], [100, math.nan], [9000, math.nan], ["wren", None]
    )
    write_audacity(calls, tmp_path / "a.txt")
    assert (tmp_path / "a.txt").read_text() == "0.5\t1.0\twren\n\\\t100.0\t9000.0\n2.0\t3.0\t\n"


def test_the_confidence_that_birdnet_adds(tmp_path: Path) -> None:
    calls = read_audacity(written(tmp_path, "0\t3\tTurdus merula, Blackbird\t0.8123\n"))
    assert calls.label == ("Turdus merula, Blackbird",)
    assert dict(calls.extra) == {"Confidence": ("0.8123",)}


def test_several_recordings_need_several_files(tmp_path: Path) -> None:
    calls = CallTable(["a", "b"], [0, 1], [1, 2])
    with pytest.raises(InputError, match="write a file for each"):
        write_audacity(calls, tmp_path / "a.txt")
    assert not (tmp_path / "a.txt").exists()


def test_an_empty_file_is_a_track_without_labels(tmp_path: Path) -> None:
    path = written(tmp_path, "")
    assert read_audacity(path) == read_any(path) == CallTable.empty()


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("Begin\tEnd\n1\t2\n", "line 1 of .*'Begin' is no number"),
        ("1\t2\twren\n\n2\t1\towl\n", "line 3 of .*begins at 2.0"),
        ("\\\t1\t2\n", "line 1 of .*right after the line of its label"),
        ("1\t2\n\\\t1\t2\n\\\t1\t2\n", "line 3 of .*right after"),
        ("1\t2\n\\\t1\n", "line 2 of .*no line of two frequencies"),
        ("1\t2\n\\\tx\t2\n", "line 2 of .*'x' is no number"),
        ("1\t2\n\\\t9\t2\n", "line 1 of .*lowest frequency 9.0"),
        ("1,5\t2\twren\n", "line 1 of .*decimal comma"),
        ("1\n", "line 1 of .*1 cells between tabs"),
        ("1\t2\ta\t0.5\tb\n", "line 1 of .*5 cells between tabs"),
        ("\t2\twren\n", "line 1 of .*begins at nan"),
    ],
)
def test_what_is_wrong_is_named_with_its_line(text: str, message: str, tmp_path: Path) -> None:
    with pytest.raises(InputError, match=message):
        read_audacity(written(tmp_path, text))
