"""Grids of trials: one answer whatever the workers, resumed from a journal, stopped by Ctrl-C."""

from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from raravis.bags import Bags
from raravis.experiments import grid, journal
from raravis.experiments.grid import Arm, GridResult, RunOptions, run_grid
from raravis.experiments.journal import Journal, Record
from raravis.experiments.models import ModelSpec
from raravis.experiments.protocols import Trial, trial_seeds
from raravis.labels import BagLabels
from raravis.progress import Progress

SETS = ((0, 1), (0, 2), (1, 2))


@dataclass(frozen=True)
class Blobs:
    """Bags of three blobs in the plane, drawn anew for every trial."""

    spread: float = 0.7

    def load(self, data_home: Any = None) -> "Blobs":
        return self

    def describe(self) -> dict[str, Any]:
        return {"data": "blobs", "spread": self.spread}

    def checked(self) -> "Blobs":
        return self

    def trial(self, known: Any, repeat: int, seed: int) -> Trial:
        rng = np.random.default_rng(trial_seeds(seed, known, repeat)[0])
        drawn = [rng.integers(0, 3, 5) for _ in range(30)]
        centres = np.array([[0.0, 0.0], [3.0, 0.0], [0.0, 3.0]])
        bags = Bags.from_list([centres[d] + rng.normal(0, self.spread, (5, 2)) for d in drawn])
        is_known = np.isin(np.concatenate(drawn), known)
        train, test = np.arange(20), np.arange(20, 30)
        return Trial(
            train=bags.take(train),
            labels=BagLabels.from_sets([set(drawn[i].tolist()) & set(known) for i in train]),
            train_known=is_known[:100],
            test=bags.take(test),
            test_known=is_known[100:],
            seed=repeat,
        )


def arm(repeats: int = 2, **models: int) -> Arm:
    return Arm("table", Blobs(), SETS, models or {"kernel": repeats, "knn-true": 1})


def aucs(result: GridResult, of: Arm) -> dict[tuple[Any, str], tuple[float, ...]]:
    return {(cell.known, cell.model): cell.aucs for cell in result.cells(of)}


def test_any_number_of_workers_gives_the_same_figures() -> None:
    one = aucs(run_grid([arm()], RunOptions(jobs=1)), arm())
    assert aucs(run_grid([arm()], RunOptions(jobs=2)), arm()) == one
    assert len(one) == 2 * len(SETS)
    assert {len(found) for (_, model), found in one.items() if model == "kernel"} == {2}
    assert aucs(run_grid([arm()], RunOptions(seed=1)), arm()) != one


def test_a_rerun_takes_what_the_journal_holds(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    options = RunOptions(journal=Journal.open(tmp_path / "journal"))
    first = aucs(run_grid([arm(1)], options), arm(1))
    ran: list[int] = []

    def counted(trial: Trial, model: ModelSpec) -> Record:
        ran.append(trial.seed)
        return record(trial, model)

    record = grid._record
    monkeypatch.setattr(grid, "_record", counted)
    assert aucs(run_grid([arm(1)], options), arm(1)) == first
    assert ran == []
    more = aucs(run_grid([arm(2)], options), arm(2))
    assert ran == [1] * len(SETS)
    assert all(more[key][0] == found[0] for key, found in first.items())


def test_figures_of_other_code_are_counted_where_they_are_taken(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "journal"
    with monkeypatch.context() as earlier:
        earlier.setattr(journal, "code_digest", lambda: "earlier")
        run_grid([arm(1)], RunOptions(journal=Journal.open(path)))
    found = run_grid([arm(2)], RunOptions(journal=Journal.open(path, accept_older=True)))
    assert found.n_older == 2 * len(SETS)
    assert run_grid([arm(2)], RunOptions(journal=Journal.open(path))).n_older == 0


def test_ctrl_c_keeps_what_is_finished_and_the_next_run_goes_on(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    options = RunOptions(journal=Journal.open(tmp_path / "journal"))
    whole = aucs(run_grid([arm(kernel=1)], RunOptions()), arm(kernel=1))
    record, begun = grid._record, []

    def impatient(trial: Trial, model: ModelSpec) -> Record:
        begun.append(trial)
        if len(begun) == 2:
            raise KeyboardInterrupt
        return record(trial, model)

    monkeypatch.setattr(grid, "_record", impatient)
    cut = run_grid([arm(kernel=1)], options)
    assert not cut.complete
    assert aucs(cut, arm(kernel=1)) == {(SETS[0], "kernel"): whole[SETS[0], "kernel"]}
    monkeypatch.setattr(grid, "_record", record)
    rest = run_grid([arm(kernel=1)], options)
    assert rest.complete
    assert aucs(rest, arm(kernel=1)) == whole


def test_progress_counts_trials_to_the_last() -> None:
    told: list[Progress] = []
    run_grid([arm(2)], RunOptions(stage="blobs", progress=told.append))
    assert [(p.stage, p.done, p.total) for p in told] == [("blobs", i, 6) for i in range(7)]


def test_a_trial_without_novel_instances_has_no_figure() -> None:
    lone = Arm("table", Blobs(), ((0, 1, 2),), {"kernel": 1})
    (cell,) = run_grid([lone], RunOptions()).cells(lone)
    assert np.isnan(cell.aucs[0])
    assert np.isnan(cell.auc_mean)
