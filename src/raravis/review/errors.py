"""What can go wrong in a review: all of it is told to the person at the page."""

from raravis.errors import InputError

__all__ = ["ReviewError", "StaleError"]


class ReviewError(InputError):
    """A review cannot do what was asked; the message says why, and what to do."""


class StaleError(ReviewError):
    """A page asks about scores that are no longer there."""
