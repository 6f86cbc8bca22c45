"""Calls and label tables in the formats that people's tools read and write.

Every reader of calls returns a `CallTable`, every writer takes one; a file is written whole or not
at all. MIML ARFF holds bags and their labels instead.
"""

from raravis.formats.calls import CallTable

__all__ = ["CallTable"]
