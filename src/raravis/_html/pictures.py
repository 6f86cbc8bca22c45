"""Pictures that a page carries within itself."""

import base64
import struct
import zlib

import numpy as np
import numpy.typing as npt

__all__ = ["data_uri", "embed", "indexed_png", "ink", "png"]

_SIGNATURE = b"\x89PNG\r\n\x1a\n"


def ink(pixels: npt.NDArray[np.floating]) -> npt.NDArray[np.uint8]:
    """Turn a digit's 64 values from 0 (paper) to 1 (ink) into an 8 by 8 grey picture.

    >>> ink(np.eye(8).ravel())[0, :2]
    array([  0, 255], dtype=uint8)
    """
    return np.round(255 * (1 - pixels.reshape(8, 8))).astype(np.uint8)


def png(
    grey: npt.NDArray[np.uint8],
    *,
    palette: npt.NDArray[np.uint8] | None = None,
    effort: int = 9,
) -> bytes:
    """Encode a grey picture of shape (height, width) as PNG; with a palette, one in its colours.

    ``palette`` has shape (256, 3). ``effort`` is zlib's level: a picture made for one look is not
    worth the highest.

    >>> png(np.zeros((8, 8), np.uint8))[1:4]
    b'PNG'
    """
    height, width = grey.shape
    head = struct.pack(">IIBBBBB", width, height, 8, 0 if palette is None else 3, 0, 0, 0)
    # Every row starts with its filter type: 0, none.
    rows = np.insert(grey, 0, 0, axis=1).tobytes()
    colours = [] if palette is None else [(b"PLTE", palette.tobytes())]
    data = zlib.compress(rows, effort)
    chunks = [(b"IHDR", head), *colours, (b"IDAT", data), (b"IEND", b"")]
    return _SIGNATURE + b"".join(_chunk(kind, data) for kind, data in chunks)


def indexed_png(index: npt.NDArray[np.uint8], colours: npt.NDArray[np.uint8]) -> bytes:
    """Encode a picture whose pixels are numbers of at most 256 colours (n, 3) as PNG.

    >>> indexed_png(np.zeros((8, 8), np.uint8), np.zeros((1, 3), np.uint8))[1:4]
    b'PNG'
    """
    height, width = index.shape
    head = struct.pack(">IIBBBBB", width, height, 8, 3, 0, 0, 0)
    rows = np.insert(index, 0, 0, axis=1).tobytes()
    chunks = [
        (b"IHDR", head),
        (b"PLTE", colours.tobytes()),
        # The noise of a spectrogram hardly gets smaller, whatever the effort.
        (b"IDAT", zlib.compress(rows, 6)),
        (b"IEND", b""),
    ]
    return _SIGNATURE + b"".join(_chunk(kind, data) for kind, data in chunks)


def data_uri(grey: npt.NDArray[np.uint8]) -> str:
    """Return a grey picture as the address of an image in a page."""
    return embed(png(grey), "image/png")


def embed(content: bytes, kind: str) -> str:
    """Return content as an address that carries it.

    >>> embed(b"abc", "text/plain")
    'data:text/plain;base64,YWJj'
    """
    return f"data:{kind};base64,{base64.b64encode(content).decode('ascii')}"


def _chunk(kind: bytes, data: bytes) -> bytes:
    checksum = zlib.crc32(kind + data)
    return struct.pack(">I", len(data)) + kind + data + struct.pack(">I", checksum)
