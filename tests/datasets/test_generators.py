import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import stats

from raravis.datasets import draw_bags, make_bags
from raravis.datasets.generators import _log_dirichlet, _proportions
from raravis.errors import InputError

Y = np.repeat(np.arange(10), 60)
UNEVEN = np.repeat([3, 5, 8], [1, 20, 79])


def counts_of(y, bags):
    classes = np.unique(y)
    return np.array([[np.sum(y[rows] == c) for c in classes] for rows in bags])


@st.composite
def requests(draw):
    """A drawable request: labels of any kind, in any order, and options that fit together."""
    names = draw(
        st.sampled_from([list(range(6)), list("abcdef"), [-2.5, -1.5, 0.0, 1.5, 2.0, 9.0]])
    )
    sizes = draw(st.lists(st.integers(1, 9), min_size=2, max_size=6))
    y = np.repeat(np.array(names[: len(sizes)]), sizes)
    y = y[np.array(draw(st.permutations(range(len(y)))))]
    known = draw(st.sets(st.sampled_from(names[: len(sizes)]), min_size=1))
    return y, {
        "n_bags": draw(st.integers(1, 8)),
        "bag_size": draw(st.one_of(st.integers(1, 12), st.sampled_from([(1, 1), (1, 9), (4, 6)]))),
        "known": known,
        "beta": draw(st.sampled_from([0.1, 1e-5, 1.0, 50.0])),
        "filtered": draw(st.booleans()),
        "seed": draw(st.integers(0, 2**32 - 1)),
    }


# ------------------------------------------------------------------ what holds for every request


@given(requests())
@settings(max_examples=150, deadline=None)
def test_bags_are_as_asked_for(request_):
    y, options = request_
    bags = draw_bags(y, **options)
    size = options["bag_size"]
    low, high = (size, size) if isinstance(size, int) else size
    assert len(bags) == options["n_bags"]
    for rows in bags:
        assert low <= len(rows) <= high
        assert ((rows >= 0) & (rows < len(y))).all()
        if options["filtered"]:
            assert options["known"].intersection(y[rows].tolist())


@given(requests())
@settings(max_examples=60, deadline=None)
def test_labels_are_the_known_classes_of_the_instances(request_):
    y, options = request_
    X = np.arange(len(y), dtype=float)[:, None]
    data = make_bags(X, y, **options)
    assert data.labels.classes == tuple(sorted(options["known"]))
    assert data.labels.keys == data.bags.keys
    np.testing.assert_array_equal(data.instance_labels, y[data.instance_ids])
    np.testing.assert_array_equal(data.bags.instances[:, 0], data.instance_ids)
    for number, listed in enumerate(data.labels.to_sets()):
        held = set(data.instance_labels[data.bags.bag_index == number].tolist())
        assert listed == held & options["known"]
        assert listed or not options["filtered"]


@given(requests(), st.booleans())
@settings(max_examples=60, deadline=None)
def test_same_seed_same_bags_and_fewer_bags_are_the_first_ones(request_, replace):
    y, options = request_
    y = np.tile(y, 200)  # enough to draw without replacement
    options = {**options, "n_bags": 6, "replace": replace}
    six = draw_bags(y, **options)
    for again, many in (
        (draw_bags(y, **options), 6),
        (draw_bags(y, **{**options, "n_bags": 3}), 3),
    ):
        assert len(again) == many
        for one, other in zip(again, six, strict=False):
            np.testing.assert_array_equal(one, other)


@given(st.integers(0, 2**32 - 1))
@settings(max_examples=30, deadline=None)
def test_without_replacement_no_row_comes_twice(seed):
    rows = np.concatenate(draw_bags(Y, n_bags=3, bag_size=20, replace=False, seed=seed))
    assert len(np.unique(rows)) == 60


# ------------------------------------------------------------------------------ distributions


@pytest.mark.parametrize(
    "beta", [0.1, 5.0, [0.1, 0.2, 0.7], [4.0, 1.0, 0.05]], ids=["0.1", "5", "sparse", "mixed"]
)
def test_class_counts_are_dirichlet_multinomial(beta):
    n_bags, size = 4000, 20
    a = np.broadcast_to(beta, 3).astype(float)
    total, share = a.sum(), a / a.sum()
    counts = counts_of(UNEVEN, draw_bags(UNEVEN, n_bags=n_bags, bag_size=size, beta=beta, seed=4))
    variance = size * share * (1 - share) * (size + total) / (1 + total)
    error = 5 * np.sqrt(variance / n_bags)
    assert (np.abs(counts.mean(axis=0) - size * share) < error).all()
    np.testing.assert_allclose(counts.var(axis=0), variance, rtol=0.15)


def test_class_shares_do_not_depend_on_how_many_rows_a_class_has():
    counts = counts_of(UNEVEN, draw_bags(UNEVEN, n_bags=3000, beta=1.0, seed=0))
    np.testing.assert_allclose(counts.mean(axis=0), 20 / 3, atol=0.5)


