"""Which recordings a study has, and what is in each file: found anew before every step.

A file that has kept its size and its time of change is not read again.
"""

from collections.abc import Iterable, Sequence
from dataclasses import asdict, dataclass, fields
from pathlib import Path
from time import monotonic
from typing import TYPE_CHECKING, Any

from raravis.audio import inspect_recording, list_recordings
from raravis.progress import Progress, ProgressCallback
from raravis.study.errors import StudyError
from raravis.study.files import hash_file, read_table, write_table
from raravis.study.store import Study
from raravis.study.workers import DIED, map_tasks

if TYPE_CHECKING:
    import pyarrow as pa

__all__ = [
    "Recording",
    "Scan",
    "find_recordings",
    "known_recordings",
    "recording_columns",
    "recordings_from",
]

_ABOUT = {"table": "recordings", "version": 1}
_USABLE = frozenset({"ok", "truncated", "silent", "clipped"})
# Seconds after which what has been found so far is kept, come what may.
_KEEP_EVERY_S = 20.0


@dataclass(frozen=True, slots=True)
class Recording:
    """A recording as a study knows it.

    Parameters
    ----------
    name : str
        Its path within the folder of recordings, with slashes; what results call it.
    size_bytes, mtime_ns : int
    sha256 : str
        Of the file's content; empty if that could not be read.
    status, detail : str
        As `raravis.audio.RecordingInfo` has them.
    duration_s : float
    sample_rate_hz, n_channels : int
    started_at : str or None
        ISO 8601, if the file's name tells.
    """

    name: str
    size_bytes: int
    mtime_ns: int
    sha256: str
    status: str
    detail: str = ""
    duration_s: float = 0.0
    sample_rate_hz: int = 0
    n_channels: int = 0
    started_at: str | None = None

    @property
    def usable(self) -> bool:
        """Whether there is sound to be had."""
        return self.status in _USABLE and bool(self.sha256)


@dataclass(frozen=True)
class Scan:
    """The recordings of a study, by name, and how many had to be read."""

    recordings: tuple[Recording, ...]
    n_read: int

    @property
    def usable(self) -> tuple[Recording, ...]:
        """Return those that can be used."""
        return tuple(found for found in self.recordings if found.usable)

    @property
    def bad(self) -> tuple[Recording, ...]:
        """Return those that cannot."""
        return tuple(found for found in self.recordings if not found.usable)


@dataclass(frozen=True, slots=True)
class _File:
    name: str
    path: str
    size_bytes: int
    mtime_ns: int


def known_recordings(study: Study) -> tuple[Recording, ...]:
    """Return what the last scan found, without a look at the files."""
    table = read_table(study.recordings_path, about=_ABOUT)
    if table is None:
        return ()
    return recordings_from(table)


def find_recordings(
    study: Study, *, workers: int, progress: ProgressCallback | None = None
) -> Scan:
    """Look for the recordings of a study, and into those that are new or have changed."""
    before = {found.name: found for found in known_recordings(study) if found.usable}
    files = _files(study)
    found = {file.name: before[file.name] for file in files if _same(file, before)}
    new = [file for file in files if file.name not in found]
    kept_at = monotonic()
    for done, (file, outcome) in enumerate(map_tasks(_look, new, workers=workers), start=1):
        found[file.name] = outcome if isinstance(outcome, Recording) else _died(file, outcome)
        if progress is not None:
            progress(Progress("recordings", done, len(new)))
        if monotonic() - kept_at > _KEEP_EVERY_S:
            _write(study, found.values())
            kept_at = monotonic()
    recordings = tuple(found[file.name] for file in files)
    if recordings != known_recordings(study):
        _write(study, recordings)
    return Scan(recordings, len(new))


def _files(study: Study) -> list[_File]:
    folder = study.recordings_folder
    if not folder.is_dir():
        raise StudyError(
            f"the recordings of {study.folder} are said to be in {folder}, which is no folder; "
            "put it back, or name where they are now: raravis init RECORDINGS --out "
            f"{study.folder}."
        )
    listed = [_file(path, folder) for path in list_recordings(folder)]
    return sorted((file for file in listed if file is not None), key=lambda file: file.name)


def _file(path: Path, folder: Path) -> _File | None:
    try:
        state = path.stat()
    except FileNotFoundError:
        if not path.is_symlink():
            return None  # gone since the folder was listed
        state = path.lstat()
    # No table can hold a name that is not UTF-8; what cannot be told is spelled out.
    name = path.relative_to(folder).as_posix().encode("utf-8", "backslashreplace").decode()
    return _File(name, str(path), state.st_size, state.st_mtime_ns)


def _same(file: _File, before: dict[str, Recording]) -> bool:
    known = before.get(file.name)
    return known is not None and (known.size_bytes, known.mtime_ns) == (
        file.size_bytes,
        file.mtime_ns,
    )


def _look(file: _File) -> Recording:
    """Hash a file and see what is in it."""
    info = inspect_recording(file.path)
    if info.status == "missing":
        return Recording(file.name, file.size_bytes, file.mtime_ns, "", "missing", info.detail)
    try:
        sha256 = hash_file(Path(file.path))
    except OSError as error:
        return _unreadable(file, error.strerror or str(error))
    return Recording(
        name=file.name,
        size_bytes=file.size_bytes,
        mtime_ns=file.mtime_ns,
        sha256=sha256,
        status=info.status,
        detail=info.detail.encode("utf-8", "backslashreplace").decode(),
        duration_s=info.duration_s,
        sample_rate_hz=info.sample_rate_hz,
        n_channels=info.n_channels,
        started_at=info.started_at.isoformat() if info.started_at else None,
    )


def _died(file: _File, outcome: object) -> Recording:
    if outcome is not DIED:
        raise TypeError(outcome)
    return _unreadable(file, "the process that read it died")


def _unreadable(file: _File, detail: str) -> Recording:
    return Recording(file.name, file.size_bytes, file.mtime_ns, "", "unreadable", detail)


def recordings_from(table: "pa.Table") -> tuple[Recording, ...]:
    """Return recordings from the columns of a table."""
    columns = [table.column(field.name).to_pylist() for field in fields(Recording)]
    return tuple(Recording(*row) for row in zip(*columns, strict=True))


def recording_columns(recordings: Iterable[Recording]) -> dict[str, list[Any]]:
    """Return the columns of a table of recordings."""
    rows: Sequence[dict[str, Any]] = [asdict(found) for found in recordings]
    return {field.name: [row[field.name] for row in rows] for field in fields(Recording)}


def _write(study: Study, recordings: Iterable[Recording]) -> None:
    write_table(recording_columns(recordings), study.recordings_path, about=_ABOUT)
