"""Round trips of models, and every way in which a model file can be wrong."""

import hashlib
import io
import json
import os
import zipfile
from pathlib import Path

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp
from sklearn.base import BaseEstimator
from sklearn.exceptions import NotFittedError

from raravis import __version__, _npy, _sealed, persistence
from raravis._npy import from_npy, to_npy
from raravis._state import (
    State,
    decode_labels,
    decode_params,
    decode_value,
    encode_labels,
    encode_params,
    encode_value,
)
from raravis.errors import InputError, ModelFileError
from raravis.estimators.cooccurrence import CooccurrenceScorer
from raravis.persistence import load, save

SHARED_FOLDER = settings(suppress_health_check=[HealthCheck.function_scoped_fixture], deadline=None)


class Group(BaseEstimator):
    """A model of an array, a fitted value and other models."""

    def __init__(self, *, width=1.0):
        self.width = width

    def fit(self, weights, *, note=None, members=None):
        self.weights_ = np.asarray(weights)
        self.note_ = note
        self.members_ = dict(members or {})
        return self

    def __raravis_state__(self):
        return State(
            params=encode_params(self.get_params(deep=False)),
            fitted={"note": encode_value(self.note_)},
            arrays={"weights": self.weights_},
            children=self.members_,
        )

    @classmethod
    def __raravis_restore__(cls, state):
        model = cls(**decode_params(state.params))
        return model.fit(state.arrays["weights"], note=state.value("note"), members=state.children)


@pytest.fixture(autouse=True)
def _no_waiting_for_the_disk(monkeypatch):
    monkeypatch.setattr(os, "fsync", lambda _descriptor: None)


@pytest.fixture(autouse=True)
def _group_is_registered(monkeypatch):
    home = f"{Group.__module__}:{Group.__qualname__}"
    monkeypatch.setitem(persistence.REGISTRY, "Group", home)


@pytest.fixture
def scorer():
    bags = [[[0.0, 1.0], [2.0, 0.5]], [[2.0, 0.5]], [[3.0, 3.0]]]
    labels = [{("owl", "hoot")}, {("owl", "call"), ("owl", "hoot")}, set()]
    return CooccurrenceScorer(threshold=0.6).fit(bags, labels)


@pytest.fixture
def saved(scorer, tmp_path):
    path = tmp_path / "model.raravis"
    save(scorer, path)
    return path


def refused(path, raw, match):
    """Put raw where a model was, and see it refused."""
    path.write_bytes(raw)
    with pytest.raises(ModelFileError, match=match):
        load(path)


def members_of(path):
    with zipfile.ZipFile(path) as archive:
        return {name: archive.read(name) for name in archive.namelist()}


def rewritten(path, *, manifest=None, members=None, drop=()):
    """Write the file anew with changes, properly sealed, as a careful forger would."""
    parts = members_of(path) | (members or {})
    if manifest is not None:
        found = json.loads(parts["manifest.json"])
        manifest(found)
        parts["manifest.json"] = json.dumps(found).encode()
    for name in drop:
        del parts[name]
    _sealed.write_sealed(path, parts)


def resealed(raw):
    """Make the seal of changed bytes fit."""
    return raw[:-64] + hashlib.sha256(raw[: -_sealed._SEAL_LENGTH]).hexdigest().encode()


def same(a, b):
    """Whether two fitted models are equal in parameters and fitted attributes."""
    if type(a) is not type(b) or vars(a).keys() != vars(b).keys():
        return False
    return all(
        np.array_equal(x, y) and getattr(x, "dtype", None) == getattr(y, "dtype", None)
        for x, y in zip(vars(a).values(), vars(b).values(), strict=True)
    )


# Round trips ----------------------------------------------------------------------------