@pytest.mark.parametrize("alpha", [0.1, 0.01, 3.0])
def test_proportions_have_beta_marginals(alpha):
    rng = np.random.default_rng(11)
    drawn = np.array([_proportions(rng, np.full(4, alpha))[0] for _ in range(2000)])
    # Below the smallest double the exact distribution function is all that is left: compare above.
    grid = np.array([1e-6, 1e-3, 0.1, 0.5, 0.9, 0.999])
    expected = stats.beta(alpha, 3 * alpha).cdf(grid)
    found = np.searchsorted(np.sort(drawn), grid, side="right") / len(drawn)
    np.testing.assert_allclose(found, expected, atol=4 * 0.5 / np.sqrt(len(drawn)))


def test_rows_of_a_class_are_equally_likely():
    y = np.repeat([0, 1], [8, 4])
    rows = np.concatenate(draw_bags(y, n_bags=4000, bag_size=5, beta=1.0, seed=2))
    times = np.bincount(rows, minlength=12)
    for code in (0, 1):
        assert stats.chisquare(times[y == code]).pvalue > 1e-3


def test_rows_without_replacement_are_equally_likely_too():
    y = np.zeros(10, dtype=int)
    rows = [draw_bags(y, n_bags=1, bag_size=3, replace=False, seed=s)[0] for s in range(2000)]
    assert stats.chisquare(np.bincount(np.concatenate(rows), minlength=10)).pvalue > 1e-3


def test_order_within_a_bag_says_nothing_about_the_class():
    bags = draw_bags(Y, n_bags=2000, bag_size=4, beta=1.0, seed=8)
    first = np.bincount([Y[rows[0]] for rows in bags], minlength=10)
    assert stats.chisquare(first).pvalue > 1e-3


@pytest.mark.parametrize("known", [[0], [0, 1, 2, 3]])
def test_filtered_bags_are_the_unfiltered_ones_with_a_known_class(known):
    plain = counts_of(Y, draw_bags(Y, n_bags=6000, known=known, seed=5))[:, known].sum(axis=1)
    kept = plain[plain > 0]
    filtered = counts_of(Y, draw_bags(Y, n_bags=3000, known=known, filtered=True, seed=6))
    filtered = filtered[:, known].sum(axis=1)
    assert (filtered > 0).all()
    assert len(kept) < 6000
    assert stats.ks_2samp(kept, filtered).pvalue > 1e-3


def test_unfiltered_bags_ignore_what_is_known():
    one, other = (draw_bags(Y, n_bags=5, known=k, seed=3) for k in ([0], [5, 6]))
    np.testing.assert_array_equal(one, other)


def test_as_in_the_paper_most_bags_have_few_of_the_ten_classes():
    present = (counts_of(Y, draw_bags(Y, n_bags=1000, seed=9)) > 0).sum(axis=1)
    assert 2.5 < present.mean() < 3.5


# -------------------------------------------------------------------------- tiny concentrations


@pytest.mark.parametrize("scale", [1e-3, 1e-12, 1e-299])
def test_where_every_gamma_underflows_one_class_takes_all_in_proportion_to_beta(scale):
    beta = np.array([1.0, 1.0, 2.0]) * scale
    counts = counts_of(UNEVEN, draw_bags(UNEVEN, n_bags=2000, bag_size=7, beta=beta, seed=1))
    pure = (counts == 7).sum(axis=0)
    assert pure.sum() > 1900
    assert stats.chisquare(pure, pure.sum() * np.array([0.25, 0.25, 0.5])).pvalue > 1e-3


def test_logarithms_stay_finite_at_both_ends():
    logs = _log_dirichlet(np.random.default_rng(0), np.array([1e-300, 1e-10, 1.0, 1e300]))
    assert np.isfinite(logs).all()


# --------------------------------------------------------------------------------------- sizes


def test_both_bounds_of_a_range_occur():
    sizes = [len(rows) for rows in draw_bags(Y, n_bags=200, bag_size=(0, 3), seed=0)]
    assert set(sizes) == {0, 1, 2, 3}


def test_bag_size_from_a_function():
    sizes = [
        len(rows) for rows in draw_bags(Y, n_bags=300, bag_size=lambda rng: rng.poisson(9), seed=0)
    ]
    assert 8 < np.mean(sizes) < 10
    assert len(set(sizes)) > 5


def test_filtering_does_not_favour_large_bags():
    options = {"n_bags": 3000, "bag_size": (1, 30), "known": [0], "filtered": True}
    sizes = np.array([len(rows) for rows in draw_bags(Y, seed=7, **options)])
    assert stats.chisquare(np.bincount(sizes)[1:]).pvalue > 1e-3


def test_empty_bags_survive_into_the_data_set():
    data = make_bags(np.eye(2), [0, 1], n_bags=50, bag_size=(0, 1), seed=0)
    assert (data.bags.sizes == 0).any()
    assert data.labels.to_sets()[int(np.argmin(data.bags.sizes))] == set()


# -------------------------------------------------------------------------------- independence


