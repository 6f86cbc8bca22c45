"""Bags: what goes in comes out, in every form, and nothing wrong gets in."""

import json
import pickle
from fractions import Fraction
from pathlib import Path

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import sparse

from raravis import Bags
from raravis.bags import as_bags, split_indices
from raravis.errors import InputError

FRAMES = {
    "pandas": pd.DataFrame,
    "polars": pl.DataFrame,
    "pyarrow": pa.table,
}
KEYS = st.one_of(
    st.text(max_size=3),
    st.integers(),
    st.floats(allow_nan=False),
    st.tuples(st.text(max_size=2), st.integers(0, 5)),
)


@st.composite
def bag_sets(draw, min_bags=0, keys=KEYS):
    """Bags of up to five features, some empty, with all kinds of keys and source rows."""
    names = draw(st.lists(keys, min_size=min_bags, max_size=6, unique=True))
    sizes = [draw(st.integers(0, 4)) for _ in names]
    n, d = sum(sizes), draw(st.integers(1, 3))
    dtype = draw(st.sampled_from([np.float32, np.float64]))
    rng = np.random.default_rng(draw(st.integers(0, 99)))
    feature_names = draw(st.sampled_from([None, tuple("xyz"[:d])]))
    return Bags(
        rng.normal(size=(n, d)).astype(dtype),
        np.concatenate([[0], np.cumsum(sizes, dtype=int)]),
        names,
        rng.permutation(n),
        feature_names,
    )


def simple():
    return Bags.from_list([[[1.0, 2.0], [3.0, 4.0]], [], [[5.0, 6.0]]], keys=["a", "b", "c"])


# ---------------------------------------------------------------------- what there is


def test_a_bags_object_says_what_it_holds():
    bags = simple()
    assert (bags.n_bags, bags.n_instances, bags.n_features, len(bags)) == (3, 3, 2, 3)
    assert bags.sizes.tolist() == [2, 0, 1]
    assert bags.offsets.tolist() == [0, 2, 2, 3]
    assert bags.bag_index.tolist() == [0, 0, 2]
    assert bags.sizes.dtype == bags.bag_index.dtype == bags.offsets.dtype == np.int64
    assert repr(bags) == "Bags(3 bags, 3 instances, 2 features, sizes 1-2, 1 empty)"
    assert repr(bags.take([])) == "Bags(0 bags, 0 instances, 2 features, 0 empty)"


def test_bags_are_read_by_position_as_views():
    bags = simple()
    assert bags[0].tolist() == [[1.0, 2.0], [3.0, 4.0]]
    assert bags[-1].tolist() == [[5.0, 6.0]]
    assert bags[np.int64(1)].shape == (0, 2)
    assert [len(bag) for bag in bags] == [2, 0, 1]
    assert np.shares_memory(bags[0], bags.instances)
    with pytest.raises(IndexError):
        bags[3]


def test_nothing_in_bags_can_be_changed():
    bags = simple()
    for array in (bags.instances, bags.offsets, bags.source_rows, bags[0]):
        with pytest.raises(ValueError, match="read-only"):
            array[0] = 9
    with pytest.raises(AttributeError):
        bags.keys = ()
    with pytest.raises(TypeError, match="unhashable"):
        hash(bags)


def test_a_fitting_array_is_neither_copied_nor_locked():
    X = np.ones((3, 2))
    bags = Bags.from_arrays(X, [0, 0, 1])
    assert np.shares_memory(bags.instances, X)
    assert X.flags.writeable


def test_a_pickled_copy_is_equal_and_read_only():
    bags = simple()
    copy = pickle.loads(pickle.dumps(bags))
    assert copy == bags
    assert not copy.instances.flags.writeable


@pytest.mark.parametrize(
    "other",
    [
        Bags.from_list([[[1.0, 2.0], [3.0, 4.0]], [[5.0, 6.0]], []], keys=["a", "b", "c"]),
        Bags.from_list([[[1.0, 2.0], [3.0, 4.0]], [], [[5.0, 6.0]]], keys=["a", "b", "d"]),
        Bags.from_list([[[1.0, 2.0], [3.0, 4.0]], [], [[5.0, 6.5]]], keys=["a", "b", "c"]),
        Bags(simple().instances, simple().offsets, ["a", "b", "c"], [0, 2, 1]),
        Bags(simple().instances, simple().offsets, ["a", "b", "c"], None, ["x", "y"]),
        Bags(simple().instances.astype(np.float32), simple().offsets, ["a", "b", "c"]),
    ],
)
def test_any_difference_shows_in_equality_and_fingerprint(other):
    assert other != simple()
    assert other.fingerprint() != simple().fingerprint()
    assert simple() == simple()
    assert simple().fingerprint() == simple().fingerprint()
    assert simple() != "bags"


