"""raravis: novelty detection from weak labels.

Bags of instances (recordings of calls, images of segments) carry a list of the classes that occur
somewhere in them. raravis learns from that which instances are of a listed class, and flags the
rest as novel. Everything public is imported when first used, so ``import raravis`` stays light.
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

from raravis._version import __version__

if TYPE_CHECKING:
    from raravis._novel import NOVEL
    from raravis.bags import Bags
    from raravis.estimators.cooccurrence import CooccurrenceScorer
    from raravis.estimators.kernel_scorer import KernelScorer
    from raravis.estimators.novel_class import NovelClassClassifier
    from raravis.estimators.novelty_detector import NoveltyDetector
    from raravis.labels import BagLabels
    from raravis.persistence import load, save

__all__ = [
    "NOVEL",
    "BagLabels",
    "Bags",
    "CooccurrenceScorer",
    "KernelScorer",
    "NovelClassClassifier",
    "NoveltyDetector",
    "__version__",
    "load",
    "save",
]

_HOME = {
    "NOVEL": "raravis._novel",
    "BagLabels": "raravis.labels",
    "Bags": "raravis.bags",
    "CooccurrenceScorer": "raravis.estimators.cooccurrence",
    "KernelScorer": "raravis.estimators.kernel_scorer",
    "NovelClassClassifier": "raravis.estimators.novel_class",
    "NoveltyDetector": "raravis.estimators.novelty_detector",
    "load": "raravis.persistence",
    "save": "raravis.persistence",
}


def __getattr__(name: str) -> Any:
    """Import a public name from its module on first use (PEP 562)."""
    if name not in _HOME:
        raise AttributeError(f"module 'raravis' has no attribute {name!r}")
    value = getattr(import_module(_HOME[name]), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted(__all__)
