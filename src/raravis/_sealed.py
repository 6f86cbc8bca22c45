"""A sealed archive: a plain zip whose last bytes are a checksum of everything before them.

Members are stored, never compressed, so nothing can unpack to more than the file itself holds.
The checksum is the zip comment; it is verified before a single byte is parsed, so a file that is
cut short or changed anywhere is refused for that reason and no other. Every future version of the
format keeps the seal, which is how an old raravis can tell "newer" from "damaged".
"""

import hashlib
import os
import secrets
import struct
import zipfile
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import BinaryIO

from raravis.errors import ModelFileError

__all__ = ["SealedArchive", "open_sealed", "write_sealed"]

_SEAL_PREFIX = b"raravis-model sha256 "
_DIGEST_LENGTH = 64
_SEAL_LENGTH = len(_SEAL_PREFIX) + _DIGEST_LENGTH
_ZIP_START = b"PK\x03\x04"
_CHUNK_BYTES = 1 << 20
# Fixed, so that equal models give equal bytes; the earliest date that a zip can carry.
_TIMESTAMP = (1980, 1, 1, 0, 0, 0)


class SealedArchive:
    """The members of an archive whose seal is intact, read one at a time into memory."""

    def __init__(self, archive: zipfile.ZipFile, n_bytes: int) -> None:
        self._archive = archive
        self.sizes = _checked_sizes(archive.infolist(), n_bytes)

    def read(self, name: str) -> bytes:
        """Return the content of a member."""
        if name not in self.sizes:
            raise ModelFileError(f"the member {name!r} is missing.")
        with _parsing():
            return self._archive.read(name)


@contextmanager
def open_sealed(path: Path) -> Iterator[SealedArchive]:
    """Open an archive after verifying its seal."""
    with path.open("rb") as file:
        n_bytes = file.seek(0, os.SEEK_END)
        _check_seal(file, n_bytes)
        with _parsing():
            archive = zipfile.ZipFile(file)
        with archive:
            yield SealedArchive(archive, n_bytes)


def write_sealed(path: Path, members: Mapping[str, bytes]) -> None:
    """Write members, sorted by name, in one step: the path holds the old file or the new one."""
    partial = path.with_name(f".{path.name}.{secrets.token_hex(8)}.part")
    try:
        with partial.open("x+b") as file:
            _write_members(file, members)
            _write_seal(file)
            file.flush()
            os.fsync(file.fileno())
        partial.replace(path)
    finally:
        partial.unlink(missing_ok=True)


def _write_members(file: BinaryIO, members: Mapping[str, bytes]) -> None:
    with zipfile.ZipFile(file, "w", zipfile.ZIP_STORED) as archive:
        for name in sorted(members):
            entry = zipfile.ZipInfo(name, _TIMESTAMP)
            entry.create_system = 3  # the same on every operating system
            entry.external_attr = 0o644 << 16
            archive.writestr(entry, members[name])
        archive.comment = _SEAL_PREFIX + b"0" * _DIGEST_LENGTH


def _write_seal(file: BinaryIO) -> None:
    n_bytes = file.seek(0, os.SEEK_END)
    digest = _digest(file, n_bytes - _SEAL_LENGTH)
    file.seek(n_bytes - _DIGEST_LENGTH)
    file.write(digest)


def _check_seal(file: BinaryIO, n_bytes: int) -> None:
    file.seek(0)
    if file.read(len(_ZIP_START)) != _ZIP_START:
        raise ModelFileError("this is not a raravis model file (not a zip archive).")
    file.seek(max(0, n_bytes - _SEAL_LENGTH))
    seal = file.read(_SEAL_LENGTH)
    if not seal.startswith(_SEAL_PREFIX):
        raise ModelFileError(
            "the file ends without the seal of a raravis model: it was cut short, or it is some "
            "other zip archive. Copy it again, or save the model again."
        )
    if _digest(file, n_bytes - _SEAL_LENGTH) != seal[len(_SEAL_PREFIX) :]:
        raise ModelFileError(
            "the file is damaged or was altered: its checksum does not match its content. "
            "Copy it again, or save the model again."
        )


def _digest(file: BinaryIO, n_bytes: int) -> bytes:
    """Hash the first bytes of a file."""
    file.seek(0)
    digest = hashlib.sha256()
    left = n_bytes
    while left > 0 and (chunk := file.read(min(_CHUNK_BYTES, left))):
        digest.update(chunk)
        left -= len(chunk)
    return digest.hexdigest().encode("ascii")


def _checked_sizes(entries: list[zipfile.ZipInfo], n_bytes: int) -> dict[str, int]:
    """Sizes by name, once it is certain that reading every member stays within the file's size."""
    sizes = {entry.filename: entry.file_size for entry in entries}
    if len(sizes) != len(entries):
        raise ModelFileError("a member occurs twice.")
    for entry in entries:
        if entry.compress_type != zipfile.ZIP_STORED or entry.flag_bits:
            raise ModelFileError(
                f"the member {entry.filename!r} is compressed or encrypted; "
                "raravis writes members as they are."
            )
        if entry.file_size != entry.compress_size:
            raise ModelFileError(f"the member {entry.filename!r} claims a size it does not have.")
    if sum(sizes.values()) > n_bytes:
        raise ModelFileError("the members claim to be larger than the file that holds them.")
    return sizes


@contextmanager
def _parsing() -> Iterator[None]:
    """Turn whatever zipfile raises on a malformed archive into one error."""
    try:
        yield
    except (
        zipfile.BadZipFile,
        struct.error,
        EOFError,
        OSError,  # a directory that points outside the file
        RuntimeError,  # encrypted, or a feature of zip that zipfile lacks
        ValueError,
    ) as error:
        raise ModelFileError(f"the zip archive cannot be read ({error}).") from error
