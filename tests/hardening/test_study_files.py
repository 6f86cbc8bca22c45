"""Files of a study that were changed by hand, cut short, or are something else altogether."""

import warnings
from collections.abc import Callable
from datetime import timedelta
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from raravis import Bags
from raravis.audio import FeatureRecipe, SegmentRecipe
from raravis.errors import RaravisError, RaravisWarning
from raravis.review import CallKey, Decision, DecisionLog
from raravis.study import Settings, Study
from raravis.study.files import read_json
from raravis.study.journal import add_entry, read_journal
from raravis.study.settings import read_settings, write_settings

ROUNDS = settings(
    max_examples=60,
    deadline=timedelta(seconds=20),
    suppress_health_check=[HealthCheck.too_slow],
)
PIECES = st.one_of(
    st.binary(max_size=6),
    st.sampled_from([b"\n", b"=", b"[", b"]", b'"', b"'", b"{", b"}", b",", b"#", b"\\u0000"]),
    st.sampled_from([b"nan", b"inf", b"-1", b"1e999", b"9" * 400, b"true", b"[[a]]", b"PAR1"]),
    st.sampled_from([b"[study]\n", b"format = 99\n", b"recordings = 3\n", b"\xff\xfe"]),
)


@st.composite
def mutated(draw: st.DrawFn, valid: bytes) -> bytes:
    """Change valid content in a few places."""
    data = bytearray(valid)
    for _ in range(draw(st.integers(1, 4))):
        start = draw(st.integers(0, len(data)))
        end = min(len(data), start + draw(st.integers(0, 60)))
        what = draw(st.sampled_from(["cut", "put", "replace", "repeat", "stop"]))
        if what == "cut":
            del data[start:end]
        elif what == "put":
            data[start:start] = draw(PIECES)
        elif what == "replace":
            data[start:end] = draw(PIECES)
        elif what == "repeat":
            data[start:start] = data[start:end] * draw(st.integers(1, 30))
        else:
            del data[start:]
    return bytes(data)


def _settings(path: Path) -> None:
    recipes = {"segment_recipe": SegmentRecipe(), "feature_recipe": FeatureRecipe()}
    write_settings(Settings(recordings="../sounds", labels="lists.csv", **recipes), path)


def _journal(path: Path) -> None:
    for verb in ("init", "segment", "fit"):
        add_entry(path, {"verb": verb, "seconds": 1.5, "what": "ä"})


def _bags(path: Path) -> None:
    X = np.arange(24.0).reshape(8, 3)
    Bags.from_arrays(X, list("aabbbcca"), keys=list("abcd")).to_parquet(path)


def _json(path: Path) -> None:
    path.write_text('{"format": 1, "species": {"a.wav": ["wren", "owl"]}, "x": [1.5, null]}')


def _decisions(path: Path) -> None:
    with DecisionLog(path) as log:
        key = CallKey("a.wav", 0.5, 1.25, 100.0, 9000.0)
        for kind, name in (("known", "wren"), ("uncertain", None)):
            log.add(Decision(ticket=kind, reviewer="Ada", kind=kind, calls=[key], class_name=name))


def _read_decisions(path: Path) -> Any:
    with DecisionLog(path) as log:
        return log.acts()


FILES: dict[str, tuple[Callable[[Path], None], Callable[[Path], Any]]] = {
    "study.toml": (_settings, read_settings),
    "journal.jsonl": (_journal, read_journal),
    "bags.parquet": (_bags, Bags.from_parquet),
    "labels.json": (_json, read_json),
    "decisions.sqlite": (_decisions, _read_decisions),
}


def valid(name: str) -> bytes:
    with TemporaryDirectory() as folder:
        path = Path(folder, name)
        FILES[name][0](path)
        FILES[name][1](path)
        return path.read_bytes()


VALID = {name: valid(name) for name in FILES}


@pytest.mark.parametrize("name", FILES)
@ROUNDS
@given(data=st.data())
def test_a_file_that_was_changed(name: str, data: st.DataObject) -> None:
    _read_or_refuse(name, data.draw(mutated(VALID[name])))


@pytest.mark.parametrize("name", FILES)
@ROUNDS
@given(content=st.one_of(st.binary(max_size=200), st.lists(PIECES, max_size=30).map(b"".join)))
def test_any_bytes(name: str, content: bytes) -> None:
    _read_or_refuse(name, content)


def _read_or_refuse(name: str, content: bytes) -> None:
    with TemporaryDirectory() as folder, warnings.catch_warnings():
        warnings.simplefilter("ignore", RaravisWarning)
        path = Path(folder, name)
        path.write_bytes(content)
        try:
            FILES[name][1](path)
        except RaravisError as error:
            assert name in str(error)  # noqa: PT017 (it may be read as well)


@ROUNDS
@given(content=st.one_of(st.binary(max_size=200), mutated(VALID["study.toml"])))
def test_a_folder_whose_settings_are_nonsense(content: bytes) -> None:
    with TemporaryDirectory() as folder:
        Path(folder, "study.toml").write_bytes(content)
        try:
            Study.open(folder)
        except RaravisError as error:
            assert "study.toml" in str(error) or folder in str(error)  # noqa: PT017


@pytest.mark.parametrize("name", ["study.toml", "journal.jsonl", "labels.json"])
@pytest.mark.parametrize("content", [b"[" * 200_000, b"x = " + b"[" * 200_000, b'{"a":' * 50_000])
def test_what_is_nested_without_end(name: str, content: bytes) -> None:
    _read_or_refuse(name, content)
