"""In which order calls are put before people: orders over positions, and nothing else.

Every function is pure and takes milliseconds for 100,000 calls.
"""

import hashlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from itertools import pairwise
from typing import Any

import numpy as np
import numpy.typing as npt

from raravis.errors import InputError
from raravis.review.keys import CallKey

__all__ = [
    "Queue",
    "control_sample",
    "control_size",
    "discovery",
    "group_by_group",
    "most_novel",
    "most_uncertain",
    "weakest_of",
]

FloatArray = npt.NDArray[np.float64]
IntArray = npt.NDArray[np.int64]


@dataclass(frozen=True, eq=False)
class Queue:
    """Calls in an order.

    Parameters
    ----------
    key : str
        What names it.
    title, why : str
        For people: what it is, and what going through it is good for.
    order : array of int
        Positions of calls.
    groups : mapping of str to tuple of int
        Where the order goes group by group: name to the first and the last place but one.
    """

    key: str
    title: str
    why: str
    order: IntArray
    groups: Mapping[str, tuple[int, int]] = field(default_factory=dict)

    def __len__(self) -> int:
        return len(self.order)

    def group_at(self, place: int) -> str | None:
        """Return the group that a place belongs to."""
        for name, (first, end) in self.groups.items():
            if first <= place < end:
                return name
        return None


def most_novel(novelty: npt.ArrayLike) -> IntArray:
    """Return all positions, the most novel first.

    >>> most_novel([0.2, 0.9, 0.5])
    array([1, 2, 0])
    """
    return _sorted(-_numbers(novelty))


def most_uncertain(novelty: npt.ArrayLike, threshold: float) -> IntArray:
    """Return all positions, those nearest to the threshold between known and novel first.

    >>> most_uncertain([0.2, 0.9, 0.5], 0.6)
    array([2, 1, 0])
    """
    return _sorted(np.abs(_numbers(novelty) - threshold))


def weakest_of(labels: npt.ArrayLike, name: str, scores: npt.ArrayLike) -> IntArray:
    """Return the calls that a model takes for a class, those with the lowest score first.

    >>> weakest_of(["wren", "owl", "wren"], "wren", [0.9, 0.1, 0.3])
    array([2, 0])
    """
    chosen = np.flatnonzero(np.asarray(labels, dtype=object) == name).astype(np.int64)
    return chosen[np.argsort(_numbers(scores)[chosen], kind="stable")]


def group_by_group(groups: Mapping[str, npt.ArrayLike]) -> tuple[IntArray, dict[str, Any]]:
    """Return the members of groups one group after the other, and where each group stands.

    >>> group_by_group({"group 1": [4, 2], "group 2": [7]})
    (array([4, 2, 7]), {'group 1': (0, 2), 'group 2': (2, 3)})
    """
    members = [np.asarray(found, dtype=np.int64) for found in groups.values()]
    ends = np.cumsum([0, *map(len, members)]).tolist()
    order = np.concatenate([np.empty(0, np.int64), *members])
    return order, dict(zip(groups, pairwise(ends), strict=True))


def discovery(groups: Mapping[str, npt.ArrayLike], novelty: npt.ArrayLike) -> IntArray:
    """Return all positions in the order that meets many different sounds soon.

    First the most typical call of each group, then the second of each, and so on; what is in no
    group comes after that, the most novel first.

    >>> discovery({"group 1": [4, 2, 0], "group 2": [3]}, [0.1, 0.2, 0.3, 0.4, 0.5])
    array([4, 3, 2, 0, 1])
    """
    values = _numbers(novelty)
    members = [np.asarray(found, dtype=np.int64) for found in groups.values()]
    rank = np.concatenate([np.empty(0, np.int64), *(np.arange(len(m)) for m in members)])
    grouped = np.concatenate([np.empty(0, np.int64), *members])[np.argsort(rank, kind="stable")]
    rest = np.ones(len(values), dtype=bool)
    rest[grouped] = False
    order = most_novel(values)
    return np.concatenate([grouped, order[rest[order]]])


def control_size(n_calls: int) -> int:
    """Return how many calls a control sample has: a tenth of all, at most 200.

    The model never learns from them, so they should not be many.
    """
    return min(200, -(-n_calls // 10))


def control_sample(keys: Sequence[CallKey], *, size: int, seed: int = 0) -> IntArray:
    """Return a random sample of all calls, which owes nothing to any model.

    A call's place depends on the seed and the call alone. So the sample stays as it is when calls
    come in another order, and nearly so when recordings are added: every call has the same chance.

    Parameters
    ----------
    keys : sequence of CallKey
    size : int
        At most this many.
    seed : int
    """
    if size < 0:
        raise InputError(f"size is {size}; pass a whole number, at least 0.")
    salt = f"raravis control sample {seed}".encode()
    drawn = np.array([_draw(key, salt) for key in keys], dtype=np.uint64)
    return np.argsort(drawn, kind="stable")[:size].astype(np.int64)


def _draw(key: CallKey, salt: bytes) -> int:
    text = "\x00".join(map(str, key)).encode("utf-8", "surrogateescape")
    return int.from_bytes(hashlib.blake2b(text, digest_size=8, key=salt).digest())


def _numbers(values: npt.ArrayLike) -> FloatArray:
    return np.asarray(values, dtype=np.float64)


def _sorted(values: FloatArray) -> IntArray:
    # NaN comes last: of a call without a score nobody can say anything.
    return np.argsort(values, kind="stable").astype(np.int64)
