"""What can go wrong with a study: all of it is told to the person who runs it."""

from raravis.errors import InputError

__all__ = ["StudyBusyError", "StudyError"]


class StudyError(InputError):
    """A study cannot do what was asked; the message says why, and what to do."""


class StudyBusyError(StudyError):
    """Somebody else is at work on the study."""
