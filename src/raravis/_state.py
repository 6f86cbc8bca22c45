"""What a fitted model is made of when it is written down, and values as exact JSON.

Estimators import this; it imports nothing of theirs. A model offers ``__raravis_state__`` (its
parameters, small fitted values, arrays and nested models as a :class:`State`) and the class method
``__raravis_restore__`` that builds an equal model from one.
"""

import math
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any, Protocol, Self, TypeAlias

import numpy as np
import numpy.typing as npt

from raravis.errors import InputError, ModelFileError

__all__ = [
    "JSON",
    "State",
    "Storable",
    "decode_labels",
    "decode_params",
    "decode_value",
    "encode_labels",
    "encode_params",
    "encode_value",
]

JSON: TypeAlias = bool | int | float | str | list["JSON"] | dict[str, "JSON"] | None

# About 1,200 decimal digits; Python refuses to read more than 4,300 from text.
_MAX_INT_BITS = 4096
_MAX_DEPTH = 32


@dataclass(frozen=True, slots=True, eq=False)
class State:
    """The parts of a fitted model.

    Parameters
    ----------
    params : mapping of str to JSON
        Constructor parameters, from :func:`encode_params`.
    fitted : mapping of str to JSON
        Small fitted values, from :func:`encode_value` and :func:`encode_labels`.
    arrays : mapping of str to ndarray
        Fitted arrays of bool, integer, float or fixed-width text.
    children : mapping of str to fitted model
        Nested models, each storable in its own right.

    Notes
    -----
    Names of arrays and children are Python identifiers. The reading methods raise
    :class:`~raravis.errors.ModelFileError`, so a restoring model needs no checks of its own for
    parts that are missing or of the wrong form.
    """

    params: Mapping[str, JSON] = field(default_factory=dict)
    fitted: Mapping[str, JSON] = field(default_factory=dict)
    arrays: Mapping[str, npt.NDArray[Any]] = field(default_factory=dict)
    children: Mapping[str, Any] = field(default_factory=dict)

    def value(self, name: str) -> Any:
        """Return the decoded fitted value of that name."""
        if name not in self.fitted:
            raise ModelFileError(f"the model file lacks the fitted value {name!r}.")
        return decode_value(self.fitted[name])

    def labels(self, name: str) -> tuple[Any, ...]:
        """Return the decoded class labels of that name."""
        if name not in self.fitted:
            raise ModelFileError(f"the model file lacks the class labels {name!r}.")
        return decode_labels(self.fitted[name])

    def array(self, name: str, *, kinds: str, shape: tuple[int | None, ...]) -> npt.NDArray[Any]:
        """Return the array of that name if its dtype kind and shape (None = any) are right."""
        if name not in self.arrays:
            raise ModelFileError(f"the model file lacks the array {name!r}.")
        found = self.arrays[name]
        fits = len(found.shape) == len(shape) and all(
            wanted in (None, got) for wanted, got in zip(shape, found.shape, strict=True)
        )
        if found.dtype.kind not in kinds or not fits:
            raise ModelFileError(
                f"array {name!r} of the model file has dtype {found.dtype} and shape "
                f"{found.shape}; expected a dtype of kind {kinds!r} and shape {shape}."
            )
        return found


class Storable(Protocol):
    """What a model offers so that it can be saved and loaded."""

    def __raravis_state__(self) -> State:
        """Return the parts of the fitted model."""
        ...

    @classmethod
    def __raravis_restore__(cls, state: State) -> Self:
        """Build an equal model."""
        ...


def encode_params(params: Mapping[str, object]) -> dict[str, JSON]:
    """Encode constructor parameters; the error names the one that cannot be stored.

    Examples
    --------
    >>> encode_params({"gamma": 0.5, "scale": ("minmax", None)})
    {'gamma': 0.5, 'scale': {'tuple': ['minmax', None]}}
    """
    return {name: _encode_param(name, value) for name, value in params.items()}


def decode_params(params: Mapping[str, JSON]) -> dict[str, Any]:
    """Undo :func:`encode_params`."""
    return {name: decode_value(value) for name, value in params.items()}


def encode_labels(labels: Iterable[object]) -> JSON:
    """Encode class labels; :func:`decode_labels` gives back equal labels of the same types."""
    return [_encode_label(label) for label in labels]


def decode_labels(encoded: JSON) -> tuple[Any, ...]:
    """Undo :func:`encode_labels`."""
    if not isinstance(encoded, list):
        raise ModelFileError("the class labels of the model file are not a list.")
    labels = tuple(decode_value(label) for label in encoded)
    try:
        distinct = len(set(labels))
    except TypeError as error:
        raise ModelFileError(f"a class label of the model file cannot be one: {error}.") from error
    if distinct != len(labels):
        raise ModelFileError("a class label occurs twice in the model file.")
    return labels


def encode_value(value: object) -> JSON:
    """Encode None, bool, int, float, str, bytes, tuple, list, dict or NumPy scalar exactly.

    Raises
    ------
    InputError
        For a value of any other type, subclasses of these included: they would not come back as
        what they were.
    """
    return _encode(value, 0)


def decode_value(encoded: JSON) -> Any:
    """Undo :func:`encode_value`: an equal value of the same type."""
    return _decode(encoded, 0)


