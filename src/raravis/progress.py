"""How long work tells its caller where it stands.

The library never prints. A caller passes a function of one ``Progress``; a command line draws a
bar from it, a notebook or a server does as it likes.
"""

from collections.abc import Callable
from dataclasses import dataclass

__all__ = ["Progress", "ProgressCallback"]


@dataclass(frozen=True)
class Progress:
    """``done`` of ``total`` steps of ``stage`` are finished."""

    stage: str
    done: int
    total: int


ProgressCallback = Callable[[Progress], None]
