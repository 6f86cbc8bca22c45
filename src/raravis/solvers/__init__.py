"""How an objective is minimised."""

from raravis.solvers.alternating import solve_alternating
from raravis.solvers.cccp import solve_cccp
from raravis.solvers.descent import Descent

__all__ = ["Descent", "solve_alternating", "solve_cccp"]