@pytest.mark.parametrize(
    ("given_dtype", "kept"),
    [("f4", "f4"), ("f8", "f8"), (">f8", "f8"), ("f2", "f8"), ("i8", "f8"), ("?", "f8")],
)
def test_features_are_single_precision_or_double(given_dtype, kept):
    bags = Bags.from_matrix(np.ones((2, 3), dtype=given_dtype))
    assert bags.dtype == np.dtype(kept)
    assert bags.instances.flags.c_contiguous


def test_transposed_and_object_arrays_of_numbers_are_taken():
    X = np.arange(6.0).reshape(2, 3)
    assert np.array_equal(Bags.from_matrix(np.asfortranarray(X)).instances, X)
    assert np.array_equal(Bags.from_matrix(X.astype(object)).instances, X)
    assert Bags.from_matrix([[Fraction(1, 2).numerator, True]]).instances.tolist() == [[1.0, 1.0]]


# ---------------------------------------------------------------------- constructors


def test_from_list_takes_every_spelling_of_an_empty_bag():
    full = np.ones((2, 3), dtype=np.float32)
    bags = Bags.from_list([np.empty((0, 3)), full, [], np.empty(0)])
    assert bags.sizes.tolist() == [0, 2, 0, 0]
    assert bags.dtype == np.float32
    assert bags.keys == (0, 1, 2, 3)


def test_a_list_of_empty_bags_needs_the_number_of_features():
    assert Bags.from_list([[], []], n_features=4).instances.shape == (0, 4)
    assert Bags.from_list([np.empty((0, 4)), []]).n_features == 4
    assert Bags.from_list([], n_features=4).n_bags == 0
    with pytest.raises(InputError, match="give n_features"):
        Bags.from_list([[], []])


def test_from_arrays_keeps_first_appearance_and_row_order():
    bags = Bags.from_arrays([[0.0], [1.0], [2.0], [3.0]], ["z", "a", "z", "m"])
    assert bags.keys == ("z", "a", "m")
    assert bags.instances[:, 0].tolist() == [0.0, 2.0, 1.0, 3.0]
    assert bags.source_rows.tolist() == [0, 2, 1, 3]


@pytest.mark.parametrize(
    "ids",
    [
        np.array([7, 3, 7]),
        np.array([2.5, -1.0, 2.5]),
        np.array(["owl", "wren", "owl"]),
        np.array([True, False, True]),
        np.array([b"x", b"y", b"x"]),
        np.array(["2020-01-01", "2020-01-02", "2020-01-01"], dtype="datetime64[ns]"),
        np.array(["a", 1, "a"], dtype=object),
        [("a", 1), ("a", 2), ("a", 1)],
        [1, "1", 1],
        pd.Series(["b", "a", "b"]),
        pd.Categorical(["b", "a", "b"]),
        pl.Series(["b", "a", "b"]),
        pa.chunked_array([["b"], ["a", "b"]]),
    ],
    ids=lambda ids: f"{type(ids).__name__} {getattr(ids, 'dtype', '')}",
)
def test_bag_ids_of_any_type(ids):
    bags = Bags.from_arrays([[0.0], [1.0], [2.0]], ids)
    assert bags.sizes.tolist() == [2, 1]
    assert bags.source_rows.tolist() == [0, 2, 1]
    assert not any(isinstance(key, (np.str_, np.integer)) for key in bags.keys)


def test_ids_do_not_turn_into_text():
    assert Bags.from_arrays([[0.0], [1.0]], [1, "1"]).keys == (1, "1")


def test_keys_fix_the_order_and_add_empty_bags():
    bags = Bags.from_arrays([[0.0], [1.0]], ["b", "a"], keys=["a", "x", "b"])
    assert bags.sizes.tolist() == [1, 0, 1]
    assert bags.instances[:, 0].tolist() == [1.0, 0.0]
    with pytest.raises(InputError, match="1 ids in bag_ids are not among keys, such as 'b'"):
        Bags.from_arrays([[0.0], [1.0]], ["b", "a"], keys=["a"])


def test_from_matrix_is_one_bag_a_row():
    bags = Bags.from_matrix([[1.0], [2.0]], keys=["a", "b"])
    assert bags.sizes.tolist() == [1, 1]
    assert bags.keys == ("a", "b")


