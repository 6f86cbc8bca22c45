"""What is minimised: the paper's bag hinge loss; what is maximised: the likelihood of a union."""

from raravis.objectives.max_hinge import MaxHinge
from raravis.objectives.prevalence import BagPrevalence
from raravis.objectives.union_likelihood import Posterior, UnionLikelihood

__all__ = ["BagPrevalence", "MaxHinge", "Posterior", "UnionLikelihood"]
