"""Make the pictures of the review page in the documents, from the study that the demo leaves.

raravis demo
python docs/images/review_screenshots.py raravis-demo/study

Needs playwright, Chromium and Pillow. Decisions are made in a temporary log: the study stays as it
is.
"""

import shutil
import sys
import tempfile
import threading
from pathlib import Path
from typing import Any

from PIL import Image
from playwright.sync_api import sync_playwright

from raravis.review import DecisionLog, ReviewItems
from raravis.review.app import create_app
from raravis.review.desk import Desk
from raravis.review.security import Secrets
from raravis.review.server import LOCAL, address, hosts_of, listen, make_server
from raravis.study import StudyResults

HERE = Path(__file__).parent
_TOKEN = "screenshots" * 4
_COLOURS = 160


def main() -> None:
    """Serve the study, make a few decisions, and take both pictures."""
    items = ReviewItems.from_study(StudyResults.load(sys.argv[1]))
    chromium = shutil.which("chromium") or shutil.which("chromium-browser")
    with (
        tempfile.TemporaryDirectory() as folder,
        DecisionLog(Path(folder) / "decisions.sqlite") as log,
        sync_playwright() as driver,
    ):
        listening = listen(LOCAL, 0)
        port = listening.getsockname()[1]
        desk, secrets = Desk(items, log), Secrets(_TOKEN, port)
        app = create_app(
            desk, secrets=secrets, hosts=hosts_of(LOCAL, port), reviewer="Ada", retrain=_never
        )
        server = make_server(app)
        thread = threading.Thread(target=server.run, args=(listening,))
        thread.start()
        browser = driver.chromium.launch(executable_path=chromium, args=["--no-sandbox"])
        url = address(LOCAL, port, _TOKEN)
        _take_call(browser, url)
        _take_group(browser, url)
        browser.close()
        server.stop()
        thread.join()


def _never(_desk: Desk, _progress: Any) -> ReviewItems:
    # Given so that the page shows its button; no picture is of learning.
    raise RuntimeError("nothing is learned while pictures are taken")


def _take_call(browser: Any, url: str) -> None:
    page = _page(browser, url, "light", (1280, 800))
    _name(page, "Copper triller")
    for key in ("8", "u", "8"):
        _press(page, key)
    page.wait_for_function("() => document.querySelectorAll('#recent button').length === 4")
    page.wait_for_selector("#examples .tile:nth-child(4)")
    _shoot(page, "review-call.png")


def _take_group(browser: Any, url: str) -> None:
    page = _page(browser, url, "dark", (820, 1180))
    page.select_option("#queue", "groups")
    page.wait_for_selector("#whole:not([hidden])")
    page.keyboard.press("g")
    page.wait_for_selector(".member")
    page.locator(".member").nth(6).click()
    page.mouse.move(5, 5)
    _shoot(page, "review-group.png")


def _page(browser: Any, url: str, scheme: str, size: tuple[int, int]) -> Any:
    width, height = size
    context = browser.new_context(
        viewport={"width": width, "height": height}, color_scheme=scheme, reduced_motion="reduce"
    )
    page = context.new_page()
    page.goto(url)
    page.wait_for_selector("html[data-shown]")
    return page


def _name(page: Any, name: str) -> None:
    page.keyboard.press("n")
    page.keyboard.type(name)
    _press(page, "Enter")


def _press(page: Any, key: str) -> None:
    before = page.get_attribute("html", "data-shown")
    page.keyboard.press(key)
    page.wait_for_function("b => document.documentElement.dataset.shown !== b", arg=before)


def _shoot(page: Any, name: str) -> None:
    """Take a picture, and keep as many colours as it needs to look the same."""
    page.wait_for_load_state("networkidle")
    page.wait_for_timeout(800)
    page.screenshot(path=HERE / name)
    page.context.close()
    with Image.open(HERE / name) as seen:
        few = seen.convert("RGB").quantize(_COLOURS, method=Image.Quantize.MAXCOVERAGE)
    few.save(HERE / name, optimize=True)


if __name__ == "__main__":
    main()
