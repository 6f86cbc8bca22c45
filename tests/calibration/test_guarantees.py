"""Every promise against simulated truth: a thousand draws or more, the truth in closed form."""

import numpy as np
import pytest
from scipy.stats import beta
from tests.calibration.scored import CLASSES, scorer, witness_bags

from raravis import BagLabels, Bags
from raravis.calibration import (
    Threshold,
    Witnesses,
    novelty_p_values,
    select_novel,
    threshold_for_precision,
    threshold_for_recall,
    threshold_from_bags,
)
from raravis.calibration.promises import BagPromise, choose_threshold
from raravis.calibration.ranks import conformal_rank, cross_rank

ALPHAS = (0.01, 0.05, 0.1)
SIZES = (20, 60, 200, 2000)
N_DRAWS = 1000


def at_most(found, allowed, n_draws=N_DRAWS):
    """Whether a rate over draws is no higher than allowed, but for chance (three errors)."""
    return found <= allowed + 3 * np.sqrt(allowed * (1 - allowed) / n_draws)


def promise(alpha, scope="class", confidence=None):
    return BagPromise.checked(alpha, scope, confidence, "2026-05-01")


def chosen(found, asked):
    """The threshold, -inf where there is none."""
    answer = choose_threshold(found, asked, data="")
    return answer.value if isinstance(answer, Threshold) else -np.inf


@pytest.mark.parametrize("n", SIZES)
@pytest.mark.parametrize("alpha", ALPHAS)
def test_miss_rate_of_a_single_class(n, alpha):
    # A witness scores uniformly: a new one is missed with probability equal to the threshold.
    rng = np.random.default_rng(n)
    values = np.array(
        [
            chosen(Witnesses(("owl",), u[:, None], np.ones((n, 1), bool)), promise(alpha))
            for u in rng.random((N_DRAWS, n))
        ]
    )
    rates = np.maximum(values, 0.0)
    k = conformal_rank(n, alpha)
    assert at_most(np.mean(rng.random(N_DRAWS) < values), alpha)
    assert (values == -np.inf).all() if k == 0 else np.isfinite(values).all()
    # The rate is distributed as Beta(k, n + 1 - k): valid, and no lower than it need be.
    expected = k / (n + 1)
    error = beta.std(k, n + 1 - k) / np.sqrt(N_DRAWS) if k else 0.0
    assert abs(rates.mean() - expected) <= 4 * error
    assert alpha - 1 / (n + 1) < expected <= alpha + 1e-9


@pytest.mark.parametrize("n", SIZES)
@pytest.mark.parametrize("alpha", ALPHAS)
def test_a_confidence_holds_over_draws_of_the_calibration_bags(n, alpha):
    rng = np.random.default_rng(n + 1)
    asked = promise(alpha, confidence=0.9)
    values = np.array(
        [
            chosen(Witnesses(("owl",), u[:, None], np.ones((n, 1), bool)), asked)
            for u in rng.random((N_DRAWS, n))
        ]
    )
    broken = np.mean(values > alpha)
    k = asked.rank(n)
    assert at_most(broken, 0.1)
    if k:
        assert abs(broken - beta.sf(alpha, k, n + 1 - k)) < 4 * np.sqrt(0.1 * 0.9 / N_DRAWS)


def draw_birds(rng, n):
    """Bags of three classes that come and score together; the second is rarer, the third harder."""
    mood = rng.standard_normal((n, 1))
    scores = mood + rng.standard_normal((n, 3)) * [1.0, 2.0, 1.0] - [0.0, 0.0, 2.0]
    present = rng.random((n, 3)) < np.where(mood > 0, [0.9, 0.5, 0.4], [0.6, 0.2, 0.8])
    return Witnesses(CLASSES, scores, present)


def losses(new, value):
    """Whether each listed class of each bag is lost; not a number where it is not listed."""
    return np.where(new.present, new.scores < value, np.nan)


