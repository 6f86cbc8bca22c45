"""Files of calls in a folder, and files of calls for a folder."""

import re
from collections.abc import Sequence
from pathlib import Path

from raravis._checks import some
from raravis.errors import InputError
from raravis.formats.recognise import recognise

__all__ = ["call_files", "file_names", "placed"]

_ENDINGS = frozenset({".txt", ".csv", ".tsv", ".parquet"})
# What some system cannot have in the name of a file, and a name that only steps elsewhere.
_UNFIT = re.compile(r'[\x00-\x1f\x7f<>:"|?*]+')
_NOWHERE = re.compile(r"\.*|[A-Za-z]:")
_LONGEST = 150


def call_files(folder: Path) -> tuple[tuple[Path, ...], tuple[str, ...]]:
    """Return the files of calls in a folder and below it, and the names of the others."""
    files: list[Path] = []
    ignored: list[str] = []
    for path in sorted(path for path in folder.rglob("*") if path.is_file()):
        if path.suffix.lower() in _ENDINGS and recognise(path) not in {"table", "miml-arff"}:
            files.append(path)
        else:
            ignored.append(path.relative_to(folder).as_posix())
    if not files:
        raise InputError(
            f"{folder} has no file of calls among {some(ignored)}; name a folder with Raven "
            "tables, Audacity labels, BirdNET results or tables of calls."
        )
    return tuple(files), tuple(ignored)


def placed(recording: str, file: Path, folder: Path) -> str:
    """Return a recording with the folder of the file that tells of it, unless it names its own.

    Folders tell recordings of one name apart, where the files do not.
    """
    if "/" in recording or "\\" in recording:
        return recording
    return (file.relative_to(folder).parent / recording).as_posix()


def file_names(recordings: Sequence[str], ending: str) -> dict[str, str]:
    """Return the name of a file for each recording, below whatever folder it is put into."""
    names = {recording: _plain(recording) + ending for recording in recordings}
    owner: dict[str, str] = {}
    for recording, name in names.items():
        other = owner.setdefault(name.casefold(), recording)
        if other != recording:
            raise InputError(
                f"The recordings {other!r} and {recording!r} would both be written to {name!r}; "
                "rename one, or write one table of all."
            )
    return names


def _plain(recording: str) -> str:
    r"""Return a path that leads nowhere but down, with names that any system allows.

    >>> _plain("../north/dawn?.wav"), _plain(r"C:\birds\dawn.wav"), _plain("..")
    ('north/dawn_.wav', 'birds/dawn.wav', 'recording')
    """
    parts = recording.replace("\\", "/").split("/")
    kept = [
        _UNFIT.sub("_", part).strip()[:_LONGEST] for part in parts if not _NOWHERE.fullmatch(part)
    ]
    return "/".join(part for part in kept if not _NOWHERE.fullmatch(part)) or "recording"
