"""Cells, comparisons and the stable JSON form."""

import json
import math

import numpy as np
import pytest

from raravis.experiments import (
    BagPictures,
    BagRow,
    Cell,
    DataTable,
    RocFigure,
    RocLine,
    RocPanel,
    TableResult,
)
from raravis.experiments.comparisons import paired_comparison


def test_undefined_repeats_do_not_count():
    cell = Cell((1,), None, "kernel", (0.9, math.nan, 0.7), paper=0.8)
    assert (cell.n, cell.auc_mean) == (2, pytest.approx(0.8))
    assert cell.auc_se == pytest.approx(0.1)
    assert Cell((1,), None, "kernel", (0.9,), paper=0.9).wins is False
    assert Cell((1,), None, "kernel", (math.nan,), paper=0.9).wins is None
    assert math.isnan(Cell((1,), None, "kernel", (0.9,)).auc_se)


def _result():
    cells = (
        Cell((0, np.int64(1)), (2,), "kernel", (0.9, 0.8), paper=0.8, seconds=1.0),
        Cell((0, 2), (1,), "kernel", (0.7, 0.6), paper=0.8, seconds=2.0),
        Cell((0, 1), (2,), "knn", (0.5,), paper=None),
    )
    figures = {
        "roc": RocFigure((RocPanel("a", (RocLine("kernel", (0.0, 1.0), (0.0, 1.0), 0.5),)),)),
        "bags": BagPictures((BagRow(1, (0,), (np.zeros((8, 8), np.uint8),), (0,)),)),
        "counts": DataTable("counts", ("a", "b"), ((np.int64(1), math.nan),)),
    }
    claim = paired_comparison("x", cells[:1], cells[1:2])
    return TableResult("mnist", "MNIST", {"beta": 0.1}, cells, (claim,), figures, 1.5, {"a": "1"})


def test_json_has_the_stable_keys_and_survives_strict_json():
    found = json.loads(json.dumps(_result().to_json(), allow_nan=False))
    assert {"table", "protocol", "cells", "models", "seconds", "versions"} <= set(found)
    assert {"known", "model", "auc_mean", "auc_se", "n", "paper"} <= set(found["cells"][0])
    assert found["cells"][0]["known"] == [0, 1]
    assert found["cells"][2]["auc_se"] is None
    assert found["models"]["kernel"].keys() == {"mean", "se", "wins_vs_paper"}
    assert found["models"]["kernel"]["wins_vs_paper"] == 1
    assert found["models"]["kernel"]["mean"] == pytest.approx(0.75)
    assert found["models"]["kernel"]["se"] == pytest.approx(math.hypot(0.05, 0.05) / 2)
    assert found["models"]["knn"]["se"] is None
    assert found["comparisons"][0]["low"] is None
    assert [figure["kind"] for figure in found["figures"].values()] == ["roc", "bags", "table"]


def test_paired_interval_over_label_sets_by_hand():
    a = [Cell((k,), None, "a", (0.5 + d, 0.5 + d)) for k, d in enumerate((0.1, 0.2, 0.3))]
    b = [Cell((k,), None, "b", (0.5, 0.5)) for k in range(3)]
    found = paired_comparison("a above b", a, b)
    half = 4.302652729911275 * 0.1 / math.sqrt(3)
    assert (found.difference, found.n) == (pytest.approx(0.2), 6)
    assert (found.low, found.high) == (pytest.approx(0.2 - half), pytest.approx(0.2 + half))
    assert found.holds is (half < 0.2)
    reverse = paired_comparison("b above a", b, a)
    assert reverse.difference == pytest.approx(-0.2)
    assert not reverse.holds


def test_pairs_with_an_undefined_figure_are_left_out():
    a = [Cell((1,), None, "a", (0.9, math.nan, 0.7))]
    b = [Cell((1,), None, "b", (0.8, 0.1, math.nan))]
    found = paired_comparison("a above b", a, b)
    assert (found.n, found.difference) == (1, pytest.approx(0.1))
    assert math.isnan(found.low)
    assert not found.holds


def test_a_label_set_that_the_other_lacks_does_not_count():
    a = [Cell((k,), None, "a", (0.9, 0.8)) for k in range(3)]
    b = [Cell((k,), None, "b", (0.8, 0.8)) for k in range(2)]
    assert paired_comparison("a above b", a, b).n == 4
