"""L-BFGS that can be put down after any step and taken up again, to the bit.

One evaluation is a pass over all data, so steps are made to cost one: the step length 1 is tried
first, and further ones only where the value does not fall enough. A change of gradient that is of
no use to the next direction is left out.
"""

from collections.abc import Callable
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

__all__ = ["Descent", "begun", "step"]

Doubles = NDArray[np.float64]
Function = Callable[[Doubles], tuple[float, Doubles]]

_MEMORY = 10
_ENOUGH, _FLAT_ENOUGH = 1e-4, 0.9
_MOST_TRIALS = 12
_USEFUL = 1e-10


@dataclass(frozen=True)
class Descent:
    """Where a descent stands: the point, value and gradient there, and recent changes of both."""

    x: Doubles
    value: float
    gradient: Doubles
    moves: tuple[Doubles, ...] = ()
    changes: tuple[Doubles, ...] = ()
    path: tuple[float, ...] = ()
    n_evaluations: int = 1
    stuck: bool = field(default=False)


def begun(function: Function, x: Doubles) -> Descent:
    """Evaluate at the start."""
    value, gradient = function(x)
    return Descent(x, value, gradient, path=(value,))


def step(function: Function, at: Descent) -> Descent:
    """Move once downhill; ``stuck`` is set where no step length lowers the value.

    Examples
    --------
    >>> import numpy as np
    >>> def bowl(x):
    ...     return float(x @ x), 2 * x
    >>> at = begun(bowl, np.array([3.0, 4.0]))
    >>> for _ in range(3):
    ...     at = step(bowl, at)
    >>> round(at.value, 6)
    0.0
    """
    direction = _direction(at)
    slope = float(direction @ at.gradient)
    if slope >= 0.0:  # rounding has spoilt the memory: begin anew
        at = replace(at, moves=(), changes=())
        direction = _direction(at)
        slope = float(direction @ at.gradient)
    if slope == 0.0:
        return replace(at, stuck=True)
    found, n_trials = _along(function, at, direction, slope)
    if found is None:
        if at.moves:  # steepest descent may still go on
            return step(
                function,
                replace(at, moves=(), changes=(), n_evaluations=at.n_evaluations + n_trials),
            )
        return replace(at, stuck=True, n_evaluations=at.n_evaluations + n_trials)
    x, value, gradient = found
    move, change = x - at.x, gradient - at.gradient
    moves, changes = at.moves, at.changes
    if float(move @ change) > _USEFUL * float(change @ change):
        moves, changes = (*moves, move)[-_MEMORY:], (*changes, change)[-_MEMORY:]
    return Descent(
        x, value, gradient, moves, changes, (*at.path, value), at.n_evaluations + n_trials
    )


def _direction(at: Descent) -> Doubles:
    """Return minus the approximate inverse Hessian times the gradient (two-loop recursion)."""
    q = -at.gradient
    if not at.moves:
        return q / max(1.0, float(np.linalg.norm(at.gradient)))
    weights = []
    for move, change in zip(reversed(at.moves), reversed(at.changes), strict=True):
        a = float(move @ q) / float(move @ change)
        weights.append(a)
        q = q - a * change
    last, bend = at.moves[-1], at.changes[-1]
    q = q * (float(last @ bend) / float(bend @ bend))
    for move, change, a in zip(at.moves, at.changes, reversed(weights), strict=True):
        q = q + (a - float(change @ q) / float(move @ change)) * move
    return q


def _along(function: Function, at: Descent, direction: Doubles, slope: float) -> tuple[Any, int]:
    """Bracket a step length that lowers the value enough and flattens the slope (weak Wolfe)."""
    low, high, length = 0.0, np.inf, 1.0
    best = None
    for trial in range(1, _MOST_TRIALS + 1):
        x = at.x + length * direction
        value, gradient = function(x)
        if value > at.value + _ENOUGH * length * slope or not np.isfinite(value):
            high = length
        else:
            best = (x, value, gradient)
            if float(gradient @ direction) >= _FLAT_ENOUGH * slope:
                return best, trial
            low = length
        length = 0.5 * (low + high) if np.isfinite(high) else 2.0 * length
    return best, _MOST_TRIALS