def test_a_loaded_model_is_the_saved_one(scorer, saved):
    loaded = load(saved)
    assert same(scorer, loaded)
    assert loaded.get_params() == scorer.get_params()
    probe = [[0.0, 1.0], [2.0, 0.5], [9.0, 9.0]]
    np.testing.assert_array_equal(loaded.class_scores(probe), scorer.class_scores(probe))
    assert loaded.annotate(probe).tolist() == scorer.annotate(probe).tolist()


def test_equal_models_give_equal_bytes(scorer, saved, tmp_path):
    again = tmp_path / "again.raravis"
    save(load(saved), str(again))
    assert again.read_bytes() == saved.read_bytes()


def test_models_nest(scorer, tmp_path):
    inner = Group().fit([1, 2], note=("a", 1), members={"scorer": scorer})
    outer = Group(width=2.5).fit(np.zeros((0, 3)), members={"inner": inner, "scorer": scorer})
    save(outer, tmp_path / "m")
    loaded = load(tmp_path / "m")
    assert loaded.width == 2.5
    assert loaded.weights_.shape == (0, 3)
    assert loaded.members_["inner"].note_ == ("a", 1)
    assert same(loaded.members_["inner"].members_["scorer"], scorer)
    assert same(loaded.members_["scorer"], scorer)
    assert "children/inner/children/scorer/arrays/values.npy" in members_of(tmp_path / "m")


def test_manifest_says_what_is_in_the_file(saved):
    parts = members_of(saved)
    manifest = json.loads(parts["manifest.json"])
    assert manifest["format"] == "raravis-model"
    assert manifest["format_version"] == 1
    assert manifest["raravis_version"] == __version__
    assert manifest["model"]["class"] == "CooccurrenceScorer"
    entry = manifest["model"]["arrays"]["values"]
    raw = parts["arrays/values.npy"]
    assert entry["sha256"] == hashlib.sha256(raw).hexdigest()
    assert (entry["dtype"], entry["shape"], entry["size"]) == ("<f8", [3, 2], len(raw))
    assert np.load(io.BytesIO(raw), allow_pickle=False).shape == (3, 2)


def test_saving_replaces_a_file_and_leaves_nothing_else(scorer, saved):
    save(scorer, saved)
    assert [p.name for p in saved.parent.iterdir()] == [saved.name]


@pytest.mark.skipif(os.name == "nt", reason="Windows has no such permissions")
def test_a_model_file_has_the_permissions_of_any_new_file(saved):
    mask = os.umask(0o022)
    os.umask(mask)
    assert saved.stat().st_mode & 0o777 == 0o666 & ~mask


def test_an_interrupted_save_leaves_the_old_file(scorer, saved, monkeypatch):
    before = saved.read_bytes()

    def full_disk(_descriptor):
        raise OSError("no space left on device")

    monkeypatch.setattr(os, "fsync", full_disk)
    scorer.fit([[[1.0, 1.0]]], [{"other"}])
    with pytest.raises(OSError, match="no space left"):
        save(scorer, saved)
    assert saved.read_bytes() == before
    assert [p.name for p in saved.parent.iterdir()] == [saved.name]


# What cannot be saved -------------------------------------------------------------------


def test_unfitted_models_are_not_saved(tmp_path):
    with pytest.raises(NotFittedError):
        save(CooccurrenceScorer(), tmp_path / "m")
    assert list(tmp_path.iterdir()) == []


class Lookalike(CooccurrenceScorer):
    """A subclass: restoring it as its parent would lose what it adds."""


@pytest.mark.parametrize("thing", [object(), 3, None, CooccurrenceScorer, Lookalike()])
def test_other_objects_are_not_saved(thing, tmp_path):
    with pytest.raises(InputError, match=r"cannot be saved; these can: CooccurrenceScorer"):
        save(thing, tmp_path / "m")


