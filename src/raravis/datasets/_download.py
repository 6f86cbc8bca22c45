"""Download one file: several mirrors, resumed where the server can, never half under its name.

What has arrived so far stands in ``NAME.part``, locked while a process writes to it; only content
with the right checksum is renamed to ``NAME``.
"""

import contextlib
import hashlib
import http.client
import os
import re
import urllib.error
import urllib.request
from collections.abc import Callable, Iterator
from http import HTTPStatus
from io import BufferedRandom
from pathlib import Path
from typing import TypeAlias

from raravis._version import __version__
from raravis.datasets._registry import RemoteFile
from raravis.errors import RaravisError

__all__ = ["DatasetError", "Progress", "download"]

Progress: TypeAlias = Callable[[int, int | None], None]

_CHUNK = 1 << 16
_TRIES_PER_MIRROR = 10
_WINDOWS = os.name == "nt"


class DatasetError(RaravisError, OSError):
    """The files of a data set are missing, damaged, or cannot be downloaded or stored."""


class _Broken(Exception):  # noqa: N818 (never leaves this module)
    """The mirror did not deliver; the text says why."""


class _CannotResume(_Broken):
    """The mirror refuses to send the rest of what is already there."""


def download(
    file: RemoteFile, target: Path, *, progress: Progress | None = None, timeout: float = 30.0
) -> None:
    """Fetch `file` to `target` from the first mirror that delivers it intact.

    Parameters
    ----------
    file : RemoteFile
        What to fetch, its mirrors and its accepted checksums.
    target : Path
        The final name; it exists afterwards, complete, or not at all.
    progress : callable, optional
        Called as ``progress(bytes_so_far, bytes_in_all_or_None)``.
    timeout : float
        Seconds without any byte after which a connection counts as dead.

    Raises
    ------
    DatasetError
        No mirror delivered, with what each of them answered.
    OSError
        The folder cannot be written to.
    """
    target.parent.mkdir(parents=True, exist_ok=True)
    part = target.with_name(target.name + ".part")
    with _claimed(part) as handle:
        if target.exists():  # another process was faster
            handle.truncate(0)
            return
        _fill(handle, file, progress, timeout)
        os.fsync(handle.fileno())
        if not _WINDOWS:
            part.replace(target)  # before the lock is let go
    if _WINDOWS:  # where an open file cannot be renamed
        part.replace(target)


@contextlib.contextmanager
def _claimed(part: Path) -> Iterator[BufferedRandom]:
    """Open `part` for this process alone; leave nothing behind if it ends up empty."""
    with _open_locked(part) as handle:
        try:
            yield handle
        finally:
            # Before the lock is let go; Windows keeps open files, and an empty one does no harm.
            if _size(handle) == 0:
                with contextlib.suppress(PermissionError):
                    part.unlink(missing_ok=True)


def _open_locked(part: Path) -> BufferedRandom:
    while True:
        handle = part.open("a+b")
        _lock(handle)
        # Whoever held the lock may have renamed or removed the file meanwhile.
        with contextlib.suppress(FileNotFoundError):
            if os.path.samestat(os.fstat(handle.fileno()), part.stat()):
                return handle
        handle.close()


def _lock(handle: BufferedRandom) -> None:
    """Wait until no other process writes to the file; the lock ends with the handle."""
    try:
        import fcntl
    except ImportError:  # Windows: two downloads at once may then spoil each other, and say so
        return
    fcntl.flock(handle, fcntl.LOCK_EX)


def _fill(
    handle: BufferedRandom, file: RemoteFile, progress: Progress | None, timeout: float
) -> None:
    complete = _size(handle) > 0 and _digest(handle) in file.sha256
    failures = []
    for url in () if complete else file.urls:
        try:
            _from_mirror(handle, url, file.sha256, progress, timeout)
        except _Broken as reason:
            failures.append(f"  {url}: {reason}")
        else:
            return
    if not complete:
        raise DatasetError("\n".join(failures))


