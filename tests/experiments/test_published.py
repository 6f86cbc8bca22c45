"""The published numbers, against what is known of them independently."""

import pytest

from raravis.experiments import published


@pytest.mark.parametrize(
    ("table", "label", "small", "large"),
    [
        (published.HJA, "tb:auc_bird", 0.884, 0.864),
        (published.MNIST, "tb:auc_digit", 0.882, 0.850),
        (published.MNIST_FILTERED, "tb:auc_digit_filter", 0.858, 0.830),
        (published.MNIST_SVM, "tb:auc_svm_digit", 0.634, 0.634),
        (published.HJA_SVM, "tb:auc_svm_bird", 0.780, 0.744),
    ],
)
def test_means_by_size_of_the_label_set(table, label, small, large):
    assert table.label == label
    assert round(table.mean(4), 3) == small
    assert round(table.mean(8), 3) == large
    assert [len(row.known) for row in table.rows] == [4] * 5 + [8] * 5
    assert len({row.known for row in table.rows}) == 10


def test_spot_values():
    assert published.MNIST.auc((2, 5, 6, 7)) == 0.91
    assert published.MNIST_FILTERED.auc((0, 1, 2, 3, 4, 5, 8, 9)) == 0.80
    assert published.HJA.auc((1, 7, 8, 9, 10, 11, 12, 13)) == 0.84
    assert published.HJA_SVM.auc((1, 2, 3, 9, 10, 11, 12, 13)) == 0.60
    assert published.MNIST_SVM.auc((0, 1, 4, 5, 6, 7, 8, 9)) == 0.68
    assert published.HJA.auc((1, 2)) is None


def test_every_label_set_is_of_the_table_s_classes():
    for table in (published.HJA, published.MNIST, published.HJA_SVM):
        assert all(set(row.known) < set(table.classes) for row in table.rows)
    assert {c for row in published.HJA.rows for c in row.known} == set(range(1, 14))


def test_unfiltered_is_published_above_filtered_or_level():
    pairs = zip(published.MNIST.rows, published.MNIST_FILTERED.rows, strict=True)
    assert all(a.known == b.known and a.auc >= b.auc for a, b in pairs)


def test_counts_add_up():
    assert sum(n for _, n in published.BIRD_COUNTS.values()) == 4998
    assert [sum(row) for row in published.DIGIT_COUNTS] == [20] * 5


def test_2015_rows():
    assert [row.known for row in published.MNIST_2015] == [
        (2, 3, 4, 5, 6, 7, 8, 9),
        (4, 5, 6, 7, 8, 9),
        (6, 7, 8, 9),
    ]
    assert [(r.miml_nc, r.miml_nc_sd, r.ks, r.ks_sd) for r in published.MNIST_2015] == [
        (0.90, 0.03, 0.83, 0.06),
        (0.88, 0.04, 0.78, 0.06),
        (0.84, 0.06, 0.79, 0.08),
    ]
    assert [row.ks_differs for row in published.MNIST_2015] == [True, True, False]
