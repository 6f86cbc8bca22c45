"""Learning anew while reviewers go on, and what the new scores changed."""

import threading
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass
from time import perf_counter
from typing import Any, TypeAlias

from raravis.errors import RaravisError
from raravis.progress import Progress, ProgressCallback
from raravis.review.desk import Desk
from raravis.review.items import NOVEL_LABEL, ReviewItems
from raravis.review.keys import CallIndex, keys_of

__all__ = ["Moved", "Retrainer", "Retraining", "what_moved"]

#: Learns from all that is decided, and returns the calls with their new scores.
Retrainer: TypeAlias = Callable[[Desk, ProgressCallback], ReviewItems]

_MOST_MOVES = 12


@dataclass(frozen=True)
class Moved:
    """What a new model says otherwise than the old one.

    Parameters
    ----------
    n_calls : int
        Calls that both have scored.
    n_changed : int
        Those with another label.
    moves : tuple of (str, str, int)
        From which label to which, and how many calls; the most frequent first.
    novel_before, novel_after : int
        How many of them are novel.
    new_classes : tuple of str
        What only the new model knows.
    """

    n_calls: int
    n_changed: int
    moves: tuple[tuple[str, str, int], ...]
    novel_before: int
    novel_after: int
    new_classes: tuple[str, ...]


def what_moved(before: ReviewItems, after: ReviewItems) -> Moved:
    """Compare the labels of calls that two models have scored."""
    index = CallIndex(keys_of(before.calls))
    places = [index.find(key) for key in keys_of(after.calls)]
    pairs = [
        (before.calls.label[place] or "", label or "")
        for place, label in zip(places, after.calls.label, strict=True)
        if place >= 0
    ]
    moves = Counter(pair for pair in pairs if pair[0] != pair[1])
    return Moved(
        n_calls=len(pairs),
        n_changed=sum(moves.values()),
        moves=tuple((old, new, n) for (old, new), n in moves.most_common(_MOST_MOVES)),
        novel_before=sum(old == NOVEL_LABEL for old, _ in pairs),
        novel_after=sum(new == NOVEL_LABEL for _, new in pairs),
        new_classes=tuple(name for name in after.classes if name not in before.classes),
    )


class Retraining:
    """One learning at a time, in the background.

    Parameters
    ----------
    desk : Desk
    retrain : Retrainer or None
        None = there is nothing to learn from.
    """

    def __init__(self, desk: Desk, retrain: Retrainer | None) -> None:
        self._desk = desk
        self._retrain = retrain
        self._lock = threading.Lock()
        self._thread: threading.Thread | None = None
        self._status: dict[str, Any] = {"state": "idle" if retrain else "none"}

    def start(self) -> bool:
        """Begin to learn, unless that is going on already."""
        with self._lock:
            if self._retrain is None or self._status["state"] == "running":
                return False
            self._status = {"state": "running", "stage": "starting", "done": 0, "total": 0}
            self._thread = threading.Thread(target=self._run, daemon=True)
            self._thread.start()
            return True

    def status(self) -> dict[str, Any]:
        """Return how it stands: "none", "idle", "running", "done" or "failed"."""
        with self._lock:
            return dict(self._status)

    def wait(self, timeout_s: float | None = None) -> None:
        """Wait until nothing is learned."""
        if self._thread is not None:
            self._thread.join(timeout_s)

    def _run(self) -> None:
        begun = perf_counter()
        try:
            status = self._learn()
        except (RaravisError, OSError, MemoryError) as error:
            status = {"state": "failed", "error": str(error)}
        except BaseException:
            # A bug: it is shown where the server runs, and the page does not wait for ever.
            self._set({"state": "failed", "error": "see the terminal that the server runs in."})
            raise
        self._set({**status, "seconds": round(perf_counter() - begun, 1)})

    def _learn(self) -> dict[str, Any]:
        if self._retrain is None:
            return {"state": "none"}
        before = self._desk.stage.items
        after = self._retrain(self._desk, self._show)
        self._desk.put(after)
        moved = what_moved(before, after)
        return {
            "state": "done",
            "run": after.run,
            "n_calls": moved.n_calls,
            "n_changed": moved.n_changed,
            "moves": moved.moves,
            "novel_before": moved.novel_before,
            "novel_after": moved.novel_after,
            "new_classes": moved.new_classes,
        }

    def _show(self, progress: Progress) -> None:
        self._set({
            "state": "running",
            "stage": progress.stage,
            "done": progress.done,
            "total": progress.total,
        })  # fmt: skip

    def _set(self, status: dict[str, Any]) -> None:
        with self._lock:
            self._status = status
