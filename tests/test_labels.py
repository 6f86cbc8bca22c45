"""BagLabels: three states a bag and class, and reviewed-empty kept apart from unlabelled."""

import enum
import pickle

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import sparse

from raravis import BagLabels, Bags
from raravis.errors import InputError, RaravisWarning
from raravis.labels import ABSENT, PRESENT, UNKNOWN, as_labels

FRAMES = {
    "pandas": pd.DataFrame,
    "polars": pl.DataFrame,
    "pyarrow": pa.table,
}
CLASSES = st.sampled_from(["owl", "wren", "crow", "robin"])
SETS = st.lists(st.one_of(st.none(), st.sets(CLASSES)), max_size=6)


class Species(enum.Enum):
    OWL = 1


@st.composite
def status_labels(draw, keys=None, max_bags=5):
    """Labels of any states over some classes."""
    n_bags = len(keys) if keys is not None else draw(st.integers(0, max_bags))
    classes = draw(st.lists(CLASSES, unique=True, max_size=4))
    cells = st.lists(st.sampled_from([-1, 0, 1]), min_size=len(classes), max_size=len(classes))
    status = [draw(cells) for _ in range(n_bags)]
    return BagLabels.from_status(np.reshape(status, (n_bags, len(classes))), classes, keys)


def bags_of(*keys):
    return Bags.from_matrix(np.zeros((len(keys), 1)), keys=keys)


def three():
    return BagLabels.from_sets([{"owl", "wren"}, set(), None], keys=["a", "b", "c"])


# ---------------------------------------------------------------------- what there is


def test_labels_say_what_is_known():
    labels = three()
    assert labels.classes == ("owl", "wren")
    assert labels.status.tolist() == [[PRESENT] * 2, [ABSENT] * 2, [UNKNOWN] * 2]
    assert labels.status.dtype == np.int8
    assert (labels.n_bags, labels.n_classes, len(labels)) == (3, 2, 3)
    assert labels.present.tolist() == [[True] * 2, [False] * 2, [False] * 2]
    assert labels.absent.tolist() == [[False] * 2, [True] * 2, [False] * 2]
    assert labels.unknown.tolist() == [[False] * 2, [False] * 2, [True] * 2]
    assert labels.reviewed.tolist() == [True, True, False]
    assert labels.unlabelled.tolist() == [False, False, True]
    assert labels.counts() == {"owl": 1, "wren": 1}
    assert repr(labels) == "BagLabels(3 bags, 2 classes, 1 reviewed and empty, 1 unlabelled)"


def test_nothing_in_labels_can_be_changed():
    labels = three()
    for array in (labels.status, labels.reviewed):
        with pytest.raises(ValueError, match="read-only"):
            array[0] = 0
    with pytest.raises(AttributeError):
        labels.classes = ()
    with pytest.raises(TypeError, match="unhashable"):
        hash(labels)


def test_what_was_passed_stays_as_it_was():
    status = np.array([[1, -1]], dtype=np.int8)
    labels = BagLabels.from_status(status, ["a", "b"])
    status[0, 0] = 0
    assert labels.status.tolist() == [[1, -1]]


def test_a_pickled_copy_is_equal_and_read_only():
    copy = pickle.loads(pickle.dumps(three()))
    assert copy == three()
    assert not copy.status.flags.writeable


@pytest.mark.parametrize(
    "other",
    [
        BagLabels.from_sets([{"owl", "wren"}, set(), None]),
        BagLabels.from_sets([{"owl", "wren"}, set(), None], keys=["a", "b", "d"]),
        BagLabels.from_sets([{"owl", "wren"}, None, None], keys=["a", "b", "c"]),
        BagLabels.from_sets([{"owl", "crow"}, set(), None], keys=["a", "b", "c"]),
        "labels",
    ],
)
def test_any_difference_shows_in_equality(other):
    assert three() == three()
    assert three() != other


def test_reviewed_empty_is_not_unlabelled_even_without_classes():
    empty, unseen = BagLabels.from_sets([set()]), BagLabels.from_sets([None])
    assert empty.n_classes == unseen.n_classes == 0
    assert empty != unseen
    assert (empty.to_sets(), unseen.to_sets()) == ([set()], [None])
    assert three().restrict([]).to_sets() == [set(), set(), None]
    assert pickle.loads(pickle.dumps(empty)) == empty