@pytest.mark.parametrize("library", FRAMES)
def test_from_frame_of_every_library(library):
    df = FRAMES[library](
        {"recording": ["b", "a", "b"], "f1": [1, 2, 3], "note": ["x", "y", "z"], "f2": [0.5, 1, 2]}
    )
    bags = Bags.from_frame(df)
    assert bags.keys == ("b", "a")
    assert bags.feature_names == ("f1", "f2")
    assert bags.instances.tolist() == [[1.0, 0.5], [3.0, 2.0], [2.0, 1.0]]
    assert Bags.from_frame(df, features=["f2"]).feature_names == ("f2",)
    both = Bags.from_frame(df, bag=["recording", "f1"])
    assert both.keys == (("b", 1), ("a", 2), ("b", 3))
    assert both.feature_names == ("f2",)


@pytest.mark.parametrize("library", FRAMES)
def test_a_frame_of_single_precision_stays_so(library):
    df = FRAMES[library]({"recording": [1, 1], "x": np.array([1, 2], dtype=np.float32)})
    assert Bags.from_frame(df).dtype == np.float32


@pytest.mark.parametrize("library", FRAMES)
@pytest.mark.parametrize(
    ("columns", "options", "message"),
    [
        ({"recording": ["a", None], "x": [1.0, 2.0]}, {}, "'recording' has 1 missing .* row 1"),
        ({"recording": ["a", "b"], "x": [None, 2.0]}, {}, "'x' has 1 missing .* row 0"),
        ({"recording": ["a", "b"], "x": [1.0, 2.0]}, {"bag": "site"}, "no column 'site'"),
        ({"recording": ["a", "b"], "x": [1.0, 2.0]}, {"features": ["y"]}, "no column 'y'"),
        ({"recording": ["a", "b"], "x": ["u", "v"]}, {"features": ["x"]}, "'x' has type String"),
        ({"recording": ["a", "b"], "x": ["u", "v"]}, {}, "no numeric column"),
        ({"recording": [1, 2], "x": [1, 2]}, {"features": ["recording"]}, "names the bag"),
        ({"recording": [1, 2], "x": [1, 2]}, {"bag": []}, "bag is an empty list"),
        ({"recording": [1, 2], "x": [1.0, float("inf")]}, {}, "infinity.*bag 2, feature 0"),
    ],
)
def test_what_is_wrong_in_a_frame_is_named(library, columns, options, message):
    with pytest.raises(InputError, match=message):
        Bags.from_frame(FRAMES[library](columns), **options)


def test_only_frames_that_hold_data_are_taken():
    with pytest.raises(InputError, match="collect"):
        Bags.from_frame(pl.LazyFrame({"recording": [1], "x": [1.0]}))
    with pytest.raises(InputError, match="df is a list"):
        Bags.from_frame([1, 2])
    with pytest.raises(InputError, match="same name"):
        Bags.from_frame(pd.DataFrame([[1, 2, 3]], columns=["recording", "x", "x"]))


def test_nullable_and_numbered_pandas_columns():
    df = pd.DataFrame({"recording": ["a", "b"], 0: pd.array([1, 2], dtype="Int64")})
    assert Bags.from_frame(df).instances.tolist() == [[1.0], [2.0]]
    assert Bags.from_frame(df).feature_names == ("0",)