def _encode(value: object, depth: int) -> JSON:
    if depth > _MAX_DEPTH:
        raise InputError(f"a value is nested more than {_MAX_DEPTH} deep.")
    if value is None or type(value) is bool or type(value) is str:
        return value
    encoder = _ENCODERS.get(type(value))
    if encoder is None and isinstance(value, np.generic):
        return _encode_numpy(value, depth)
    if encoder is None:
        raise InputError(f"a {type(value).__name__} cannot be stored in a model file.")
    return encoder(value, depth)


def _encode_int(value: int, _depth: int) -> JSON:
    if value.bit_length() > _MAX_INT_BITS:
        raise InputError(f"an integer of {value.bit_length()} bits cannot be stored.")
    return value


def _encode_float(value: float, _depth: int) -> JSON:
    # Standard JSON knows no infinities and no NaN.
    return value if math.isfinite(value) else {"float": repr(value)}


def _encode_bytes(value: bytes, _depth: int) -> JSON:
    return {"bytes": value.hex()}


def _encode_tuple(value: tuple[object, ...], depth: int) -> JSON:
    return {"tuple": [_encode(item, depth + 1) for item in value]}


def _encode_list(value: list[object], depth: int) -> JSON:
    return [_encode(item, depth + 1) for item in value]


def _encode_dict(value: dict[object, object], depth: int) -> JSON:
    # As pairs: keys need not be strings, and their order is part of the value.
    pairs = value.items()
    return {"dict": [[_encode(key, depth + 1), _encode(item, depth + 1)] for key, item in pairs]}


_ENCODERS: dict[type, Callable[[Any, int], JSON]] = {
    int: _encode_int,
    float: _encode_float,
    bytes: _encode_bytes,
    tuple: _encode_tuple,
    list: _encode_list,
    dict: _encode_dict,
}

# Closed: a name from a file is looked up here and nowhere else.
_NUMPY_SCALARS: dict[str, type[np.generic]] = {
    "b1": np.bool_,
    "f2": np.float16,
    "f4": np.float32,
    "f8": np.float64,
    "i1": np.int8,
    "i2": np.int16,
    "i4": np.int32,
    "i8": np.int64,
    "u1": np.uint8,
    "u2": np.uint16,
    "u4": np.uint32,
    "u8": np.uint64,
    "S": np.bytes_,
    "U": np.str_,
}


def _encode_numpy(value: np.generic, depth: int) -> JSON:
    kind = value.dtype.kind
    name = kind if kind in "SU" else f"{kind}{value.dtype.itemsize}"
    if name not in _NUMPY_SCALARS:
        raise InputError(f"a NumPy {value.dtype} value cannot be stored in a model file.")
    return {"numpy": [name, _encode(value.item(), depth + 1)]}


def _decode(encoded: JSON, depth: int) -> Any:
    if depth > 2 * _MAX_DEPTH:
        raise ModelFileError("a value of the model file is nested too deep.")
    if isinstance(encoded, list):
        return [_decode(item, depth + 1) for item in encoded]
    if not isinstance(encoded, dict):
        return encoded
    if len(encoded) != 1:
        raise ModelFileError(f"a value of the model file has the tags {sorted(encoded)[:5]}.")
    [(tag, content)] = encoded.items()
    decoder = _DECODERS.get(tag)
    if decoder is None:
        raise ModelFileError(f"a value of the model file has the unknown tag {tag!r}.")
    try:
        return decoder(content, depth)
    except ModelFileError:
        raise
    except (TypeError, ValueError, AttributeError, OverflowError) as error:
        raise ModelFileError(f"a value of the model file is no valid {tag}: {error}.") from error


def _decode_float(content: Any, _depth: int) -> float:
    return float(content)


def _decode_bytes(content: Any, _depth: int) -> bytes:
    return bytes.fromhex(content)


def _decode_tuple(content: Any, depth: int) -> tuple[Any, ...]:
    return tuple(_decode(item, depth + 1) for item in content)


def _decode_dict(content: Any, depth: int) -> dict[Any, Any]:
    return {_decode(key, depth + 1): _decode(item, depth + 1) for key, item in content}


def _decode_numpy(content: Any, depth: int) -> np.generic:
    name, plain = content
    if name not in _NUMPY_SCALARS:
        raise ModelFileError(f"the model file names an unknown NumPy type {name!r}.")
    value: np.generic = _NUMPY_SCALARS[name](_decode(plain, depth + 1))
    return value


_DECODERS: dict[str, Callable[[Any, int], Any]] = {
    "float": _decode_float,
    "bytes": _decode_bytes,
    "tuple": _decode_tuple,
    "dict": _decode_dict,
    "numpy": _decode_numpy,
}


def _encode_label(label: object) -> JSON:
    try:
        return encode_value(label)
    except InputError as error:
        raise InputError(
            f"class label {label!r}: {error} Use strings, numbers, or tuples of these."
        ) from error


def _encode_param(name: str, value: object) -> JSON:
    try:
        return encode_value(value)
    except InputError as error:
        raise InputError(f"parameter {name!r}: {error} {_instead_of(value)}") from error


def _instead_of(value: object) -> str:
    if isinstance(value, np.random.RandomState | np.random.Generator):
        return "Use an integer seed."
    if isinstance(value, np.ndarray):
        return "Use a list of plain numbers."
    if callable(value):
        return "Use one of the choices that have a name."
    return "Use None, a bool, a number, a string, or a tuple, list or dict of these."
