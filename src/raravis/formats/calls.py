"""Calls: what was heard in which recording, when, at which frequencies, and what it is called.

`CallTable` is what every reader of this package returns and every writer takes.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray

from raravis._checks import positions, some
from raravis.errors import InputError

__all__ = ["CallTable"]

FloatArray = NDArray[np.float64]
IntArray = NDArray[np.int64]


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class CallTable:
    """Calls, one a row; immutable. An empty table is a table.

    Intervals are half-open. Times count from the start of the recording.

    Parameters
    ----------
    recording : sequence of str
        The recording of each call, as the file or the study names it.
    begin_s, end_s : array of shape (n_calls,)
        Seconds; a call may be a point in time (``begin_s == end_s``).
    low_hz, high_hz : array of shape (n_calls,), optional
        Hertz; NaN = unknown, which is the default.
    label : sequence of str or None, optional
        What each call is called, verbatim; None = it has no label. A label is not empty.
    novelty : array of shape (n_calls,), optional
        High = novel; NaN = unknown.
    class_scores : array of shape (n_calls, n_classes), optional
        With it, ``novelty`` is never None: it is NaN where nobody gave it.
    classes : sequence of str, optional
        The columns of ``class_scores``; needed with it, and only with it.
    channel : array of int, shape (n_calls,), optional
        Counted from 1.
    extra : mapping of str to sequence of str, optional
        Whatever else a file says of each call: column name to cells, as they stand in the file.

    Examples
    --------
    >>> calls = CallTable(["a.wav", "b.wav"], [0.5, 2.0], [1.25, 2.5], label=["wren", None])
    >>> calls
    CallTable(2 calls in 2 recordings, 1 labelled)
    >>> calls.for_recording("a.wav").label
    ('wren',)
    >>> len(CallTable.empty())
    0
    """

    recording: tuple[str, ...]
    begin_s: FloatArray
    end_s: FloatArray
    low_hz: FloatArray = None  # type: ignore[assignment]
    high_hz: FloatArray = None  # type: ignore[assignment]
    label: tuple[str | None, ...] = None  # type: ignore[assignment]
    novelty: FloatArray | None = None
    class_scores: FloatArray | None = None
    classes: tuple[str, ...] = ()
    channel: IntArray | None = None
    extra: Mapping[str, tuple[str, ...]] = field(default_factory=dict)

    if TYPE_CHECKING:
        # What goes in may be of more kinds than what comes out.
        def __init__(
            self,
            recording: Iterable[str],
            begin_s: ArrayLike,
            end_s: ArrayLike,
            low_hz: ArrayLike | None = None,
            high_hz: ArrayLike | None = None,
            label: Iterable[str | None] | None = None,
            novelty: ArrayLike | None = None,
            class_scores: ArrayLike | None = None,
            classes: Iterable[str] = (),
            channel: ArrayLike | None = None,
            extra: Mapping[str, Iterable[str]] = ...,
        ) -> None: ...

    def __post_init__(self) -> None:
        recording = _names(self.recording, "recording")
        n_calls = len(recording)
        classes = _names(self.classes, "classes")
        class_scores = _checked_scores(self.class_scores, classes, n_calls)
        novelty = None if self.novelty is None else _column(self.novelty, "novelty", n_calls)
        if novelty is None and class_scores is not None:
            novelty = _unknown(n_calls)
        values = {
            "recording": recording,
            "begin_s": _column(self.begin_s, "begin_s", n_calls),
            "end_s": _column(self.end_s, "end_s", n_calls),
            "low_hz": _optional(self.low_hz, "low_hz", n_calls),
            "high_hz": _optional(self.high_hz, "high_hz", n_calls),
            "label": _labels(self.label, n_calls),
            "novelty": novelty,
            "class_scores": class_scores,
            "classes": classes,
            "channel": _checked_channel(self.channel, n_calls),
            "extra": _checked_extra(self.extra, n_calls),
        }
        for name, value in values.items():
            if isinstance(value, np.ndarray):
                value.flags.writeable = False
            object.__setattr__(self, name, value)
        _require_intervals(self)

    @classmethod
    def empty(cls, classes: Iterable[str] = ()) -> Self:
        """Make a table without calls; with classes, one that has a score column for each."""
        names = tuple(classes)
        scores = np.empty((0, len(names))) if names else None
        return cls((), np.empty(0), np.empty(0), class_scores=scores, classes=names)

    @classmethod
    def concat(cls, parts: Iterable["CallTable"]) -> Self:
        """Put tables after each other.

        Scores and novelty that a part lacks are NaN, its cells in further columns empty. If only
        some parts say the channel, it is 1 in the others.

        Examples
        --------
        >>> one = CallTable(["a"], [0.0], [1.0], extra={"Notes": ["faint"]})
        >>> two = CallTable(["b"], [0.0], [1.0], novelty=[0.5])
        >>> both = CallTable.concat([one, two])
        >>> both.novelty, dict(both.extra)
        (array([nan, 0.5]), {'Notes': ('faint', '')})
        """
        listed = list(parts)
        if not listed:
            return cls.empty()
        classes = tuple(dict.fromkeys(name for part in listed for name in part.classes))
        extra = dict.fromkeys(name for part in listed for name in part.extra)
        return cls(
            _chain(part.recording for part in listed),
            np.concatenate([part.begin_s for part in listed]),
            np.concatenate([part.end_s for part in listed]),
            np.concatenate([part.low_hz for part in listed]),
            np.concatenate([part.high_hz for part in listed]),
            _chain(part.label for part in listed),
            _joined([part.novelty for part in listed], listed, np.nan),
            np.concatenate([_wide_scores(part, classes) for part in listed]) if classes else None,
            classes,
            _joined([part.channel for part in listed], listed, 1),
            {n: _chain(p.extra.get(n, ("",) * len(p)) for p in listed) for n in extra},
        )

    # ------------------------------------------------------------------ what there is

    @property
    def recordings(self) -> tuple[str, ...]:
        """The recordings that have calls, each once, in the order in which they appear."""
        return tuple(dict.fromkeys(self.recording))

    def __len__(self) -> int:
        return len(self.recording)

    __hash__ = None  # type: ignore[assignment]

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, CallTable):
            return NotImplemented
        return all(_same(getattr(self, name), getattr(other, name)) for name in self.__slots__)

    def __reduce__(self) -> tuple[Any, ...]:
        # Through the constructor: a read-only mapping cannot be sent to another process as it is.
        values = (getattr(self, name) for name in self.__slots__[:-1])
        return type(self), (*values, dict(self.extra))

    def __repr__(self) -> str:
        labelled = sum(label is not None for label in self.label)
        return (
            f"CallTable({len(self)} calls in {len(self.recordings)} recordings, "
            f"{labelled} labelled)"
        )

    # ------------------------------------------------------------------ other tables

    def take(self, which: ArrayLike | slice) -> "CallTable":
        """Return the calls at some positions (index array, mask or slice), in the order given."""
        index = positions(which, len(self), "call")
        return CallTable(
            tuple(self.recording[i] for i in index),
            self.begin_s[index],
            self.end_s[index],
            self.low_hz[index],
            self.high_hz[index],
            tuple(self.label[i] for i in index),
            None if self.novelty is None else self.novelty[index],
            None if self.class_scores is None else self.class_scores[index],
            self.classes,
            None if self.channel is None else self.channel[index],
            {name: tuple(cells[i] for i in index) for name, cells in self.extra.items()},
        )

    def by_recording(self) -> dict[str, "CallTable"]:
        """Return the calls of each recording, in the order in which recordings appear.

        Examples
        --------
        >>> calls = CallTable(["a", "b", "a"], [0, 1, 2], [1, 2, 3])
        >>> {name: len(part) for name, part in calls.by_recording().items()}
        {'a': 2, 'b': 1}
        """
        rows: dict[str, list[int]] = {}
        for row, name in enumerate(self.recording):
            rows.setdefault(name, []).append(row)
        return {name: self.take(np.array(places)) for name, places in rows.items()}

    def for_recording(self, name: str) -> "CallTable":
        """Return the calls of one recording; none if there is no call in it."""
        found = [i for i, recording in enumerate(self.recording) if recording == name]
        return self.take(np.array(found, dtype=np.int64))


# ---------------------------------------------------------------------- columns, checked


def _texts(values: Iterable[str], name: str) -> tuple[str, ...]:
    if isinstance(values, str):
        raise InputError(f"{name} is the text {values!r}; give a sequence with one text a row.")
    cells = tuple(values)
    _require_texts(cells, name)
    return cells


def _names(values: Iterable[str], name: str) -> tuple[str, ...]:
    cells = _texts(values, name)
    if "" in cells:
        raise InputError(f"{name}[{cells.index('')}] is empty; give it a name.")
    return cells


def _require_texts(cells: Sequence[object], name: str) -> None:
    for row, cell in enumerate(cells):
        if not isinstance(cell, str):
            raise InputError(f"{name}[{row}] is {cell!r}; give text, for example {str(cell)!r}.")
        # Most text is ASCII, which is told at once.
        if not cell.isascii():
            _require_unicode(cell, f"{name}[{row}]")


def _require_unicode(cell: str, where: str) -> None:
    try:
        cell.encode()
    except UnicodeEncodeError as error:
        raise InputError(
            f"{where} is {cell!r}, which has a character that no file can hold as UTF-8; rename "
            "it to plain text."
        ) from error


def _labels(values: Iterable[str | None] | None, n_calls: int) -> tuple[str | None, ...]:
    if values is None:
        return (None,) * n_calls
    if isinstance(values, str):
        raise InputError(f"label is the text {values!r}; give a sequence with one label a call.")
    cells = tuple(values)
    _require_length(len(cells), n_calls, "label")
    if "" in cells:
        raise InputError(
            f"label[{cells.index('')}] is empty; give a name, or None for a call without one."
        )
    _require_texts(["" if cell is None else cell for cell in cells], "label")
    return cells


def _require_length(length: int, n_calls: int, name: str) -> None:
    if length != n_calls:
        raise InputError(
            f"{name} has {length} rows, but recording has {n_calls}; give one for each call."
        )


def _unknown(n_calls: int) -> FloatArray:
    return np.full(n_calls, np.nan)


def _numbers(values: Any, name: str) -> FloatArray:
    try:
        return np.array(values, dtype=np.float64)
    except (TypeError, ValueError) as error:
        raise InputError(f"{name} holds something that is no number ({error}).") from error


def _column(values: Any, name: str, n_calls: int) -> FloatArray:
    array = _numbers(values, name)
    if array.ndim != 1:
        raise InputError(f"{name} has shape {array.shape}; give one number for each call.")
    _require_length(len(array), n_calls, name)
    return array


def _optional(values: Any, name: str, n_calls: int) -> FloatArray:
    return _unknown(n_calls) if values is None else _column(values, name, n_calls)


def _checked_scores(values: Any, classes: tuple[str, ...], n_calls: int) -> FloatArray | None:
    if values is None and not classes:
        return None
    if len(set(classes)) < len(classes):
        raise InputError(f"classes names one twice: {some(classes)}; give each once.")
    array = _numbers(np.empty((0, 0)) if values is None else values, "class_scores")
    if array.shape != (n_calls, len(classes)):
        raise InputError(
            f"class_scores has shape {array.shape}, but there are {n_calls} calls and "
            f"{len(classes)} classes; give a row for each call, a column for each class."
        )
    return array if classes else None


def _checked_channel(values: Any, n_calls: int) -> IntArray | None:
    if values is None:
        return None
    numbers = _column(values, "channel", n_calls)
    if not np.all((numbers >= 1) & (numbers == np.floor(numbers)) & (numbers < 2**31)):
        raise InputError("channel holds something other than 1, 2, 3, ...; channels count from 1.")
    return numbers.astype(np.int64)


def _checked_extra(
    extra: Mapping[str, Iterable[str]], n_calls: int
) -> Mapping[str, tuple[str, ...]]:
    _names(extra, "extra")
    columns = {name: _texts(cells, f"extra[{name!r}]") for name, cells in extra.items()}
    for name, cells in columns.items():
        _require_length(len(cells), n_calls, f"extra[{name!r}]")
    return MappingProxyType(columns)


def _require_intervals(calls: CallTable) -> None:
    begin, end = calls.begin_s, calls.end_s
    # Written so that NaN, which compares as false, is refused in times and allowed in frequencies.
    good = (begin >= 0) & (end >= begin) & np.isfinite(end)
    _require_all(good, calls, "begin_s", "end_s", "seconds, 0 <= begin_s <= end_s")
    low, high = calls.low_hz, calls.high_hz
    bad = (low < 0) | (high < 0) | (low > high) | np.isinf(low) | np.isinf(high)
    _require_all(~bad, calls, "low_hz", "high_hz", "hertz, 0 <= low_hz <= high_hz, NaN if unknown")


def _require_all(
    good: NDArray[np.bool_], calls: CallTable, first: str, second: str, accepted: str
) -> None:
    if good.all():
        return
    row = int(np.argmin(good))
    values = [float(getattr(calls, name)[row]) for name in (first, second)]
    raise InputError(
        f"Call {row} (of {calls.recording[row]!r}) has {first}={values[0]!r} and "
        f"{second}={values[1]!r}; they must be finite {accepted}. Correct that row."
    )


# ---------------------------------------------------------------------- parts of tables


def _same(one: Any, other: Any) -> bool:
    if isinstance(one, np.ndarray) and isinstance(other, np.ndarray):
        return np.array_equal(one, other, equal_nan=True)
    return bool(type(one) is type(other) and one == other)


def _chain(parts: Iterable[tuple[Any, ...]]) -> tuple[Any, ...]:
    return tuple(cell for part in parts for cell in part)


def _joined(
    columns: list[NDArray[Any] | None], parts: list[CallTable], fill: float
) -> NDArray[Any] | None:
    """Columns after each other, filled where a part lacks one; None if all do."""
    if all(column is None for column in columns):
        return None
    pairs = zip(columns, parts, strict=True)
    return np.concatenate([np.full(len(p), fill) if c is None else c for c, p in pairs])


def _wide_scores(part: CallTable, classes: tuple[str, ...]) -> FloatArray:
    wide = np.full((len(part), len(classes)), np.nan)
    if part.class_scores is not None:
        wide[:, [classes.index(name) for name in part.classes]] = part.class_scores
    return wide
