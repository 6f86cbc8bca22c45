"""What an experiment finds: cells, comparisons and figures as plain frozen data, nothing drawn."""

import math
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any, NamedTuple, TypeAlias

import numpy as np
import numpy.typing as npt

__all__ = [
    "JSON",
    "BagPictures",
    "BagRow",
    "Cell",
    "Comparison",
    "DataTable",
    "Figure",
    "ModelSummary",
    "RocFigure",
    "RocLine",
    "RocPanel",
    "TableResult",
]

JSON: TypeAlias = Any
"""Whatever ``json.dumps`` writes without help and without NaN."""


@dataclass(frozen=True)
class Cell:
    """One model on one label set.

    Parameters
    ----------
    known, novel : tuple
        The classes that bag labels list, and the others; ``novel`` is None where it is open.
    model : str
        A name out of ``raravis.experiments.MODELS``.
    aucs : tuple of float
        One figure a repeat; NaN where it is undefined, and then not counted.
    paper : float or None
        The published figure that this label set is held against.
    seconds : float
        Processor time of all fits and scores together, on one core.

    Examples
    --------
    >>> cell = Cell(known=(1, 2), novel=(3,), model="kernel", aucs=(0.9, 0.8), paper=0.84)
    >>> round(cell.auc_mean, 3), round(cell.auc_se, 3), cell.n, cell.wins
    (0.85, 0.05, 2, True)
    """

    known: tuple[Any, ...]
    novel: tuple[Any, ...] | None
    model: str
    aucs: tuple[float, ...]
    paper: float | None = None
    seconds: float = 0.0

    @property
    def counted(self) -> tuple[float, ...]:
        """The figures that are defined."""
        return tuple(value for value in self.aucs if not math.isnan(value))

    @property
    def n(self) -> int:
        """Number of repeats that count."""
        return len(self.counted)

    @property
    def auc_mean(self) -> float:
        """Mean over repeats; NaN without any."""
        return float(np.mean(self.counted)) if self.n else math.nan

    @property
    def auc_se(self) -> float:
        """Standard error of the mean; NaN below two repeats."""
        return float(np.std(self.counted, ddof=1) / math.sqrt(self.n)) if self.n > 1 else math.nan

    @property
    def wins(self) -> bool | None:
        """Whether the mean is above the published figure; None where there are not both."""
        if self.paper is None or not self.n:
            return None
        return self.auc_mean > self.paper

    def to_json(self) -> dict[str, JSON]:
        """Return the cell in the stable form."""
        return {
            "known": [_plain(value) for value in self.known],
            "novel": None if self.novel is None else [_plain(value) for value in self.novel],
            "model": self.model,
            "auc_mean": _finite(self.auc_mean),
            "auc_se": _finite(self.auc_se),
            "n": self.n,
            "paper": self.paper,
            "aucs": [_finite(value) for value in self.aucs],
            "seconds": self.seconds,
        }


@dataclass(frozen=True)
class Comparison:
    """A claim about a difference of paired figures, with its interval; it holds if low > 0."""

    claim: str
    difference: float
    low: float
    high: float
    level: float
    n: int
    holds: bool

    def to_json(self) -> dict[str, JSON]:
        """Return the claim and its figures."""
        return {
            "claim": self.claim,
            "difference": _finite(self.difference),
            "low": _finite(self.low),
            "high": _finite(self.high),
            "level": self.level,
            "n": self.n,
            "holds": self.holds,
        }


class RocLine(NamedTuple):
    """One model's curve."""

    model: str
    fpr: tuple[float, ...]
    tpr: tuple[float, ...]
    auc: float


class RocPanel(NamedTuple):
    """The curves of one setting."""

    title: str
    curves: tuple[RocLine, ...]


@dataclass(frozen=True)
class RocFigure:
    """Panels of ROC curves side by side."""

    panels: tuple[RocPanel, ...]

    def to_json(self) -> dict[str, JSON]:
        """Return every panel with its curves."""
        panels = [
            {"title": panel.title, "curves": [_curve_json(line) for line in panel.curves]}
            for panel in self.panels
        ]
        return {"kind": "roc", "panels": panels}


class BagRow(NamedTuple):
    """One bag as pictures: its key, its label set, the images and the true class of each."""

    key: Any
    labels: tuple[Any, ...]
    images: tuple[npt.NDArray[np.uint8], ...]
    truth: tuple[Any, ...]