@pytest.mark.parametrize("n", [100, 400])
@pytest.mark.parametrize("alpha", [0.05, 0.1])
def test_each_class_keeps_its_promise_however_classes_depend(n, alpha):
    rng = np.random.default_rng(n)
    lost = [
        losses(draw_birds(rng, 3), chosen(draw_birds(rng, n), promise(alpha)))
        for _ in range(N_DRAWS)
    ]
    rates = np.nanmean(np.concatenate(lost), axis=0)
    assert all(at_most(rate, alpha) for rate in rates)
    # The threshold is that of the hardest class, which uses up much of what it is allowed.
    assert rates.max() > 0.5 * alpha


@pytest.mark.parametrize("n", [20, 100, 400])
@pytest.mark.parametrize("alpha", ALPHAS)
@pytest.mark.parametrize("scope", ["share", "all"])
def test_pooled_promises(n, alpha, scope):
    rng = np.random.default_rng(n)
    of_bags = []
    for _ in range(N_DRAWS):
        lost = losses(draw_birds(rng, 4), chosen(draw_birds(rng, n), promise(alpha, scope)))
        listed = lost[~np.isnan(lost).all(axis=1)]
        of_bags.append(
            np.nanmean(listed, axis=1) if scope == "share" else np.nanmax(listed, axis=1)
        )
    rate = np.concatenate(of_bags).mean()
    assert at_most(rate, alpha)
    assert rate > alpha - 2 / n - 3 * np.sqrt(alpha / N_DRAWS)


def test_ties_lose_less_not_more():
    rng = np.random.default_rng(0)
    new = rng.integers(0, 4, N_DRAWS)
    values = [
        chosen(Witnesses(("owl",), u[:, None], np.ones((30, 1), bool)), promise(0.1))
        for u in rng.integers(0, 4, (N_DRAWS, 30)).astype(float)
    ]
    assert at_most(np.mean(new < values), 0.1)


def test_the_whole_way_from_bags_to_decisions():
    rng = np.random.default_rng(5)
    model, lost = scorer(), []
    for _ in range(N_DRAWS):
        drawn, new = draw_birds(rng, 40), draw_birds(rng, 3)
        labels = BagLabels.from_matrix(drawn.present, CLASSES)
        found = threshold_from_bags(
            model, witness_bags(drawn.scores), labels, scope="all", seen="accept"
        )
        known = model.score_samples(witness_bags(new.scores)).reshape(3, 3) >= found.value
        listed = new.present.any(axis=1)
        lost += (new.present & ~known).any(axis=1)[listed].tolist()
    assert at_most(np.mean(lost), 0.1)
    assert np.mean(lost) > 0.05


# ---------------------------------------------------------------------- reviewed instances


@pytest.mark.parametrize("n", SIZES)
@pytest.mark.parametrize("alpha", ALPHAS)
def test_recall_of_known_instances(n, alpha):
    rng = np.random.default_rng(n)
    average, confident = np.zeros(N_DRAWS), np.zeros(N_DRAWS)
    for i, u in enumerate(rng.random((N_DRAWS, n))):
        for confidence, values in ((None, average), (0.9, confident)):
            found = threshold_for_recall(u, u >= 0, alpha=alpha, confidence=confidence)
            values[i] = found.value if isinstance(found, Threshold) else 0.0
    assert at_most(np.mean(rng.random(N_DRAWS) < average), alpha)
    assert at_most(np.mean(confident > alpha), 0.1)


def draw_calls(rng, n_bags, size=5):
    """Known instances of a bag score alike: a mood of the bag and little of their own."""
    scores = rng.standard_normal((n_bags, 1)) + 0.3 * rng.standard_normal((n_bags, size))
    return scores.ravel(), np.repeat(np.arange(n_bags), size)


