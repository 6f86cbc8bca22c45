"""The one result type of every solver of the bag hinge objective."""

from dataclasses import dataclass
from typing import Literal

import numpy as np
from numpy.typing import NDArray

__all__ = ["Descent", "Reason"]

Reason = Literal[
    "witnesses settled", "objective settled", "round limit", "rounding limit", "sweep limit"
]


@dataclass(frozen=True)
class Descent:
    """Where the descent of one class ended.

    Attributes
    ----------
    weights : array of shape (n_instances,)
        alpha of the score function f = sum_l alpha_l k(., x_l).
    scores : array of shape (n_instances,)
        f at the training instances.
    objective : tuple of float
        The true objective after every round.
    converged : bool
        Whether the rounds ended because nothing changed any more.
    reason : str
        Why they ended.
    """

    weights: NDArray[np.float64]
    scores: NDArray[np.float64]
    objective: tuple[float, ...]
    converged: bool
    reason: Reason

    @property
    def n_iter(self) -> int:
        """Number of rounds."""
        return len(self.objective)

    @property
    def value(self) -> float:
        """The objective at the end."""
        return self.objective[-1]

    def better(self, other: "Descent | None") -> "Descent":
        """Return whichever of the two ended lower; the first one on a tie."""
        return self if other is None or self.value < other.value else other
