"""A page that is served, and a browser to open it with."""

import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from tests.review.made import make_items
from tests.review.serving import Served


@pytest.fixture(scope="session")
def made(tmp_path_factory: pytest.TempPathFactory) -> Any:
    """What a study's page is about: made once, changed by nobody."""
    return make_items(tmp_path_factory.mktemp("made"))


@pytest.fixture
def served(made: Any, tmp_path: Path) -> Iterator[Served]:
    with Served(made, tmp_path / "decisions.sqlite") as found:
        yield found


@pytest.fixture(scope="session")
def browser() -> Iterator[Any]:
    sync = pytest.importorskip("playwright.sync_api", reason="playwright is not installed")
    chromium = shutil.which("chromium") or shutil.which("chromium-browser")
    if chromium is None:
        pytest.skip("chromium is not installed")
    with sync.sync_playwright() as driver:
        arguments = ["--no-sandbox", "--mute-audio", "--autoplay-policy=no-user-gesture-required"]
        started = driver.chromium.launch(executable_path=chromium, args=arguments)
        yield started
        started.close()
