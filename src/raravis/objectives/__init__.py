"""What is minimised: the paper's bag hinge loss."""

from raravis.objectives.max_hinge import MaxHinge

__all__ = ["MaxHinge"]
