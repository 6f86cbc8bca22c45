"""Files of a study: they appear whole or not at all, and a damaged one counts as not there."""

import errno
import hashlib
import json
import os
import secrets
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any

from raravis.study.errors import StudyError

if TYPE_CHECKING:
    import pyarrow as pa

__all__ = [
    "digest",
    "hash_file",
    "read_json",
    "read_table",
    "remove_drafts",
    "storing",
    "write_bytes",
    "write_json",
    "write_table",
]

_FULL = {errno.ENOSPC, errno.EDQUOT, errno.EFBIG}
_FORBIDDEN = {errno.EACCES, errno.EPERM, errno.EROFS}
_DRAFT = ".part"
_CHUNK = 1 << 20


def digest(content: Any) -> str:
    """Return a SHA-256 of what JSON can hold; the order of keys does not matter.

    >>> digest({"a": 1, "b": 2}) == digest({"b": 2, "a": 1})
    True
    """
    text = json.dumps(content, sort_keys=True, ensure_ascii=True, separators=(",", ":"))
    return hashlib.sha256(text.encode()).hexdigest()


def hash_file(path: Path) -> str:
    """Return the SHA-256 of a file's bytes."""
    found = hashlib.sha256()
    with path.open("rb") as file:
        while chunk := file.read(_CHUNK):
            found.update(chunk)
    return found.hexdigest()


@contextmanager
def storing(target: Path) -> Iterator[None]:
    """Turn whatever the disk says while a file of the study is written into one clear error."""
    try:
        yield
    except OSError as error:
        raise StudyError(_advice(target, error)) from error


def write_bytes(content: bytes, target: Path) -> None:
    """Write a file in one step: the path holds the old content or the new one."""
    draft = target.with_name(f".{target.name}.{secrets.token_hex(4)}{_DRAFT}")
    with storing(target):
        target.parent.mkdir(parents=True, exist_ok=True)
        try:
            with draft.open("xb") as file:
                file.write(content)
                file.flush()
                os.fsync(file.fileno())
            draft.replace(target)
        finally:
            # Where the disk refuses even this, the next run sweeps it up.
            with suppress(OSError):
                draft.unlink(missing_ok=True)


def write_json(content: Any, target: Path) -> None:
    """Write what JSON can hold."""
    text = json.dumps(content, indent=1, ensure_ascii=False, allow_nan=False)
    write_bytes((text + "\n").encode("utf-8", "surrogateescape"), target)


def read_json(source: Path) -> dict[str, Any] | None:
    """Return an object, or None if the file is missing or damaged."""
    try:
        found = json.loads(source.read_text(encoding="utf-8", errors="surrogateescape"))
    except (OSError, ValueError, RecursionError):  # the last: nested without end
        return None
    return found if isinstance(found, dict) else None


def write_table(
    columns: Mapping[str, Sequence[Any] | Any], target: Path, *, about: Mapping[str, Any]
) -> None:
    """Write columns as Parquet; ``about`` stands in its metadata and says what the table is."""
    import pyarrow as pa

    table = pa.table({name: _column(values) for name, values in columns.items()})
    table = table.replace_schema_metadata({b"raravis": json.dumps(dict(about)).encode()})
    write_bytes(_parquet(table), target)


def read_table(source: Path, *, about: Mapping[str, Any] | None = None) -> "pa.Table | None":
    """Return a table, or None if it is missing, damaged or about something else."""
    import pyarrow as pa
    import pyarrow.parquet as pq

    try:
        # In this thread alone: one that Arrow has not ended when the program ends aborts it.
        with source.open("rb") as file:
            table = pq.ParquetFile(file, page_checksum_verification=True).read(use_threads=False)
        found = json.loads((table.schema.metadata or {}).get(b"raravis", b"null"))
    except (OSError, ValueError, RecursionError, pa.ArrowException):
        return None
    return table if about is None or found == dict(about) else None


def remove_drafts(folder: Path) -> int:
    """Remove what a killed run has left half written; call it with the study locked."""
    removed = 0
    for draft in folder.rglob(f".*{_DRAFT}"):
        with suppress(OSError):
            draft.unlink()
            removed += 1
    return removed


def _column(values: Any) -> Any:
    import numpy as np
    import pyarrow as pa

    # A name may hold bytes that are no UTF-8, which Arrow refuses: binary keeps it as it is.
    if isinstance(values, np.ndarray) or not any(isinstance(v, str) for v in values):
        return pa.array(values)
    return pa.array([_utf8(v) for v in values], type=pa.string())


def _utf8(value: str | None) -> str | None:
    return None if value is None else value.encode("utf-8", "backslashreplace").decode()


def _parquet(table: "pa.Table") -> bytes:
    import pyarrow as pa
    import pyarrow.parquet as pq

    sink = pa.BufferOutputStream()
    pq.write_table(table, sink, write_page_checksum=True)
    return bytes(sink.getvalue())


def _advice(target: Path, error: OSError) -> str:
    why = error.strerror or str(error)
    if error.errno in _FULL:
        return (
            f"{target} cannot be written, for there is no space left for it ({why}); free some "
            "space and give the same command again. What is finished is kept."
        )
    if error.errno in _FORBIDDEN:
        return (
            f"{target} may not be written ({why}); give yourself the right to write in the study "
            "folder, or work on a copy of it."
        )
    return f"{target} cannot be written ({why}); see to its folder and give the command again."
