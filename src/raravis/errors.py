"""Errors that raravis raises, so that a caller can tell its own mistakes from ours."""

__all__ = ["InputError", "ModelFileError", "RaravisError", "RaravisWarning"]


class RaravisError(Exception):
    """Base class of every error that raravis raises on purpose."""


class InputError(RaravisError, ValueError):
    """Something passed in cannot be used; the message says what, what is accepted, what to do."""


class ModelFileError(RaravisError, ValueError):
    """A model file is damaged, altered, from a newer version, or not a model file at all."""


class RaravisWarning(UserWarning):
    """Something was done differently from what the caller may expect."""