# ---------------------------------------------------------------------- bad input


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: Bags.from_list([[[1.0]], [1.0, 2.0]]), "bag 1 has shape .2,.*reshape"),
        (lambda: Bags.from_list(np.ones((2, 2))), "bag 0 has shape .2,.*reshape"),
        (lambda: Bags.from_list([[[1.0]], [[1.0, 2.0]]], keys="pq"), "keys is 'pq'"),
        (lambda: Bags.from_list([[[1.0]], [[1.0, 2]]]), "bag 1 has 2 features, but bag 0 says 1"),
        (lambda: Bags.from_list([[[1.0]]], n_features=2), "bag 0 has 1 features, but n_features"),
        (lambda: Bags.from_list([[["x"]]]), "bag 0 holds 'x' in feature 0"),
        (lambda: Bags.from_list([[[1.0, "x"]]]), "bag 0 holds 'x' in feature 1"),
        (lambda: Bags.from_list([np.array([["x"]])]), "bag 0 has dtype <U1.*'x'"),
        (lambda: Bags.from_list([[[1.0], [2.0, 3.0]]]), "bag 0 is not an array"),
        (lambda: Bags.from_list([[[1.0]]], keys=["a", "b"]), "2 keys for 1 bags"),
        (lambda: Bags.from_list([[[1.0]]] * 2, keys=["a", "a"]), "key 'a' occurs twice"),
        (lambda: Bags.from_list([[[1.0]]] * 2, keys=[1, None]), "key of bag 1 is None"),
        (lambda: Bags.from_list([[[1.0]]] * 2, keys=[1, (2, float("nan"))]), "missing value"),
        (lambda: Bags.from_list([[[1.0]]] * 2, keys=[1, [2]]), "not hashable"),
        (lambda: Bags.from_matrix([1.0, 2.0]), "X has shape .2,"),
        (lambda: Bags.from_matrix(np.empty((3, 0))), r"0 feature\(s\) \(shape=\(3, 0\)\) while a"),
        (lambda: Bags.from_matrix(sparse.eye_array(2)), "sparse"),
        (lambda: Bags.from_matrix([[1j]]), "Complex data not supported"),
        (lambda: Bags.from_matrix(np.array([[1j]], dtype=object)), "Complex data not supported"),
        (lambda: Bags.from_matrix([[None, 1.0]]), "X holds None in feature 0"),
        (lambda: Bags.from_matrix([[10**400]]), "too large"),
        (lambda: Bags.from_matrix(np.array([["2020"]], dtype="datetime64[D]")), "dtype datetime"),
        (lambda: Bags.from_matrix(np.ma.masked_equal([[1.0, 2.0]], 2.0)), "masked"),
        (lambda: Bags.from_matrix(np.longdouble([[1e300]]) ** 2), "infinity"),
        (lambda: Bags.from_arrays([[1.0]], ["a", "b"]), "2 rows, but X has 1 rows"),
        (lambda: Bags.from_arrays([[1.0]], "a"), "bag_ids is 'a'"),
        (lambda: Bags.from_arrays([[1.0]], 3), "bag_ids is 3"),
        (lambda: Bags.from_arrays([[1.0]], np.array([["a"]])), "bag_ids has shape"),
        (lambda: Bags.from_arrays([[1.0], [2.0]], [1, {}]), "entry 1 of bag_ids is {}"),
        (lambda: Bags.from_arrays([[1.0], [2.0]], [1, None]), "key of bag 1 is None"),
        (lambda: Bags.from_arrays([[1.0], [2.0]], np.array([1, np.nan])), "key of bag 1 is nan"),
        (lambda: Bags([[1.0]], [0, 2]), "offsets runs from 0 to 2.*instances, 1"),
        (lambda: Bags([[1.0]], [0, 2, 1]), "never fall"),
        (lambda: Bags([[1.0]], [0.0, 1.0]), "dtype float64"),
        (lambda: Bags([[1.0]], [0, 1], source_rows=[0, 1]), "source_rows has shape"),
        (lambda: Bags([[1.0]], [0, 1], source_rows=[-1]), "source_rows holds -1"),
        (lambda: Bags([[1.0]], [0, 1], feature_names="x"), "feature_names is 'x'"),
        (lambda: Bags([[1.0, 2.0]], [0, 1], feature_names=["x", "x"]), "2 different names"),
    ],
)
def test_what_is_wrong_is_named(make, message):
    with pytest.raises(InputError, match=message):
        make()


def test_the_first_bad_value_is_named_by_bag_and_feature():
    X = np.zeros((4, 3))
    X[2, 1] = np.nan
    X[3, 0] = np.inf
    with pytest.raises(InputError, match=r"contains NaN\. The first is in bag 'q', feature 1"):
        Bags.from_list([X[:1], X[:0], X[1:]], keys=["p", "o", "q"])
    with pytest.raises(InputError, match=r"contains infinity\. The first is in bag 0, feature 0"):
        Bags.from_list([X[3:]])


def test_an_object_where_a_number_belongs_is_a_type_error_too():
    with pytest.raises(TypeError, match=r"argument must be .* string.* number"):
        Bags.from_matrix(np.array([[{"foo": "bar"}]], dtype=object))


# ---------------------------------------------------------------------- other bags


def test_take_by_position_mask_and_slice():
    bags = simple()
    picked = bags.take([2, 0])
    assert picked.keys == ("c", "a")
    assert picked.instances.tolist() == [[5.0, 6.0], [1.0, 2.0], [3.0, 4.0]]
    assert picked.source_rows.tolist() == [2, 0, 1]
    assert bags.take([-1]) == bags.take([2])
    assert bags.take([True, False, True]) == bags.take([0, 2])
    assert bags.take(slice(None, None, -1)) == bags.take([2, 1, 0])
    assert bags.take(np.array([], dtype=float)).n_bags == 0
    assert bags.take([0, 0], keys="renumber").keys == (0, 1)


@pytest.mark.parametrize(
    ("which", "message"),
    [
        ([3], "no bag at position 3"),
        ([-4], "no bag at position -4"),
        ([True, False], "does not fit 3 bags"),
        ([0.0], "does not fit 3 bags"),
        (["a"], "does not fit 3 bags"),
        ([[0]], "does not fit 3 bags"),
        ([0, 0], "two bags with the key 'a'"),
    ],
)
def test_take_refuses_what_it_cannot_take(which, message):
    with pytest.raises(InputError, match=message):
        simple().take(which)
    with pytest.raises(InputError, match="'error' or 'renumber'"):
        simple().take([0], keys="drop")


