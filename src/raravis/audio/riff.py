"""How much sound the head of a WAV file promises, against what the file holds.

A recorder that loses power leaves a head that promises more, or nothing at all, and a decoder
quietly reads what there is.
"""

import struct
from pathlib import Path
from typing import BinaryIO, Final

__all__ = ["missing_bytes"]

_DATA_W64: Final = b"data" + bytes.fromhex("f3acd3118cd100c04f8edb8a")
_UNKNOWN: Final = frozenset({0, 0xFFFFFFFF})
_MAX_CHUNKS: Final = 1000


def missing_bytes(path: Path) -> int:
    """Return how many bytes of sound are promised and not there; 0 also for other formats."""
    with path.open("rb") as file:
        form = file.read(12)
        if form[:4] in {b"RIFF", b"RF64"} and form[8:] == b"WAVE":
            promised, begin = _riff_data(file)
        elif form[:4] == b"riff":
            promised, begin = _w64_data(file)
        else:
            return 0
    return max(0, promised - max(0, path.stat().st_size - begin))


def _riff_data(file: BinaryIO) -> tuple[int, int]:
    """Return the promised size of the data chunk and where it begins."""
    long_size = None
    for _ in range(_MAX_CHUNKS):
        head = file.read(8)
        if len(head) < 8:
            break
        name, size = struct.unpack("<4sI", head)
        if name == b"ds64":
            long_size = struct.unpack("<Q", file.read(size)[8:16].ljust(8, b"\0"))[0]
            continue
        if name == b"data":
            if size in _UNKNOWN:
                size = long_size or 0
            return size, file.tell()
        file.seek(size + size % 2, 1)
    return 0, 0


def _w64_data(file: BinaryIO) -> tuple[int, int]:
    file.seek(40)
    for _ in range(_MAX_CHUNKS):
        head = file.read(24)
        if len(head) < 24:
            break
        name, size = struct.unpack("<16sQ", head)
        if name == _DATA_W64:
            return size - 24, file.tell()
        if size < 24:
            break
        file.seek((size + 7) // 8 * 8 - 24, 1)
    return 0, 0
