"""A file of finished figures, so that an interrupted run goes on where it stopped.

One JSON object a line, appended and flushed to the disk whenever a task is finished. A figure's key
says what was asked: the protocol, the label set, the repeat, the seed and the model. Beside it
stands a digest of what answered: the versions of the numerical libraries and the library's own
source. A figure of other code is not taken, unless the caller accepts it. A last line that a crash
has torn is ignored, as is any other line that is no record.
"""

import hashlib
import json
import math
import os
from collections.abc import Hashable, Iterable, Mapping
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any, NamedTuple

from raravis.errors import InputError

__all__ = ["Journal", "Record", "code_digest", "fingerprint", "library_versions"]

#: Parts of the library that make no figure: they stand above the experiments or show what was
#: found. What a model is told in ``models`` belongs to its figures' keys.
_MAKE_NO_FIGURE = (
    "__init__",
    "_html/",
    "cli/",
    "demo/",
    "review/",
    "study/",
    "experiments/__init__",
    "experiments/_",
    "experiments/comparisons",
    "experiments/models",
    "experiments/published",
    "experiments/report",
    "experiments/tables",
    "experiments/terminal",
)


class Record(NamedTuple):
    """A finished figure, the processor time it took, and whether other code has made it."""

    auc: float
    seconds: float
    older: bool = False


@dataclass(frozen=True)
class Journal:
    """Finished figures on disk, by key.

    Parameters
    ----------
    path : Path
        The file; several tables may share one.
    accept_older : bool
        Whether figures of other code count too, where the present code has made none.
    """

    path: Path
    accept_older: bool = False

    @classmethod
    def open(cls, path: str | os.PathLike[str], *, accept_older: bool = False) -> "Journal":
        """Make the file if it is not there; refuse one that cannot be written."""
        target = Path(path).expanduser()
        try:
            target.parent.mkdir(parents=True, exist_ok=True)
            with target.open("ab"):
                pass
        except OSError as error:
            raise InputError(
                f"the journal {target} cannot be written: {error.strerror or error}. Pass a file "
                "in a folder that you may write to, or None to do without."
            ) from error
        return cls(target, accept_older)

    def read(self) -> dict[str, Record]:
        """Return all records that count; of two with one key, the later one."""
        lines = self.path.read_bytes().split(b"\n")
        # Whatever follows the last line break is torn; where nothing is, that is empty.
        entries = [entry for line in lines[:-1] if (entry := _parse(line)) is not None]
        older = {key: record for key, record in entries if record.older and self.accept_older}
        return older | {key: record for key, record in entries if not record.older}

    def append(self, records: Mapping[str, Record]) -> None:
        """Add records and see them onto the disk."""
        text = "".join(_line(key, record) for key, record in records.items())
        with self.path.open("r+b") as file:
            if file.seek(0, os.SEEK_END) and not _ends_line(file):
                text = "\n" + text
            file.write(text.encode())
            file.flush()
            os.fsync(file.fileno())


def fingerprint(
    protocol: Mapping[str, Any], known: Iterable[Hashable], repeat: int, *, seed: int, model: str
) -> str:
    """Return the key of a figure: a digest of all that was asked for.

    ``model`` stands for whatever tells one model from another.

    Examples
    --------
    >>> key = fingerprint({"beta": 0.1}, (1, 2), 0, seed=0, model="kernel")
    >>> key == fingerprint({"beta": 0.1}, (1, 2), 1, seed=0, model="kernel")
    False
    """
    content = {
        "protocol": protocol,
        "known": [repr(label) for label in known],
        "repeat": repeat,
        "seed": seed,
        "model": model,
    }
    return hashlib.sha256(json.dumps(content, sort_keys=True).encode()).hexdigest()


def library_versions() -> dict[str, str]:
    """Return the versions of Python and of the libraries that move numbers."""
    return dict(_versions())


@cache
def _versions() -> tuple[tuple[str, str], ...]:
    import platform
    from importlib.metadata import version

    from raravis import __version__

    libraries = ("numpy", "scipy", "scikit-learn", "numba")
    return (
        ("raravis", __version__),
        ("python", platform.python_version()),
        *((name, version(name)) for name in libraries),
    )


@cache
def code_digest() -> str:
    """Digest source and versions, so that no figure outlives unseen the code that made it."""
    package = Path(__file__).parents[1]
    digest = hashlib.sha256(json.dumps(library_versions(), sort_keys=True).encode())
    for path in sorted(package.rglob("*.py")):
        name = path.relative_to(package).as_posix()
        if not name.startswith(_MAKE_NO_FIGURE):
            digest.update(name.encode() + b"\0" + path.read_bytes())
    return digest.hexdigest()


def _line(key: str, record: Record) -> str:
    auc = None if math.isnan(record.auc) else record.auc
    entry = {"key": key, "code": code_digest(), "auc": auc, "seconds": record.seconds}
    return json.dumps(entry) + "\n"


def _parse(line: bytes) -> tuple[str, Record] | None:
    try:
        entry = json.loads(line)
        auc = math.nan if entry["auc"] is None else float(entry["auc"])
        older = entry["code"] != code_digest()
        return str(entry["key"]), Record(auc, float(entry["seconds"]), older)
    except (ValueError, TypeError, KeyError, RecursionError):
        return None


def _ends_line(file: Any) -> bool:
    file.seek(-1, os.SEEK_END)
    return bool(file.read(1) == b"\n")
