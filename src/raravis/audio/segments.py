"""Segments: boxes in time and frequency, each around one sound."""

from dataclasses import dataclass, fields
from typing import Any, Self, TypeAlias

import numpy as np
import numpy.typing as npt

from raravis.errors import InputError

__all__ = ["Segments", "fixed_windows"]

FloatArray: TypeAlias = npt.NDArray[np.float64]


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class Segments:
    """Boxes in time and frequency, by begin and then by lower frequency; immutable.

    Intervals are half-open: a segment holds `begin_s` and ends just before `end_s`. Rows are put
    into order on the way in; a box without duration or without bandwidth is legal.

    Parameters
    ----------
    begin_s, end_s : array of shape (n,)
        Seconds since the start of the recording, ``0 <= begin_s <= end_s``.
    low_hz, high_hz : array of shape (n,)
        ``0 <= low_hz <= high_hz``.

    Examples
    --------
    >>> calls = Segments([3.0, 1.0], [3.5, 1.2], [2000, 4000], [2500, 6000])
    >>> calls
    Segments(2 segments, 1-3.5 s, 2000-6000 Hz)
    >>> calls.begin_s
    array([1., 3.])
    >>> len(calls.take([1])), len(Segments.empty())
    (1, 0)
    """

    begin_s: FloatArray
    end_s: FloatArray
    low_hz: FloatArray
    high_hz: FloatArray

    def __post_init__(self) -> None:
        columns = [_checked(getattr(self, field.name), field.name) for field in fields(self)]
        _require_same_length(columns)
        _require_intervals(columns[0], columns[1], "begin_s", "end_s")
        _require_intervals(columns[2], columns[3], "low_hz", "high_hz")
        order = np.lexsort((columns[3], columns[1], columns[2], columns[0]))
        for field, column in zip(fields(self), columns, strict=True):
            ordered = column[order]
            ordered.setflags(write=False)
            object.__setattr__(self, field.name, ordered)

    @classmethod
    def empty(cls) -> Self:
        """Return no segments, which is a legal result."""
        return cls([], [], [], [])  # type: ignore[arg-type]  # converted on the way in

    @property
    def duration_s(self) -> FloatArray:
        """How long each segment lasts."""
        return self.end_s - self.begin_s

    def take(self, index: npt.ArrayLike | slice) -> "Segments":
        """Return the segments at some positions (numbers, a mask or a slice), in order of time."""
        rows = index if isinstance(index, slice) else np.asarray(index)
        if isinstance(rows, np.ndarray) and rows.size == 0:
            rows = rows.astype(np.intp)
        return Segments(*(getattr(self, field.name)[rows] for field in fields(self)))

    def __len__(self) -> int:
        return len(self.begin_s)

    __hash__ = None  # type: ignore[assignment]

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Segments):
            return NotImplemented
        return all(
            np.array_equal(getattr(self, field.name), getattr(other, field.name))
            for field in fields(self)
        )

    def __reduce__(self) -> tuple[Any, ...]:
        # Through the constructor, so that a copy from another process is read-only too.
        return type(self), tuple(getattr(self, field.name) for field in fields(self))

    def __repr__(self) -> str:
        if not len(self):
            return "Segments(0 segments)"
        return (
            f"Segments({len(self)} segments, {self.begin_s.min():g}-{self.end_s.max():g} s, "
            f"{self.low_hz.min():g}-{self.high_hz.max():g} Hz)"
        )


def fixed_windows(
    duration_s: float, window_s: float, hop_s: float | None = None, *, nyquist_hz: float
) -> Segments:
    """Cut a recording into windows of one length over all frequencies.

    The last window may be shorter; there is one for every begin before the end of the recording,
    except those that lie wholly within the window before them.

    Parameters
    ----------
    duration_s : float
        How long the recording is.
    window_s : float
    hop_s : float, optional
        From one begin to the next; `window_s` by default.
    nyquist_hz : float
        Half the sample rate.

    Examples
    --------
    >>> fixed_windows(7.0, 3.0, nyquist_hz=16000.0).end_s
    array([3., 6., 7.])
    """
    hop = window_s if hop_s is None else hop_s
    for name, value in (("window_s", window_s), ("hop_s", hop), ("nyquist_hz", nyquist_hz)):
        if not (np.isfinite(value) and value > 0):
            raise InputError(f"{name} is {value!r}; pass a positive number")
    if not (np.isfinite(duration_s) and duration_s >= 0):
        raise InputError(f"duration_s is {duration_s!r}; pass seconds, 0 or more")
    n_windows = max(1, int(np.ceil((duration_s - window_s) / hop - 1e-9)) + 1)
    begin = np.arange(n_windows, dtype=np.float64) * hop
    begin = begin[begin < duration_s]
    end = np.minimum(begin + window_s, duration_s)
    return Segments(
        begin, end.astype(np.float64), np.zeros(len(begin)), np.full(len(begin), float(nyquist_hz))
    )


def _checked(values: Any, name: str) -> FloatArray:
    try:
        column = np.array(values, dtype=np.float64)
    except (TypeError, ValueError) as error:
        raise InputError(f"{name} holds something that is no number; pass numbers") from error
    if column.ndim != 1:
        raise InputError(f"{name} has shape {column.shape}; pass one number for each segment")
    bad = np.flatnonzero(~np.isfinite(column) | (column < 0))
    if bad.size:
        raise InputError(
            f"{name} of segment {bad[0]} is {column[bad[0]]}; pass finite numbers, 0 or more"
        )
    return column


def _require_same_length(columns: list[FloatArray]) -> None:
    if len({len(column) for column in columns}) > 1:
        raise InputError(
            f"begin_s, end_s, low_hz and high_hz have {[len(c) for c in columns]} entries; pass "
            "one of each for every segment"
        )


def _require_intervals(lower: FloatArray, upper: FloatArray, first: str, second: str) -> None:
    bad = np.flatnonzero(lower > upper)
    if bad.size:
        row = bad[0]
        raise InputError(
            f"segment {row} has {first} {lower[row]:g} and {second} {upper[row]:g}; pass intervals "
            "that do not end before they begin"
        )
