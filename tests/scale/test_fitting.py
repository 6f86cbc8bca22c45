"""The streamed fit against the likelihood in memory, its gradient, and what must not matter."""

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from scipy.optimize import approx_fprime, minimize
from sklearn.metrics import roc_auc_score
from tests.scale.made import OPTIONS, made

import raravis
from raravis import BagLabels, Bags, NovelClassClassifier
from raravis.datasets import BagDataset
from raravis.errors import InputError
from raravis.kernels import Gaussian
from raravis.landmarks import LandmarkMap
from raravis.objectives import UnionLikelihood
from raravis.scale import BagParts, fit_parquet, mixture_chunks, score_parquet
from raravis.scale.lbfgs import begun, step
from raravis.scale.passes import LocalPasses
from raravis.scale.problem import Problem, whole_value
from raravis.scaling import Scaling
from raravis.solvers.soft_logistic import log_softmax


def _whole(n: int = 600) -> BagDataset:
    return next(mixture_chunks(n, rows_a_chunk=n, **OPTIONS))


def _problem(parts: BagParts, dtype: Any = np.float64) -> Problem:
    X = np.concatenate([b.instances for i in range(3) for b in parts.blocks(i, rows=1000)])
    scaling = Scaling.learn(X, "minmax")
    Z = scaling.apply(X[::40]).astype(dtype)
    features = LandmarkMap.from_landmarks(Gaussian(2.0), Z)
    return Problem(features.kernel, Z, features.whitening, scaling, (0, 1, 2), len(X), 1e-3, dtype)


def _value(parts: BagParts, problem: Problem, budget: int = 1 << 30, n_jobs: int = 1) -> Any:
    passes = LocalPasses(parts, problem, memory_budget=budget, n_jobs=n_jobs)
    return lambda weights: whole_value(problem, passes(weights), weights)


def test_value_is_that_of_the_likelihood_in_memory_and_gradient_its_slope(tmp_path: Path) -> None:
    parts = made(tmp_path)
    problem = _problem(parts)
    weights = 0.5 * np.random.default_rng(0).standard_normal(problem.shape)
    value, gradient = _value(parts, problem)(weights)
    blocks = [b for i in range(3) for b in parts.blocks(i, rows=1000)]
    bags = Bags.concat([Bags(b.instances, b.offsets, b.keys) for b in blocks])
    labels = BagLabels.from_sets([x for b in blocks for x in b.label_lists], classes=(0, 1, 2))
    X = problem.scaling.apply(bags.instances).astype(np.float64)
    phi = LandmarkMap(problem.kernel, problem.landmarks, problem.whitening)(X)
    log_p = log_softmax(phi @ weights[:-1] + weights[-1])
    union = UnionLikelihood.from_bags(bags, labels)
    penalty = 0.5 * problem.lam * np.square(weights).sum()
    expected = penalty - union.posterior(log_p).log_likelihood.sum() / bags.n_instances
    assert value == pytest.approx(expected, rel=1e-9)
    rows = [(0, 0), (5, 2), (problem.shape[0] - 1, 3)]
    for at in rows:

        def along(t: Any, at: tuple[int, int] = at) -> float:
            moved = weights.copy()
            moved[at] = t[0]
            return float(_value(parts, problem)(moved)[0])

        slope = approx_fprime(np.array([weights[at]]), along, 1e-6)[0]
        assert gradient[at] == pytest.approx(slope, abs=1e-6)


def test_blocks_and_threads_do_not_matter(tmp_path: Path) -> None:
    parts = made(tmp_path)
    for dtype, close in ((np.float64, 1e-12), (np.float32, 1e-5)):
        problem = _problem(parts, dtype)
        weights = np.random.default_rng(1).standard_normal(problem.shape)
        value, gradient = _value(parts, problem)(weights)
        for budget, n_jobs in ((1 << 30, 2), (1 << 10, 1)):
            other, slope = _value(parts, problem, budget, n_jobs)(weights)
            assert other == pytest.approx(value, rel=close)
            assert np.abs(slope - gradient).max() < close
            if n_jobs == 2:
                assert other == value
                assert np.array_equal(slope, gradient)


def test_single_precision_is_close_to_double(tmp_path: Path) -> None:
    parts = made(tmp_path)
    single, double = _problem(parts, np.float32), _problem(parts)
    weights = np.random.default_rng(1).standard_normal(single.shape)
    narrow, wide = _value(parts, single)(weights), _value(parts, double)(weights)
    assert narrow[0] == pytest.approx(wide[0], rel=1e-4)
    assert np.abs(narrow[1] - wide[1]).max() < 1e-4 * np.abs(wide[1]).max() + 1e-5


def test_the_fit_ends_where_a_solver_of_others_does(tmp_path: Path) -> None:
    parts = made(tmp_path)
    problem = _problem(parts)
    value = _value(parts, problem)

    def flat(x: Any) -> tuple[float, Any]:
        found, gradient = value(x.reshape(problem.shape))
        return found, gradient.ravel()

    at = begun(flat, np.zeros(problem.shape).ravel())
    for _ in range(25):
        at = step(flat, at)
    assert list(at.path) == sorted(at.path, reverse=True)
    theirs = minimize(
        flat, np.zeros(at.x.shape), jac=True, method="L-BFGS-B", options={"maxiter": 25}
    )
    assert at.value == pytest.approx(theirs.fun, abs=1e-3)
    assert at.n_evaluations <= 1.3 * theirs.nfev + 5


