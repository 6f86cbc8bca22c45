"""The desk that reviewers work at: what the page asks for, and what it may do.

One lock guards it; every method takes milliseconds. What takes longer (pictures, sounds, learning)
happens outside of it.
"""

import threading
from collections import Counter
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from datetime import UTC, datetime
from itertools import pairwise
from typing import Any

import numpy as np

from raravis.review.control import ControlReport, judge
from raravis.review.decisions import Act, ActKind, Decision, DecisionLog, Undo
from raravis.review.errors import ReviewError, StaleError
from raravis.review.items import ReviewItems
from raravis.review.keys import CallKey
from raravis.review.media import VIEWS
from raravis.review.queues import Queue
from raravis.review.stage import CLASS_QUEUE, Stage
from raravis.review.verdicts import Standing, Verdict, Verdicts, verdict_of

__all__ = ["Desk", "Wanted"]

_MOST_CARDS = 60
_MOST_SCORES = 40
_OLD_STAGES = 4
# Somebody who paused longer than this has begun anew, as far as the pace is concerned.
_PAUSE_S = 120.0


@dataclass(frozen=True, slots=True)
class Wanted:
    """Which cards the page wants.

    Parameters
    ----------
    queue : str
    start : int
        A place in the queue.
    step : int
        1 = from there on, -1 = backwards.
    n : int
    every : bool
        Also calls that are decided.
    call : int or None
        This one call instead, wherever it stands.
    """

    queue: str
    start: int = 0
    step: int = 1
    n: int = 8
    every: bool = False
    call: int | None = None


