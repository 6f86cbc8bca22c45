"""What goes wrong with a recording."""

from raravis.errors import InputError

__all__ = ["AudioError"]


class AudioError(InputError):
    """A recording that cannot be used; the message says which one and why."""