@pytest.mark.parametrize(
    ("value", "advice"),
    [
        (np.random.RandomState(0), "Use an integer seed"),
        (np.random.default_rng(0), "Use an integer seed"),
        (lambda x: x, "Use one of the choices that have a name"),
        (np.ones(2), "Use a list of plain numbers"),
        (object(), "Use None, a bool, a number"),
        ([1, {2: object()}], "Use None, a bool, a number"),
        (10**2000, "integer of 6644 bits"),
        (np.datetime64("2020-01-01"), "datetime64"),
        (np.longdouble(1), "NumPy"),
    ],
)
def test_parameters_that_cannot_be_stored_are_named(value, advice, tmp_path):
    if isinstance(value, np.longdouble) and value.dtype.itemsize == 8:
        pytest.skip("long double is double here")
    with pytest.raises(InputError, match=f"parameter 'width': .*{advice}"):
        save(Group(width=value).fit([1.0]), tmp_path / "m")
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("array", [np.array([object()]), np.ones(2, complex), np.array([b"a"])])
def test_arrays_of_other_kinds_are_named(array, tmp_path):
    with pytest.raises(InputError, match="array 'weights' of Group has dtype"):
        save(Group().fit(array), tmp_path / "m")


@pytest.mark.parametrize("name", ["../up", "", "a b", "ä", "a/b"])
def test_names_of_parts_are_identifiers(name, scorer, tmp_path):
    with pytest.raises(InputError, match="use an ASCII identifier"):
        save(Group().fit([1.0], members={name: scorer}), tmp_path / "m")


def test_models_that_hold_themselves_are_refused(tmp_path):
    model = Group().fit([1.0])
    model.members_["me"] = model
    with pytest.raises(InputError, match="nested more than"):
        save(model, tmp_path / "m")


def test_a_state_that_is_not_json_is_refused(tmp_path, monkeypatch):
    monkeypatch.setattr(Group, "__raravis_state__", lambda _: State(fitted={"x": {1, 2}}))
    with pytest.raises(InputError, match="not JSON"):
        save(Group(), tmp_path / "m")


# Damage ---------------------------------------------------------------------------------


def test_a_missing_file_is_an_ordinary_missing_file(tmp_path):
    with pytest.raises(FileNotFoundError):
        load(tmp_path / "nothing")


@pytest.mark.parametrize("raw", [b"", b"PK", b"not a model", b"\x80\x04K\x01."])
def test_files_that_are_no_zip(raw, tmp_path):
    refused(tmp_path / "m", raw, r"cannot load .*m: this is not a raravis model file")


def test_any_other_zip_is_no_model(tmp_path):
    with zipfile.ZipFile(tmp_path / "m", "w") as archive:
        archive.writestr("a", "b")
    with pytest.raises(ModelFileError, match="some other zip archive"):
        load(tmp_path / "m")


def test_a_file_cut_anywhere_is_refused(saved):
    for n_bytes in reversed(range(saved.stat().st_size)):
        os.truncate(saved, n_bytes)
        with pytest.raises(ModelFileError, match="not a zip" if n_bytes < 4 else "cut short"):
            load(saved)


def test_a_byte_changed_anywhere_is_noticed(saved):
    with saved.open("r+b", buffering=0) as file:
        for position, byte in enumerate(saved.read_bytes()):
            file.seek(position)
            file.write(bytes([byte ^ 0x20]))
            with pytest.raises(ModelFileError, match=r"cut short|was altered|not a zip"):
                load(saved)
            file.seek(position)
            file.write(bytes([byte]))
    load(saved)


def test_a_byte_added_anywhere_is_noticed(saved):
    raw = saved.read_bytes()
    for position in range(0, len(raw) + 1, 13):
        refused(saved, raw[:position] + b"\0" + raw[position:], "not a zip|cut short|altered")


@given(st.binary(max_size=300))
@SHARED_FOLDER
def test_random_bytes_are_refused_in_our_own_words(tmp_path, raw):
    refused(tmp_path / "m", raw, "cannot load")
    refused(tmp_path / "m", b"PK\x03\x04" + raw, "cannot load")


