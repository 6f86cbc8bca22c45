"""Docstrings as Python programmers write them, for a renderer that reads Markdown."""

import re
from typing import Any

from griffe import Extension

__all__ = ["PlainRoles"]

_ROLE = re.compile(r":(?:func|class|meth|mod|attr|data|exc):`(~?)([\w.]+)`")
_EXAMPLES = re.compile(r"^Examples\n-+$", re.M)
# A session in a docstring that has no section of examples, which the parser would see to.
_SESSION = re.compile(r"^(>>> .*\n?(?:^\S.*\n?)*)", re.M)
_TWICE = re.compile(r"``([^`]+)``")


class PlainRoles(Extension):
    """Turn ``:func:`name``` into code, and into a link where the name is a full one."""

    def on_instance(self, *, obj: Any, **_: Any) -> None:
        """Rewrite the docstring of any object that has one."""
        if obj.docstring is not None:
            obj.docstring.value = plain(obj.docstring.value)


def plain(text: str) -> str:
    """Return a docstring without the marks of reStructuredText.

    >>> plain("See :func:`save`, :class:`~raravis.bags.Bags` and ``x``.")
    'See `save`, [`Bags`][raravis.bags.Bags] and `x`.'
    """
    text = _TWICE.sub(r"`\1`", _ROLE.sub(_code, text))
    return text if _EXAMPLES.search(text) else _SESSION.sub(_fenced, text)


def _fenced(match: re.Match[str]) -> str:
    return "```pycon\n" + match[1].rstrip("\n") + "\n```\n"


def _code(match: re.Match[str]) -> str:
    short, name = match.groups()
    shown = name.rsplit(".", 1)[-1] if short else name
    return f"[`{shown}`][{name}]" if name.startswith("raravis.") else f"`{shown}`"
