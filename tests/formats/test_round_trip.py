"""Every format gives back exactly the calls that were written, for whatever calls it can hold."""

from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from tests.formats.made import ANY, tables

from raravis.errors import InputError
from raravis.formats import (
    CallTable,
    read_any,
    read_audacity,
    read_birdnet,
    read_calls,
    read_raven,
    write_audacity,
    write_birdnet,
    write_calls,
    write_raven,
)

LAWS = settings(max_examples=60, deadline=None)


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("formats")


@LAWS
@given(calls=tables())
def test_raven(calls: CallTable, folder: Path) -> None:
    write_raven(calls, folder / "a.txt")
    assert read_raven(folder / "a.txt") == calls
    assert read_any(folder / "a.txt") == calls


@LAWS
@given(calls=tables(one_recording=True, bare=True))
def test_audacity(calls: CallTable, folder: Path) -> None:
    write_audacity(calls, folder / "a.txt")
    name = calls.recordings[0] if len(calls) else None
    assert read_audacity(folder / "a.txt", recording=name) == calls
    assert read_any(folder / "a.txt").label == calls.label


@LAWS
@given(calls=tables())
@pytest.mark.parametrize("kind", ["table", "csv", "parquet"])
@pytest.mark.parametrize("name", ["common", "scientific", "code"])
def test_birdnet(calls: CallTable, kind: Any, name: Any, folder: Path) -> None:
    write_birdnet(calls, folder / "a", kind=kind, name=name)
    assert read_birdnet(folder / "a", name=name) == calls
    if any(calls.label):
        assert read_any(folder / "a") == calls


@LAWS
@given(calls=tables(characters=ANY))
@pytest.mark.parametrize("ending", ["csv", "parquet"])
def test_csv_and_parquet(calls: CallTable, ending: str, folder: Path) -> None:
    path = folder / f"a.{ending}"
    write_calls(calls, path)
    assert read_calls(path) == calls
    assert read_any(path) == calls


@pytest.mark.parametrize("write", [write_raven, write_birdnet, write_audacity])
@pytest.mark.parametrize("mark", ["\t", "\n", "\r", "\0"])
def test_text_formats_refuse_what_would_break_their_lines(
    write: Any, mark: str, tmp_path: Path
) -> None:
    calls = CallTable(["a"], [0.0], [1.0], label=[f"wren{mark}owl"])
    with pytest.raises(InputError, match="write Parquet"):
        write(calls, tmp_path / "a.txt")
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("name", ["recording", "Begin_S", "novelty", "channel", " "])
def test_columns_that_would_be_taken_for_others_are_refused(name: str, tmp_path: Path) -> None:
    calls = CallTable(["a"], [0.0], [1.0], extra={name: ["x"]})
    with pytest.raises(InputError, match="rename those"):
        write_calls(calls, tmp_path / "a.csv")


def test_a_class_may_not_be_called_as_a_further_column(tmp_path: Path) -> None:
    calls = CallTable(
        ["a"], [0.0], [1.0], class_scores=[[1.0]], classes=["wren"], extra={"wren": ["x"]}
    )
    with pytest.raises(InputError, match="'wren'"):
        write_raven(calls, tmp_path / "a.txt")


def test_a_failed_write_leaves_the_old_file(tmp_path: Path) -> None:
    path = tmp_path / "a.txt"
    write_raven(CallTable(["a"], [0.0], [1.0]), path)
    before = path.read_bytes()
    with pytest.raises(InputError):
        write_raven(CallTable(["a\tb"], [0.0], [1.0]), path)
    assert path.read_bytes() == before
    assert list(tmp_path.iterdir()) == [path]