@given(st.data())
@settings(SHARED_FOLDER, max_examples=150)
def test_forged_bytes_under_a_fitting_seal_load_equal_or_not_at_all(scorer, tmp_path, data):
    path = tmp_path / "m"
    save(scorer, path)
    changed = bytearray(path.read_bytes())
    inside = st.integers(0, len(changed) - _sealed._SEAL_LENGTH - 1)
    for _ in range(data.draw(st.integers(1, 3))):
        position = data.draw(inside)
        piece = data.draw(st.binary(min_size=1, max_size=6))
        changed[position : position + len(piece)] = piece
    path.write_bytes(resealed(bytes(changed)))
    try:
        loaded = load(path)
    except ModelFileError:
        return
    # Bytes that carry nothing, such as dates of members.
    assert same(loaded, scorer)


JSON_VALUES = st.recursive(
    st.none() | st.booleans() | st.integers(-5, 5) | st.floats() | st.text(max_size=3),
    lambda inner: (
        st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=8), inner, max_size=3)
    ),
    max_leaves=6,
)


def places(node, path=()):
    """Every path into nested JSON."""
    yield path
    items = (
        node.items()
        if isinstance(node, dict)
        else enumerate(node)
        if isinstance(node, list)
        else ()
    )
    for key, value in items:
        yield from places(value, (*path, key))


@given(st.data())
@settings(SHARED_FOLDER, max_examples=150)
def test_forged_manifests_are_refused_or_mean_something(scorer, tmp_path, data):
    path = tmp_path / "m"
    save(scorer, path)

    def forge(manifest):
        *way, last = data.draw(st.sampled_from([p for p in places(manifest) if p]))
        for key in way:
            manifest = manifest[key]
        if data.draw(st.booleans()):
            manifest[last] = data.draw(JSON_VALUES)
        else:
            del manifest[last]

    rewritten(path, manifest=forge)
    try:
        loaded = load(path)
    except ModelFileError:
        return
    assert isinstance(loaded, CooccurrenceScorer)


# Forgery, one by one --------------------------------------------------------------------


def test_a_newer_format_asks_for_an_update(saved):
    def renew(manifest):
        manifest.update(format_version=2, raravis_version="9.1")

    rewritten(saved, manifest=renew)
    with pytest.raises(ModelFileError, match=r"raravis '9\.1' in model format 2.*Update raravis"):
        load(saved)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (lambda m: m.update(format="other"), "of the format 'raravis-model'"),
        (lambda m: m.update(format_version=0), "format version 0"),
        (lambda m: m.update(format_version="1"), "format version '1'"),
        (lambda m: m.update(format_version=True), "format version True"),
        (lambda m: m.pop("model"), "the manifest is not an object"),
        (lambda m: m["model"].pop("class"), "names no class"),
        (lambda m: m["model"].update({"class": "os:system"}), "'os:system', which this raravis"),
        (lambda m: m["model"].pop("params"), "params of CooccurrenceScorer is not an object"),
        (lambda m: m["model"].update(arrays=[]), "arrays of CooccurrenceScorer is not"),
        (lambda m: m["model"]["arrays"]["values"].pop("sha256"), "lacks dtype, sha256 or size"),
        (lambda m: m["model"]["arrays"]["values"].update(shape=[-1]), r"the shape \[-1\]"),
        (lambda m: m["model"]["arrays"]["values"].update(shape=[1] * 40), "the shape"),
        (lambda m: m["model"]["arrays"]["values"].update(shape=[2, 3]), "is not an array of"),
        (lambda m: m["model"]["arrays"]["values"].update(dtype="|O"), r"dtype '\|O'"),
        (lambda m: m["model"]["arrays"]["values"].update(dtype="<i8"), "is not an array of"),
        (lambda m: m["model"]["arrays"]["values"].update(sha256="0" * 64), "checksum of arrays"),
        (lambda m: m["model"]["arrays"]["values"].update(size=1 << 50), "its manifest says"),
        (lambda m: m["model"]["arrays"].pop("values"), "members that its manifest lacks"),
        (
            lambda m: m["model"]["arrays"].update({"../x": {}}),
            r"names one of the arrays .*'\.\./x'",
        ),
        (lambda m: m["model"]["params"].update(unheard=1), "cannot be restored"),
        (lambda m: m["model"]["params"].update(threshold=7), "cannot be restored: threshold is 7"),
        (lambda m: m["model"]["fitted"].pop("classes"), "lacks the class labels 'classes'"),
        (lambda m: m["model"]["fitted"].update(classes=["a"]), r"array 'counts' .* shape \(3, 1\)"),
        (lambda m: m["model"]["fitted"].update(classes=["a", "a"]), "occurs twice"),
        (lambda m: m["model"]["fitted"].update(classes=[["a"], "b"]), "cannot be one"),
        (lambda m: m["model"]["fitted"].update(classes={"eval": "1"}), "are not a list"),
        (lambda m: m["model"]["params"].update(threshold={"eval": "1"}), "unknown tag 'eval'"),
    ],
)
def test_forged_manifests_one_by_one(saved, change, message):
    rewritten(saved, manifest=change)
    with pytest.raises(ModelFileError, match=message):
        load(saved)


