"""Claims about paired differences, with an interval."""

import math
from collections.abc import Sequence

import numpy as np

from raravis.experiments.results import Cell, Comparison

__all__ = ["paired_comparison"]


def paired_comparison(
    claim: str, better: Sequence[Cell], worse: Sequence[Cell], *, level: float = 0.95
) -> Comparison:
    """Test that the first figures exceed the second, label set by label set and repeat by repeat.

    Each label set gives one number, the mean difference over its repeats; the interval is Student's
    t over label sets, so that it speaks of label sets like these and not only of more repeats.
    With a single label set it is taken over the repeats.

    Parameters
    ----------
    claim : str
    better, worse : sequences of Cell
        Cells of the same label sets, whose repeats share their bags.
    level : float
        Coverage of the interval.

    Examples
    --------
    >>> cells = [Cell((k,), None, "a", (0.9, 0.8 + k / 100)) for k in range(5)]
    >>> others = [Cell((k,), None, "b", (0.8, 0.8)) for k in range(5)]
    >>> found = paired_comparison("a is better", cells, others)
    >>> round(found.difference, 3), found.n, found.holds
    (0.06, 10, True)
    """
    differences = _differences(better, worse)
    n = sum(map(len, differences))
    units = [float(np.mean(d)) for d in differences]
    if len(units) == 1:
        units = list(differences[0])
    mean = float(np.mean(units)) if units else math.nan
    half = _half_width(units, level)
    return Comparison(
        claim=claim,
        difference=mean,
        low=mean - half,
        high=mean + half,
        level=level,
        n=n,
        holds=mean - half > 0,
    )


def _differences(better: Sequence[Cell], worse: Sequence[Cell]) -> list[list[float]]:
    """Pair the repeats of equal label sets; a pair with an undefined figure does not count."""
    other = {frozenset(cell.known): cell.aucs for cell in worse}
    found = [
        [a - b for a, b in zip(cell.aucs, other.get(frozenset(cell.known), ()), strict=False)]
        for cell in better
    ]
    kept = [[value for value in values if not math.isnan(value)] for values in found]
    return [values for values in kept if values]


def _half_width(units: Sequence[float], level: float) -> float:
    if len(units) < 2:
        return math.nan
    from scipy.stats import t

    error = np.std(units, ddof=1) / math.sqrt(len(units))
    return float(t.ppf((1 + level) / 2, len(units) - 1) * error)
