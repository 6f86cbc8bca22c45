"""Gram rows: right under any budget, bounded, and the same whatever was asked before."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.testing import assert_allclose, assert_array_equal

from raravis.errors import InputError
from raravis.gram import GramRows
from raravis.kernels import Gaussian, Precomputed

X = np.random.default_rng(1).standard_normal((23, 3))
K = Gaussian(0.5).block(X, X)
ROW = 8 * len(X)


@given(
    kept=st.integers(1, 22),
    requests=st.lists(st.lists(st.integers(0, 22), min_size=1, max_size=22), max_size=8),
)
def test_rows_are_right_and_bounded(kept, requests):
    rows = GramRows(Gaussian(0.5), X, budget=kept * ROW)
    for request in requests:
        wanted = np.unique(request)[:kept]
        rows.ensure(wanted)
        assert_allclose(rows.table[rows.slot_of[wanted]], K[wanted], atol=1e-14)
        assert rows.table.nbytes <= kept * ROW
        held = rows.slot_of[rows.slot_of >= 0]
        assert len(np.unique(held)) == len(held) <= kept


def test_rows_held_are_not_computed_again_and_the_oldest_leave():
    rows = GramRows(Gaussian(0.5), X, budget=3 * ROW)
    for request in ([0, 1], [0, 2], [3]):
        rows.ensure(np.array(request))
    assert rows.rows_computed == 4
    assert rows.slot_of[1] == -1
    rows.ensure(np.array([0, 2, 3]))
    assert rows.rows_computed == 4


def test_the_whole_matrix_is_formed_once():
    rows = GramRows(Gaussian(0.5), X)
    rows.ensure(np.arange(23))
    assert rows.complete
    assert rows.rows_computed == 23
    assert_allclose(rows.table, K, atol=1e-14)
    assert_allclose(rows.diagonal(), np.ones(23))


@pytest.mark.parametrize("budget", [1 << 20, 5 * ROW])
def test_products_and_parts(budget):
    rows = GramRows(Gaussian(0.5), X, budget=budget)
    W = np.zeros((23, 2))
    W[[3, 8], [0, 1]] = 1.0
    assert_allclose(rows.times(W), K @ W, atol=1e-14)
    left, right = np.array([4, 1]), np.array([0, 7, 9])
    assert_allclose(rows.between(left, right), K[np.ix_(left, right)], atol=1e-14)


@pytest.mark.parametrize("kernel", [Gaussian(0.5), Precomputed()], ids=["features", "precomputed"])
@pytest.mark.parametrize("budget", [1 << 20, 5 * ROW])
def test_a_subset_is_the_matrix_of_its_instances(kernel, budget):
    data = K if isinstance(kernel, Precomputed) else X
    chosen = np.array([2, 3, 11, 20])
    part = GramRows(kernel, data, budget=budget).subset(chosen)
    assert_allclose(part.table, K[np.ix_(chosen, chosen)], atol=1e-14)
    assert_array_equal(part.origin, chosen)


def test_precomputed_rows_are_served_lazily_too():
    rows = GramRows(Precomputed(), K, budget=4 * ROW)
    rows.ensure(np.array([5, 6]))
    assert_array_equal(rows.table[rows.slot_of[[5, 6]]], K[[5, 6]])
    W = np.ones((23, 1))
    assert_allclose(rows.times(W), K @ W)


def test_a_budget_below_one_row_is_refused():
    with pytest.raises(InputError, match="one Gram row of 23 instances takes 184"):
        GramRows(Gaussian(0.5), X, budget=100)


def test_more_rows_than_fit_are_refused():
    rows = GramRows(Gaussian(0.5), X, budget=2 * ROW)
    with pytest.raises(InputError, match="3 rows asked for; the budget holds 2"):
        rows.ensure(np.arange(3))
