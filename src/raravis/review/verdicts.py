"""What holds now: the last word of every reviewer on every call, and where they differ."""

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Literal, TypeAlias

from raravis.review.decisions import Act
from raravis.review.keys import CallKey

__all__ = ["Standing", "Verdict", "Verdicts", "verdict_of"]

Standing: TypeAlias = Literal["open", "uncertain", "single", "agreed", "conflict"]


@dataclass(frozen=True, slots=True)
class Verdict:
    """What somebody says of a call: a class, "not_target" or "uncertain".

    A class is a class, whether it was new when it was named or known to the model since.
    """

    kind: Literal["class", "not_target", "uncertain"]
    class_name: str | None = None

    @property
    def certain(self) -> bool:
        """Whether it says what the call is."""
        return self.kind != "uncertain"


class Verdicts:
    """The decisions in force, kept up to date as lines of the log come in.

    Parameters
    ----------
    acts : iterable of Act
        In the order of the log.
    """

    def __init__(self, acts: Iterable[Act] = ()) -> None:
        self._acts: dict[int, Act] = {}
        self._undone: set[int] = set()
        # By call and reviewer, the numbers of the decisions, oldest first.
        self._on: dict[CallKey, dict[str, list[int]]] = {}
        self._notes: dict[CallKey, list[int]] = {}
        self.last = 0
        self.update(acts)

    def update(self, acts: Iterable[Act]) -> set[CallKey]:
        """Take in further lines, and return the calls on which something may have changed."""
        touched: set[CallKey] = set()
        for act in acts:
            self._acts[act.id] = act
            self.last = max(self.last, act.id)
            if act.undoes is not None:
                self._undone.add(act.undoes)
                touched.update(self._acts[act.undoes].calls)
            touched.update(act.calls)
            for key in act.calls:
                if act.note:
                    self._notes.setdefault(key, []).append(act.id)
                if act.kind != "note":
                    self._on.setdefault(key, {}).setdefault(act.reviewer, []).append(act.id)
        return touched

    # ------------------------------------------------------------------ one call

    def opinions(self, key: CallKey) -> dict[str, Act]:
        """Return the decision in force of each reviewer."""
        found = {}
        for reviewer, numbers in self._on.get(key, {}).items():
            last = next((n for n in reversed(numbers) if n not in self._undone), None)
            if last is not None:
                found[reviewer] = self._acts[last]
        return found

    def notes(self, key: CallKey) -> list[Act]:
        """Return the acts that noted something on a call, oldest first."""
        return [self._acts[n] for n in self._notes.get(key, []) if n not in self._undone]

    def standing(self, key: CallKey) -> Standing:
        """Return how a call stands; "conflict" = two reviewers are certain of different things."""
        return _standing(self.opinions(key))

    def settled(self, key: CallKey) -> Verdict | None:
        """Return what all who are certain say of a call; None where nobody is, or they differ."""
        certain = _certain(self.opinions(key))
        return certain[0] if certain and len(set(certain)) == 1 else None

    # ------------------------------------------------------------------ all calls

    def __iter__(self) -> Iterator[CallKey]:
        """Go through the calls with a decision in force, in the order of the first on each."""
        return (key for key in self._on if self.opinions(key))

    def in_force(self) -> Iterator[Act]:
        """Go through the decisions that were not undone, oldest first."""
        for number, act in self._acts.items():
            if act.kind not in ("undo", "note") and number not in self._undone:
                yield act

    def undoable(self, reviewer: str) -> Act | None:
        """Return a reviewer's last act that can be undone."""
        for number in reversed(self._acts):
            act = self._acts[number]
            if act.reviewer == reviewer and act.kind != "undo" and number not in self._undone:
                return act
        return None

    def recent(self, reviewer: str, n: int) -> list[Act]:
        """Return a reviewer's last acts that were not undone, the last first."""
        found = []
        for number in reversed(self._acts):
            act = self._acts[number]
            if act.reviewer == reviewer and act.kind != "undo" and number not in self._undone:
                found.append(act)
            if len(found) == n:
                break
        return found

    def new_classes(self) -> tuple[str, ...]:
        """Return the classes that reviewers named, in the order in which they did."""
        names = (act.class_name for act in self.in_force() if act.kind == "new")
        return tuple(dict.fromkeys(name for name in names if name is not None))

    def counts(self) -> Mapping[Standing, int]:
        """Return how many calls stand how; those that nobody decided on are not counted."""
        return Counter(self.standing(key) for key in self)

    def by_verdict(self) -> Mapping[Verdict, int]:
        """Return how many calls are settled as what."""
        return Counter(found for key in self if (found := self.settled(key)) is not None)


def _standing(opinions: Mapping[str, Act]) -> Standing:
    if not opinions:
        return "open"
    certain = _certain(opinions)
    if not certain:
        return "uncertain"
    if len(set(certain)) > 1:
        return "conflict"
    return "agreed" if len(certain) > 1 else "single"


def _certain(opinions: Mapping[str, Act]) -> list[Verdict]:
    return [found for act in opinions.values() if (found := verdict_of(act)).certain]


def verdict_of(act: Act) -> Verdict:
    """Return what a decision says."""
    if act.class_name is not None:
        return Verdict("class", act.class_name)
    return Verdict("not_target" if act.kind == "not_target" else "uncertain")
