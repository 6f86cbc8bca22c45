"""What a call is, whatever a model or a segmentation made of it: its recording and its box."""

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from raravis.formats import CallTable

__all__ = ["CallIndex", "CallKey", "keys_of"]

IntArray = NDArray[np.int64]

# A box found again is the same call if it shares this much of what the two cover together.
_SAME = 0.5


class CallKey(NamedTuple):
    """A call as a decision names it; None = the frequency is unknown.

    Seconds are kept to the microsecond and hertz to the thousandth, so that a number that went
    through a file is still the same.
    """

    recording: str
    begin_s: float
    end_s: float
    low_hz: float | None = None
    high_hz: float | None = None


def keys_of(calls: CallTable) -> list[CallKey]:
    """Return the key of every call.

    >>> keys_of(CallTable(["a"], [0.5], [1.0]))
    [CallKey(recording='a', begin_s=0.5, end_s=1.0, low_hz=None, high_hz=None)]
    """
    columns = (
        calls.recording,
        np.round(calls.begin_s, 6).tolist(),
        np.round(calls.end_s, 6).tolist(),
        _hertz(calls.low_hz),
        _hertz(calls.high_hz),
    )
    return [CallKey(*row) for row in zip(*columns, strict=True)]


def _hertz(column: NDArray[np.float64]) -> list[float | None]:
    return [None if hz != hz else hz for hz in np.round(column, 3).tolist()]  # noqa: PLR0124


class CallIndex:
    """Finds the calls of a table that decisions were made on, also after a new segmentation.

    A call is found by its key; failing that, it is the call of the same recording whose box has
    most in common with it: at least half of what the two boxes cover together.

    Parameters
    ----------
    keys : sequence of CallKey

    Examples
    --------
    >>> index = CallIndex([CallKey("a", 0.0, 1.0), CallKey("a", 2.0, 3.0)])
    >>> index.find(CallKey("a", 2.0, 3.0)), index.find(CallKey("a", 2.1, 3.2))
    (1, 1)
    >>> index.find(CallKey("a", 1.0, 2.0)), index.find(CallKey("b", 2.0, 3.0))
    (-1, -1)
    """

    def __init__(self, keys: Sequence[CallKey]) -> None:
        self.keys = tuple(keys)
        # Where two calls have one key, the first of them is found.
        self._exact = {key: i for i, key in reversed(list(enumerate(self.keys)))}
        self._by_recording: dict[str, list[int]] | None = None
        self._found: dict[CallKey, int] = {}

    def find(self, key: CallKey) -> int:
        """Return the position of a call, or -1."""
        exact = self._exact.get(key)
        if exact is not None:
            return exact
        if key not in self._found:
            self._found[key] = self._nearest(key)
        return self._found[key]

    def _nearest(self, key: CallKey) -> int:
        if self._by_recording is None:
            self._by_recording = {}
            for position, found in enumerate(self.keys):
                self._by_recording.setdefault(found.recording, []).append(position)
        places = self._by_recording.get(key.recording, [])
        shared = [_shared(key, self.keys[place]) for place in places]
        best = max(range(len(places)), key=shared.__getitem__, default=None)
        return -1 if best is None or shared[best] < _SAME else places[best]


def _shared(one: CallKey, other: CallKey) -> float:
    """Return the part that two boxes share of what they cover together."""
    seconds = _overlap(one.begin_s, one.end_s, other.begin_s, other.end_s)
    sizes = [one.end_s - one.begin_s, other.end_s - other.begin_s]
    hertz = [one.low_hz, one.high_hz, other.low_hz, other.high_hz]
    known = [hz for hz in hertz if hz is not None]
    if len(known) == 4:
        seconds *= _overlap(*known)
        sizes = [sizes[0] * (known[1] - known[0]), sizes[1] * (known[3] - known[2])]
    union = sum(sizes) - seconds
    return seconds / union if union > 0 else 0.0


def _overlap(begin: float, end: float, other_begin: float, other_end: float) -> float:
    return max(0.0, min(end, other_end) - max(begin, other_begin))
