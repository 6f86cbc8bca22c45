"""One piece of work on a study at a time.

The lock belongs to the process: the system takes it back when the process ends, however it ends.
"""

import json
import os
import socket
import sys
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from datetime import UTC, datetime
from pathlib import Path
from typing import IO

from raravis.study.errors import StudyBusyError
from raravis.study.files import storing

__all__ = ["locked"]


@contextmanager
def locked(path: Path, *, verb: str) -> Iterator[None]:
    """Hold a study's lock file, or say who holds it."""
    with storing(path):
        path.parent.mkdir(parents=True, exist_ok=True)
        file = path.open("a+", encoding="utf-8")
    with file:
        if not _take(file):
            raise StudyBusyError(_busy(path))
        _sign(file, verb)
        try:
            yield
        finally:
            _give_back(file)


def _sign(file: IO[str], verb: str) -> None:
    """Leave a note of who holds the lock; it is for people, so a full disk may do without."""
    note = {
        "verb": verb,
        "process": os.getpid(),
        "host": socket.gethostname(),
        "since": datetime.now(UTC).isoformat(timespec="seconds"),
    }
    with suppress(OSError):
        file.seek(0)
        file.truncate()
        file.write(json.dumps(note))
        file.flush()


def _busy(path: Path) -> str:
    who = "another process"
    with suppress(OSError, ValueError, KeyError, TypeError, RecursionError):
        note = json.loads(path.read_text(encoding="utf-8"))
        who = f"raravis {note['verb']} (process {note['process']} on {note['host']})"
    return (
        f"the study {path.parent} is being worked on by {who}; wait until that has ended, or stop "
        "it: nothing that it has finished is lost."
    )


if sys.platform == "win32":
    import msvcrt

    def _take(file: IO[str]) -> bool:
        try:
            file.seek(1 << 20)
            msvcrt.locking(file.fileno(), msvcrt.LK_NBLCK, 1)
        except OSError:
            return False
        return True

    def _give_back(file: IO[str]) -> None:
        file.seek(1 << 20)
        msvcrt.locking(file.fileno(), msvcrt.LK_UNLCK, 1)

else:
    import fcntl

    def _take(file: IO[str]) -> bool:
        try:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            return False
        return True

    def _give_back(file: IO[str]) -> None:
        fcntl.flock(file, fcntl.LOCK_UN)
