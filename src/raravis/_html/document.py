"""The frame of a page, and files that appear whole or not at all."""

import os
import secrets
from html import escape
from os import PathLike
from pathlib import Path

from raravis.errors import InputError

__all__ = ["check_file", "check_folder", "document", "write_text"]

# No script runs and nothing is loaded: the page must read the same in ten years, without a network.
_TEMPLATE = """<!DOCTYPE html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta http-equiv="Content-Security-Policy"
 content="default-src 'none'; img-src data:; media-src data:; style-src 'unsafe-inline'">
<title>{title}</title>
<link rel="icon" href="data:,">
<style>{style}</style>
</head>
<body>
<header>
<p class="kicker">{kicker}</p>
<h1>{title}</h1>
{lead}
</header>
<main>
{body}
</main>
<footer><p>{footer}</p></footer>
</body>
</html>
"""


def document(*, title: str, kicker: str, lead: str, body: str, footer: str, style: str) -> str:
    """Return a page as text; ``lead`` and ``body`` are HTML, the other texts are plain.

    >>> page = document(title="A & B", kicker="", lead="", body="<p>1</p>", footer="", style="")
    >>> "<h1>A &amp; B</h1>" in page
    True
    """
    return _TEMPLATE.format(
        title=escape(title),
        kicker=escape(kicker),
        lead=lead,
        body=body,
        footer=escape(footer),
        style=style,
    )


def write_text(text: str, target: str | PathLike[str], *, kind: str = "page") -> Path:
    """Write a file whose folder is made if need be; it appears whole or not at all."""
    target = Path(target)
    draft = target.with_name(f".{target.name}.{secrets.token_hex(4)}.part")
    try:
        target.parent.mkdir(parents=True, exist_ok=True)
        try:
            draft.write_text(text, encoding="utf-8", newline="")
            draft.replace(target)
        finally:
            draft.unlink(missing_ok=True)
    except OSError as error:
        raise InputError(
            f"the {kind} cannot be written to {target} ({error.strerror or error}); name another "
            "folder, one in which you may write."
        ) from error
    return target


def check_folder(folder: str | PathLike[str], *, kind: str = "page") -> None:
    """Refuse, before any work is done, a folder that a file cannot be written to."""
    path = Path(folder).absolute()
    nearest = next(place for place in (path, *path.parents) if os.path.lexists(place))
    if not nearest.is_dir():
        raise InputError(
            f"the folder for the {kind} is {str(folder)!r}, but {nearest} is not a folder; name "
            "one that is a folder, or one that does not exist yet."
        )
    if not os.access(nearest, os.W_OK | os.X_OK):
        raise InputError(
            f"the folder for the {kind} is {str(folder)!r}, but nothing may be written in "
            f"{nearest}; name a folder in which you may write."
        )


def check_file(target: str | PathLike[str], *, kind: str = "page") -> None:
    """Refuse, before any work is done, a file that cannot be written."""
    if Path(target).is_dir():
        raise InputError(
            f"the file for the {kind} is {str(target)!r}, which is a folder; name a file in it."
        )
    check_folder(Path(target).absolute().parent, kind=kind)