def test_concat_stacks_bags_and_their_tables():
    first = Bags.from_arrays([[0.0], [1.0], [2.0]], ["b", "a", "b"])
    second = Bags.from_list([[], [[3.0]]], keys=["c", "d"])
    both = Bags.concat([first, second])
    assert both.keys == ("b", "a", "c", "d")
    assert both.to_source_order(both.instances[:, 0]).tolist() == [0.0, 1.0, 2.0, 3.0]
    with pytest.raises(InputError, match="two bags with the key 'b'"):
        Bags.concat([first, first])
    assert Bags.concat([first, first], keys="renumber").keys == (0, 1, 2, 3)


def test_concat_refuses_what_does_not_go_together():
    with pytest.raises(InputError, match="at least one"):
        Bags.concat([])
    with pytest.raises(InputError, match="Part 1 has 2 features, part 0 has 1"):
        Bags.concat([Bags.from_matrix([[1.0]]), Bags.from_matrix([[1.0, 2.0]], keys=["a"])])
    named = [Bags([[1.0]], [0, 1], [name], None, [name]) for name in "xy"]
    with pytest.raises(InputError, match="different feature names"):
        Bags.concat(named)
    assert Bags.concat([named[0], Bags.from_matrix([[1.0]])]).feature_names is None


def test_with_instances_keeps_the_structure():
    bags = Bags.from_frame(pd.DataFrame({"recording": ["b", "a", "b"], "x": [1, 2, 3]}))
    scaled = bags.with_instances(bags.instances * 2)
    assert scaled.instances[:, 0].tolist() == [2.0, 6.0, 4.0]
    assert (scaled.keys, scaled.feature_names) == (bags.keys, ("x",))
    assert np.array_equal(scaled.source_rows, bags.source_rows)
    assert bags.with_instances(np.ones((3, 2))).feature_names is None
    assert bags.with_instances(np.ones((3, 2)), feature_names=["p", "q"]).n_features == 2
    with pytest.raises(InputError, match=r"X has shape \(2, 1\), but there are 3 instances"):
        bags.with_instances([[1.0], [2.0]])


def test_split_is_disjoint_complete_and_repeatable():
    bags = Bags.from_matrix(np.arange(10.0)[:, None])
    train, test = bags.split(seed=3)
    assert (train.n_bags, test.n_bags) == (7, 3)
    assert sorted(train.keys + test.keys) == list(range(10))
    assert bags.split(seed=3)[0] == train
    assert bags.split(seed=4)[0] != train
    assert train == bags.take(split_indices(10, (0.7, 0.3), seed=3)[0])


@given(
    st.integers(0, 200),
    st.lists(st.integers(1, 20), min_size=1, max_size=5),
    st.integers(0, 2**32),
)
def test_split_indices_are_a_partition_in_proportion(n_bags, weights, seed):
    fractions = np.array(weights) / sum(weights)
    parts = split_indices(n_bags, fractions, seed)
    assert np.array_equal(np.sort(np.concatenate(parts)), np.arange(n_bags))
    assert all(
        abs(len(part) - share * n_bags) < 1 for part, share in zip(parts, fractions, strict=True)
    )


@pytest.mark.parametrize("fractions", [(0.5, 0.6), (1.5, -0.5), (), ((0.5, 0.5),), (1.0, 0.0)])
def test_fractions_that_are_none_are_refused(fractions):
    with pytest.raises(InputError, match="sum is 1"):
        split_indices(10, fractions, seed=0)


@given(bag_sets(), st.data())
def test_take_is_a_loop_over_bags(bags, data):
    index = data.draw(st.permutations(range(bags.n_bags)))
    index = index[: data.draw(st.integers(0, bags.n_bags))]
    taken = bags.take(index)
    assert taken.keys == tuple(bags.keys[i] for i in index)
    assert all(np.array_equal(taken[j], bags[i]) for j, i in enumerate(index))
    assert bags.take(range(bags.n_bags)) == bags
    onward = data.draw(st.permutations(range(len(index))))
    assert taken.take(onward) == bags.take([index[i] for i in onward])


