"""raravis: novelty detection from weak labels.

Bags of instances (recordings of calls, images of segments) carry a list of the classes that occur
somewhere in them. raravis learns from that which instances are of a listed class, and flags the
rest as novel. Everything public is imported when first used, so ``import raravis`` stays light.
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

from raravis._version import __version__

if TYPE_CHECKING:
    from raravis.bags import Bags
    from raravis.labels import BagLabels

__all__ = ["BagLabels", "Bags", "__version__"]

_HOME = {
    "Bags": "raravis.bags",
    "BagLabels": "raravis.labels",
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
