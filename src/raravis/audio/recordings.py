"""Recordings on disk: which there are, what is in them, and when they were made."""

import os
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from typing import Final, Literal, TypeAlias

import numpy as np
import numpy.typing as npt

from raravis.audio.errors import AudioError
from raravis.audio.file_names import time_from_name
from raravis.audio.reading import Sound, open_recording
from raravis.audio.riff import missing_bytes
from raravis.errors import InputError

__all__ = ["SUFFIXES", "RecordingInfo", "Status", "inspect_recording", "list_recordings"]

PathLike: TypeAlias = str | os.PathLike[str]

Status = Literal["ok", "missing", "empty", "truncated", "silent", "clipped", "unreadable"]

SUFFIXES: Final = frozenset(
    {".wav", ".wave", ".w64", ".rf64", ".bwf", ".flac", ".ogg", ".oga", ".opus", ".mp3"}
    | {".aif", ".aiff", ".aifc", ".au", ".caf"}
)
"""What the name of a recording ends with, in lower case."""

_USABLE = frozenset({"ok", "truncated", "silent", "clipped"})
#: Shares of samples at full scale in runs of three or more above which a recording is clipped.
_CLIPPED_SHARE = 1e-4
_FULL_SCALE = 0.999
#: Half a step of a 16-bit recording.
_SILENCE = 2.0**-16


@dataclass(frozen=True, slots=True)
class RecordingInfo:
    """What a recording is and whether it can be used.

    Parameters
    ----------
    path : Path
    status : str
        ``"ok"``; ``"truncated"``, ``"silent"`` or ``"clipped"``, which can still be used; or
        ``"missing"``, ``"empty"`` or ``"unreadable"``, which cannot.
    detail : str
        More about the status, for a person; empty if all is well.
    duration_s : float
        0 if the recording cannot be used.
    sample_rate_hz, n_channels : int
    started_at : datetime or None
        The time that the file's name says, without a time zone unless the name has one.
    """

    path: Path
    status: Status
    detail: str = ""
    duration_s: float = 0.0
    sample_rate_hz: int = 0
    n_channels: int = 0
    started_at: datetime | None = None

    @property
    def usable(self) -> bool:
        """Whether there is sound to be had."""
        return self.status in _USABLE


def list_recordings(folder: PathLike) -> tuple[Path, ...]:
    """Find all recordings in a folder and the folders in it, in the order of their names.

    Hidden files and folders are left out, and links that lead out of the folder; one that leads
    nowhere is a recording that is missing.

    Parameters
    ----------
    folder : path

    Returns
    -------
    tuple of Path
        Each begins with `folder` as it was passed.
    """
    top = Path(folder)
    if not top.is_dir():
        what = "a file" if top.exists() else "missing"
        raise InputError(f"the folder {top} is {what}; pass the folder that holds the recordings")
    inside = top.resolve()
    return tuple(
        sorted(
            path
            for path in _walk(top)
            if not path.exists() or path.resolve().is_relative_to(inside)
        )
    )


def _walk(top: Path) -> list[Path]:
    found = []
    for folder, folders, files in os.walk(top):
        folders[:] = [name for name in folders if not name.startswith(".")]
        found += [
            Path(folder, name)
            for name in files
            if not name.startswith(".") and Path(name).suffix.lower() in SUFFIXES
        ]
    return [path for path in found if path.is_file() or not path.exists()]


def inspect_recording(path: PathLike, *, scan: bool = True) -> RecordingInfo:
    """Say what a recording is; a bad file is described, never an error.

    Parameters
    ----------
    path : path
    scan : bool
        Whether to read all samples. Without that, a file that is cut short, silent or clipped
        may count as ``"ok"``.
    """
    file = Path(path)
    started_at = time_from_name(file.name)
    if not file.is_file():
        detail = "it is a folder" if file.is_dir() else "there is no such file"
        if file.is_symlink():
            detail = "it is a link that leads nowhere"
        return RecordingInfo(file, "missing", detail, started_at=started_at)
    try:
        return _inspect(file, scan, started_at)
    except OSError as error:
        detail = error.strerror or str(error)
        return RecordingInfo(file, "unreadable", detail, started_at=started_at)
    except AudioError as error:
        # Whoever shows this shows which recording it is of.
        detail = str(error).replace(f"{file} is", "it is")
        return RecordingInfo(file, "unreadable", detail, started_at=started_at)


def _inspect(file: Path, scan: bool, started_at: datetime | None) -> RecordingInfo:
    if file.stat().st_size == 0:
        return RecordingInfo(file, "empty", "the file has no bytes", started_at=started_at)
    with open_recording(file) as sound:
        status, detail, n_frames = _scan(sound) if scan else _glance(sound)
        if n_frames == 0:
            status, detail = "empty", "the file holds no samples"
        return RecordingInfo(
            path=file,
            status=status,
            detail=detail,
            duration_s=n_frames / sound.sample_rate_hz,
            sample_rate_hz=sound.sample_rate_hz,
            n_channels=sound.n_channels,
            started_at=started_at,
        )


def _glance(sound: Sound) -> tuple[Status, str, int]:
    return "ok", "", sound.n_frames


def _scan(sound: Sound) -> tuple[Status, str, int]:
    """Read all samples: whether they break off, are silent, or are clipped, and how many."""
    n_frames, loudest, n_clipped = 0, 0.0, 0
    for block in sound.frames():
        n_frames += len(block)
        size = np.abs(block)
        loudest = max(loudest, float(size.max()))
        n_clipped += _count_clipped(size)
    if n_frames == 0:
        return "empty", "", 0
    faults = _missing(sound, n_frames)
    if faults:
        return "truncated", faults, n_frames
    if loudest <= _SILENCE:
        return "silent", "no sample rises above the last bit of 16", n_frames
    share = n_clipped / (n_frames * sound.n_channels)
    if share > _CLIPPED_SHARE:
        return "clipped", f"{share:.2%} of the samples are at full scale", n_frames
    return "ok", "", n_frames


def _missing(sound: Sound, n_frames: int) -> str:
    lost = missing_bytes(sound.path)
    if lost:
        return f"{lost} bytes that the head of the file promises are not there"
    if n_frames < sound.n_frames:
        return f"it breaks off after {n_frames} of {sound.n_frames} samples"
    return ""


def _count_clipped(size: npt.NDArray[np.float32]) -> int:
    """Count samples at full scale that have a neighbour on both sides there too."""
    if size.max() < _FULL_SCALE:
        return 0
    full = size >= _FULL_SCALE
    return int(np.count_nonzero(full[:-2] & full[1:-1] & full[2:]))
