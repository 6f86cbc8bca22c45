"""The folder of a study: its files, its lock, its journal."""

import json
import os
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

from raravis.study import Settings, Study, StudyBusyError, StudyError
from raravis.study.files import (
    digest,
    hash_file,
    read_json,
    read_table,
    remove_drafts,
    write_bytes,
    write_json,
    write_table,
)
from raravis.study.journal import add_entry, read_journal


@pytest.fixture
def study(tmp_path: Path) -> Study:
    return Study.create(tmp_path / "study", Settings(recordings="../recordings"))


def test_what_is_created_opens(study: Study) -> None:
    assert study.exists
    assert Study.open(str(study.folder)) == study
    assert study.recordings_folder == study.folder / "../recordings"
    assert study.given_path("/else/table.csv") == Path("/else/table.csv")
    changed = Study.create(study.folder, study.settings.changed(seed=3))
    assert Study.open(study.folder) == changed


def test_what_is_no_study_is_not_opened_and_not_filled(tmp_path: Path) -> None:
    with pytest.raises(StudyError, match=r"is not there\. Make one with raravis init"):
        Study.open(tmp_path / "nowhere")
    (tmp_path / "photos").mkdir()
    (tmp_path / "photos" / "cat.jpg").touch()
    with pytest.raises(StudyError, match=r"holds no study\.toml"):
        Study.open(tmp_path / "photos")
    with pytest.raises(StudyError, match=r"is not empty \(it holds 'cat.jpg'\) and is no study"):
        Study.create(tmp_path / "photos", Settings(recordings="r"))
    with pytest.raises(StudyError, match="is a file; name a folder"):
        Study.create(tmp_path / "photos" / "cat.jpg", Settings(recordings="r"))
    (tmp_path / "empty").mkdir()
    assert Study.create(tmp_path / "empty", Settings(recordings="r")).exists


def test_the_lock_is_held_by_one_and_given_back_however_it_ends(study: Study) -> None:
    with study.working("fit"), pytest.raises(StudyBusyError, match="raravis fit") as told:
        study.working("score").__enter__()
    assert f"process {os.getpid()}" in str(told.value)
    with pytest.raises(ZeroDivisionError), study.working("fit"):
        raise ZeroDivisionError
    code = (
        "import os, sys; from raravis.study import Study\n"
        "Study.open(sys.argv[1]).working('run').__enter__(); os._exit(9)"
    )
    done = subprocess.run([sys.executable, "-c", code, str(study.folder)], check=False)  # noqa: S603
    assert done.returncode == 9
    with study.working("fit"):
        pass


def test_drafts_are_swept_up_and_nothing_else(study: Study) -> None:
    (study.folder / "segments").mkdir()
    left = study.folder / "segments" / ".x.parquet.1234.part"
    kept = study.folder / "segments" / "part.parquet"
    left.touch()
    kept.touch()
    with study.working("segment"):
        assert not left.exists()
    assert kept.exists()
    assert remove_drafts(study.folder) == 0


def test_stamps(study: Study) -> None:
    assert study.stamp("fit") == {}
    study.set_stamp("fit", {"model": "abc"})
    assert study.stamp("fit") == {"model": "abc"}
    (study.folder / "steps" / "fit.json").write_text("[1]", encoding="utf-8")
    assert study.stamp("fit") == {}


def test_the_journal_outlives_a_torn_line(tmp_path: Path) -> None:
    path = tmp_path / "journal.jsonl"
    assert read_journal(path) == []
    add_entry(path, {"verb": "fit", "name": "Zaunkönig\udcff"})
    with path.open("ab") as file:
        file.write(b'{"verb": "sco')
    add_entry(path, {"verb": "report"})
    assert [entry["verb"] for entry in read_journal(path)] == ["fit", "report"]
    assert read_journal(path)[0]["name"] == "Zaunkönig\udcff"
    assert all(entry["at"].endswith("+00:00") for entry in read_journal(path))


def test_a_file_appears_whole_or_not_at_all(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    target = tmp_path / "deep" / "file"
    write_bytes(b"old", target)

    def refuse(*arguments: object) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(os, "fsync", refuse)
    with pytest.raises(StudyError, match=r"no space left for it \(No space left on device\)"):
        write_bytes(b"new", target)
    monkeypatch.undo()
    assert target.read_bytes() == b"old"
    assert [path.name for path in target.parent.iterdir()] == ["file"]


def test_a_place_that_is_none(tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    with pytest.raises(StudyError, match="cannot be written"):
        write_json({}, tmp_path / "file" / "inside.json")


def test_tables_know_what_they_are_about(tmp_path: Path) -> None:
    path, about = tmp_path / "t.parquet", {"table": "x", "version": 1}
    columns = {"name": ["a", "ö", "bad\udcff"], "x": np.array([1.5, -0.0, np.inf])}
    write_table(columns, path, about=about)
    table = read_table(path, about=about)
    assert table is not None
    assert table.column("name").to_pylist() == ["a", "ö", "bad\\udcff"]
    assert table.column("x").to_numpy().tobytes() == columns["x"].tobytes()
    assert read_table(path, about={"table": "y", "version": 1}) is None
    assert read_table(tmp_path / "none.parquet") is None
    write_table({"name": [], "x": np.empty(0)}, path, about=about)
    empty = read_table(path, about=about)
    assert empty is not None
    assert empty.num_rows == 0


def test_every_flipped_byte_of_a_table_is_noticed(tmp_path: Path) -> None:
    path, about = tmp_path / "t.parquet", {"table": "x"}
    write_table({"x": np.random.default_rng(0).random(50)}, path, about=about)
    whole = path.read_bytes()
    before = read_table(path, about=about)
    for place in range(0, len(whole), 7):
        path.write_bytes(whole[:place] + bytes([whole[place] ^ 0x55]) + whole[place + 1 :])
        found = read_table(path, about=about)
        # What is changed in a part that says nothing may stay unnoticed, never wrong numbers.
        assert found is None or found.column("x").equals(before.column("x"))


def test_json_and_hashes(tmp_path: Path) -> None:
    path = tmp_path / "x.json"
    assert read_json(path) is None
    write_json({"a": "ö"}, path)
    assert read_json(path) == {"a": "ö"}
    assert json.loads(path.read_text(encoding="utf-8")) == {"a": "ö"}
    path.write_bytes(b"\xff{")
    assert read_json(path) is None
    path.write_bytes(b"abc" * 700_000)
    import hashlib

    assert hash_file(path) == hashlib.sha256(b"abc" * 700_000).hexdigest()
    assert digest({"a": [1, 2], "b": None}) == digest({"b": None, "a": [1, 2]})
    assert digest([1, 2]) != digest([2, 1])