# ---------------------------------------------------------------------- constructors


def test_from_sets_takes_any_collection():
    items = [["b"], ("a",), {"a": 1}, np.array(["a", "b"]), frozenset("a"), pd.Series(["b"])]
    labels = BagLabels.from_sets(items)
    assert labels.to_sets() == [{"b"}, {"a"}, {"a"}, {"a", "b"}, {"a"}, {"b"}]


def test_classes_are_plain_values():
    labels = BagLabels.from_sets([np.array([3, 1]), {np.str_("a")}])
    assert labels.classes == (3, 1, "a")
    assert [type(label) for label in labels.classes] == [int, int, str]


def test_classes_are_sorted_or_in_order_of_appearance():
    assert BagLabels.from_sets([{3}, {1}, {2}]).classes == (1, 2, 3)
    assert BagLabels.from_sets([["b"], [2], ["a"]]).classes == ("b", 2, "a")
    assert BagLabels.from_sets([{"b"}, {"c"}], classes=["c", "a", "b"]).classes == ("c", "a", "b")
    assert BagLabels.from_sets([], classes={"c", "a", "b"}).classes == ("a", "b", "c")
    mixed = BagLabels.from_sets([{"b", 2, "a", (1,)}]).classes
    assert mixed == (2, "a", "b", (1,))


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (
            lambda: BagLabels.from_sets([{"a"}, "abc"]),
            "label set of bag 1 is the string 'abc'; write {'abc'}",
        ),
        (lambda: BagLabels.from_sets([b"abc"]), "label set of bag 0 is the string b'abc'"),
        (lambda: BagLabels.from_sets([5]), r"label set of bag 0 is 5; write \{5\}"),
        (lambda: BagLabels.from_sets([float("nan")]), "is nan.* None for a bag"),
        (lambda: BagLabels.from_sets([{None}]), "class in the label set of bag 0 is None"),
        (lambda: BagLabels.from_sets([[np.nan]]), "class in the label set of bag 0 is nan"),
        (lambda: BagLabels.from_sets([[["a"]]]), "not hashable"),
        (lambda: BagLabels.from_sets("abc"), "sets is a str"),
        (lambda: BagLabels.from_sets({"a": {1}}), "from_mapping"),
        (lambda: BagLabels.from_sets([{"a"}], classes=["b"]), "bag 0 has the class 'a', .* 'b'"),
        (lambda: BagLabels.from_sets([], classes="ab"), "classes is 'ab'"),
        (lambda: BagLabels.from_sets([], classes=["b", "b"]), "class 'b' occurs twice"),
        (lambda: BagLabels.from_sets([], classes=["b", None]), "class 1 is None"),
        (lambda: BagLabels.from_sets([{"a"}], keys=["x", "y"]), "2 keys for 1 bags"),
        (lambda: BagLabels.from_sets([{"a"}] * 2, keys=["x", "x"]), "key 'x' occurs twice"),
        (lambda: BagLabels.from_matrix([[0, 2]]), "hold 2 in row 0, column 1.*from_status"),
        (lambda: BagLabels.from_matrix([[0], [-1]]), "hold -1 in row 1, column 0"),
        (lambda: BagLabels.from_matrix([[np.inf]]), "hold inf in row 0"),
        (lambda: BagLabels.from_matrix(np.array([["1"]])), "dtype <U1"),
        (lambda: BagLabels.from_matrix(np.array([["1"]], object)), "hold '1' in row 0"),
        (lambda: BagLabels.from_matrix([0, 1]), r"shape \(2,\); it must have two axes"),
        (lambda: BagLabels.from_matrix([[0, 1]], classes=["a"]), r"shape \(1, 2\).*\(n_bags, 1\)"),
        (lambda: BagLabels.from_matrix(sparse.eye_array(2)), "sparse"),
        (lambda: BagLabels.from_status([[2]], ["a"]), "hold 2 in row 0, column 0; write 1 for"),
        (lambda: BagLabels.from_status([[np.nan]], ["a"]), "hold nan in row 0"),
        (lambda: BagLabels.from_status([["a"]], ["a"]), "dtype <U1"),
        (lambda: BagLabels.from_status([1], ["a"]), r"shape \(1,\)"),
        (lambda: BagLabels((), np.empty((2, 0)), None, [True]), "reviewed has shape"),
        (lambda: BagLabels.concat([]), "at least one BagLabels"),
    ],
)
def test_what_is_wrong_is_named(make, message):
    with pytest.raises(InputError, match=message):
        make()