@given(st.lists(bag_sets(), min_size=3, max_size=3))
def test_concat_is_associative_and_take_undoes_it(parts):
    width = min(part.n_features for part in parts)
    a, b, c = (part.with_instances(part.instances[:, :width]) for part in parts)
    one = Bags.concat([Bags.concat([a, b], keys="renumber"), c], keys="renumber")
    two = Bags.concat([a, Bags.concat([b, c], keys="renumber")], keys="renumber")
    assert one == two == Bags.concat([a, b, c], keys="renumber")
    back = one.take(slice(0, a.n_bags))
    assert np.array_equal(back.instances, a.instances)
    assert np.array_equal(back.offsets, a.offsets)


# ---------------------------------------------------------------------- values an instance


@given(bag_sets(), st.integers(0, 3), st.integers(0, 99))
def test_bag_max_and_argmax_are_those_of_a_loop(bags, k, seed):
    shape = (bags.n_instances, k) if k else (bags.n_instances,)
    # Few distinct values, so that there are ties.
    values = np.random.default_rng(seed).integers(-3, 3, size=shape)
    largest, first = bags.bag_max(values), bags.bag_argmax(values)
    assert largest.shape == first.shape == (bags.n_bags, *shape[1:])
    for i in range(bags.n_bags):
        rows = range(bags.offsets[i], bags.offsets[i + 1])
        for column in np.ndindex(shape[1:]):
            listed = [values[(row, *column)] for row in rows]
            expected = max(listed, default=-np.inf)
            assert largest[(i, *column)] == expected
            row = rows[listed.index(expected)] if listed else -1
            assert first[(i, *column)] == row


def test_empty_bags_at_either_end_and_alone():
    bags = Bags.from_list([[], [[1.0]], [], []])
    assert bags.bag_max([2.0]).tolist() == [-np.inf, 2.0, -np.inf, -np.inf]
    assert bags.bag_max(np.float32([2.0]), empty=0.0).dtype == np.float32
    none = Bags.from_list([[], []], n_features=1)
    assert none.bag_max([], empty=7.0).tolist() == [7.0, 7.0]
    assert none.bag_argmax([]).tolist() == [-1, -1]


def test_values_that_do_not_fit_are_refused():
    bags = simple()
    with pytest.raises(InputError, match="but there are 3 instances"):
        bags.bag_max([1.0])
    with pytest.raises(InputError, match="but there are 3 instances"):
        bags.to_source_order(1.0)
    with pytest.raises(InputError, match="real numbers"):
        bags.bag_max(["a", "b", "c"])
    with pytest.raises(InputError, match="NaN"):
        bags.bag_argmax([1.0, np.nan, 2.0])
    assert np.isnan(bags.bag_max([1.0, np.nan, 2.0])[0])


@given(st.lists(KEYS, max_size=12), st.randoms(use_true_random=False))
def test_shuffled_rows_go_back_to_where_they_were(ids, random):
    rows = list(range(len(ids)))
    random.shuffle(rows)
    X = np.arange(len(ids), dtype=float)[rows].reshape(-1, 1)
    bags = Bags.from_arrays(X, [ids[row] for row in rows])
    assert np.array_equal(bags.to_source_order(bags.instances), X)
    assert bags.to_source_order(bags.bag_index).tolist() == [
        bags.keys.index(ids[row]) for row in rows
    ]


def test_source_order_after_take_is_that_of_the_table():
    bags = Bags.from_arrays([[0.0], [1.0], [2.0], [3.0]], ["a", "b", "c", "a"])
    some = bags.take([2, 0])
    assert some.to_source_order(some.instances[:, 0]).tolist() == [0.0, 2.0, 3.0]


# ---------------------------------------------------------------------- round trips


@given(bag_sets())
def test_list_and_arrays_give_the_same_bags(bags):
    plain = Bags(bags.instances, bags.offsets, bags.keys)
    assert Bags.from_list(list(plain), plain.keys, plain.n_features) == plain.with_instances(
        plain.instances if plain.n_instances else plain.instances.astype(np.float64)
    )
    ids = [plain.keys[i] for i in plain.bag_index]
    assert Bags.from_arrays(plain.instances, ids, keys=plain.keys) == plain


@pytest.mark.parametrize("library", FRAMES)
@settings(max_examples=25)
@given(bags=bag_sets(keys=st.text(max_size=3)))
def test_table_and_frame_give_the_same_bags(library, bags):
    full = bags.take(bags.sizes > 0)
    table = full.to_arrow()
    assert table.column_names[0] == "bag"
    assert table.num_rows == full.n_instances
    df = {"pandas": table.to_pandas, "polars": lambda: pl.from_arrow(table)}.get(library)
    df = table if df is None else df()
    back = Bags.from_frame(df, bag="bag")
    names = full.feature_names or tuple(f"feature_{i}" for i in range(full.n_features))
    assert back == Bags(full.instances, full.offsets, full.keys, None, names)


