"""Text files in whatever encoding a spreadsheet left them; files written whole or not at all."""

import codecs
import secrets
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from os import PathLike
from pathlib import Path
from typing import TextIO
from warnings import warn

from raravis.errors import InputError, RaravisWarning

__all__ = ["MAX_BYTES", "draft_of", "first_bytes", "open_text", "require_plain", "write_lines"]

# A file is read whole; a table of calls of this size has some ten million rows.
MAX_BYTES = 1 << 30
_CHUNK_BYTES = 1 << 20
_HEAD_BYTES = 4096
_SPREADSHEETS = (b"PK\x03\x04", b"\xd0\xcf\x11\xe0")
_BOMS = {
    codecs.BOM_UTF8: "utf-8-sig",
    codecs.BOM_UTF16_LE: "utf-16",
    codecs.BOM_UTF16_BE: "utf-16",
}


@contextmanager
def open_text(
    path: str | PathLike[str], *, newline: str | None = None, quiet: bool = False
) -> Iterator[TextIO]:
    """Open a text file to read: UTF-8, or UTF-16 with its mark (Excel's "Unicode text").

    What is neither is read as Windows-1252, which is what Excel writes in Western Europe, with a
    warning unless ``quiet``. With ``newline=None`` every kind of line end is read as a line feed.
    """
    source = Path(path)
    try:
        encoding = _encoding(source)
        if encoding == "cp1252" and not quiet:
            warn(
                f"{source} is not UTF-8; it is read as Windows-1252, as Excel writes it. If names "
                "come out wrong, save it as UTF-8.",
                RaravisWarning,
                stacklevel=5,
            )
        with source.open(encoding=encoding, newline=newline) as file:
            yield file
    except OSError as error:
        raise InputError(
            f"{source} cannot be read ({error.strerror or error}); name a text file that is there."
        ) from error
    except UnicodeDecodeError as error:
        raise InputError(
            f"{source} is no {error.encoding} text ({error.reason} at byte {error.start}); save "
            "it as UTF-8."
        ) from error


def first_bytes(path: str | PathLike[str]) -> bytes:
    """Return what a file starts with; it must be one that is not too large."""
    source = Path(path)
    try:
        if not source.is_file():
            what = "a folder" if source.is_dir() else "no file" if source.exists() else "not there"
            raise InputError(f"{source} is {what}; name a file that is there.")
        size = source.stat().st_size
        if size > MAX_BYTES:
            raise InputError(
                f"{source} has {size:,} bytes; files of up to {MAX_BYTES:,} bytes are read, so "
                "split it by recording."
            )
        with source.open("rb") as file:
            return file.read(_HEAD_BYTES)
    except OSError as error:
        raise InputError(
            f"{source} cannot be read ({error.strerror or error}); name a file that is there and "
            "that you may read."
        ) from error


def _encoding(path: Path) -> str:
    head = first_bytes(path)
    for mark, name in _BOMS.items():
        if head.startswith(mark):
            return name
    _require_text(path, head)
    with path.open("rb") as file:
        whole = _is_utf8(iter(lambda: file.read(_CHUNK_BYTES), b""))
    return "utf-8" if whole else "cp1252"


def _require_text(path: Path, head: bytes) -> None:
    if head.startswith(_SPREADSHEETS):
        raise InputError(
            f"{path} is a workbook, not text; open it and save the sheet as CSV (UTF-8)."
        )
    if b"\0" in head:
        raise InputError(f"{path} holds NUL bytes, so it is no text file; save it as UTF-8 text.")


def _is_utf8(chunks: Iterable[bytes]) -> bool:
    decoder = codecs.getincrementaldecoder("utf-8")()
    try:
        for chunk in chunks:
            decoder.decode(chunk)
        decoder.decode(b"", final=True)
    except UnicodeDecodeError:
        return False
    return True


@contextmanager
def draft_of(path: str | PathLike[str]) -> Iterator[Path]:
    """Give a new file in the target's folder, which takes the target's name if all goes well.

    The folder is made if need be.
    """
    target = Path(path)
    if not target.name or target.is_dir():
        raise InputError(f"{target} is a folder; name a file in it.")
    draft = target.with_name(f".{target.name}.{secrets.token_hex(4)}.part")
    try:
        target.parent.mkdir(parents=True, exist_ok=True)
        try:
            yield draft
            draft.replace(target)
        finally:
            draft.unlink(missing_ok=True)
    except OSError as error:
        raise InputError(
            f"{target} cannot be written ({error.strerror or error}); name a file in a folder in "
            "which you may write, on a disk with room."
        ) from error


def write_lines(path: str | PathLike[str], lines: Iterable[str]) -> None:
    """Write lines, each of which ends itself, as UTF-8."""
    with draft_of(path) as draft, draft.open("w", encoding="utf-8", newline="") as file:
        file.writelines(lines)


def require_plain(cell: str, what: str) -> str:
    """Refuse a cell that a format without quotes cannot hold on one line."""
    if any(mark in cell for mark in "\t\n\r\0"):
        raise InputError(
            f"The {what} {cell!r} holds a tab, a line break or a NUL, which this format cannot "
            "hold; rename it, or write Parquet with write_calls."
        )
    return cell
