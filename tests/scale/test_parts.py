"""Reading: whole bags in blocks of any size, and every fault named where it is."""

from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from tests.scale.made import OPTIONS, made, table, written

from raravis import NovelClassClassifier
from raravis.errors import InputError
from raravis.scale import BagParts, fit_parquet, mixture_chunks, mnist_in_bags, score_parquet
from raravis.scale.survey import look_at, merged

GOOD = {"bag": ["a", "a", "b"], "x0": [0.0, 1.0, 2.0], "labels": [["wren"], ["wren"], []]}


@pytest.mark.parametrize("rows", [1, 7, 64, 10_000])
def test_blocks_hold_whole_bags_in_order_whatever_their_size(tmp_path: Path, rows: int) -> None:
    parts = made(tmp_path)
    for i, chunk in enumerate(mixture_chunks(600, rows_a_chunk=250, **OPTIONS)):
        blocks = list(parts.blocks(i, rows=rows))
        assert np.array_equal(np.concatenate([b.instances for b in blocks]), chunk.bags.instances)
        assert tuple(key for b in blocks for key in b.keys) == chunk.bags.keys
        sizes = np.concatenate([np.diff(b.offsets) for b in blocks])
        assert np.array_equal(sizes, chunk.bags.sizes)
        listed = [set(item) for b in blocks for item in b.label_lists]
        assert listed == chunk.labels.to_sets()
        assert all(b.n_instances <= rows or b.n_bags == 1 for b in blocks)


def test_lists_may_be_texts_and_missing_is_unlabelled(tmp_path: Path) -> None:
    texts = {**GOOD, "labels": ["wren; owl", "wren; owl", None]}
    block = next(BagParts.open(written(tmp_path, table(**texts))).blocks(0, rows=10))
    assert block.label_lists == [("wren", "owl"), None]


def test_a_chunk_does_not_depend_on_how_many_follow() -> None:
    short, long = (next(mixture_chunks(n, rows_a_chunk=100)) for n in (100, 500))
    assert short.bags == long.bags


def _faults(folder: Path) -> dict[str, tuple[Path, list[str]]]:
    """Give data sets by fault, and what the error has to name."""
    other = {**GOOD, "bag": ["c", "c", "d"]}
    return {
        "schema": (
            written(folder / "1", table(**GOOD), table(**{**other, "x0": [0, 1, 2], "y": [1] * 3})),
            ["part-1.parquet"],
        ),
        "column": (
            written(folder / "2", table(**GOOD), table(bag=["c"], x0=[1.0])),
            ["part-1.parquet", "'labels'", "missing"],
        ),
        "split": (
            written(folder / "3", table(**GOOD), table(**{**other, "bag": ["b", "b", "d"]})),
            ["part-0.parquet", "part-1.parquet", "'b'", "split"],
        ),
        "torn": (
            written(folder / "4", table(**{**GOOD, "bag": ["a", "b", "a"]})),
            ["part-0.parquet", "'a'", "follow"],
        ),
        "nan": (
            written(folder / "5", table(**{**GOOD, "x0": [0.0, float("nan"), 1.0]})),
            ["part-0.parquet", "'x0'", "row 1", "nan"],
        ),
        "null": (
            written(folder / "6", table(**{**GOOD, "x0": [0.0, 1.0, None]})),
            ["part-0.parquet", "'x0'", "row 2", "missing"],
        ),
        "no bag": (
            written(folder / "7", table(**{**GOOD, "bag": ["a", None, "b"]})),
            ["part-0.parquet", "row 1", "no bag"],
        ),
        "lists": (
            written(folder / "8", table(**{**GOOD, "labels": [["wren"], ["owl"], []]})),
            ["part-0.parquet", "'a'", "different"],
        ),
        "crowded": (
            written(folder / "9", table(**{**GOOD, "labels": [["wren"], ["wren"], ["a", "b"]]})),
            ["part-0.parquet", "'b'", "lists 2 classes but has 1"],
        ),
        "none listed": (
            written(folder / "10", table(**{**GOOD, "labels": [None, None, []]})),
            ["no bag lists a class", "labels"],
        ),
    }


FAULTS = ["schema", "column", "split", "torn", "nan", "null", "no bag", "lists", "crowded"]


@pytest.mark.parametrize("fault", [*FAULTS, "none listed"])
@pytest.mark.parametrize("budget", [1 << 12, 1 << 30])
def test_a_fault_is_named_where_it_is(tmp_path: Path, fault: str, budget: int) -> None:
    folder, named = _faults(tmp_path)[fault]
    if fault == "schema":
        pq.write_table(
            pq.read_table(folder / "part-1.parquet").cast(
                pa.schema(
                    [
                        ("bag", pa.string()),
                        ("x0", pa.float64()),
                        ("labels", pa.list_(pa.string())),
                        ("y", pa.int64()),
                    ]
                )
            ),
            folder / "part-1.parquet",
        )
        named = [*named, "'x0'", "double", "float"]
    with pytest.raises(InputError) as caught:
        fit_parquet(NovelClassClassifier(n_landmarks=3), folder, memory_budget=budget)
    for word in named:
        assert word in str(caught.value)