@settings(max_examples=40)
@given(bags=bag_sets())
def test_parquet_gives_back_equal_bags(bags, tmp_path_factory):
    path = tmp_path_factory.mktemp("parquet") / "bags.parquet"
    bags.to_parquet(path)
    back = Bags.from_parquet(path)
    assert back == bags
    assert [type(key) for key in back.keys] == [type(key) for key in bags.keys]
    assert back.fingerprint() == bags.fingerprint()
    assert list(path.parent.iterdir()) == [path]


def test_a_table_names_the_bag_even_if_a_feature_does():
    bags = Bags([[1.0, 2.0]], [0, 1], [("a", 1)], None, ["bag", "source_row"])
    assert bags.to_arrow().column_names == ["bag_", "bag", "source_row"]
    assert bags.to_arrow()["bag_"].to_pylist() == ["('a', 1)"]


def test_unusual_keys_in_tables(tmp_path: Path):
    bags = Bags.from_matrix([[1.0], [2.0], [3.0]], keys=["\udcff", 2**70, True])
    assert bags.to_arrow()["bag"].to_pylist() == ["\\udcff", str(2**70), "True"]
    bags.to_parquet(tmp_path / "bags.parquet")
    assert Bags.from_parquet(tmp_path / "bags.parquet") == bags
    huge = Bags.from_matrix([[1.0]], keys=[2**70])
    assert huge.to_arrow()["bag"].to_pylist() == [str(2**70)]
    assert Bags.from_matrix([[1.0]], keys=[4]).to_arrow()["bag"].to_pylist() == [4]


def test_keys_that_a_file_cannot_hold_are_refused_before_writing(tmp_path: Path):
    bags = Bags.from_matrix([[1.0]], keys=[frozenset("a")])
    with pytest.raises(InputError, match="is or holds a frozenset"):
        bags.to_parquet(tmp_path / "bags.parquet")
    assert not list(tmp_path.iterdir())


def test_a_failed_write_leaves_the_old_file(tmp_path: Path, monkeypatch):
    path = tmp_path / "bags.parquet"
    simple().to_parquet(path)

    def fail(table, where, **options):
        Path(where).write_bytes(b"half")
        raise OSError("disk full")

    monkeypatch.setattr(pq, "write_table", fail)
    with pytest.raises(OSError, match="disk full"):
        simple().take([0]).to_parquet(path)
    assert Bags.from_parquet(path) == simple()
    assert list(tmp_path.iterdir()) == [path]


def written(tmp_path: Path, **changes) -> Path:
    """A file as this version writes it, with changes in its head."""
    path = tmp_path / "bags.parquet"
    simple().to_parquet(path)
    table = pq.read_table(path)
    head = json.loads(table.schema.metadata[b"raravis"])
    head.update(changes)
    pq.write_table(table.replace_schema_metadata({b"raravis": json.dumps(head)}), path)
    return path


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"version": 2}, "format version 2, but this raravis reads up to 1; update"),
        ({"format": "other"}, "not those of bags"),
        ({"keys": None}, "metadata are incomplete"),
        ({"keys": ["a", "b", "b"]}, "occurs twice"),
        ({"keys": ["a", "b", "x"]}, "does not match its checksum"),
        ({"offsets": [0, 1, 2, 3]}, "does not match its checksum"),
        ({"offsets": [0, 1, "x"]}, "is damaged"),
        ({"keys": ["a", "b", {"c": 1}]}, "not hashable"),
    ],
)
def test_a_file_that_was_altered_or_is_newer_says_so(tmp_path: Path, changes, message):
    with pytest.raises(InputError, match=message):
        Bags.from_parquet(written(tmp_path, **changes))


def test_an_unchanged_head_still_reads(tmp_path: Path):
    assert Bags.from_parquet(written(tmp_path)) == simple()


def test_a_foreign_or_missing_file(tmp_path: Path):
    path = tmp_path / "foreign.parquet"
    pq.write_table(pa.table({"x": [1.0]}), path)
    with pytest.raises(InputError, match=r"use Bags\.from_frame"):
        Bags.from_parquet(path)
    path.write_text("recording,x\n")
    with pytest.raises(InputError, match="not a Parquet file"):
        Bags.from_parquet(path)
    with pytest.raises(FileNotFoundError):
        Bags.from_parquet(tmp_path / "none.parquet")


def test_a_head_that_is_no_json(tmp_path: Path):
    path = tmp_path / "bags.parquet"
    table = simple().to_arrow()
    for text in (b"{", b"[]"):
        pq.write_table(table.replace_schema_metadata({b"raravis": text}), path)
        with pytest.raises(InputError, match="is damaged"):
            Bags.from_parquet(path)


