"""Find a file of a data set on this machine, or download it; hand over verified bytes only."""

import hashlib
import os
import sys
from pathlib import Path
from typing import TypeAlias

from raravis.datasets._download import DatasetError, Progress, download
from raravis.datasets._registry import RemoteFile
from raravis.errors import InputError

__all__ = ["DatasetError", "PathLike", "Progress", "data_folders", "fetch_bytes", "user_cache"]

PathLike: TypeAlias = str | os.PathLike[str]

_VARIABLE = "RARAVIS_DATA"


def fetch_bytes(
    file: RemoteFile,
    *,
    data_home: PathLike | None = None,
    allow_download: bool = True,
    progress: Progress | None = None,
) -> bytes:
    """Return the content of `file`, its checksum verified.

    Looked for in `data_home`, in the folder that the environment variable RARAVIS_DATA names, and
    in the user's cache; then downloaded to `data_home`, or to the cache where none is given.

    Parameters
    ----------
    file : RemoteFile
        An entry of the registry.
    data_home : path, optional
        The folder to look in first.
    allow_download : bool
        Whether the network may be used.
    progress : callable, optional
        Called as ``progress(bytes_so_far, bytes_in_all_or_None)`` during a download.

    Raises
    ------
    DatasetError
        The file is damaged, or missing and not to be had.
    """
    folders = data_folders(data_home)
    for folder in folders:
        content = _read(folder / file.path)
        if content is not None:
            return _verified(content, folder / file.path, file.sha256)
    if not allow_download:
        raise DatasetError(
            f"{file.path} is missing, and downloading is off. {_advice(file, folders)}"
        )
    target = folders[0 if data_home is not None else -1] / file.path
    _download(file, target, folders, progress)
    return _verified(target.read_bytes(), target, file.sha256)


def user_cache() -> Path:
    """Return the folder in which downloaded data sets are kept on this platform.

    >>> user_cache().name
    'raravis'
    """
    if sys.platform == "win32":
        base = os.environ.get("LOCALAPPDATA") or "~/AppData/Local"
    elif sys.platform == "darwin":
        base = "~/Library/Caches"
    else:
        base = os.environ.get("XDG_CACHE_HOME") or "~/.cache"
    return Path(base).expanduser() / "raravis"


def data_folders(data_home: PathLike | None) -> list[Path]:
    """Return the folders in which data sets are looked for, in this order."""
    named = [data_home, os.environ.get(_VARIABLE) or None]
    folders = [Path(folder).expanduser() for folder in named if folder is not None]
    for folder in folders:
        if folder.exists() and not folder.is_dir():
            raise InputError(
                f"the data folder {folder} is a file; pass data_home, or set {_VARIABLE}, to the "
                "folder that holds (or shall hold) the data sets"
            )
    return [*folders, user_cache()]


def _read(path: Path) -> bytes | None:
    try:
        return path.read_bytes()
    except (FileNotFoundError, NotADirectoryError):
        return None
    except OSError as error:
        raise DatasetError(f"{path} cannot be read: {error.strerror or error}") from error


def _verified(content: bytes, path: Path, accepted: tuple[str, ...]) -> bytes:
    # The bytes that are hashed are the bytes that are parsed: a file changed in between cannot
    # slip through.
    got = hashlib.sha256(content).hexdigest()
    if got not in accepted:
        raise DatasetError(
            f"{path} is damaged or another file: expected SHA-256 {' or '.join(accepted)}, "
            f"got {got}; delete it to have it downloaded again, or replace it by an intact copy"
        )
    return content


def _download(
    file: RemoteFile, target: Path, folders: list[Path], progress: Progress | None
) -> None:
    try:
        download(file, target, progress=progress)
    except DatasetError as error:
        raise DatasetError(
            f"{file.path} could not be downloaded. Tried:\n{error}\n{_advice(file, folders)}"
        ) from error
    except OSError as error:
        raise DatasetError(
            f"{target} cannot be written: {error.strerror or error}. Pass data_home= a folder that "
            f"can be written to. {_advice(file, folders)}"
        ) from error


def _advice(file: RemoteFile, folders: list[Path]) -> str:
    looked = ", ".join(str(folder) for folder in folders)
    return (
        f"Looked in: {looked}. To do without the network, place the file by hand as "
        f"FOLDER/{file.path} and set {_VARIABLE}=FOLDER (or pass data_home=FOLDER)."
    )