class Desk:
    """A review going on.

    Parameters
    ----------
    items : ReviewItems
    log : DecisionLog
    """

    def __init__(self, items: ReviewItems, log: DecisionLog) -> None:
        self._lock = threading.RLock()
        self.log = log
        self.verdicts = Verdicts()
        self._status: dict[CallKey, tuple[Standing, Verdict | None]] = {}
        self._standings: Counter[Standing] = Counter()
        self._settled: Counter[Verdict] = Counter()
        self._stages: dict[str, Stage] = {}
        self.put(items)
        self.refresh()

    # ------------------------------------------------------------------ what is on it

    @property
    def stage(self) -> Stage:
        """The calls under review."""
        return next(reversed(self._stages.values()))

    def put(self, items: ReviewItems) -> None:
        """Put other scores on the desk; decisions on calls of the old ones are still understood."""
        stage = Stage(items)
        stage.warm()
        with self._lock:
            stage.touch(self.verdicts, self.verdicts)
            self._stages.pop(items.run, None)
            self._stages[items.run] = stage
            while len(self._stages) > _OLD_STAGES:
                del self._stages[next(iter(self._stages))]

    def stage_of(self, run: str) -> Stage:
        """Return the calls that a page was showing."""
        found = self._stages.get(run)
        if found is None:
            raise StaleError("the page shows scores of a model that is gone; load it again.")
        return found

    def refresh(self) -> None:
        """Take in what has been decided since, here or by another process."""
        with self._lock:
            touched = self.verdicts.update(self.log.acts(after=self.verdicts.last))
            for key in touched:
                self._recount(key)
            for stage in self._stages.values():
                stage.touch(touched, self.verdicts)

    def _recount(self, key: CallKey) -> None:
        before = self._status.pop(key, None)
        if before is not None:
            self._standings[before[0]] -= 1
            if before[1] is not None:
                self._settled[before[1]] -= 1
        standing = self.verdicts.standing(key)
        if standing != "open":
            settled = self.verdicts.settled(key)
            self._status[key] = (standing, settled)
            self._standings[standing] += 1
            if settled is not None:
                self._settled[settled] += 1

    # ------------------------------------------------------------------ decide

    def decide(
        self,
        *,
        ticket: str,
        reviewer: str,
        run: str,
        queue: str,
        kind: ActKind,
        positions: Sequence[int],
        class_name: str | None = None,
        note: str = "",
    ) -> int:
        """Write a decision down; a class that is named "new" twice is the same class."""
        stage = self.stage_of(run)
        keys = [stage.index.keys[p] for p in self._checked(stage, positions)]
        if kind == "new" and class_name in stage.items.classes:
            kind = "known"
        decision = Decision(
            ticket=ticket,
            reviewer=reviewer,
            kind=kind,
            calls=keys,
            class_name=class_name,
            note=note,
            model=stage.items.model,
            queue=queue,
        )
        number = self.log.add(decision)
        self.refresh()
        return number

    def undo(self, *, ticket: str, reviewer: str, undoes: int) -> int:
        """Take a decision back."""
        model = self.stage.items.model
        number = self.log.undo(Undo(ticket=ticket, reviewer=reviewer, undoes=undoes, model=model))
        self.refresh()
        return number

    def _checked(self, stage: Stage, positions: Sequence[int]) -> list[int]:
        n_calls = len(stage.items.calls)
        outside = next((p for p in positions if not 0 <= p < n_calls), None)
        if outside is not None:
            raise ReviewError(f"there is no call {outside}; there are {n_calls}.")
        return list(dict.fromkeys(positions))

    # ------------------------------------------------------------------ queues and cards

    def queue(self, key: str) -> Queue:
        """Return a queue; "conflicts" and "decided" follow what is decided."""
        if key == "conflicts":
            why = "Reviewers are certain of different things: listen again, together."
            return self._decided_queue(key, "Conflicts", why)
        if key == "decided":
            why = "What has been decided, the last first: look again, and decide otherwise."
            return self._decided_queue(key, "Decided", why)
        return self.stage.queue(key)

    def _decided_queue(self, key: str, title: str, why: str) -> Queue:
        with self._lock:
            chosen = [
                k for k, (standing, _) in self._status.items()
                if key == "decided" or standing == "conflict"
            ]  # fmt: skip
            found = [self.stage.index.find(k) for k in reversed(chosen)]
        order = np.array(list(dict.fromkeys(p for p in found if p >= 0)), dtype=np.int64)
        return Queue(key, title, why, order)

    def cards(self, reviewer: str, wanted: Wanted, *, others: bool = True) -> dict[str, Any]:
        """Return calls of a queue from a place on.

        Parameters
        ----------
        reviewer : str
        wanted : Wanted
        others : bool
            Whether a call that somebody else decided on counts as decided.
        """
        queue = self.queue(wanted.queue)
        if wanted.call is not None and wanted.call not in queue.order:
            # It is shown all the same, as if it stood alone.
            self._checked(self.stage, [wanted.call])
            queue = Queue(queue.key, queue.title, queue.why, np.array([wanted.call], np.int64))
        places = self._places(queue, reviewer if not others else None, wanted)
        stage = self.stage
        return {
            "run": stage.items.run,
            "queue": queue.key,
            "total": len(queue),
            "cards": [self.card(stage, reviewer, queue, place) for place in places],
        }

    def _places(self, queue: Queue, reviewer: str | None, wanted: Wanted) -> list[int]:
        if wanted.call is not None:
            return [int(p) for p in np.flatnonzero(queue.order == wanted.call)[:1]]
        n = max(1, min(wanted.n, _MOST_CARDS))
        every = wanted.every or queue.key in ("conflicts", "decided")
        places = np.arange(len(queue))
        places = places[wanted.start :] if wanted.step > 0 else places[: wanted.start + 1][::-1]
        if not every:
            done = self.stage.done(reviewer)
            places = places[~done[queue.order[places]]]
        return [int(p) for p in places[:n]]

    def group(self, name: str) -> dict[str, Any]:
        """Return all calls of a candidate class, short."""
        stage = self.stage
        members = stage.items.groups.get(name)
        if members is None:
            raise ReviewError(f"there is no group {name!r}; pass one that the page offers.")
        return {
            "run": stage.items.run,
            "name": name,
            "calls": [self._short(stage, int(p)) for p in members],
        }

    def _short(self, stage: Stage, position: int) -> dict[str, Any]:
        key = stage.index.keys[position]
        return {
            "id": position,
            "recording": key.recording,
            "begin_s": key.begin_s,
            "standing": self._status.get(key, ("open", None))[0],
            "vector": stage.items.media.vector(position),
        }

    def card(self, stage: Stage, reviewer: str, queue: Queue, place: int) -> dict[str, Any]:
        """Return all that the page shows of a call, but for pictures, sound and examples."""
        position = int(queue.order[place])
        items, key = stage.items, stage.index.keys[position]
        group = queue.group_at(place)
        return {
            "id": position,
            "place": place,
            "recording": key.recording,
            "begin_s": key.begin_s,
            "end_s": key.end_s,
            "low_hz": key.low_hz,
            "high_hz": key.high_hz,
            "label": items.calls.label[position],
            "novelty": _number(items.novelty[position]),
            "scores": _scores(items, position),
            "listed": items.listed.get(key.recording),
            "frames": _frames(items, position),
            "vector": items.media.vector(position),
            "group": None if group is None else {
                "name": group,
                "size": queue.groups[group][1] - queue.groups[group][0],
                "place": place - queue.groups[group][0],
            },
            **self._said(key, reviewer),
        }  # fmt: skip

    def _said(self, key: CallKey, reviewer: str) -> dict[str, Any]:
        with self._lock:
            opinions = self.verdicts.opinions(key)
            notes = self.verdicts.notes(key)
            standing = self.verdicts.standing(key)
        mine = opinions.pop(reviewer, None)
        return {
            "standing": standing,
            "mine": None if mine is None else _act(mine),
            "others": [_act(act) for act in opinions.values()],
            "notes": [{"reviewer": act.reviewer, "note": act.note} for act in notes],
        }

    def examples(self, run: str, position: int) -> list[dict[str, Any]]:
        """Return known examples of the classes that a call may be of."""
        stage = self.stage_of(run)
        self._checked(stage, [position])
        names = [row[0] for row in _scores(stage.items, position)[:3]]
        confirmed = self._confirmed(stage)
        names += [name for name in confirmed if name not in stage.items.classes][-2:]
        found = stage.examples.nearest(position, names, confirmed)
        return [
            {
                "id": example.position,
                "class": example.class_name,
                "confirmed": example.confirmed,
                "recording": stage.items.calls.recording[example.position],
                "frames": _frames(stage.items, example.position),
                "box": _box(stage.index.keys[example.position]),
                "vector": stage.items.media.vector(example.position),
            }
            for example in found
        ]

    def _confirmed(self, stage: Stage) -> dict[str, list[int]]:
        found: dict[str, list[int]] = {}
        with self._lock:
            for key, (_, settled) in self._status.items():
                if settled is not None and settled.class_name is not None:
                    position = stage.index.find(key)
                    if position >= 0:
                        found.setdefault(settled.class_name, []).append(position)
        return found

    # ------------------------------------------------------------------ how far it is

    def state(self, reviewer: str, *, others: bool = True) -> dict[str, Any]:
        """Return the classes, the queues, the counts and the last decisions."""
        with self._lock:
            self.refresh()
            stage = self.stage
            done = stage.done(None if others else reviewer)
            conflicts = self._standings["conflict"]
            return {
                "reviewer": reviewer,
                "title": stage.items.title,
                "run": stage.items.run,
                "model": stage.items.model,
                "threshold": _number(stage.items.threshold),
                "novelty_range": stage.novelty_range,
                "score_range": stage.score_range,
                "media": stage.items.media.kind,
                "classes": self._classes(stage),
                "queues": [self._summary(stage.queue(key), done) for key in stage.queue_keys]
                + [
                    self._summary(self.queue("conflicts"), None),
                    self._summary(self.queue("decided"), None),
                ],
                "counts": {
                    "calls": len(stage.items.calls),
                    "decided": len(self._status),
                    "conflicts": conflicts,
                    "agreed": self._standings["agreed"],
                    "uncertain": self._standings["uncertain"],
                    "not_target": self._settled[Verdict("not_target")],
                },
                "control": asdict(self._judged(stage)),
                "pace": _pace(self.verdicts.recent(reviewer, 40)),
                "recent": [self._line(act) for act in self.verdicts.recent(reviewer, 8)],
            }

    def _judged(self, stage: Stage) -> ControlReport:
        sample = stage.queue("control").order
        return judge(stage.items, stage.index, self.verdicts, sample.tolist())

    def _classes(self, stage: Stage) -> list[dict[str, Any]]:
        new = [name for name in self.verdicts.new_classes() if name not in stage.items.classes]
        return [
            {"name": name, "kind": kind, "count": self._settled[Verdict("class", name)]}
            for kind, names in (("known", stage.items.classes), ("new", new))
            for name in names
        ]

    def _summary(self, queue: Queue, done: Any) -> dict[str, Any]:
        left = len(queue) if done is None else int((~done[queue.order]).sum())
        about = "class" if queue.key.startswith(CLASS_QUEUE) else "queue"
        return {
            "key": queue.key,
            "about": about,
            "title": queue.title,
            "why": queue.why,
            "total": len(queue),
            "left": left,
        }

    def _line(self, act: Act) -> dict[str, Any]:
        first = self.stage.index.find(act.calls[0])
        return {**_act(act), "n": len(act.calls), "first": first if first >= 0 else None}