@pytest.mark.parametrize(
    ("raw", "message"),
    [
        (b"", "not valid JSON"),
        (b"\xff\xfe\x00", "not valid JSON"),
        (b"[" * 200_000, "not valid JSON"),
        (b"[]", "of the format"),
        (b'{"format": NaN}', "NaN, which is not standard JSON"),
        (b'{"format": ' + b"9" * 5000 + b"}", "not valid JSON"),
    ],
)
def test_manifests_that_are_no_manifest(saved, raw, message):
    rewritten(saved, members={"manifest.json": raw})
    with pytest.raises(ModelFileError, match=message):
        load(saved)


def test_a_large_manifest_is_not_even_read(saved, monkeypatch):
    monkeypatch.setattr(persistence, "_MAX_MANIFEST_BYTES", 10)
    with pytest.raises(ModelFileError, match="manifest is larger"):
        load(saved)


def test_missing_members_are_named(saved):
    rewritten(saved, drop=["arrays/counts.npy"])
    with pytest.raises(ModelFileError, match=r"members are missing: arrays/counts\.npy"):
        load(saved)
    rewritten(saved, drop=["manifest.json"])
    with pytest.raises(ModelFileError, match=r"member 'manifest\.json' is missing"):
        load(saved)


@pytest.mark.parametrize("name", ["extra.npy", "../outside", "/outside", "arrays/values.npy/x"])
def test_extra_members_are_refused_and_never_written(saved, name):
    rewritten(saved, members={name: b"x"})
    with pytest.raises(ModelFileError, match="members that its manifest lacks"):
        load(saved)
    assert [p.name for p in saved.parent.iterdir()] == [saved.name]
    assert not Path("/outside").exists()


class Bomb:
    """Leaves a trace if it is ever unpickled."""

    def __init__(self, trace):
        self.trace = trace

    def __reduce__(self):
        return Path.touch, (self.trace,)


def test_a_pickled_array_is_refused_unopened(saved, tmp_path):
    trace = tmp_path / "trace"
    buffer = io.BytesIO()
    np.save(buffer, np.array([Bomb(trace)], dtype=object), allow_pickle=True)
    raw = buffer.getvalue()

    def declare(manifest, dtype):
        manifest["model"]["arrays"]["values"] = {
            "dtype": dtype,
            "shape": [1],
            "sha256": hashlib.sha256(raw).hexdigest(),
            "size": len(raw),
        }

    for dtype in ("|O", "<f8"):
        rewritten(
            saved, members={"arrays/values.npy": raw}, manifest=lambda m, d=dtype: declare(m, d)
        )
        with pytest.raises(ModelFileError, match="values"):
            load(saved)
    assert not trace.exists()
    np.load(io.BytesIO(raw), allow_pickle=True)
    assert trace.exists()  # so the bomb was live


