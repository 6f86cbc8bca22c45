"""What pages say can be followed: links lead somewhere, commands are understood."""

import re
import shlex
from pathlib import Path
from typing import Any

import pytest
import typer.main

from raravis.cli.main import app

ROOT = Path(__file__).parents[2]
PAGES = sorted([*ROOT.glob("*.md"), *(ROOT / "docs").rglob("*.md")])
# What the build of the documentation draws and writes itself; it checks links to these.
_BUILT = re.compile(r"images/\w+\.svg|gallery/\w+\.md")
_LINK = re.compile(r"\]\(([^)\s]+)\)")
_COMMAND = re.compile(r"^ {4,}raravis +(\S.*)$", re.M)


def names(paths: list[Path]) -> list[str]:
    return [str(path.relative_to(ROOT)) for path in paths]


def test_there_are_pages_to_look_at() -> None:
    assert len(PAGES) > 10
    assert sum(len(_COMMAND.findall(text(page))) for page in PAGES) > 20


def text(page: Path) -> str:
    return page.read_text(encoding="utf-8")


def anchors(page: Path) -> set[str]:
    headings = re.findall(r"^#+ +(.*)$", text(page), re.M)
    return {re.sub(r"[^\w\- ]", "", one.lower()).strip().replace(" ", "-") for one in headings}


@pytest.mark.parametrize("page", PAGES, ids=names(PAGES))
def test_links_lead_somewhere(page: Path) -> None:
    for link in _LINK.findall(text(page)):
        target, _, anchor = link.partition("#")
        if re.match(r"[a-z]+:", link) or _BUILT.search(target):
            continue
        place = (page.parent / target).resolve() if target else page
        assert place.exists(), f"{page.name} links to {link}"
        if anchor:
            assert anchor in anchors(place), f"{page.name} links to {link}"


@pytest.mark.parametrize("page", PAGES, ids=names(PAGES))
def test_commands_are_understood(page: Path) -> None:
    verbs: dict[str, Any] = typer.main.get_command(app).commands  # type: ignore[attr-defined]
    for line in _COMMAND.findall(text(page)):
        # Two spaces and more set off what a line says about its command.
        words = shlex.split(re.split(r" {2,}", line)[0], comments=True)
        # An option or argument that is not there raises an error, which names it.
        if not words[0].startswith("-"):
            assert words[0] in verbs, f"{page.name}: raravis {line}"
            verbs[words[0]].make_context(words[0], words[1:])