def test_a_truncated_file_is_refused_wherever_it_was_cut(tmp_path: Path):
    path = tmp_path / "bags.parquet"
    simple().to_parquet(path)
    whole = path.read_bytes()
    for size in range(0, len(whole), 37):
        path.write_bytes(whole[:size])
        with pytest.raises(InputError, match="truncated"):
            Bags.from_parquet(path)


def test_a_flipped_bit_never_gives_other_bags(tmp_path: Path):
    path = tmp_path / "bags.parquet"
    simple().to_parquet(path)
    whole = path.read_bytes()
    refused = 0
    for position in range(4, len(whole), 11):
        changed = bytearray(whole)
        changed[position] ^= 0x10
        path.write_bytes(changed)
        try:
            assert Bags.from_parquet(path) == simple()
        except InputError:
            refused += 1
    assert refused > 20


# ---------------------------------------------------------------------- the door


def test_bags_go_through_the_door_untouched():
    bags = simple()
    assert as_bags(bags) is bags
    assert as_bags(bags, n_features=2) is bags


@pytest.mark.parametrize(
    ("data", "sizes"),
    [
        ([[1.0, 2.0], [3.0, 4.0]], [1, 1]),
        (((1, 2), (3, 4), (5, 6)), [1, 1, 1]),
        (np.ones((2, 2)), [1, 1]),
        (np.ones((3, 4, 2)), [4, 4, 4]),
        (np.ones((3, 0, 2)), [0, 0, 0]),
        ([np.ones((2, 2)), np.ones((1, 2))], [2, 1]),
        ([[[1.0, 2.0]], [], [[3.0, 4.0], [5.0, 6.0]]], [1, 0, 2]),
        ((np.ones((2, 2)), []), [2, 0]),
        ([[], []], [0, 0]),
        (np.array([np.ones((2, 2)), np.ones((1, 2))], dtype=object), [2, 1]),
        ([pd.DataFrame(np.ones((2, 2)))], [2]),
        ([[np.float64(1), np.float64(2)]], [1]),
    ],
    ids=range(12),
)
def test_what_users_pass_becomes_bags(data, sizes):
    bags = as_bags(data, n_features=2)
    assert bags.sizes.tolist() == sizes
    assert bags.n_features == 2


class NotAnArray:
    def __array__(self, dtype=None, copy=None):
        return np.ones((3, 2))


def test_array_likes_and_memory_maps(tmp_path: Path):
    assert as_bags(NotAnArray()).n_bags == 3
    np.save(tmp_path / "x.npy", np.ones((3, 2)))
    assert as_bags(np.load(tmp_path / "x.npy", mmap_mode="r")).n_bags == 3


@pytest.mark.parametrize(
    ("data", "message"),
    [
        ([1.0, 2.0], "Reshape your data"),
        (np.ones(3), "Reshape your data"),
        ([np.ones(3), np.ones(3)], "Reshape your data"),
        (1.0, "Reshape your data"),
        (np.ones((1, 1, 1, 1)), "Reshape your data"),
        ([], r"0 sample\(s\)"),
        (np.empty((0, 3)), r"0 sample\(s\) \(shape=\(0, 3\)\) while a minimum of 1"),
        (np.empty((12, 0)), r"0 feature\(s\) \(shape=\(12, 0\)\) while a minimum of 1 is req"),
        (sparse.csr_array(np.eye(3)), "sparse"),
        (np.array([[1 + 1j]]), "Complex data not supported"),
        (pd.DataFrame({"x": [1.0]}), "Bags.from_frame"),
        (pl.DataFrame({"x": [1.0]}), "Bags.from_frame"),
        (pl.LazyFrame({"x": [1.0]}), "Bags.from_frame"),
        (pa.table({"x": [1.0]}), "Bags.from_frame"),
        (np.array([[1.0, np.nan]]), "contains NaN"),
        (np.array([[1.0, np.inf]]), "contains infinity"),
        ([["a", "b"]], "holds 'a'"),
        ([[1.0], [2.0, 3.0]], "not an array"),
        ("bags.csv", "Reshape your data"),
    ],
    ids=range(19),
)
def test_the_door_refuses_with_advice(data, message):
    with pytest.raises(InputError, match=message):
        as_bags(data)


def test_the_number_of_features_is_checked_in_known_words():
    message = "X has 2 features, but KernelScorer is expecting 3 features as input"
    with pytest.raises(InputError, match=message):
        as_bags(simple(), n_features=3, what="KernelScorer")
    with pytest.raises(InputError, match=message):
        as_bags(np.ones((4, 2)), n_features=3, what="KernelScorer")
