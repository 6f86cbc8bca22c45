"""The review page in a browser: how long 100,000 calls take to open, and the next call to show."""

import shutil
import tempfile
import threading
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from _report import run_part
from _timing import Figure
from raravis.formats import CallTable
from raravis.review import DecisionLog, ReviewItems
from raravis.review.app import create_app
from raravis.review.desk import Desk
from raravis.review.media import SoundMedia
from raravis.review.queues import most_novel
from raravis.review.security import Secrets
from raravis.review.server import LOCAL, address, hosts_of, listen, make_server

N_CALLS, N_CLASSES = 100_000, 12
_TOKEN = "benchmark" * 5
_NEXT = """async (n) => {
  const times = [];
  const shown = () => document.documentElement.dataset.shown;
  for (let k = 0; k < n; k += 1) {
    const before = shown();
    const begun = performance.now();
    document.body.dispatchEvent(new KeyboardEvent('keydown', {key: 'x', bubbles: true}));
    await new Promise((done) => {
      const seen = new MutationObserver(() => {
        if (shown() !== before) { seen.disconnect(); done(); }
      });
      seen.observe(document.documentElement, {attributes: true});
    });
    times.push(performance.now() - begun);
    await new Promise((done) => setTimeout(done, 500));
  }
  return times;
}"""


def measure(quick: bool) -> Sequence[Figure]:
    """Measure the page in a browser."""
    return list(_speed(quick))


def _speed(quick: bool) -> Iterator[Figure]:
    from playwright.sync_api import sync_playwright

    folder = Path(tempfile.mkdtemp())
    chromium = shutil.which("chromium") or shutil.which("chromium-browser")
    with DecisionLog(folder / "decisions.sqlite") as log, sync_playwright() as driver:
        url, server, thread = _serve(Desk(_many(folder), log))
        browser = driver.chromium.launch(executable_path=chromium, args=["--no-sandbox"])
        opened = [_open(browser, url) for _ in range(3 if quick else 9)]
        page = browser.new_page(viewport={"width": 1280, "height": 800})
        page.goto(url)
        page.wait_for_selector("html[data-shown]")
        page.wait_for_timeout(1500)
        times = page.evaluate(_NEXT, 30 if quick else 120)
        browser.close()
        server.stop()
        thread.join()
    shutil.rmtree(folder)
    calls = f"{N_CALLS:,} calls, {N_CLASSES} classes"
    yield _figure("page open to first call, the slowest", max(opened), opened, 1000, calls)
    share = float(np.percentile(times, 95))
    yield _figure("decision to next call, 95th percentile", share, times, 100, calls)


def _figure(name: str, value: float, times: Sequence[float], target: float, note: str) -> Figure:
    low, high = np.percentile(times, [25, 75])
    return Figure(
        name, value, float(low), float(high), "ms", target, note=f"{note}, {len(times)} x"
    )


def _serve(desk: Desk) -> tuple[str, Any, threading.Thread]:
    listening = listen(LOCAL, 0)
    port = listening.getsockname()[1]
    app = create_app(desk, secrets=Secrets(_TOKEN, port), hosts=hosts_of(LOCAL, port))
    server = make_server(app)
    thread = threading.Thread(target=server.run, args=(listening,))
    thread.start()
    return address(LOCAL, port, _TOKEN), server, thread


def _open(browser: Any, url: str) -> float:
    page = browser.new_page(viewport={"width": 1280, "height": 800})
    page.goto(url)
    page.wait_for_selector("html[data-shown]")
    found = page.evaluate("performance.getEntriesByName('raravis-call')[0].startTime")
    page.close()
    return float(found)


def _many(folder: Path) -> ReviewItems:
    """Make calls with random scores; all of them are heard in one minute of noise."""
    import soundfile

    rng = np.random.default_rng(0)
    soundfile.write(folder / "noise.wav", 0.05 * rng.standard_normal(60 * 32_000), 32_000)
    begin, low = rng.uniform(0, 59, N_CALLS), rng.uniform(500, 6000, N_CALLS)
    scores = rng.standard_normal((N_CALLS, N_CLASSES))
    novelty, classes = -scores.max(axis=1), tuple(f"species {k}" for k in range(N_CLASSES))
    novel = novelty > -0.5
    calls = CallTable(
        tuple(f"recording {k // 60:05d}.wav" for k in range(N_CALLS)),
        begin,
        begin + 0.8,
        low,
        low + 2000,
        tuple("novel" if n else classes[b] for n, b in zip(novel, scores.argmax(1), strict=True)),
        novelty,
        scores,
        classes,
    )
    lasting = dict.fromkeys(calls.recordings, 60.0)
    features = rng.standard_normal((N_CALLS, 38)).astype(np.float32)
    return ReviewItems(
        title="benchmark",
        run="run",
        model="random",
        calls=calls,
        threshold=-0.5,
        media=SoundMedia(calls, lambda _name: folder / "noise.wav", lasting),
        features=lambda: features,
        groups={f"group {k + 1}": most_novel(novelty)[30 * k : 30 * k + 30] for k in range(20)},
    )


if __name__ == "__main__":
    run_part("review", measure)