def _with_entry(saved, change):
    """Rewrite the archive with one member's entry changed by hand, and a fitting seal."""
    parts = members_of(saved)
    with zipfile.ZipFile(saved, "w") as archive:
        for name, raw in parts.items():
            change(archive, name, raw)
        archive.comment = _sealed._SEAL_PREFIX + b"0" * 64
    saved.write_bytes(resealed(saved.read_bytes()))


def test_compressed_members_are_refused(saved):
    _with_entry(saved, lambda a, name, raw: a.writestr(name, raw, zipfile.ZIP_DEFLATED))
    with pytest.raises(ModelFileError, match="compressed or encrypted"):
        load(saved)


@pytest.mark.filterwarnings("ignore:Duplicate name")
def test_members_that_occur_twice_are_refused(saved):
    def twice(archive, name, raw):
        archive.writestr(name, raw)
        archive.writestr(name, raw)

    _with_entry(saved, twice)
    with pytest.raises(ModelFileError, match="occurs twice"):
        load(saved)


@pytest.mark.parametrize(
    ("fields", "message"),
    [
        ((24,), "claims a size it does not have"),  # the size, but not the stored size
        ((20, 24), "larger than the file"),
        ((42,), "cannot be read|larger"),  # where the member starts
    ],
)
def test_members_cannot_claim_more_than_the_file_holds(saved, fields, message):
    raw = bytearray(saved.read_bytes())
    entry = raw.index(b"PK\x01\x02")
    for field in fields:
        raw[entry + field : entry + field + 4] = (1 << 30).to_bytes(4, "little")
    refused(saved, resealed(bytes(raw)), message)


def test_an_old_manifest_nested_without_end_is_refused(scorer, saved):
    def nest(manifest):
        node = manifest["model"]
        node["arrays"] = {}
        for _ in range(40):
            node = {
                "class": "Group",
                "params": {},
                "fitted": {},
                "arrays": {},
                "children": {"a": node},
            }
        manifest["model"] = node

    rewritten(saved, manifest=nest)
    with pytest.raises(ModelFileError, match="nested more than"):
        load(saved)


# Values and arrays ----------------------------------------------------------------------

SCALARS = (
    st.none()
    | st.booleans()
    | st.integers(-(2**70), 2**70)
    | st.floats()
    | st.text()
    | st.binary(max_size=5)
    | st.booleans().map(np.bool_)
    | st.integers(-128, 127).map(np.int8)
    | st.integers(0, 2**64 - 1).map(np.uint64)
    | st.floats(width=16).map(np.float16)
    | st.floats(width=32).map(np.float32)
    | st.floats().map(np.float64)
    | st.text(st.characters(min_codepoint=1, exclude_categories=["Cs"])).map(np.str_)
)
VALUES = st.recursive(
    SCALARS,
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.lists(inner, max_size=3).map(tuple)
        | st.dictionaries(st.text(max_size=3) | st.integers(), inner, max_size=3)
    ),
    max_leaves=8,
)


def identical(a, b):
    """Equality that tells 1 from 1.0 and True, 0.0 from -0.0, and finds NaN like NaN."""
    if type(a) is not type(b):
        return False
    if isinstance(a, dict):
        return identical(list(a.items()), list(b.items()))
    if isinstance(a, list | tuple):
        return len(a) == len(b) and all(map(identical, a, b))
    if isinstance(a, float | np.floating):
        return (np.isnan(a) and np.isnan(b)) or (a == b and np.signbit(a) == np.signbit(b))
    return a == b


@given(VALUES)
def test_values_come_back_with_their_types(value):
    text = json.dumps(encode_value(value), allow_nan=False)
    assert identical(decode_value(json.loads(text)), value)


