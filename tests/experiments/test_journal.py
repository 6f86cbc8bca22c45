"""The journal: what is kept, what is ignored, what is refused."""

import math
import os

import pytest

from raravis.errors import InputError
from raravis.experiments import journal as journal_module
from raravis.experiments.journal import Journal, Record, fingerprint, library_versions
from raravis.experiments.models import MODELS


def test_records_come_back(tmp_path):
    journal = Journal.open(tmp_path / "new" / "journal.jsonl")
    assert journal.read() == {}
    journal.append({"a": Record(0.9, 1.5), "b": Record(0.1 + 0.2, 0.0)})
    journal.append({"c": Record(math.nan, 2.0)})
    found = Journal.open(tmp_path / "new" / "journal.jsonl").read()
    assert found["b"].auc == 0.1 + 0.2
    assert found["a"] == Record(0.9, 1.5)
    assert math.isnan(found["c"].auc)


def test_figures_of_other_code_count_only_where_they_are_accepted(tmp_path, monkeypatch):
    path = tmp_path / "journal.jsonl"
    with monkeypatch.context() as patched:
        patched.setattr(journal_module, "code_digest", lambda: "earlier")
        Journal.open(path).append({"a": Record(0.1, 1.0), "b": Record(0.2, 1.0)})
        assert set(Journal.open(path).read()) == {"a", "b"}
    assert Journal.open(path).read() == {}
    Journal.open(path).append({"a": Record(0.9, 1.0)})
    # The later lines of other code do not replace what the present code has made.
    with monkeypatch.context() as patched:
        patched.setattr(journal_module, "code_digest", lambda: "earlier")
        Journal.open(path).append({"a": Record(0.3, 1.0)})
    assert Journal.open(path).read() == {"a": Record(0.9, 1.0)}
    accepting = Journal.open(path, accept_older=True).read()
    assert accepting == {"a": Record(0.9, 1.0), "b": Record(0.2, 1.0, older=True)}


def test_models_are_told_apart_by_what_they_run():
    identities = {name: spec.identity for name, spec in MODELS.items()}
    assert len(set(identities.values())) == len(MODELS)
    assert "solver='alternating'" in identities["kernel-alternating"]
    # Nothing of one process, such as an address, which would make every run start anew.
    assert not any(" at 0x" in identity for identity in identities.values())


@pytest.mark.parametrize("torn", [b'{"key": "b", "auc"', b'{"key": "b", "auc": 0.5, "seconds": 1}'])
def test_a_torn_last_line_is_ignored_and_does_not_spoil_the_next(tmp_path, torn):
    journal = Journal.open(tmp_path / "journal.jsonl")
    journal.append({"a": Record(0.9, 1.0)})
    with journal.path.open("ab") as file:
        file.write(torn)
    assert set(journal.read()) == {"a"}
    journal.append({"c": Record(0.8, 1.0)})
    assert {"a", "c"} <= set(journal.read())


@pytest.mark.parametrize("line", [b"{}", b"[1]", b"null", b"\xff\xfe", b'{"key": "k", "auc": "x"}'])
def test_lines_that_are_no_records_are_ignored(tmp_path, line):
    path = tmp_path / "journal.jsonl"
    path.write_bytes(line + b"\n")
    journal = Journal.open(path)
    journal.append({"a": Record(0.9, 1.0)})
    assert set(journal.read()) == {"a"}


def test_a_file_that_cannot_be_written_is_refused(tmp_path):
    (tmp_path / "file").write_text("")
    with pytest.raises(InputError, match=r"journal .* cannot be written"):
        Journal.open(tmp_path / "file" / "journal.jsonl")
    with pytest.raises(InputError, match=r"journal .* cannot be written"):
        Journal.open(tmp_path)


@pytest.mark.skipif(
    not hasattr(os, "geteuid") or os.geteuid() == 0, reason="the superuser may write anywhere"
)
def test_a_read_only_folder_is_refused(tmp_path):
    tmp_path.chmod(0o500)
    try:
        with pytest.raises(InputError, match="may write"):
            Journal.open(tmp_path / "journal.jsonl")
    finally:
        tmp_path.chmod(0o700)


def test_the_key_follows_from_everything_that_moves_a_figure():
    keys = {
        fingerprint({"beta": beta}, known, repeat, seed=seed, model=model)
        for beta in (0.1, 0.2)
        for known in ((1, 2), (1, 3))
        for repeat in (0, 1)
        for seed in (0, 1)
        for model in ("kernel", "knn")
    }
    assert len(keys) == 32
    same = fingerprint({"a": 1, "b": 2}, (1,), 0, seed=0, model="m")
    assert same == fingerprint({"b": 2, "a": 1}, (1,), 0, seed=0, model="m")


def test_versions_name_what_moves_numbers():
    assert {"raravis", "python", "numpy", "scikit-learn"} <= set(library_versions())
