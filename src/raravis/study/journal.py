"""What was done to a study, and when: one JSON object a line, only ever added to."""

import json
import os
from collections.abc import Mapping
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from raravis._version import __version__
from raravis.study.files import storing

__all__ = ["add_entry", "read_journal"]


def add_entry(path: Path, entry: Mapping[str, Any]) -> None:
    """Add a line; one that a crash has torn before is left behind on a line of its own."""
    stamp = {"at": datetime.now(UTC).isoformat(timespec="seconds"), "raravis": __version__}
    line = json.dumps(stamp | dict(entry), ensure_ascii=True, allow_nan=False).encode() + b"\n"
    with storing(path), path.open("ab+") as file:
        if file.seek(0, os.SEEK_END):
            file.seek(-1, os.SEEK_END)
            if file.read(1) != b"\n":
                line = b"\n" + line
        file.write(line)
        file.flush()
        os.fsync(file.fileno())


def read_journal(path: Path) -> list[dict[str, Any]]:
    """Return the entries, oldest first; a torn line is left out."""
    if not path.exists():
        return []
    found = []
    for line in path.read_bytes().split(b"\n"):
        entry = _parse(line)
        if entry is not None:
            found.append(entry)
    return found


def _parse(line: bytes) -> dict[str, Any] | None:
    try:
        entry = json.loads(line)
    except (ValueError, RecursionError):  # the second: nested without end
        return None
    return entry if isinstance(entry, dict) else None