@given(st.lists(SCALARS | st.tuples(SCALARS, SCALARS), unique=True, max_size=5))
def test_class_labels_come_back_with_their_types(labels):
    text = json.dumps(encode_labels(labels), allow_nan=False)
    assert identical(decode_labels(json.loads(text)), tuple(labels))


def test_class_labels_that_cannot_be_stored_are_named():
    with pytest.raises(InputError, match=r"class label frozenset.*Use strings, numbers"):
        encode_labels(["a", frozenset({1})])


def test_values_nested_without_end_are_refused():
    value: list[object] = []
    value.append(value)
    with pytest.raises(InputError, match="nested more than"):
        encode_value(value)
    deep: object = 1
    for _ in range(100):
        deep = [deep]
    with pytest.raises(ModelFileError, match="nested too deep"):
        decode_value(deep)


@pytest.mark.parametrize(
    "forged",
    [
        {"float": "one"},
        {"float": None},
        {"bytes": "xy"},
        {"bytes": 3},
        {"tuple": 3},
        {"dict": [[1]]},
        {"dict": [[[1], 2]]},
        {"numpy": ["i1", 300]},
        {"numpy": ["O", 1]},
        {"numpy": ["f8"]},
        {"numpy": [["i8"], 1]},
        {"float": "1", "tuple": []},
        {},
    ],
)
def test_forged_values_are_refused(forged):
    with pytest.raises(ModelFileError, match="model file"):
        decode_value(forged)


ARRAYS = hnp.arrays(
    st.sampled_from(["?", "i1", "u2", "<i4", ">i8", "f2", "<f4", ">f8", "<U3", ">U2"]),
    hnp.array_shapes(min_dims=0, max_dims=3, min_side=0, max_side=4),
)


@given(ARRAYS)
def test_arrays_come_back_and_numpy_reads_them_too(array):
    raw = to_npy(array, what="x")
    dtype = array.dtype.newbyteorder("<").str
    found = from_npy(raw, dtype=dtype, shape=array.shape, what="x")
    np.testing.assert_array_equal(found, array)
    assert found.flags.writeable
    theirs = np.load(io.BytesIO(raw), allow_pickle=False)
    np.testing.assert_array_equal(theirs, array)
    assert theirs.dtype == found.dtype == array.dtype.newbyteorder("<")


@given(hnp.arrays("f8", hnp.array_shapes(min_dims=2, max_dims=3)))
def test_layout_in_memory_does_not_show(array):
    assert to_npy(np.asfortranarray(array), what="x") == to_npy(array, what="x")


@pytest.mark.parametrize("shape", [(0, 1 << 62), (0, 1 << 70), (1 << 70, 0)])
def test_impossible_shapes_are_refused(shape):
    forged = _npy._header("<f8", shape)
    with pytest.raises(ModelFileError, match="x cannot have the shape"):
        from_npy(forged, dtype="<f8", shape=shape, what="x")


def test_state_reads_only_what_fits():
    state = State(fitted={"a": 1}, arrays={"x": np.zeros((2, 3))})
    assert state.value("a") == 1
    assert state.array("x", kinds="f", shape=(2, None)).shape == (2, 3)
    for kinds, shape in (("i", (2, 3)), ("f", (2,)), ("f", (3, None))):
        with pytest.raises(ModelFileError, match="expected a dtype of kind"):
            state.array("x", kinds=kinds, shape=shape)
    with pytest.raises(ModelFileError, match="lacks the fitted value 'b'"):
        state.value("b")
    with pytest.raises(ModelFileError, match="lacks the array 'y'"):
        state.array("y", kinds="f", shape=())


def test_registry_names_importable_places_only():
    for home in persistence.REGISTRY.values():
        module, _, name = home.partition(":")
        assert name.isidentifier()
        assert all(part.isidentifier() for part in module.split("."))
    assert set(persistence.REGISTRY) >= {"CooccurrenceScorer", "KernelScorer"}