@pytest.mark.parametrize("alpha", ALPHAS)
def test_recall_over_bags_counts_bags_not_instances(alpha):
    rng = np.random.default_rng(1)
    lost = []
    for _ in range(N_DRAWS):
        scores, bags = draw_calls(rng, 30)
        found = threshold_for_recall(scores, scores > -99, alpha=alpha, bag_index=bags)
        value = found.value if isinstance(found, Threshold) else -np.inf
        lost.append(np.mean(draw_calls(rng, 1)[0] < value))
    assert at_most(np.mean(lost), alpha)


def draw_reviews(rng, n, share=0.5):
    """Novel instances score uniformly on [0, 1], known ones on [0.4, 1.4]."""
    known = rng.random(n) >= share
    return rng.random(n) + 0.4 * known, known


def true_precision(value, share=0.5):
    novel = share * np.clip(value, 0, 1)
    return novel / (novel + (1 - share) * np.clip(value - 0.4, 0, 1))


@pytest.mark.parametrize("n", [60, 200, 1000])
@pytest.mark.parametrize("candidates", [None, np.linspace(0.2, 1.2, 11)])
def test_precision_of_novel_at_a_confidence(n, candidates):
    rng = np.random.default_rng(n)
    found = [
        threshold_for_precision(*draw_reviews(rng, n), precision=0.8, candidates=candidates)
        for _ in range(N_DRAWS)
    ]
    values = np.array([f.value for f in found if isinstance(f, Threshold)])
    assert at_most(np.sum(true_precision(values) < 0.8) / N_DRAWS, 0.1)
    if n == 1000:
        assert len(values) > 0.9 * N_DRAWS
        assert np.median(true_precision(values)) < 0.95


@pytest.mark.parametrize("n", [20, 200, 2000])
def test_p_values_of_known_instances_are_no_smaller_than_chance(n):
    rng = np.random.default_rng(n)
    reviewed, new = rng.random((N_DRAWS, n)), rng.random(N_DRAWS)
    known = np.ones(n, dtype=bool)
    p = np.array([novelty_p_values([x], r, known)[0] for x, r in zip(new, reviewed, strict=True)])
    for u in (0.01, 0.05, 0.1, 0.5):
        assert at_most(np.mean(p <= u), u)
    assert abs(p.mean() - 0.5 - 0.5 / (n + 1)) < 4 * np.sqrt(1 / 12 / N_DRAWS)


def test_p_values_over_bags_are_no_smaller_than_chance():
    rng = np.random.default_rng(2)
    by_bag, by_instance = np.zeros(N_DRAWS), np.zeros(N_DRAWS)
    for i in range(N_DRAWS):
        scores, bags = draw_calls(rng, 12)
        known, new = np.ones(len(scores), dtype=bool), draw_calls(rng, 1)[0][:1]
        by_bag[i] = novelty_p_values(new, scores, known, bag_index=bags)[0]
        by_instance[i] = novelty_p_values(new, scores, known)[0]
    assert all(at_most(np.mean(by_bag <= u), u) for u in (0.1, 0.2, 0.5))
    # Taken for independent, instances of few bags promise what they do not keep.
    assert not at_most(np.mean(by_instance <= 0.02), 0.02)


def false_share(found, known):
    return np.mean(known[found.selected]) if found else 0.0


@pytest.mark.parametrize("level", ALPHAS)
@pytest.mark.parametrize(("n_reviewed", "n_batch"), [(20, 50), (200, 50), (2000, 200)])
def test_false_discovery_rate_of_a_batch(level, n_reviewed, n_batch):
    rng = np.random.default_rng(n_reviewed)
    reviewed_known = np.ones(n_reviewed, dtype=bool)
    shares, n_found = [], 0
    for _ in range(N_DRAWS):
        known = rng.random(n_batch) < 0.7
        scores = rng.standard_normal(n_batch) - 3.0 * ~known
        reviewed = rng.standard_normal(n_reviewed)
        found = select_novel(scores, reviewed, reviewed_known, level=level)
        shares.append(false_share(found, known))
        n_found += int(found.selected.sum())
    assert np.mean(shares) <= level + 3 * np.std(shares) / np.sqrt(N_DRAWS) + 1e-9
    if (n_reviewed, level) in {(2000, 0.1), (200, 0.1)}:
        # Seven tenths are known: Benjamini and Hochberg's rate is 0.7 of the level, and powerful.
        assert 0.5 * level < np.mean(shares) < level
        assert n_found > 0.8 * 0.3 * n_batch * N_DRAWS


