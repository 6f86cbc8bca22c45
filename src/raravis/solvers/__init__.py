"""How an objective is minimised, and how a likelihood is climbed with any model of instances."""

from raravis.solvers.alternating import solve_alternating
from raravis.solvers.cccp import solve_cccp
from raravis.solvers.descent import Descent
from raravis.solvers.em import EMResult, Fit, MStep, SoftModel, expectation_maximisation
from raravis.solvers.soft_adapter import SoftAdapter
from raravis.solvers.soft_forest import SoftForest, TreeForest
from raravis.solvers.soft_logistic import KernelLogistic, SoftLogistic

__all__ = [
    "Descent",
    "EMResult",
    "Fit",
    "KernelLogistic",
    "MStep",
    "SoftAdapter",
    "SoftForest",
    "SoftLogistic",
    "SoftModel",
    "TreeForest",
    "expectation_maximisation",
    "solve_alternating",
    "solve_cccp",
]
