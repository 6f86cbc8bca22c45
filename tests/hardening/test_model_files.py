"""Model files made by a careful forger: sealed, with checksums that fit, and nonsense inside.

Files that are merely damaged are refused by their seal (tests/test_persistence.py). Here everything
that a forger can change is changed. Such a file is refused as a model file, or it is a model, whose
scores are numbers or an error of ours.
"""

import copy
import hashlib
import io
import json
import warnings
import zipfile
from datetime import timedelta
from functools import cache, reduce
from operator import getitem
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from raravis import Bags, CooccurrenceScorer, KernelScorer, NovelClassClassifier, load, save
from raravis._npy import dtype_text, to_npy
from raravis._sealed import write_sealed
from raravis.calibration import FoldEnsemble
from raravis.errors import ModelFileError, RaravisError

ROUNDS = settings(
    max_examples=60,
    deadline=timedelta(seconds=20),
    suppress_health_check=[HealthCheck.too_slow, HealthCheck.function_scoped_fixture],
)
BAGS = Bags.from_list(
    [[[0.0, 0.0], [2.0, 4.0]], [[4.0, 0.0], [2.1, 4.0]], [[0.1, 0.0], [4.1, 0.1]], [[2.0, 4.1]]]
    * 2,
    keys=range(8),
)
LABELS = [{"wren"}, {"owl"}, {"wren", "owl"}, set()] * 2
MODELS = {
    "kernel": KernelScorer(),
    "counts": CooccurrenceScorer(),
    "likelihood": NovelClassClassifier(n_landmarks=4),
    "forest": NovelClassClassifier("forest", n_trees=3, max_rounds=1),
    "folds": FoldEnsemble(KernelScorer(), n_folds=2),
}


@pytest.fixture(autouse=True)
def _no_waiting_for_the_disk(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("os.fsync", lambda _descriptor: None)


@cache
def members(kind: str) -> dict[str, bytes]:
    """Return what the file of a model is made of."""
    with TemporaryDirectory() as folder:
        path = Path(folder, "model.raravis")
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            save(copy.deepcopy(MODELS[kind]).fit(BAGS, LABELS), path)
        with zipfile.ZipFile(path) as archive:
            return {name: archive.read(name) for name in archive.namelist()}


NUMBERS = st.one_of(
    st.integers(-3, 3),
    st.sampled_from([2**31, 2**63, -(2**63), 10**400]),
    st.floats(allow_nan=False, allow_infinity=False),
)
VALUES = st.recursive(
    st.one_of(
        st.none(), st.booleans(), NUMBERS, st.sampled_from(["", "wren", "gaussian", "x" * 99])
    ),
    lambda inner: st.one_of(
        st.lists(inner, max_size=3),
        st.dictionaries(
            st.sampled_from(["tuple", "dict", "float", "numpy", "bytes", "class", "x"]),
            inner,
            max_size=2,
        ),
    ),
    max_leaves=5,
)
DTYPES = ["<f8", "<f4", "<i8", "<i4", "|b1", "<U3"]


def places(value: Any, at: tuple[Any, ...] = ()) -> list[tuple[Any, ...]]:
    """Return the ways to everything within a manifest."""
    keys = (
        value if isinstance(value, dict) else range(len(value)) if isinstance(value, list) else ()
    )
    return [at, *(one for key in keys for one in places(value[key], (*at, key)))]


@st.composite
def forged(draw: st.DrawFn, kind: str) -> dict[str, bytes]:
    """Change arrays and the manifest of a model file, and make all checksums fit."""
    found = dict(members(kind))
    manifest = json.loads(found["manifest.json"])
    entries = {name: entry for name in found if (entry := _entry(manifest, name)) is not None}
    for name in draw(st.lists(st.sampled_from(sorted(entries)), max_size=2, unique=True)):
        array = draw(_changed(np.load(io.BytesIO(found[name]))))
        found[name] = to_npy(array, what=name)
        entries[name].update(dtype=dtype_text(array.dtype), shape=list(array.shape))
    for name, entry in entries.items():
        entry.update(size=len(found[name]), sha256=hashlib.sha256(found[name]).hexdigest())
    for way in draw(st.lists(st.sampled_from(places(manifest)[1:]), max_size=2)):
        _change(draw, manifest, way)
    return {**found, "manifest.json": json.dumps(manifest).encode()}


def _entry(manifest: dict[str, Any], member: str) -> dict[str, Any] | None:
    """Return what the manifest says of an array, such as children/member_0/arrays/weights.npy."""
    *way, file = member.removesuffix(".npy").split("/")
    node = manifest["model"]
    for step in way:
        node = node.get(step, {})
    entry: dict[str, Any] | None = node.get(file)
    return entry


@st.composite
def _changed(draw: st.DrawFn, array: Any) -> Any:
    changed = array.copy()
    what = draw(st.sampled_from(["one", "all", "shorter", "longer", "type", "flat"]))
    if what == "one" and changed.size and changed.dtype.kind in "fiu":
        value = draw(st.sampled_from([-1, 0, 1, 7, 2**31 - 1, -(2**31), np.nan, np.inf, -np.inf]))
        if changed.dtype.kind == "f" or np.isfinite(value):
            limits = np.iinfo(changed.dtype) if changed.dtype.kind != "f" else None
            fitting = value if limits is None else min(max(value, limits.min), limits.max)
            changed.ravel()[draw(st.integers(0, changed.size - 1))] = fitting
    elif what == "all" and changed.dtype.kind in "fiu":
        changed[...] = draw(st.sampled_from([0, 1, 99]))
    elif what == "shorter":
        changed = changed[:-1] if changed.ndim else changed
    elif what == "longer":
        changed = np.concatenate([changed, changed]) if changed.ndim else changed
    elif what == "type":
        with np.errstate(all="ignore"), warnings.catch_warnings():
            warnings.simplefilter("ignore")
            changed = changed.astype(draw(st.sampled_from(DTYPES)))
    else:
        changed = changed.ravel()
    return changed


def _change(draw: st.DrawFn, manifest: dict[str, Any], way: tuple[Any, ...]) -> None:
    try:
        parent = reduce(getitem, way[:-1], manifest)
        if draw(st.booleans()):
            parent[way[-1]] = draw(VALUES)
        else:
            del parent[way[-1]]
    except (KeyError, IndexError, TypeError):  # gone by an earlier change
        return


@pytest.mark.parametrize("kind", MODELS)
@ROUNDS
@given(data=st.data())
def test_a_forged_model(kind: str, data: st.DataObject) -> None:
    with TemporaryDirectory() as folder:
        path = Path(folder, "model.raravis")
        write_sealed(path, data.draw(forged(kind)))
        try:
            model = load(path)
        except ModelFileError:
            return
    with warnings.catch_warnings():
        # Numbers that make no sense may overflow; they may do nothing worse.
        warnings.simplefilter("ignore")
        try:
            scores = model.score_samples(BAGS)
            model.annotate(BAGS)
        except RaravisError:
            return
    assert scores.shape == (BAGS.n_instances,)


def test_the_forger_finds_all_arrays() -> None:
    for kind in MODELS:
        manifest = json.loads(members(kind)["manifest.json"])
        named = [name for name in members(kind) if name != "manifest.json"]
        assert named
        assert all(_entry(manifest, name) is not None for name in named)