def test_from_matrix_reads_one_zero_and_missing():
    labels = BagLabels.from_matrix([[1, 0], [0, np.nan], [np.nan, np.nan]])
    assert labels.status.tolist() == [[1, -1], [-1, 0], [0, 0]]
    assert labels.classes == (0, 1)
    assert labels.reviewed.tolist() == [True, True, False]
    assert BagLabels.from_matrix(np.array([[True, False]])).status.tolist() == [[1, -1]]
    assert BagLabels.from_matrix(np.array([[1, None]], dtype=object)).status.tolist() == [[1, 0]]
    named = BagLabels.from_matrix([[1, 0]], classes=["x", "a"], keys=["k"])
    assert (named.classes, named.keys) == (("x", "a"), ("k",))


@pytest.mark.parametrize("library", FRAMES)
@pytest.mark.parametrize(
    "columns",
    [{"wren": [1, 0, None], "owl": [0, 1, 1]}, {"wren": [True, False, None], "owl": [0, 1, 1]}],
    ids=["numbers", "bools"],
)
def test_an_indicator_frame_names_its_classes(library, columns):
    labels = BagLabels.from_matrix(FRAMES[library](columns))
    assert labels.classes == ("wren", "owl")
    assert labels.status.tolist() == [[1, -1], [-1, 1], [0, 1]]


@pytest.mark.parametrize("library", FRAMES)
def test_from_frame_reads_texts(library):
    df = FRAMES[library](
        {
            "recording": ["r1", "r2", "r3", "r4"],
            "species": ["owl; wren", "", None, " crow ;;owl;"],
        }
    )
    labels = BagLabels.from_frame(df, bag="recording", labels="species")
    assert labels.keys == ("r1", "r2", "r3", "r4")
    assert labels.to_sets() == [{"owl", "wren"}, set(), None, {"crow", "owl"}]
    assert labels.classes == ("crow", "owl", "wren")


@pytest.mark.parametrize("library", FRAMES)
def test_from_frame_reads_lists(library):
    df = FRAMES[library]({"bag": [1, 2, 3], "labels": [["a", "b"], [], None]})
    labels = BagLabels.from_frame(df, bag="bag", labels="labels")
    assert labels.to_sets() == [{"a", "b"}, set(), None]


def test_from_frame_reads_other_cells():
    df = pd.DataFrame({"bag": [1, 2, 3], "labels": [{"a"}, np.array(["b", "a"]), None]})
    labels = BagLabels.from_frame(df, bag="bag", labels="labels")
    assert labels.to_sets() == [{"a"}, {"a", "b"}, None]
    df = pl.DataFrame({"bag": [1, 2], "labels": [7, None]})
    assert BagLabels.from_frame(df, bag="bag", labels="labels").to_sets() == [{7}, None]


@pytest.mark.parametrize("library", FRAMES)
def test_from_frame_with_a_row_for_each_class(library):
    df = FRAMES[library](
        {
            "site": ["s", "s", "s", "t", "s"],
            "file": [1, 2, 1, 1, 3],
            "species": ["owl", "wren; owl", "wren ", None, ""],
        }
    )
    labels = BagLabels.from_frame(df, bag=["site", "file"], labels="species", one_per_row=True)
    assert labels.keys == (("s", 1), ("s", 2), ("t", 1), ("s", 3))
    assert labels.to_sets() == [{"owl", "wren"}, {"wren; owl"}, set(), set()]