# ---------------------------------------------------------------------- parts of a card


def _number(value: Any) -> float | None:
    number = float(value)
    return round(number, 5) if np.isfinite(number) else None


def _scores(items: ReviewItems, position: int) -> list[tuple[str, float | None]]:
    row = items.scores[position]
    best = np.argsort(-row, kind="stable")[:_MOST_SCORES]
    return [(items.classes[k], _number(row[k])) for k in best]


def _frames(items: ReviewItems, position: int) -> dict[str, Any]:
    found: dict[str, Any] = {}
    for view in VIEWS:
        frame = items.media.frame(position, view)
        if frame is not None:
            found[view] = (frame.begin_s, frame.end_s, frame.low_hz, frame.high_hz)
    return found


def _box(key: CallKey) -> tuple[float, float, float | None, float | None]:
    return key[1], key[2], key[3], key[4]


def _act(act: Act) -> dict[str, Any]:
    said = verdict_of(act) if act.kind != "note" else None
    return {
        "act": act.id,
        "reviewer": act.reviewer,
        "kind": act.kind,
        "class": None if said is None else said.class_name,
        "note": act.note,
        "at": act.at,
    }


def _pace(acts: Sequence[Act]) -> float | None:
    """Return decisions a minute, of late; None before there are three in a row."""
    times = [datetime.fromisoformat(act.at) for act in acts]
    if not times or (datetime.now(UTC) - times[0]).total_seconds() > _PAUSE_S:
        return None
    steps: list[float] = []
    for later, earlier in pairwise(times):
        step = (later - earlier).total_seconds()
        if step > _PAUSE_S:
            break
        steps.append(step)
    total = sum(steps)
    return round(60.0 * len(steps) / total, 1) if len(steps) >= 2 and total > 0 else None