@dataclass(frozen=True, eq=False)
class BagPictures:
    """Example bags of images."""

    rows: tuple[BagRow, ...]

    def to_json(self) -> dict[str, JSON]:
        """Return keys, labels and truth; pictures are left out."""
        rows = [
            {
                "key": _plain(row.key),
                "labels": [_plain(label) for label in row.labels],
                "truth": [_plain(label) for label in row.truth],
            }
            for row in self.rows
        ]
        return {"kind": "bags", "rows": rows}


@dataclass(frozen=True)
class DataTable:
    """A small table of text and numbers."""

    title: str
    columns: tuple[str, ...]
    rows: tuple[tuple[Any, ...], ...]

    def to_json(self) -> dict[str, JSON]:
        """Return title, columns and rows."""
        rows = [[_plain(value) for value in row] for row in self.rows]
        return {"kind": "table", "title": self.title, "columns": list(self.columns), "rows": rows}


Figure: TypeAlias = RocFigure | BagPictures | DataTable


class ModelSummary(NamedTuple):
    """One model over all its label sets.

    ``mean`` is the mean of the label sets' means; ``se`` takes the label sets as given and their
    repeats as independent draws; ``wins`` of ``n_paper`` published figures are exceeded.
    """

    mean: float
    se: float
    wins: int
    n_paper: int
    n_cells: int
    seconds: float


@dataclass(frozen=True, eq=False)
class TableResult:
    """A table of the paper, run again.

    Parameters
    ----------
    table, title : str
        Its name in ``TABLES`` and what it shows.
    protocol : dict
        Every setting, those that the paper leaves unsaid included.
    cells : tuple of Cell
        In the order of the published rows, models within a row.
    comparisons : tuple of Comparison
    figures : dict
    seconds : float
        Wall time of this run; what earlier runs had finished took none of it.
    versions : dict
        Of Python and of the libraries that move numbers.
    complete : bool
        False if the run was interrupted: cells then hold the repeats that were finished.
    """

    table: str
    title: str
    protocol: Mapping[str, JSON]
    cells: tuple[Cell, ...] = ()
    comparisons: tuple[Comparison, ...] = ()
    figures: Mapping[str, Figure] = field(default_factory=dict)
    seconds: float = 0.0
    versions: Mapping[str, str] = field(default_factory=dict)
    complete: bool = True

    @property
    def models(self) -> dict[str, ModelSummary]:
        """Every model over its label sets, in the order in which the models were named."""
        names = dict.fromkeys(cell.model for cell in self.cells)
        return {name: _summary(c for c in self.cells if c.model == name) for name in names}

    def to_json(self) -> dict[str, JSON]:
        """Return the stable form, ready for ``json.dumps(..., allow_nan=False)``."""
        models = {
            name: {"mean": _finite(m.mean), "se": _finite(m.se), "wins_vs_paper": m.wins}
            for name, m in self.models.items()
        }
        return {
            "table": self.table,
            "title": self.title,
            "protocol": dict(self.protocol),
            "cells": [cell.to_json() for cell in self.cells],
            "models": models,
            "comparisons": [comparison.to_json() for comparison in self.comparisons],
            "figures": {name: figure.to_json() for name, figure in self.figures.items()},
            "seconds": self.seconds,
            "versions": dict(self.versions),
            "complete": self.complete,
        }


def _summary(cells: Iterable[Cell]) -> ModelSummary:
    listed = [cell for cell in cells if cell.n]
    errors = np.array([cell.auc_se for cell in listed])
    return ModelSummary(
        mean=float(np.mean([cell.auc_mean for cell in listed])) if listed else math.nan,
        se=float(np.sqrt((errors**2).sum()) / len(listed)) if listed else math.nan,
        wins=sum(bool(cell.wins) for cell in listed),
        n_paper=sum(cell.paper is not None for cell in listed),
        n_cells=len(listed),
        seconds=float(sum(cell.seconds for cell in listed)),
    )


def _curve_json(line: RocLine) -> dict[str, JSON]:
    return {
        "model": line.model,
        "fpr": list(line.fpr),
        "tpr": list(line.tpr),
        "auc": _finite(line.auc),
    }


def _finite(value: float) -> float | None:
    """Return the number, or None where JSON has no word for it."""
    return value if math.isfinite(value) else None


def _plain(value: Any) -> JSON:
    """Return a label or a table entry as JSON can write it."""
    if isinstance(value, np.generic):
        value = value.item()
    if isinstance(value, float):
        return _finite(value)
    return value if value is None or isinstance(value, bool | int | str) else str(value)
