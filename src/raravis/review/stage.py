"""One set of scored calls under review: the queues over it, and which calls are decided."""

from collections.abc import Callable, Iterable
from functools import cached_property

import numpy as np
import numpy.typing as npt

from raravis.review import queues
from raravis.review.errors import ReviewError
from raravis.review.examples import Examples
from raravis.review.items import ReviewItems
from raravis.review.keys import CallIndex, CallKey, keys_of
from raravis.review.queues import Queue
from raravis.review.verdicts import Verdicts

__all__ = ["CLASS_QUEUE", "Stage"]

IntArray = npt.NDArray[np.int64]
BoolArray = npt.NDArray[np.bool_]

# The queue of a class is named by the number of its column, so that a name is never a key.
CLASS_QUEUE = "class-"


class Stage:
    """The calls that are under review until other scores take their place.

    Parameters
    ----------
    items : ReviewItems
    """

    def __init__(self, items: ReviewItems) -> None:
        self.items = items
        self.index = CallIndex(keys_of(items.calls))
        self._queues: dict[str, Queue] = {}
        self.decided = np.zeros(len(items.calls), dtype=bool)
        self._decided_by: dict[str, BoolArray] = {}

    def warm(self) -> None:
        """Work out now what the first look would have to wait for."""
        for key in self.queue_keys:
            self.queue(key)
        _ = self.novelty_range, self.score_range

    @cached_property
    def examples(self) -> Examples:
        """Known examples; the features are read when this is asked for first."""
        return Examples(self.items)

    @cached_property
    def _labels(self) -> npt.NDArray[np.object_]:
        return np.array(self.items.calls.label, dtype=object)

    @cached_property
    def novelty_range(self) -> tuple[float, float]:
        """The novelty that a scale on the page begins and ends at."""
        novelty = self.items.novelty
        if not len(novelty):
            return 0.0, 1.0
        low, high = np.percentile(novelty, [1, 99]).tolist()
        return min(low, self.items.threshold), max(high, self.items.threshold)

    @cached_property
    def score_range(self) -> tuple[float, float]:
        """The score that a bar on the page begins and ends at."""
        scores = self.items.scores
        if not scores.size:
            return 0.0, 1.0
        finite = scores[np.isfinite(scores)]
        low, high = np.percentile(finite, [2, 99.8]).tolist() if len(finite) else (0.0, 1.0)
        return (low, high) if high > low else (low, low + 1.0)

    # ------------------------------------------------------------------ decided or not

    def touch(self, keys: Iterable[CallKey], verdicts: Verdicts) -> None:
        """Look again at calls on which something was decided or undone."""
        for key in keys:
            position = self.index.find(key)
            if position < 0:
                continue
            by = verdicts.opinions(key)
            self.decided[position] = bool(by)
            for reviewer in {*self._decided_by, *by}:
                self._mask(reviewer)[position] = reviewer in by

    def done(self, reviewer: str | None) -> BoolArray:
        """Return which calls a reviewer has decided on; None = anybody."""
        return self.decided if reviewer is None else self._mask(reviewer)

    def _mask(self, reviewer: str) -> BoolArray:
        if reviewer not in self._decided_by:
            self._decided_by[reviewer] = np.zeros(len(self.items.calls), dtype=bool)
        return self._decided_by[reviewer]

    # ------------------------------------------------------------------ queues

    @cached_property
    def queue_keys(self) -> tuple[str, ...]:
        """The queues whose order does not depend on decisions."""
        named = [f"{CLASS_QUEUE}{k}" for k in range(len(self.items.classes))]
        return ("novel", "groups", "discovery", "uncertain", "control", *named)

    def queue(self, key: str) -> Queue:
        """Return a queue by its key."""
        if key not in self.queue_keys:
            raise ReviewError(f"there is no queue {key!r}; pass one that the page offers.")
        if key not in self._queues:
            self._queues[key] = self._make(key)
        return self._queues[key]

    def _make(self, key: str) -> Queue:
        if key.startswith(CLASS_QUEUE):
            return self._class_queue(key)
        makers: dict[str, Callable[[], Queue]] = {
            "novel": self._novel,
            "groups": self._groups,
            "discovery": self._discovery,
            "uncertain": self._uncertain,
            "control": self._random,
        }
        return makers[key]()

    def _novel(self) -> Queue:
        why = "What resembles no known class, first what resembles them least."
        return Queue("novel", "Most novel", why, queues.most_novel(self.items.novelty))

    def _groups(self) -> Queue:
        order, groups = queues.group_by_group(self.items.groups)
        why = "Novel calls that resemble each other, group by group: name one, or all at once."
        return Queue("groups", "Candidate classes", why, order, groups)

    def _discovery(self) -> Queue:
        order = queues.discovery(self.items.groups, self.items.novelty)
        why = "One of each kind of novel call before the second of any: many classes soon."
        return Queue("discovery", "Discovery", why, order)

    def _uncertain(self) -> Queue:
        order = queues.most_uncertain(self.items.novelty, self.items.threshold)
        why = "Between known and novel: here a decision teaches the model most."
        return Queue("uncertain", "Most uncertain", why, order)

    def _random(self) -> Queue:
        size = queues.control_size(len(self.index.keys))
        order = queues.control_sample(self.index.keys, size=size)
        why = "Drawn at random and never learned from: it says how far the model can be trusted."
        return Queue("control", "Random control", why, order)

    def _class_queue(self, key: str) -> Queue:
        column = int(key.removeprefix(CLASS_QUEUE))
        name = self.items.classes[column]
        scores = self.items.scores[:, column]
        order = queues.weakest_of(self._labels, name, scores)
        return Queue(key, name, f"What the model takes for {name}, the weakest first.", order)
