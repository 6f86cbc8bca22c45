"""Arrays as ``.npy`` bytes, spelled and recognised here so that equal arrays give equal bytes.

``numpy.load`` reads what :func:`to_npy` writes. The way back compares the header with the one that
dtype and shape demand, byte for byte, so no header is ever evaluated.
"""

import math
import re
from typing import Any

import numpy as np
import numpy.typing as npt

from raravis.errors import InputError, ModelFileError

__all__ = ["dtype_text", "from_npy", "to_npy"]

# Bool, integers, floats of up to 64 bits, text of fixed width; little-endian.
_DTYPE = re.compile(r"\|b1|\|[iu]1|<[iu][248]|<f[248]|<U[1-9][0-9]{0,6}")
_MAGIC = b"\x93NUMPY\x01\x00"
_ALIGNMENT = 64


def dtype_text(dtype: np.dtype[Any]) -> str:
    """Return the portable name of a dtype: ``<f8`` for float64, on any machine."""
    return dtype.newbyteorder("<").str


def to_npy(array: npt.NDArray[Any], *, what: str) -> bytes:
    """Return the bytes of an array of bool, integer, float or text."""
    dtype = dtype_text(array.dtype)
    if not _DTYPE.fullmatch(dtype):
        raise InputError(
            f"{what} has dtype {array.dtype}, which a model file cannot hold; "
            "it holds bool, integer, float (up to 64 bits) and fixed-width text."
        )
    return _header(dtype, array.shape) + array.astype(dtype, copy=False).tobytes()


def from_npy(raw: bytes, *, dtype: str, shape: tuple[int, ...], what: str) -> npt.NDArray[Any]:
    """Return the array whose dtype and shape are known beforehand."""
    if not _DTYPE.fullmatch(dtype):
        raise ModelFileError(f"{what} has dtype {dtype!r}; raravis writes no such arrays.")
    header = _header(dtype, shape)
    n_bytes = math.prod(shape) * np.dtype(dtype).itemsize
    if not raw.startswith(header) or len(raw) != len(header) + n_bytes:
        raise ModelFileError(f"{what} is not an array of dtype {dtype} and shape {shape}.")
    try:
        return np.frombuffer(raw, dtype, offset=len(header)).reshape(shape).copy()
    except (ValueError, OverflowError) as error:  # a dimension beyond what an array can have
        raise ModelFileError(f"{what} cannot have the shape {shape}.") from error


def _header(dtype: str, shape: tuple[int, ...]) -> bytes:
    """Return the header of format 1.0, padded so that the numbers start on a 64-byte boundary."""
    text = f"{{'descr': '{dtype}', 'fortran_order': False, 'shape': {tuple(shape)!r}, }}"
    used = len(_MAGIC) + 2 + len(text) + 1
    padded = text + " " * (-used % _ALIGNMENT) + "\n"
    return _MAGIC + len(padded).to_bytes(2, "little") + padded.encode("latin1")
