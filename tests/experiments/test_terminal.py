"""Rows, sentences, CSV, and results read back from their JSON."""

import csv
import io
import json
import math
from dataclasses import replace

import pytest
from tests.experiments.made import KNOWN, MODELS, made_birds, made_figures, made_table

from raravis.experiments import Cell, Comparison
from raravis.experiments.terminal import (
    comparison_sentence,
    csv_text,
    entry,
    figure_tables,
    from_json,
    published_mean,
    rows,
    summary_rows,
)


def test_rows_keep_the_order_of_sets_and_models() -> None:
    found = rows(made_table())
    assert [row.known for row in found] == [", ".join(map(str, known)) for known in KNOWN]
    assert all(tuple(row.cells) == MODELS for row in found)
    assert found[0].novel == "4, 5, 6, 7, 8, 9"


def test_models_with_published_figures_of_their_own_show_both() -> None:
    cells = (Cell((1,), None, "a", (0.9,), 0.8), Cell((1,), None, "b", (0.9,), 0.85))
    (row,) = rows(replace(made_birds(), cells=cells))
    assert row.published == "0.80 / 0.85"


@pytest.mark.parametrize(
    ("aucs", "paper", "figure", "difference", "mark"),
    [
        ((0.9, 0.8), 0.8, "0.850 ± 0.050", "+0.050", "win"),
        ((0.7,), 0.8, "0.700", "\N{MINUS SIGN}0.100", "loss"),
        ((0.7,), None, "0.700", "", ""),
        ((math.nan,), 0.8, "\N{EN DASH}", "", ""),
    ],
)
def test_an_entry_says_win_in_words(
    aucs: tuple[float, ...], paper: float | None, figure: str, difference: str, mark: str
) -> None:
    told = entry(Cell((1,), None, "kernel", aucs, paper))
    assert (told.figure, told.difference, told.mark) == (figure, difference, mark)


def test_a_model_that_was_not_run_leaves_its_place_empty() -> None:
    assert entry(None).figure == ""


def test_summary_counts_wins_among_defined_figures() -> None:
    (row,) = summary_rows(made_birds())
    assert row[0] == "kernel"
    assert row[3:5] == ("1 of 2", "0 to 2")
    assert published_mean(made_birds()) == pytest.approx((0.90 + 0.85 + 0.9) / 3)
    assert math.isnan(published_mean(made_figures()))


def test_a_claim_whose_interval_reaches_0_is_not_shown() -> None:
    told = comparison_sentence(Comparison("A helps", 0.01, -0.01, 0.03, 0.9, 5, False))
    assert told == (
        "A helps: not shown; on average +0.010 (90% interval \N{MINUS SIGN}0.010 to +0.030, "
        "5 pairs)."
    )


def test_csv_has_a_line_for_every_table_set_and_model() -> None:
    read = list(csv.DictReader(io.StringIO(csv_text([made_table(), made_birds()]))))
    assert len(read) == len(KNOWN) * len(MODELS) + 3
    first, cell = read[0], made_table().cells[0]
    assert (first["table"], first["known"], first["model"]) == ("mnist", "0;1;2;3", "kernel")
    assert float(first["auc_mean"]) == pytest.approx(cell.auc_mean, abs=1e-6)
    assert float(first["difference"]) == pytest.approx(cell.auc_mean - 0.85, abs=1e-6)
    assert first["win"] == "1"
    assert (read[-1]["auc_mean"], read[-1]["n"], read[-1]["win"]) == ("", "0", "")


@pytest.mark.parametrize("found", [made_table(), made_birds(), made_figures()])
def test_json_says_all_but_pictures(found: object) -> None:
    told = found.to_json()  # type: ignore[attr-defined]
    assert from_json(json.loads(json.dumps(told, allow_nan=False))).to_json() == told


def test_every_figure_can_be_told_in_tables() -> None:
    titles = [
        table.title for figure in made_figures().figures.values() for table in figure_tables(figure)
    ]
    assert titles == [
        "Area under the curve, Y = 0, 1",
        "Area under the curve, Y = 2, 3",
        "Example bags",
        "Counts | of each",
    ]