def test_numpy_global_state_plays_no_part():
    np.random.seed(0)  # noqa: NPY002 (the global state is what is under test)
    before = np.random.get_state()[1].copy()  # noqa: NPY002
    one = draw_bags(Y, n_bags=3, seed=5)
    np.testing.assert_array_equal(np.random.get_state()[1], before)  # noqa: NPY002
    np.random.seed(1)  # noqa: NPY002
    np.testing.assert_array_equal(one, draw_bags(Y, n_bags=3, seed=5))


def test_a_generator_goes_on_where_it_stood():
    rng = np.random.default_rng(5)
    one, other = draw_bags(Y, n_bags=2, seed=rng), draw_bags(Y, n_bags=2, seed=rng)
    assert not np.array_equal(one, other)


def test_names_of_classes_do_not_change_the_draw():
    names = np.array(list("abcdefghij"))[Y]
    np.testing.assert_array_equal(
        draw_bags(Y, n_bags=9, known=[1], filtered=True, seed=3),
        draw_bags(names, n_bags=9, known=["b"], filtered=True, seed=3),
    )


# ------------------------------------------------------------------------------------ refusals


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"known": [0, 77]}, r"known lists \[77\], which do not occur in y"),
        ({"known": [], "filtered": True}, "known is empty"),
        ({"known": "01"}, "collection of classes"),
        ({"known": 3}, "collection of classes"),
        ({"n_bags": 0}, "n_bags is 0"),
        ({"n_bags": 2.5}, "n_bags is 2.5"),
        ({"n_bags": True}, "n_bags is True"),
        ({"bag_size": 0}, "bag_size is 0"),
        ({"bag_size": 2.0}, "bag_size is 2.0"),
        ({"bag_size": (3, 2)}, r"\(low, high\)"),
        ({"bag_size": (-1, 2)}, r"\(low, high\)"),
        ({"bag_size": (1, 2, 3)}, r"\(low, high\)"),
        ({"bag_size": (1.0, 2)}, r"\(low, high\)"),
        ({"bag_size": (0, 2), "filtered": True}, "low at least 1"),
        ({"bag_size": lambda rng: -1}, "function returned -1"),
        ({"bag_size": lambda rng: 1.5}, "function returned 1.5"),
        ({"bag_size": lambda rng: 0, "filtered": True}, "at least 1"),
        ({"beta": 0.0}, "positive and finite"),
        ({"beta": -0.1}, "positive and finite"),
        ({"beta": np.nan}, "positive and finite"),
        ({"beta": np.inf}, "positive and finite"),
        ({"beta": [0.1] * 9 + [0.0]}, "positive and finite"),
        ({"beta": [0.1, 0.1]}, "one for each of the 10 classes"),
        ({"beta": [[0.1] * 10]}, "one for each of the 10 classes"),
    ],
)
def test_impossible_requests_are_refused(options, message):
    with pytest.raises(InputError, match=message):
        draw_bags(Y, **{"n_bags": 2, **options})


@pytest.mark.parametrize(
    ("y", "message"),
    [
        ([], "at least one row"),
        ([[1, 2], [3, 4]], "one class a row"),
        ([1.0, np.nan], "NaN"),
        (np.array([1, "a"], dtype=object), "sorted together"),
    ],
)
def test_unusable_classes_are_refused(y, message):
    with pytest.raises(InputError, match=message):
        draw_bags(y, n_bags=1)


def test_a_known_class_that_never_comes_up_does_not_loop_for_ever(monkeypatch):
    monkeypatch.setattr("raravis.datasets.generators._MAX_REDRAWS", 200)
    with pytest.raises(InputError, match="no bag with a known class came up in 200 draws"):
        draw_bags([0, 1], n_bags=1, beta=[1e-12, 1.0], known=[0], filtered=True)


def test_running_out_without_replacement_names_the_class():
    with pytest.raises(InputError, match=r"class 3 has 1 rows and runs out at bag \d+ of a draw"):
        draw_bags(UNEVEN, n_bags=50, beta=1.0, replace=False)


def test_every_row_can_be_drawn_without_replacement():
    rows = np.concatenate(draw_bags(np.zeros(12), n_bags=4, bag_size=3, replace=False))
    assert sorted(rows) == list(range(12))


def test_unlabelled_instances_are_drawn_but_never_listed():
    data = make_bags(np.eye(3), [-1, 0, 1], n_bags=30, bag_size=3, beta=1.0)
    assert data.labels.classes == (0, 1)
    np.testing.assert_array_equal(data.labelled, data.instance_labels >= 0)
    assert not data.labelled.all()
    with pytest.raises(InputError, match="no noted class"):
        make_bags(np.eye(3), [-1, 0, 1], n_bags=1, known=[-1])


@pytest.mark.parametrize(("X", "y"), [(np.eye(3), [0, 1]), (np.arange(3), [0, 1, 2])])
def test_instances_and_classes_must_go_together(X, y):
    with pytest.raises(InputError, match="do not go together"):
        make_bags(X, y, n_bags=1)
