"""Thresholds, and what they promise: a step of its own, on held-out bags or reviewed instances.

``threshold_from_bags`` and ``cross_calibrate`` need bag labels alone, ``threshold_for_recall``,
``threshold_for_precision`` and ``select_novel`` need instances that somebody has reviewed. Each may
answer that no threshold keeps the promise asked for, and says then how many more would do.
"""

from raravis.calibration.cross import CrossCalibration, cross_calibrate
from raravis.calibration.ensemble import FoldEnsemble
from raravis.calibration.from_bags import threshold_from_bags
from raravis.calibration.from_reviews import threshold_for_precision, threshold_for_recall
from raravis.calibration.p_values import NovelSelection, novelty_p_values, select_novel
from raravis.calibration.promises import Scope
from raravis.calibration.ranks import lower_bound
from raravis.calibration.reviews import one_a_bag
from raravis.calibration.thresholds import (
    Calibration,
    ClassThreshold,
    NoThreshold,
    Rule,
    Threshold,
    apply_threshold,
    threshold_of,
)
from raravis.calibration.witnesses import Witnesses, witness_scores

__all__ = [
    "Calibration",
    "ClassThreshold",
    "CrossCalibration",
    "FoldEnsemble",
    "NoThreshold",
    "NovelSelection",
    "Rule",
    "Scope",
    "Threshold",
    "Witnesses",
    "apply_threshold",
    "cross_calibrate",
    "lower_bound",
    "novelty_p_values",
    "one_a_bag",
    "select_novel",
    "threshold_for_precision",
    "threshold_for_recall",
    "threshold_from_bags",
    "threshold_of",
    "witness_scores",
]
