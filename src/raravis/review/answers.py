"""How the server reads what a request says, and what it answers with."""

import json
from collections import OrderedDict
from collections.abc import Callable, Hashable, Mapping
from threading import Lock
from typing import Any

from starlette.datastructures import QueryParams
from starlette.responses import Response

from raravis.review.errors import ReviewError

__all__ = ["ByteCache", "Fields", "json_answer", "media_answer", "whole_number"]

_IMMUTABLE = "private, max-age=86400, immutable"
_MOST_CALLS = 20_000


def json_answer(content: Any, status: int = 200) -> Response:
    """Return JSON that nothing keeps."""
    text = json.dumps(content, ensure_ascii=False, allow_nan=False, separators=(",", ":"))
    # Names come from files, where half a surrogate pair may stand.
    body = text.encode("utf-8", "replace")
    return Response(body, status, {"cache-control": "no-store"}, "application/json")


def media_answer(content: bytes, kind: str, wanted: str | None) -> Response:
    """Return bytes that never change, or the range of them that was asked for."""
    headers = {"cache-control": _IMMUTABLE, "accept-ranges": "bytes"}
    if wanted is None:
        return Response(content, 200, headers, kind)
    found = _byte_range(wanted, len(content))
    if found is None:
        return Response(b"", 416, {**headers, "content-range": f"bytes */{len(content)}"})
    first, last = found
    headers["content-range"] = f"bytes {first}-{last}/{len(content)}"
    return Response(content[first : last + 1], 206, headers, kind)


def _byte_range(text: str, size: int) -> tuple[int, int] | None:
    """Read one range of bytes; None if it cannot be met.

    >>> _byte_range("bytes=2-", 10), _byte_range("bytes=-3", 10), _byte_range("bytes=4-99", 10)
    ((2, 9), (7, 9), (4, 9))
    >>> _byte_range("bytes=10-", 10), _byte_range("bytes=3-2", 10), _byte_range("bytes=a-", 10)
    (None, None, None)
    """
    unit, _, spec = text.partition("=")
    begin, dash, end = spec.strip().partition("-")
    numbers = [begin, end]
    if unit.strip() != "bytes" or not dash or not all(_is_short_number(n) for n in numbers if n):
        return None
    if not begin:
        length = int(end) if end else 0
        return (max(0, size - length), size - 1) if length and size else None
    first, last = int(begin), min(int(end) if end else size - 1, size - 1)
    return (first, last) if first <= last else None


def _is_short_number(text: str) -> bool:
    return text.isascii() and text.isdecimal() and len(text) < 16


def whole_number(params: QueryParams | Mapping[str, str], name: str, default: int) -> int:
    """Read a number of a query."""
    text = params.get(name, str(default))
    if not _is_short_number(text.removeprefix("-")):
        raise ReviewError(f"{name} is {text[:40]!r}; pass a whole number.")
    return int(text)


class Fields:
    """What the JSON body of a write says; every field is of the kind that is asked for.

    >>> Fields.read(b'{"kind": "known", "calls": [1, 2]}').numbers("calls")
    [1, 2]
    """

    def __init__(self, values: Mapping[str, Any]) -> None:
        self._values = values

    @classmethod
    def read(cls, body: bytes) -> "Fields":
        """Parse a body."""
        try:
            found = json.loads(body)
        except (ValueError, RecursionError) as error:
            raise ReviewError("the body is no JSON; send an object.") from error
        if not isinstance(found, dict):
            raise ReviewError("the body is no object; send one.")
        return cls(found)

    def text(self, name: str, default: str | None = None) -> str:
        """Return a text."""
        found = self._values.get(name, default)
        if not isinstance(found, str):
            raise ReviewError(f"{name} is not text; pass text.")
        return found

    def optional_text(self, name: str) -> str | None:
        """Return a text, or None."""
        return None if self._values.get(name) is None else self.text(name)

    def number(self, name: str) -> int:
        """Return a whole number."""
        found = self._values.get(name)
        if type(found) is not int or abs(found) >= 1 << 53:
            raise ReviewError(f"{name} is not a whole number; pass one.")
        return found

    def numbers(self, name: str) -> list[int]:
        """Return whole numbers, not too many."""
        found = self._values.get(name)
        if not isinstance(found, list) or any(type(value) is not int for value in found):
            raise ReviewError(f"{name} is not a list of whole numbers; pass one.")
        if len(found) > _MOST_CALLS:
            raise ReviewError(f"{name} has {len(found)} entries; pass {_MOST_CALLS} at the most.")
        return found


class ByteCache:
    """Keeps what was made last, up to so many bytes in all.

    Parameters
    ----------
    limit : int
        Bytes.
    """

    def __init__(self, limit: int) -> None:
        self._limit = limit
        self._held: OrderedDict[Hashable, bytes | None] = OrderedDict()
        self._size = 0
        self._lock = Lock()

    def get(self, key: Hashable, make: Callable[[], bytes | None]) -> bytes | None:
        """Return what is kept under a key, or make it. Two who ask at once may both make it."""
        with self._lock:
            if key in self._held:
                self._held.move_to_end(key)
                return self._held[key]
        made = make()
        with self._lock:
            if key not in self._held:
                self._held[key] = made
                self._size += _size(made)
            while self._size > self._limit:
                _, dropped = self._held.popitem(last=False)
                self._size -= _size(dropped)
        return made

    @property
    def size(self) -> int:
        """Bytes held."""
        return self._size


def _size(content: bytes | None) -> int:
    return 200 + len(content or b"")
