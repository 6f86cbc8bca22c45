"""When a recording was made, from its file name."""

import re
from datetime import UTC, datetime, timedelta, timezone
from typing import Final

__all__ = ["time_from_name"]

_DATE_AND_TIME: Final = re.compile(
    r"(?<!\d)((?:19|20)\d\d)[-_.]?(\d\d)[-_.]?(\d\d)"
    r"[-_T$ ]+(\d\d)[-_.:h]?(\d\d)[-_.:m]?(\d\d)"
    r"(Z|[+-]\d\d:?\d\d)?(?!\d)"
)
_RUN_TOGETHER: Final = re.compile(r"(?<!\d)(20\d\d)(\d\d)(\d\d)(\d\d)(\d\d)(\d\d)()(?!\d)")
_HEXADECIMAL: Final = re.compile(r"[0-9A-Fa-f]{8}")
# The first AudioMoths, and the end of their 32-bit clock.
_FIRST_AUDIOMOTH: Final = datetime(2016, 1, 1, tzinfo=UTC)


def time_from_name(name: str) -> datetime | None:
    """Return the time that a recorder wrote into a file name, or None.

    Known are the names of AudioMoth (``20240501_043000.WAV``, and the eight hexadecimal digits
    of old firmware, which are in UTC), Song Meter (``SITE_20240501_043000.wav``, also with ``$``),
    and the usual ways of writing a date and a time. The result has a time zone only if the name
    says one.

    Examples
    --------
    >>> time_from_name("S4A01234_20240501_043000.wav")
    datetime.datetime(2024, 5, 1, 4, 30)
    >>> time_from_name("5CC90A80.WAV")
    datetime.datetime(2019, 5, 1, 2, 54, 56, tzinfo=datetime.timezone.utc)
    >>> time_from_name("20240501T043000+1000_creek.flac").utcoffset()
    datetime.timedelta(seconds=36000)
    >>> time_from_name("blackbird.wav") is None
    True
    """
    stem = name.rpartition(".")[0] or name
    for pattern in (_DATE_AND_TIME, _RUN_TOGETHER):
        for found in pattern.finditer(stem):
            moment = _moment(found)
            if moment is not None:
                return moment
    return _from_hexadecimal(stem)


def _moment(found: re.Match[str]) -> datetime | None:
    *numbers, zone = found.groups()
    try:
        return datetime(*map(int, numbers), tzinfo=_zone(zone))  # type: ignore[arg-type,misc]
    except ValueError:
        return None  # digits, but of no date


def _zone(text: str | None) -> timezone | None:
    if not text:
        return None
    if text == "Z":
        return UTC
    digits = text[1:].replace(":", "")
    offset = timedelta(hours=int(digits[:2]), minutes=int(digits[2:]))
    return timezone(-offset if text[0] == "-" else offset)


def _from_hexadecimal(stem: str) -> datetime | None:
    if not _HEXADECIMAL.fullmatch(stem):
        return None
    seconds = int(stem, 16)
    if seconds >= 2**31:
        return None
    moment = datetime.fromtimestamp(seconds, tz=UTC)
    return moment if moment >= _FIRST_AUDIOMOTH else None
