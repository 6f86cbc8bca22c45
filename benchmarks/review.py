"""The review page: how fast it shows 100,000 calls, and what an expert's decisions are worth.

Speed is measured in a browser. The expert is simulated: decisions are the truth, calls come in the
order of a queue, the model learns anew after every twenty.
"""

import shutil
import tempfile
import threading
from collections import Counter
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import numpy as np
from sklearn.metrics import roc_auc_score

from _report import run_part
from _timing import Figure
from raravis import KernelScorer
from raravis.datasets import BagDataset, fetch_hja_birdsong, load_syllables, window_bags
from raravis.formats import CallTable
from raravis.grouping import group_novel
from raravis.review import DecisionLog, ReviewItems
from raravis.review.app import create_app
from raravis.review.desk import Desk
from raravis.review.learning import FEWEST, with_decisions
from raravis.review.media import SoundMedia
from raravis.review.queues import discovery, most_novel
from raravis.review.security import Secrets
from raravis.review.server import LOCAL, address, hosts_of, listen, make_server

N_CALLS, N_CLASSES = 100_000, 12
EVERY, TOTAL = 20, 160
ORDERS = ("random", "novel", "discovery")
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
    """Measure the page in a browser, then let the simulated expert decide."""
    return [*_speed(quick), *_expert(quick)]


# ---------------------------------------------------------------------- speed


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


# ---------------------------------------------------------------------- the expert


def _expert(quick: bool) -> Iterator[Figure]:
    known = {"HJA": range(1, 7), "syllables": ("0", "1", "2", "3", "4")}
    sets = {"HJA": fetch_hja_birdsong(), "syllables": _syllables()}
    seeds = range(1 if quick else 5)
    for name, data in sets.items():
        for order in ORDERS:
            runs = np.array([_curve(data.restrict(known[name]), order, seed) for seed in seeds])
            for step, (found, auc, right) in enumerate(runs.mean(axis=0)):
                about = f"{name}, {order}, {step * EVERY} decisions"
                spread = runs[:, step, 0]
                yield Figure(f"{about}: classes found", found, spread.min(), spread.max(), "")
                yield Figure(
                    f"{about}: AUC", auc, runs[:, step, 1].min(), runs[:, step, 1].max(), ""
                )
                yield Figure(f"{about}: named right", right, *_range(runs[:, step, 2]), "")


def _range(values: Any) -> tuple[float, float]:
    return float(values.min()), float(values.max())


def _curve(data: BagDataset, order: str, seed: int) -> list[tuple[float, float, float]]:
    """Return classes found, AUC and share of held-out calls named right, after every lesson."""
    train, test = data.split((0.7, 0.3), seed=seed)
    labels = train.labels.rename({name: str(name) for name in train.labels.classes})
    truth, unseen = train.instance_labels.astype(str), test.instance_labels.astype(str)
    noted = np.flatnonzero(unseen != "-1")
    rng, decided, curve = np.random.default_rng(seed), dict[int, str | None](), []
    for _ in range(TOTAL // EVERY + 1):
        bags, taught = with_decisions(train.bags, labels, _lessons(decided, labels.classes))
        model = KernelScorer(random_state=seed).fit(bags, taught)
        named = {name for name in decided.values() if name is not None} - {*labels.classes}
        auc, right = _judged(model, test.bags, unseen, noted, labels.classes)
        curve.append((float(len(named)), auc, right))
        queue = _queue(model, train.bags, order, rng)
        for position in [int(p) for p in queue if int(p) not in decided][:EVERY]:
            decided[position] = None if truth[position] == "-1" else truth[position]
    return curve


def _lessons(decided: dict[int, str | None], listed: Sequence[Any]) -> dict[int, str | None]:
    """Leave out classes of few examples, as the review does."""
    n = Counter(decided.values())
    return {p: c if c in listed or n[c] >= FEWEST else None for p, c in decided.items()}


def _queue(model: Any, bags: Any, order: str, rng: np.random.Generator) -> Any:
    if order == "random":
        return rng.permutation(bags.n_instances)
    novelty = -model.score_samples(bags)
    if order == "novel":
        return most_novel(novelty)
    groups = group_novel(model, bags).groups
    return discovery({str(k): found.members for k, found in enumerate(groups)}, novelty)


def _judged(
    model: Any, bags: Any, truth: Any, noted: Any, listed: Sequence[Any]
) -> tuple[float, float]:
    """Return how well listed classes are told from all others, and how many calls are named right.

    A call of a class that was not listed is named right by its own name or as novel.
    """
    columns = [list(model.classes_).index(name) for name in listed]
    scores = model.class_scores(bags)[noted][:, columns].max(axis=1)
    strange = ~np.isin(truth[noted], list(listed))
    names = np.array([str(name) for name in model.annotate(bags)])[noted]
    right = (names == truth[noted]) | (strange & (names == "novel"))
    return float(roc_auc_score(strange, -scores)), float(right.mean())


def _syllables() -> BagDataset:
    """Cut the recordings of one bird into seconds, and describe what is found in them."""
    from raravis.audio import extract_features, segment_recording

    song = load_syllables()
    song = song.take(sorted(song.paths)[:60])
    segments = {name: segment_recording(path) for name, path in song.paths.items()}
    features = {n: extract_features(path, segments[n]) for n, path in song.paths.items()}
    return window_bags(song, segments, features)


if __name__ == "__main__":
    run_part("review", measure)