def test_a_list_that_differs_only_past_the_border_of_a_block_is_found(tmp_path: Path) -> None:
    n = 3000
    lists = [["wren"]] * (n - 1) + [["owl"]]
    folder = written(tmp_path, table(bag=["a"] * n, x0=[0.0] * n, labels=lists))
    with pytest.raises(InputError, match="'a'"):
        list(BagParts.open(folder).blocks(0, rows=n - 1))


def test_a_part_that_is_gone_is_missed_by_list_and_by_number(tmp_path: Path) -> None:
    made(tmp_path / "listed")
    (tmp_path / "listed" / "part-00001.parquet").unlink()
    with pytest.raises(InputError, match=r"part-00001\.parquet"):
        BagParts.open(tmp_path / "listed")
    rows = [table(**{**GOOD, "bag": [f"{i}a", f"{i}a", f"{i}b"]}) for i in range(4)]
    folder = written(tmp_path / "numbered", *rows)
    (folder / "part-2.parquet").unlink()
    with pytest.raises(InputError, match="without part 2"):
        BagParts.open(folder)
    kept = sorted(folder.glob("*.parquet"))
    assert BagParts.open(kept).n_instances == 9


def test_a_part_that_is_cut_short_is_named(tmp_path: Path) -> None:
    parts = made(tmp_path)
    parts.files[1].write_bytes(parts.files[1].read_bytes()[:-100])
    with pytest.raises(InputError, match=r"part-00001\.parquet is not a Parquet file"):
        BagParts.open(tmp_path)
    pq.write_table(pq.read_table(parts.files[0]).slice(0, 10), parts.files[1])
    with pytest.raises(InputError, match=r"part-00001\.parquet has 10 rows, but"):
        BagParts.open(tmp_path)


def test_paths_that_hold_nothing_are_refused(tmp_path: Path) -> None:
    for wrong, word in ((tmp_path, "no *.parquet"), (tmp_path / "x.parquet", "not there")):
        with pytest.raises(InputError) as caught:
            BagParts.open(wrong)
        assert word in str(caught.value)
    folder = written(tmp_path / "f", table(**GOOD))
    for options in ({"bag": "recording"}, {"labels": "species"}, {"features": ["x9"]}):
        with pytest.raises(InputError, match=r"recording|species|x9"):
            BagParts.open(folder, **options)


def test_scores_need_the_features_of_the_model_and_another_folder(tmp_path: Path) -> None:
    parts = made(tmp_path / "data")
    model = fit_parquet(NovelClassClassifier(n_landmarks=10), parts)
    with pytest.raises(InputError, match="5"):
        score_parquet(model, parts.files[0], tmp_path / "out", features=["feature_0"])
    with pytest.raises(InputError, match="another folder"):
        score_parquet(model, parts, tmp_path / "data")


@pytest.mark.data
def test_mnist_in_full_holds_every_image_once(real_data: Path) -> None:
    data = mnist_in_bags(known=[0, 1, 2, 3])
    assert (data.bags.n_bags, data.bags.n_instances) == (3000, 60_000)
    assert np.array_equal(np.sort(data.instance_ids), np.arange(60_000))
    digits = [len(set(row)) for row in data.instance_labels.reshape(3000, 20).tolist()]
    assert 2.0 < np.mean(digits) < 4.0


def test_the_drawn_bags_do_not_depend_on_blocks_and_few_are_carried_along(tmp_path: Path) -> None:
    parts = made(tmp_path, 3000, 500)
    options = {"sample_size": 100, "seed": 1, "soften": False}
    surveys = [[look_at(parts, i, rows=rows, **options) for i in range(6)] for rows in (60, 5000)]
    ours, theirs = (merged(parts, found) for found in surveys)
    assert np.array_equal(ours.sample.lots, theirs.sample.lots)
    assert 100 <= sum(len(bag) for bag in ours.sample.bags) < 130
    carried = sum(len(bag) for part in surveys[0] for bag in part.sample.bags)
    assert carried < 800
    X = np.concatenate([b.instances for i in range(6) for b in parts.blocks(i, rows=999)])
    for survey in (ours, theirs):
        assert np.allclose(survey.mean, X.mean(axis=0, dtype=np.float64))
        assert np.allclose(survey.variance, X.var(axis=0, dtype=np.float64))
        assert np.array_equal(survey.low, X.min(axis=0))
