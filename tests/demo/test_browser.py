"""The page in a real browser, where one is installed."""

import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from raravis.demo import write_page


@pytest.fixture(scope="module")
def browser() -> Iterator[Any]:
    sync = pytest.importorskip("playwright.sync_api", reason="playwright is not installed")
    chromium = shutil.which("chromium") or shutil.which("chromium-browser")
    if chromium is None:
        pytest.skip("chromium is not installed")
    with sync.sync_playwright() as driver:
        started = driver.chromium.launch(executable_path=chromium, args=["--no-sandbox"])
        yield started
        started.close()


@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("width", [1280, 390])
def test_page_opens_without_complaint_and_without_overflow(
    browser: Any, page: str, tmp_path: Path, width: int, scheme: str
) -> None:
    opened = browser.new_page(viewport={"width": width, "height": 800}, color_scheme=scheme)
    complaints: list[str] = []
    requests: list[str] = []
    opened.on("console", lambda message: complaints.append(message.text))
    opened.on("pageerror", lambda error: complaints.append(str(error)))
    opened.on("request", lambda request: requests.append(request.url[:5]))
    opened.goto(write_page(page, tmp_path).as_uri())
    assert complaints == []
    assert set(requests) <= {"file:", "data:"}
    assert opened.evaluate("document.documentElement.scrollWidth") <= width
    sizes = opened.evaluate("[...document.images].map(i => [i.naturalWidth, i.complete])")
    assert set(map(tuple, sizes)) == {(8, True)}
    clipped = opened.evaluate(
        "[...document.querySelectorAll('.tile')].filter(t => t.scrollWidth > t.clientWidth).length"
    )
    assert clipped == 0
    opened.close()