@pytest.mark.parametrize("library", FRAMES)
def test_from_frame_names_what_is_wrong(library):
    make = FRAMES[library]
    twice = make({"bag": ["r", "r"], "labels": ["a", "b"]})
    with pytest.raises(InputError, match=r"bag 'r' has a second row, 1; .*one_per_row"):
        BagLabels.from_frame(twice, bag="bag", labels="labels")
    with pytest.raises(InputError, match="no column 'species' for the labels"):
        BagLabels.from_frame(twice, bag="bag", labels="species")
    with pytest.raises(InputError, match="no column 'site' for the bag"):
        BagLabels.from_frame(twice, bag="site", labels="labels")
    with pytest.raises(InputError, match="'bag' has 1 missing"):
        BagLabels.from_frame(
            make({"bag": ["r", None], "labels": ["a", "b"]}), bag="bag", labels="labels"
        )
    with pytest.raises(InputError, match="class 'b', which is not among"):
        BagLabels.from_frame(
            twice, bag="bag", labels="labels", one_per_row=True, classes=["a", "c"]
        )


def test_from_mapping_has_keys():
    labels = BagLabels.from_mapping({"r2": {"owl"}, "r1": None})
    assert labels.keys == ("r2", "r1")
    assert labels.to_sets() == [{"owl"}, None]


def test_from_instances_is_the_union():
    bags = Bags.from_list([[[0.0]] * 3, [], [[0.0]] * 2], keys=["a", "b", "c"])
    instance_labels = np.array([2, 1, 2, 3, -1])
    labels = BagLabels.from_instances(bags, instance_labels, novel=-1)
    assert labels.to_sets() == [{1, 2}, set(), {3}]
    assert labels.keys == bags.keys
    known = BagLabels.from_instances(bags, instance_labels, classes=[1, 2])
    assert known.to_sets() == [{1, 2}, set(), set()]
    assert known.reviewed.all()
    none = BagLabels.from_instances(bags, [None] * 5)
    assert none.to_sets() == [set(), set(), set()]
    assert BagLabels.from_instances(bags, [1.0, np.nan, 1.0, 2.0, np.nan]).classes == (1.0, 2.0)
    with pytest.raises(InputError, match="2 instance labels for 5 instances"):
        BagLabels.from_instances(bags, [1, 2])


@given(st.lists(st.lists(CLASSES, max_size=4), max_size=5))
def test_from_instances_is_from_sets_of_each_bag(per_bag):
    bags = Bags.from_list([np.zeros((len(item), 1)) for item in per_bag], n_features=1)
    flat = [label for item in per_bag for label in item]
    assert BagLabels.from_instances(bags, flat) == BagLabels.from_sets(per_bag, keys=bags.keys)


# ---------------------------------------------------------------------- round trips


@given(SETS)
def test_sets_matrix_and_status_tell_the_same(sets):
    labels = BagLabels.from_sets(sets)
    assert labels.to_sets() == sets
    if labels.n_classes:
        matrix = np.where(labels.unknown, np.nan, labels.present)
        assert BagLabels.from_matrix(matrix, labels.classes) == labels
        assert BagLabels.from_status(labels.status, labels.classes) == labels
    assert BagLabels.from_mapping(dict(enumerate(sets))).to_sets() == sets


@given(status_labels())
def test_every_entry_is_in_one_of_three_states(labels):
    assert np.all(labels.present.astype(int) + labels.absent + labels.unknown == 1)
    assert np.array_equal(labels.reviewed, (~labels.unknown).any(axis=1))
    assert list(labels.counts().values()) == labels.present.sum(axis=0).tolist()


def test_arrow_table_has_three_states():
    table = three().to_arrow()
    assert table.to_pydict() == {
        "bag": ["a", "b", "c"],
        "owl": [True, False, None],
        "wren": [True, False, None],
    }
    assert BagLabels.from_matrix(table.drop_columns("bag"), keys=three().keys) == three()
    assert BagLabels.from_sets([{"bag"}], keys=["k"]).to_arrow().column_names == ["bag_", "bag"]
    assert BagLabels.from_sets([{1}]).to_arrow().column_names == ["1"]


# ---------------------------------------------------------------------- other labels


def test_take_is_that_of_bags():
    labels = three()
    assert labels.take([2, 0]).keys == ("c", "a")
    assert labels.take([2, 0]).to_sets() == [None, {"owl", "wren"}]
    assert labels.take([True, False, True]) == labels.take([0, 2])
    assert labels.take(slice(1, None)) == labels.take([1, 2])
    with pytest.raises(InputError, match="no bag at position 3"):
        labels.take([3])
    with pytest.raises(InputError, match="occurs twice"):
        labels.take([0, 0])
    assert BagLabels.from_sets([{1}]).take([0, 0]).n_bags == 2


