"""Estimators in the manner of scikit-learn: shells over pure functions."""

from raravis.estimators.cooccurrence import CooccurrenceScorer
from raravis.estimators.kernel_scorer import KernelScorer

__all__ = ["CooccurrenceScorer", "KernelScorer"]
