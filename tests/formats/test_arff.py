"""MIML ARFF: exactly back, and what is wrong is named."""

from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as npst
from tests.formats.made import ANY

from raravis import BagLabels, Bags
from raravis.errors import InputError
from raravis.formats import read_any, read_miml_arff, write_miml_arff

NAMES = st.text(ANY, min_size=1, max_size=8)


def lists(n: int) -> st.SearchStrategy[list[str]]:
    return st.lists(NAMES, min_size=n, max_size=n, unique=True)


@st.composite
def bags_with_labels(draw: st.DrawFn) -> tuple[Bags, BagLabels]:
    n_bags, width, n_classes = (draw(st.integers(least, 4)) for least in (0, 1, 1))
    sizes = draw(st.lists(st.integers(0, 3), min_size=n_bags, max_size=n_bags))
    values = draw(
        npst.arrays(
            float, (sum(sizes), width), elements=st.floats(allow_nan=False, allow_infinity=False)
        )
    )
    offsets = np.concatenate([[0], np.cumsum(sizes, dtype=int)]).astype(int)
    keys = draw(lists(n_bags))
    bags = Bags(values, offsets, keys, feature_names=draw(lists(width)))
    status = draw(npst.arrays(np.int8, (n_bags, n_classes), elements=st.integers(-1, 1)))
    return bags, BagLabels(tuple(draw(lists(n_classes))), status, tuple(keys))


@settings(max_examples=100, deadline=None)
@given(made=bags_with_labels())
def test_everything_comes_back(
    made: tuple[Bags, BagLabels], tmp_path_factory: pytest.TempPathFactory
) -> None:
    path = tmp_path_factory.getbasetemp() / "a.arff"
    write_miml_arff(*made, path)
    assert read_miml_arff(path) == made


def test_keys_classes_and_features_become_text(tmp_path: Path) -> None:
    bags = Bags.from_list([[[1.0, 2.0]], []])
    write_miml_arff(bags, BagLabels.from_sets([{7}, None]), tmp_path / "a.arff", relation="my data")
    assert (tmp_path / "a.arff").read_text().splitlines() == [
        "@relation 'my data'",
        "@attribute id {0,1}",
        "@attribute bag relational",
        "@attribute feature_0 numeric",
        "@attribute feature_1 numeric",
        "@end bag",
        "@attribute 7 {0,1}",
        "@data",
        '0,"1.0,2.0",1',
        '1,"",?',
    ]


def test_labels_are_matched_by_key(tmp_path: Path) -> None:
    bags = Bags.from_list([[[1.0]], [[2.0]]], keys=["a", "b"])
    labels = BagLabels.from_mapping({"b": {"owl"}, "a": set()})
    write_miml_arff(bags, labels, tmp_path / "a.arff")
    assert read_miml_arff(tmp_path / "a.arff")[1].to_sets() == [set(), {"owl"}]


@pytest.mark.parametrize(
    ("keys", "labels", "message"),
    [
        (["a", "b"], BagLabels.from_sets([set(), set()]), "no class"),
        (["a", "b"], BagLabels.from_sets([{"x"}]), "labels of 1 bags for 2"),
        ([1, "1"], BagLabels.from_sets([{"x"}, {"x"}]), "bag keys .*the same"),
        (["a", ""], BagLabels.from_sets([{"x"}, {"x"}]), "bag keys .*empty"),
        (["a", "b\0"], BagLabels.from_sets([{"x"}, {"x"}]), "NUL"),
    ],
)
def test_what_arff_cannot_hold(
    keys: list[str | int], labels: BagLabels, message: str, tmp_path: Path
) -> None:
    bags = Bags.from_list([[[1.0]], [[2.0]]], keys=keys)
    with pytest.raises(InputError, match=message):
        write_miml_arff(bags, labels, tmp_path / "a.arff")
    assert not list(tmp_path.iterdir())


HEAD = (
    "% of birds\n@RELATION x\n\n@attribute id {a,b}\n@attribute bag relational\n"
    "  @attribute f1 REAL\n\t@attribute 'f 2' numeric\n@end bag\n@attribute wren {0,1}\n@Data\n"
)


def test_spellings_of_others(tmp_path: Path) -> None:
    (tmp_path / "a.arff").write_text(HEAD + '% first\n a , \'1, 2\\n3,4e-1\' , 1\n\n"b","5,6",?\n')
    bags, labels = read_miml_arff(tmp_path / "a.arff")
    assert bags == Bags.from_list([[[1, 2], [3, 0.4]], [[5, 6]]], keys=["a", "b"]).with_instances(
        [[1, 2], [3, 0.4], [5, 6]], feature_names=["f1", "f 2"]
    )
    assert labels.to_sets() == [{"wren"}, None]


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "no line @data"),
        ("recording,species\n", "Line 1 of .*where ARFF has @relation"),
        ("@relation x\n@data\n", "lacks the attribute that names the bag"),
        (HEAD.replace("@end bag\n", "").replace("{0,1}", "real"), "lacks"),
        (HEAD.replace("@attribute wren {0,1}\n", ""), "2 features and 0 labels"),
        (HEAD.replace("'f 2'", "f1"), "two features called 'f1'"),
        (HEAD.replace("REAL", "{a,b}"), "Line 6 of .*must be numeric"),
        (HEAD.replace("@end bag", "@end bag\n@attribute more relational"), "Line 9 .*second"),
        (HEAD.replace("@attribute bag", "@attribute c {0}\n@attribute bag"), "Line 5 .*second"),
        (HEAD + "a,'1,2'\n", "Line 11 of .*has 2 values; it needs 3"),
        (HEAD + "a,'1,2,0\n", "Line 11 of .*quote that does not end"),
        (HEAD + "a,'1,2',5\n", "Line 11 of .*label '5'"),
        (HEAD + "a,'1',0\n", "Line 11 of .*instance of 1 values"),
        (HEAD + "a,'1,?',0\n", "Line 11 of .*'[?]' is no number"),
        (HEAD + "a,'1,',0\n", "Line 11 of .*must be finite"),
        (HEAD + "a,'1,inf',0\n", "Line 11 of .*'inf'; features must be finite"),
        (HEAD + "{0 a}\n", "Line 11 of .*sparse"),
        (HEAD + ",'1,2',0\n", "Line 11 of .*names no bag"),
        (HEAD + "a,'1,2',0\n\na,'1,2',0\n", "Line 13 of .*'a' again, which line 11"),
    ],
)
def test_what_is_wrong_is_named_with_its_line(text: str, message: str, tmp_path: Path) -> None:
    (tmp_path / "a.arff").write_text(text)
    with pytest.raises(InputError, match=message):
        read_miml_arff(tmp_path / "a.arff")


def test_arff_is_no_table_of_calls(tmp_path: Path) -> None:
    (tmp_path / "a.arff").write_text(HEAD)
    with pytest.raises(InputError, match="use read_miml_arff"):
        read_any(tmp_path / "a.arff")