@given(status_labels(), st.data())
def test_take_composes(labels, data):
    order = data.draw(st.permutations(range(labels.n_bags)))
    again = data.draw(st.permutations(range(labels.n_bags)))
    assert labels.take(order).take(again) == labels.take([order[i] for i in again])
    assert labels.take(np.argsort(order)).take(order) == labels


def test_concat_and_a_class_that_a_part_has_not_heard_of():
    parts = [BagLabels.from_sets([{"owl"}, None]), BagLabels.from_sets([{"wren"}])]
    labels = BagLabels.concat(parts)
    assert labels.classes == ("owl", "wren")
    assert labels.status.tolist() == [[1, 0], [0, 0], [0, 1]]
    assert labels.keys is None
    absent = BagLabels.concat(parts, missing="absent")
    assert absent.status.tolist() == [[1, -1], [0, 0], [-1, 1]]
    with pytest.raises(InputError, match="missing is 'no'; it must be 'unknown' or 'absent'"):
        BagLabels.concat(parts, missing="no")


def test_concat_joins_keys():
    one, two = three().take([0]), three().take([2])
    assert BagLabels.concat([one, two]).keys == ("a", "c")
    assert BagLabels.concat([one, one], keys="renumber").keys == (0, 1)
    assert BagLabels.concat([one, BagLabels.from_sets([{"owl"}])]).keys is None
    with pytest.raises(InputError, match="two bags with the key 'a'"):
        BagLabels.concat([one, one])


@given(st.lists(status_labels(), min_size=3, max_size=3), st.sampled_from(["unknown", "absent"]))
def test_concat_is_associative(parts, missing):
    # Classes in sorted order: an order of its own does not outlive a union.
    a, b, c = (part.with_classes(sorted(part.classes)) for part in parts)
    join = lambda *these: BagLabels.concat(these, missing=missing)  # noqa: E731
    assert join(join(a, b), c) == join(a, join(b, c)) == join(a, b, c)
    assert join(a) == a


def test_concat_keeps_the_order_of_common_classes():
    part = BagLabels.from_sets([{"a"}], classes=["b", "a"])
    assert BagLabels.concat([part, part]).classes == ("b", "a")


def test_align_follows_the_bags():
    aligned = three().align(bags_of("c", "a", "b"))
    assert aligned.keys == ("c", "a", "b")
    assert aligned.to_sets() == [None, {"owl", "wren"}, set()]


def test_align_with_bags_that_differ():
    labels = three()
    with pytest.raises(InputError, match=r"1 labelled bags are not in the data .*: 'b'"):
        labels.align(bags_of("c", "a"))
    assert labels.align(bags_of("c", "a"), extra="ignore") == labels.take([2, 0])
    with pytest.raises(InputError, match=r"no labels for 1 bags .*: 'd'"):
        labels.align(bags_of("c", "d", "b", "a"))
    filled = labels.align(bags_of("c", "d", "b", "a"), missing="unlabelled")
    assert filled.to_sets() == [None, None, set(), {"owl", "wren"}]
    nothing = BagLabels.from_sets([], classes=["owl"], keys=[])
    assert nothing.align(bags_of("a"), missing="unlabelled").to_sets() == [None]
    many = bags_of(*range(9))
    with pytest.raises(InputError, match=r"no labels for 9 bags .*: 0, 1, 2, 3, 4, \.\.\.;"):
        labels.align(many, extra="ignore")
    with pytest.raises(InputError, match="extra is 'drop'; it must be 'error' or 'ignore'"):
        labels.align(many, extra="drop")
    with pytest.raises(InputError, match="missing is 'drop'"):
        labels.align(many, missing="drop")
    with pytest.raises(InputError, match="no keys to match bags by"):
        BagLabels.from_sets([{1}]).align(many)


@given(status_labels(keys=tuple("abcd")), st.permutations(range(4)))
def test_align_undoes_a_permutation(labels, order):
    bags = bags_of(*"abcd")
    assert labels.take(order).align(bags) == labels
    assert labels.align(bags.take(order)) == labels.take(order)