def test_the_model_is_an_ordinary_one_and_as_good(tmp_path: Path) -> None:
    parts = made(tmp_path / "data", 1500, 400)
    model = fit_parquet(NovelClassClassifier(n_landmarks=100), parts)
    data = _whole(1500)
    ordinary = NovelClassClassifier(n_landmarks=100)
    merged = list(mixture_chunks(1500, rows_a_chunk=400, **OPTIONS))
    ordinary.fit(
        Bags.concat([c.bags for c in merged]), BagLabels.concat([c.labels for c in merged])
    )
    fresh = next(mixture_chunks(1500, rows_a_chunk=1500, draw=1, **OPTIONS))
    y = fresh.instance_labels < 3
    ours, theirs = (roc_auc_score(y, m.score_samples(fresh.bags)) for m in (model, ordinary))
    assert ours > theirs - 0.02
    assert ours > 0.9
    assert model.gamma_ == pytest.approx(ordinary.gamma_, rel=1e-5)
    assert np.allclose(model.scaling_.scale, ordinary.scaling_.scale, rtol=1e-6)
    assert sorted(model.training_bags_) == sorted(ordinary.training_bags_)
    raravis.save(model, tmp_path / "m.raravis")
    loaded = raravis.load(tmp_path / "m.raravis")
    assert np.array_equal(loaded.score_samples(data.bags), model.score_samples(data.bags))
    assert model.predict_bags(fresh.bags).shape == (fresh.bags.n_bags, 3)
    assert np.isfinite(model.score_samples(fresh.bags, context=True)).all()


class _StopError(Exception):
    pass


@pytest.mark.parametrize("steps", [1, 6, 14])
def test_a_fit_that_is_stopped_ends_as_if_it_had_not_been(tmp_path: Path, steps: int) -> None:
    parts = made(tmp_path / "data", 600, 250)
    whole = fit_parquet(NovelClassClassifier(n_landmarks=30), parts)
    left = [steps]

    def stop(told: Any) -> None:
        if told.stage.startswith("steps"):
            left[0] -= 1
            if left[0] == 0:
                raise _StopError

    model, keep = NovelClassClassifier(n_landmarks=30), tmp_path / "kept"
    with pytest.raises(_StopError):
        fit_parquet(model, parts, checkpoint=keep, progress=stop)
    told = []
    fit_parquet(model, parts, checkpoint=keep, progress=told.append)
    assert np.array_equal(model.model_.instances.coefficients, whole.model_.instances.coefficients)
    assert not any(p.stage == "parts looked at" for p in told)
    passed = [(p.done, p.total) for p in told if p.stage == "parts passed over"]
    assert set(passed) == {(1, 3), (2, 3), (3, 3)}
    told.clear()
    fit_parquet(model, parts, checkpoint=keep, progress=told.append)
    assert told == []
    with pytest.raises(InputError, match="other settings"):
        fit_parquet(NovelClassClassifier(n_landmarks=31), parts, checkpoint=keep)
    (keep / "plan.npz").write_bytes(b"PK\x03\x04 not whole")
    with pytest.raises(InputError, match="damaged"):
        fit_parquet(model, parts, checkpoint=keep)


@pytest.mark.parametrize(
    ("model", "word"),
    [
        (NovelClassClassifier("forest"), "m_step"),
        (NovelClassClassifier(n_landmarks=None), "n_landmarks"),
        (NovelClassClassifier(scaling="robust"), "scaling"),
        (NovelClassClassifier(init="kernel"), "init"),
        (raravis.KernelScorer(), "KernelScorer"),
    ],
)
def test_models_that_cannot_be_streamed_are_refused(tmp_path: Path, model: Any, word: str) -> None:
    parts = made(tmp_path)
    with pytest.raises(InputError, match=word):
        fit_parquet(model, parts)


def test_scores_on_disk_are_those_of_the_model(tmp_path: Path) -> None:
    import pyarrow.parquet as pq

    parts = made(tmp_path / "data")
    model = fit_parquet(NovelClassClassifier(n_landmarks=40), parts)
    forest = NovelClassClassifier("forest", n_trees=5, max_rounds=1)
    data = _whole()
    forest.fit(data.bags, data.labels)
    for n, judge in enumerate((model, forest)):
        out = tmp_path / f"out{n}"
        files = score_parquet(judge, parts, out, memory_budget=1 << 14)
        for file, chunk in zip(
            files, mixture_chunks(600, rows_a_chunk=250, **OPTIONS), strict=True
        ):
            found = pq.read_table(file)
            expected = judge.score_samples(chunk.bags)
            assert np.allclose(found["score"], expected, rtol=1e-3, atol=2e-3)
            assert found["bag"].to_pylist() == [chunk.bags.keys[i] for i in chunk.bags.bag_index]
            best = judge.class_scores(chunk.bags).argmax(axis=1)
            agree = np.asarray(found["class"].to_numpy()) == judge.classes_[best].astype(int)
            assert agree.mean() > 0.99
            assert np.array_equal(found["known"], np.asarray(found["score"]) >= 0)
        before = [file.stat().st_mtime_ns for file in files]
        files[0].unlink()
        again = score_parquet(judge, parts, out)
        assert [file.stat().st_mtime_ns for file in again][1:] == before[1:]
        assert again[0].exists()
    assert not list(tmp_path.rglob("*.draft"))
    score_parquet(forest, parts, tmp_path / "out0")
    assert np.allclose(
        pq.read_table(tmp_path / "out0" / "part-00000.parquet")["score"],
        pq.read_table(tmp_path / "out1" / "part-00000.parquet")["score"],
    )
