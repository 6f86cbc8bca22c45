"""The PNG encoder, read back by the format's own rules."""

import base64
import struct
import zlib

import hypothesis.extra.numpy as npst
import numpy as np
from hypothesis import given
from sklearn.datasets import load_digits

from raravis._html.pictures import data_uri, ink, png

shapes = npst.array_shapes(min_dims=2, max_dims=2, min_side=1, max_side=12)


def decode(data: bytes) -> np.ndarray:
    assert data[:8] == b"\x89PNG\r\n\x1a\n"
    position, chunks = 8, {}
    while position < len(data):
        (length,) = struct.unpack(">I", data[position : position + 4])
        kind = data[position + 4 : position + 8]
        body = data[position + 8 : position + 8 + length]
        (checksum,) = struct.unpack(">I", data[position + 8 + length : position + 12 + length])
        assert checksum == zlib.crc32(kind + body)
        chunks[kind] = body
        position += 12 + length
    assert list(chunks) == [b"IHDR", b"IDAT", b"IEND"]
    width, height, depth, colour = struct.unpack(">IIBB", chunks[b"IHDR"][:10])
    assert (depth, colour) == (8, 0)
    rows = np.frombuffer(zlib.decompress(chunks[b"IDAT"]), np.uint8).reshape(height, width + 1)
    assert not rows[:, 0].any()
    return rows[:, 1:]


@given(npst.arrays(np.uint8, shapes))
def test_png_holds_the_picture(grey: np.ndarray) -> None:
    np.testing.assert_array_equal(decode(png(grey)), grey)


def test_data_uri_holds_the_png() -> None:
    grey = np.arange(64, dtype=np.uint8).reshape(8, 8)
    head, _, body = data_uri(grey).partition(",")
    assert head == "data:image/png;base64"
    assert base64.b64decode(body, validate=True) == png(grey)


def test_ink_is_dark_on_light_paper_and_upright() -> None:
    image = load_digits().images[1]
    grey = ink(image.ravel() / 16)
    assert grey[image == 0].min() == 255
    assert grey[image == 16].max() == 0
    np.testing.assert_allclose(255 - grey, image * 255 / 16, atol=0.5)