def test_restrict_hides_classes():
    labels = BagLabels.from_sets([{"a", "b"}, {"c"}, None])
    assert labels.restrict(["c", "a"]).classes == ("a", "c")
    assert labels.restrict({"a"}).to_sets() == [{"a"}, set(), None]
    with pytest.raises(InputError, match="no classes 'x' to keep; there are 'a', 'b', 'c'"):
        labels.restrict(["a", "x"])


def test_a_bag_with_nothing_known_of_the_classes_left_is_unlabelled():
    labels = BagLabels.from_status([[1, 0]], ["a", "b"])
    assert labels.restrict(["b"]).to_sets() == [None]


def test_with_classes_reorders_and_adds():
    labels = BagLabels.from_sets([{"a"}, None], classes=["a", "b"])
    assert labels.with_classes(["c", "b", "a"]).status.tolist() == [[0, -1, 1], [0, 0, 0]]
    wide = labels.with_classes(["c", "b", "a"], missing="absent")
    assert wide.status.tolist() == [[-1, -1, 1], [0, 0, 0]]
    with pytest.raises(InputError, match="have classes 'b', which are not among 'a'"):
        labels.with_classes(["a"])


def test_rename_refuses_strangers_and_clashes():
    labels = three()
    assert labels.rename({"owl": "Strix"}).classes == ("Strix", "wren")
    with pytest.raises(InputError, match="no classes 'crow' to rename"):
        labels.rename({"crow": "Corvus"})
    with pytest.raises(InputError, match="'wren' occurs twice"):
        labels.rename({"owl": "wren"})


@given(status_labels())
def test_rename_changes_names_only(labels):
    numbers = {label: i for i, label in enumerate(labels.classes)}
    renamed = labels.rename(numbers)
    assert np.array_equal(renamed.status, labels.status)
    assert renamed.rename({i: label for label, i in numbers.items()}) == labels
    expected = [None if s is None else {numbers[c] for c in s} for s in labels.to_sets()]
    assert renamed.to_sets() == expected


# ---------------------------------------------------------------------- the door


@pytest.mark.parametrize(
    "labels",
    [
        [{"x", "y"}, set(), None],
        [["x", "y"], [], None],
        (("x", "y"), (), None),
        np.array([{"x", "y"}, set(), None], dtype=object),
        pd.Series([{"x", "y"}, set(), None]),
        pl.Series([["x", "y"], [], None]),
        {"c": None, "a": {"x", "y"}, "b": set()},
        BagLabels.from_sets([{"x", "y"}, set(), None]),
        BagLabels.from_mapping({"b": set(), "a": {"x", "y"}, "c": None}),
        pd.DataFrame({"x": [1, 0, None], "y": [1, 0, None]}),
        pl.DataFrame({"x": [1, 0, None], "y": [1, 0, None]}),
        pa.table({"x": [1, 0, None], "y": [1, 0, None]}),
    ],
    ids=range(12),
)
def test_all_that_users_pass_as_label_sets(labels):
    bags = bags_of("a", "b", "c")
    expected = BagLabels.from_sets([{"x", "y"}, set(), None], keys=bags.keys)
    assert as_labels(labels, bags) == expected
    wide = BagLabels.from_sets([{"x", "y"}, set(), None], classes=["z", "y", "x"], keys=bags.keys)
    assert as_labels(labels, bags, classes=["z", "y", "x"]) == wide
    with pytest.raises(InputError, match=r"'y'.* not among"):
        as_labels(labels, bags, classes=["x"])


def test_an_indicator_matrix():
    labels = as_labels(np.array([[1, 0], [0, np.nan]]), bags_of("a", "b"))
    assert labels.status.tolist() == [[1, -1], [-1, 0]]
    assert labels.keys == ("a", "b")
    column = as_labels(np.array([[1], [0]]), bags_of("a", "b"))
    assert column.status.tolist() == [[1], [-1]]


@pytest.mark.parametrize(
    "labels",
    [
        np.array([5, 3]),
        [5, 3],
        [np.int64(5), 3.0],
        pd.Series([5, 3]),
        pl.Series([5, 3]),
        np.array([5, 3], dtype=object),
        np.array([5.0, 3.0]),
    ],
    ids=range(7),
)
def test_numbers_are_one_class_a_bag(labels):
    assert as_labels(labels, bags_of("a", "b")).to_sets() == [{5}, {3}]