def test_false_discovery_rate_of_instances_that_come_in_bags():
    rng = np.random.default_rng(3)
    shares = []
    for _ in range(N_DRAWS):
        reviewed, bags = draw_calls(rng, 200)
        scores, bag = draw_calls(rng, 20)
        known = rng.random(20)[bag] < 0.7
        found = select_novel(
            scores - 4.0 * ~known,
            reviewed,
            np.ones(len(reviewed), dtype=bool),
            level=0.2,
            bag_index=bags,
            dependence="any",
        )
        shares.append(false_share(found, known))
    assert np.mean(shares) <= 0.2 + 3 * np.std(shares) / np.sqrt(N_DRAWS)
    assert np.mean(shares) > 0.0


# ---------------------------------------------------------------------- cross-conformal


@pytest.mark.parametrize("n", [200, 2000])
@pytest.mark.parametrize("alpha", [0.05, 0.1])
@pytest.mark.parametrize("unlike", [False, True])
def test_fold_ensembles_keep_their_promise_whatever_the_copies_are(n, alpha, unlike):
    # Each copy judges along a direction learned from its bags; "unlike": on a scale of its own.
    rng = np.random.default_rng(n)
    n_folds, d, n_lost, n_draws = 5, 4, 0, N_DRAWS
    fold = np.arange(n) % n_folds
    for _ in range(n_draws):
        X, new = rng.standard_normal((n, d)), rng.standard_normal(d)
        copies = np.array([X[fold != k].sum(axis=0) for k in range(n_folds)])
        if unlike:
            copies *= rng.lognormal(0.0, 2.0, (n_folds, 1))
        held_out = np.einsum("nd,nd->n", X, copies[fold])
        value = np.sort(held_out)[cross_rank(n, alpha, n_folds) - 1]
        n_lost += int((copies @ new).max() < value)
    assert at_most(n_lost / n_draws, alpha)


@pytest.mark.parametrize("alpha", [0.05, 0.1])
@pytest.mark.parametrize("n", [20, 60])
def test_a_fold_for_each_bag_keeps_the_promise_at_the_full_rank(n, alpha):
    rng = np.random.default_rng(n)
    n_lost = 0
    for _ in range(N_DRAWS):
        X, new = rng.standard_normal((n, 3)), rng.standard_normal(3)
        copies = X.sum(axis=0) - X
        held_out = np.einsum("nd,nd->n", X, copies)
        value = np.sort(held_out)[conformal_rank(n, alpha) - 1]
        n_lost += int((copies @ new).max() < value)
    assert at_most(n_lost / N_DRAWS, alpha)


def test_bags_without_instances_are_lost_and_counted():
    rng = np.random.default_rng(4)
    model, lost = scorer(1), []
    for _ in range(N_DRAWS):
        empty = rng.random(61) < 0.05
        scores = rng.random(61)
        full = [np.empty((0, 1)) if e else [[s]] for e, s in zip(empty, scores, strict=True)]
        found = threshold_from_bags(
            model, Bags.from_list(full[:60], n_features=1), [{CLASSES[0]}] * 60, seen="accept"
        )
        value = found.value if isinstance(found, Threshold) else -np.inf
        lost.append(empty[60] or scores[60] < value)
    assert at_most(np.mean(lost), 0.1)
    assert np.mean(lost) > 0.06
