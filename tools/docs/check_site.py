"""Look whether the built site asks other hosts for anything: it must work without a network."""

import re
import sys
from pathlib import Path

__all__ = ["foreign"]

# What a browser fetches by itself; a link that somebody has to click on may lead anywhere.
_FETCHED = re.compile(
    r"<(?:script|img|iframe|source|audio|video)\b[^>]*?\bsrc=[\"']?(?P<src>(?:https?:)?//[^\"'\s>]+)"
    r"|<link\b(?![^>]*rel=[\"']?(?:canonical|prev|next))[^>]*?\bhref=[\"']?(?P<href>(?:https?:)?//[^\"'\s>]+)"
    r"|@import\s+[^;]*?(?P<imported>(?:https?:)?//[^\"');\s]+)"
    r"|url\([\"']?(?P<url>(?:https?:)?//[^\"')]+)"
)


def foreign(site: Path) -> list[str]:
    """Return the addresses at other hosts that pages and style sheets fetch, with their files."""
    return [
        f"{path.relative_to(site)}: {next(filter(None, match.groups()))}"
        for path in sorted(site.rglob("*"))
        if path.suffix in (".html", ".css")
        for match in _FETCHED.finditer(path.read_text(encoding="utf-8"))
    ]


if __name__ == "__main__":
    found = foreign(Path(sys.argv[1]))
    sys.exit("\n".join(["the site fetches from other hosts:", *found]) if found else 0)
