"""A Dask cluster of two processes: the same bits as one process, also when a worker is killed."""

import os
import signal
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow.parquet as pq
import pytest
from tests.scale.made import made, table, written

from raravis import KernelScorer, NovelClassClassifier
from raravis.errors import InputError
from raravis.scale import fit_parquet, score_parquet

distributed = pytest.importorskip("distributed")

pytestmark = pytest.mark.filterwarnings("ignore::ResourceWarning", "ignore::DeprecationWarning")


@pytest.fixture(scope="module")
def client() -> Iterator[Any]:
    with (
        distributed.LocalCluster(
            n_workers=2, threads_per_worker=1, processes=True, dashboard_address=None
        ) as cluster,
        distributed.Client(cluster) as found,
    ):
        yield found


def _fit(folder: Path, **options: Any) -> NovelClassClassifier:
    return fit_parquet(NovelClassClassifier(n_landmarks=30), folder, **options)


def test_fit_and_scores_are_those_of_one_process_also_if_a_worker_is_killed(
    tmp_path: Path, client: Any
) -> None:
    made(tmp_path / "data", 900, 150)
    alone = _fit(tmp_path / "data")
    left = [3]

    def kill(told: Any) -> None:
        if told.stage == "steps on all bags" or left[0] > 1:
            left[0] -= 1
            if left[0] == 0:
                os.kill(next(iter(client.run(os.getpid).values())), signal.SIGKILL)

    together = _fit(tmp_path / "data", client=client, progress=kill)
    assert left[0] <= 0
    ours, theirs = alone.model_.instances, together.model_.instances
    assert np.array_equal(ours.coefficients, theirs.coefficients)
    assert np.array_equal(alone.path_, together.path_)
    here = score_parquet(alone, tmp_path / "data", tmp_path / "here")
    there = score_parquet(together, tmp_path / "data", tmp_path / "there", client=client)
    for a, b in zip(here, there, strict=True):
        assert pq.read_table(a).equals(pq.read_table(b))


def test_a_fault_on_a_worker_is_named_as_it_would_be_here(tmp_path: Path, client: Any) -> None:
    bad = table(bag=["a", "b"], x0=[1.0, float("nan")], labels=[["wren"], []])
    with pytest.raises(InputError, match=r"part-0\.parquet: feature 'x0' is nan"):
        _fit(written(tmp_path, bad), client=client)
    with pytest.raises(InputError, match=r"client is a str; pass a dask\.distributed\.Client"):
        _fit(written(tmp_path, bad), client="tcp://somewhere")


def test_a_grid_search_runs_on_the_cluster_through_joblib(client: Any) -> None:
    import joblib
    from sklearn.model_selection import GridSearchCV

    rng = np.random.default_rng(0)
    X, y = rng.standard_normal((24, 4, 3)), np.zeros((24, 2), dtype=int)
    for c in range(2):
        y[c::3, c] = 1
        X[c::3, 0, c] += 4.0

    def right(model: KernelScorer, bags: Any, labels: Any) -> float:
        return float((model.predict_bags(bags) == labels).mean())

    search = GridSearchCV(KernelScorer(), {"lam": [1e-3, 1e-1]}, scoring=right, cv=2)
    alone = search.fit(X, y).cv_results_["mean_test_score"].copy()
    with joblib.parallel_config(backend="dask"):
        together = search.fit(X, y).cv_results_["mean_test_score"]
    assert np.array_equal(alone, together)