@pytest.mark.parametrize("make", [np.array, pd.Series, pl.Series, lambda x: np.array(x, object)])
def test_arrays_of_text_are_one_class_a_bag(make):
    assert as_labels(make(["owl", "wren"]), bags_of("a", "b")).to_sets() == [{"owl"}, {"wren"}]


def test_a_column_of_classes_is_one_class_a_bag_with_a_warning():
    with pytest.warns(RaravisWarning, match="A column-vector y was passed when a 1d array"):
        labels = as_labels(np.array([[0], [2]]), bags_of("a", "b"))
    assert labels.to_sets() == [{0}, {2}]


@pytest.mark.parametrize(
    ("labels", "message"),
    [
        (None, "requires y to be passed, but the target y is None"),
        ("owl", "The labels are 'owl'"),
        ({"owl", "wren"}, "give a list with one set"),
        (({"owl"} for _ in range(2)), "give a list with one set"),
        (3, "The labels are 3"),
        (np.array(3), "must have two axes"),
        (np.zeros((2, 2, 2)), "must have two axes"),
        (["owl", "wren"], "label set of bag 0 is the string 'owl'; write {'owl'}"),
        ([Species.OWL, Species.OWL], "label set of bag 0 is <Species.OWL"),
        ([{"owl"}], "labels for 1 bags, but 2 bags in the data"),
        ([{"owl"}] * 3, "labels for 3 bags, but 2 bags in the data"),
        (np.zeros((3, 2)), "labels for 3 bags, but 2 bags in the data"),
        (np.array([1.0, np.nan]), r"Input y contains NaN\."),
        (np.array(["a", None], dtype=object), "label set of bag 0 is the string 'a'"),
        (np.array([1.0, np.inf]), "Input y contains infinity"),
        ([1.0, float("nan")], r"Input y contains NaN\."),
        (sparse.csr_array(np.eye(2)), "sparse"),
        ([[1, 0], [0, 1]], "lists of 2 zeros and ones each"),
        ([[1, 0, 0], [0, 1, 1]], "lists of 3 zeros and ones each"),
        ({"a": {"owl"}}, "no labels for 1 bags .1 bags in the labels, 2 in the data.: 'b'"),
        ({"a": {"owl"}, "b": None, "z": None}, "3 bags in the labels, 2 in the data.: 'z'"),
        ({"a": {"owl"}, "z": None}, "no labels for 1 bags"),
        (pd.DataFrame({"bag": ["a", "b"]}), "hold 'a' in row 0, column 0"),
    ],
    ids=range(23),
)
def test_the_door_refuses_with_advice(labels, message):
    with pytest.raises(InputError, match=message):
        as_labels(labels, bags_of("a", "b"))


def test_labels_without_keys_take_those_of_the_bags():
    bags = bags_of("a", "b")
    assert as_labels([{"x"}, None], bags).keys == ("a", "b")
    made = BagLabels.from_sets([{"x"}, None], keys=["a", "b"])
    assert as_labels(made, bags) is made


@pytest.mark.data
def test_real_data_goes_through(real_data):
    rows = np.genfromtxt(
        real_data / "hja_birdsong" / "hja_birdsong_features.txt", delimiter=",", skip_header=1
    )
    species = np.genfromtxt(
        real_data / "hja_birdsong" / "hja_birdsong_instance_labels.txt",
        delimiter=",",
        skip_header=1,
        dtype=int,
    )
    labelled = species[:, 1] > 0
    bags = Bags.from_arrays(rows[labelled, 1:], rows[labelled, 0].astype(int))
    assert repr(bags) == "Bags(548 bags, 4998 instances, 38 features, sizes 1-26, 0 empty)"
    in_bag_order = species[labelled, 1][bags.source_rows]
    labels = BagLabels.from_instances(bags, in_bag_order)
    assert labels.classes == tuple(range(1, 14))
    train, test = bags.split(seed=0)
    assert as_labels(labels.to_sets(), bags) == labels
    parts = [labels.align(part, extra="ignore") for part in (train, test)]
    assert BagLabels.concat(parts).align(bags) == labels