def _from_mirror(
    handle: BufferedRandom,
    url: str,
    accepted: tuple[str, ...],
    progress: Progress | None,
    timeout: float,
) -> None:
    """Fill `handle` from one mirror, trying again as long as that brings something new."""
    for last in (False,) * (_TRIES_PER_MIRROR - 1) + (True,):
        start = _size(handle)
        try:
            _stream(handle, url, progress, timeout)
            _check(handle, accepted)
        except _CannotResume:
            handle.truncate(0)
            if last or not start:
                raise
        except _Broken:
            gained = _size(handle) > start
            restart = start > 0 and _size(handle) == 0
            if last or not (gained or restart):
                raise
        else:
            return


def _check(handle: BufferedRandom, accepted: tuple[str, ...]) -> None:
    got = _digest(handle)
    if got not in accepted:
        handle.truncate(0)
        raise _Broken(f"wrong checksum: expected SHA-256 {' or '.join(accepted)}, got {got}")


def _stream(handle: BufferedRandom, url: str, progress: Progress | None, timeout: float) -> None:
    """Append what is missing, or start over where the server sends the whole file."""
    with contextlib.closing(_request(url, _size(handle), timeout)) as response:
        _place(handle, response)
        total = _total(handle, response)
        for chunk in _chunks(response):
            handle.write(chunk)
            if progress is not None:
                progress(_size(handle), total)
    if total is not None and _size(handle) < total:
        raise _Broken(f"the connection ended after {_size(handle)} of {total} bytes")


def _request(url: str, start: int, timeout: float) -> http.client.HTTPResponse:
    headers = {"User-Agent": f"raravis/{__version__}"}
    if start:
        headers["Range"] = f"bytes={start}-"
    try:
        request = urllib.request.Request(url, headers=headers)  # noqa: S310 (see _opener)
        response: http.client.HTTPResponse = _opener().open(request, timeout=timeout)
    except urllib.error.HTTPError as error:
        error.close()
        past_end = error.code == HTTPStatus.REQUESTED_RANGE_NOT_SATISFIABLE
        kind = _CannotResume if past_end else _Broken
        raise kind(f"HTTP {error.code} {error.reason}") from error
    except urllib.error.URLError as error:
        raise _Broken(str(error.reason)) from error
    except (OSError, http.client.HTTPException) as error:
        raise _Broken(_words(error)) from error
    return response


def _opener() -> urllib.request.OpenerDirector:
    """Build an opener that knows http and https only, for redirects too: no file:, no ftp:."""
    opener = urllib.request.OpenerDirector()
    for handler in (
        urllib.request.ProxyHandler(),
        urllib.request.UnknownHandler(),
        urllib.request.HTTPHandler(),
        urllib.request.HTTPSHandler(),
        urllib.request.HTTPDefaultErrorHandler(),
        urllib.request.HTTPRedirectHandler(),
        urllib.request.HTTPErrorProcessor(),
    ):
        opener.add_handler(handler)
    return opener


def _place(handle: BufferedRandom, response: http.client.HTTPResponse) -> None:
    """Empty the file unless the response continues it exactly where it ends."""
    if response.status != HTTPStatus.PARTIAL_CONTENT:
        handle.truncate(0)
        return
    found = re.match(r"bytes (\d+)-", response.headers.get("Content-Range", ""))
    if found is None or int(found[1]) != _size(handle):
        raise _CannotResume("the server sent another range than was asked for")


def _total(handle: BufferedRandom, response: http.client.HTTPResponse) -> int | None:
    length = response.headers.get("Content-Length", "")
    return _size(handle) + int(length) if length.isdecimal() else None


def _chunks(response: http.client.HTTPResponse) -> Iterator[bytes]:
    """Read to the end, telling a broken connection from a disk that cannot be written."""
    while True:
        try:
            chunk = response.read(_CHUNK)
        except (OSError, http.client.HTTPException) as error:
            raise _Broken(_words(error)) from error
        if not chunk:
            return
        yield chunk


def _words(error: Exception) -> str:
    return str(error) or type(error).__name__


def _size(handle: BufferedRandom) -> int:
    handle.flush()
    return os.fstat(handle.fileno()).st_size


def _digest(handle: BufferedRandom) -> str:
    handle.flush()
    handle.seek(0)
    return hashlib.file_digest(handle, "sha256").hexdigest()
