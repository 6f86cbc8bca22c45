"""Models on disk without pickle.

A model file is a sealed zip archive of ``manifest.json`` and one ``.npy`` member for each array.
The manifest holds the class name, looked up in a closed registry, the parameters and small fitted
values as JSON, and size, dtype, shape and SHA-256 of every array. Loading reads numbers and text;
nothing in the file is ever executed, imported or written to disk.
"""

import hashlib
import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from importlib import import_module
from os import PathLike
from pathlib import Path
from typing import Any, cast

import numpy.typing as npt

from raravis._npy import dtype_text, from_npy, to_npy
from raravis._sealed import SealedArchive, open_sealed, write_sealed
from raravis._state import JSON, State, Storable
from raravis._version import __version__
from raravis.errors import InputError, ModelFileError

__all__ = ["FORMAT_VERSION", "REGISTRY", "load", "save"]

FORMAT = "raravis-model"
FORMAT_VERSION = 1

# Closed: a model file can name these classes and no others.
REGISTRY: dict[str, str] = {
    "CooccurrenceScorer": "raravis.estimators.cooccurrence:CooccurrenceScorer",
    "FoldEnsemble": "raravis.calibration.ensemble:FoldEnsemble",
    "KernelScorer": "raravis.estimators.kernel_scorer:KernelScorer",
    "NovelClassClassifier": "raravis.estimators.novel_class:NovelClassClassifier",
    "NoveltyDetector": "raravis.estimators.novelty_detector:NoveltyDetector",
}

_MANIFEST = "manifest.json"
_MAX_MANIFEST_BYTES = 1 << 28
_MAX_DEPTH = 16
_MAX_DIMENSIONS = 32


def save(model: object, path: str | PathLike[str]) -> None:
    """Write a fitted model to a file.

    The file appears whole or not at all, and equal models give equal bytes.

    Parameters
    ----------
    model : fitted estimator of raravis
        Its parameters must be storable: a callable kernel or a random generator is not.
    path : str or path-like
        Where to write; an existing file is replaced.

    Raises
    ------
    InputError
        For an object or a parameter that cannot be stored.
    sklearn.exceptions.NotFittedError
        For a model that has not been fitted.

    Examples
    --------
    >>> import tempfile, pathlib
    >>> from raravis.estimators.cooccurrence import CooccurrenceScorer
    >>> model = CooccurrenceScorer().fit([[[1], [2]], [[2]]], [{"wren"}, set()])
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     save(model, pathlib.Path(folder) / "wren.raravis")
    ...     loaded = load(pathlib.Path(folder) / "wren.raravis")
    >>> loaded.annotate([[[1], [2]]]).tolist()
    ['wren', novel]
    """
    members: dict[str, bytes] = {}
    node = _describe(model, "", members, 0)
    manifest: dict[str, JSON] = {
        "format": FORMAT,
        "format_version": FORMAT_VERSION,
        "raravis_version": __version__,
        "model": node,
    }
    members[_MANIFEST] = _manifest_bytes(manifest, type(model).__name__)
    write_sealed(Path(path), members)


def load(path: str | PathLike[str]) -> Any:
    """Read a model written by :func:`save`.

    Parameters
    ----------
    path : str or path-like
        A model file of this version of raravis or an older one.

    Returns
    -------
    fitted estimator
        Equal in every parameter and fitted value to the one saved.

    Raises
    ------
    ModelFileError
        If the file is damaged, altered, from a newer raravis, or no model file at all.
    """
    try:
        with open_sealed(Path(path)) as archive:
            node = _read_manifest(archive)
            _check_members(archive, node)
            return _restore(node, archive)
    except ModelFileError as error:
        raise ModelFileError(f"cannot load {Path(path)}: {error}") from error


@dataclass(frozen=True, slots=True)
class _ArrayEntry:
    """What the manifest says of one array."""

    member: str
    dtype: str
    shape: tuple[int, ...]
    sha256: str
    size: int


@dataclass(frozen=True, slots=True)
class _Node:
    """What the manifest says of one model."""

    class_name: str
    params: dict[str, JSON]
    fitted: dict[str, JSON]
    arrays: dict[str, _ArrayEntry]
    children: dict[str, "_Node"]

    def entries(self) -> Iterator[_ArrayEntry]:
        """Yield every array of this model and of those nested in it."""
        yield from self.arrays.values()
        for child in self.children.values():
            yield from child.entries()


def _describe(model: object, folder: str, members: dict[str, bytes], depth: int) -> dict[str, JSON]:
    """Return a model's part of the manifest, adding its arrays to the members."""
    if depth > _MAX_DEPTH:
        raise InputError(f"models are nested more than {_MAX_DEPTH} deep; this cannot be stored.")
    class_name = _registered_name(type(model))
    state = cast(Storable, model).__raravis_state__()
    _check_names([*state.arrays, *state.children], class_name)
    arrays: dict[str, JSON] = {}
    for name, array in state.arrays.items():
        raw = to_npy(array, what=f"array {name!r} of {class_name}")
        members[_member(folder, name)] = raw
        arrays[name] = _array_json(array, raw)
    return {
        "class": class_name,
        "params": dict(state.params),
        "fitted": dict(state.fitted),
        "arrays": arrays,
        "children": {
            name: _describe(child, f"{folder}children/{name}/", members, depth + 1)
            for name, child in state.children.items()
        },
    }


def _array_json(array: npt.NDArray[Any], raw: bytes) -> dict[str, JSON]:
    return {
        "dtype": dtype_text(array.dtype),
        "shape": [int(n) for n in array.shape],
        "sha256": hashlib.sha256(raw).hexdigest(),
        "size": len(raw),
    }


def _registered_name(model_class: type) -> str:
    home = f"{model_class.__module__}:{model_class.__qualname__}"
    for name, registered in REGISTRY.items():
        if registered == home:
            return name
    raise InputError(
        f"a {model_class.__name__} cannot be saved; these can: {', '.join(sorted(REGISTRY))}."
    )


def _check_names(names: list[str], class_name: str) -> None:
    for name in names:
        if not _is_name(name):
            raise InputError(f"{class_name} names a part {name!r}; use an ASCII identifier.")


def _is_name(name: str) -> bool:
    """Whether a name can be part of a member's path and nothing else."""
    return name.isascii() and name.isidentifier()


def _member(folder: str, name: str) -> str:
    return f"{folder}arrays/{name}.npy"


def _manifest_bytes(manifest: dict[str, JSON], class_name: str) -> bytes:
    try:
        text = json.dumps(manifest, sort_keys=True, indent=1, allow_nan=False)
    except (TypeError, ValueError) as error:
        raise InputError(
            f"the state of {class_name} holds a value that is not JSON ({error}); "
            "it must encode its values first."
        ) from error
    return text.encode("ascii")


def _read_manifest(archive: SealedArchive) -> _Node:
    if archive.sizes.get(_MANIFEST, 0) > _MAX_MANIFEST_BYTES:
        raise ModelFileError(f"its manifest is larger than {_MAX_MANIFEST_BYTES >> 20} MiB.")
    try:
        manifest = json.loads(archive.read(_MANIFEST), parse_constant=_refuse_constant)
    except ModelFileError:
        raise
    except (ValueError, RecursionError) as error:
        raise ModelFileError(f"its manifest is not valid JSON ({error}).") from error
    if not isinstance(manifest, dict) or manifest.get("format") != FORMAT:
        raise ModelFileError(f"its manifest does not say that it is of the format {FORMAT!r}.")
    _check_version(manifest)
    return _node(manifest.get("model"), "", 0)


def _refuse_constant(name: str) -> None:
    raise ModelFileError(f"its manifest holds {name}, which is not standard JSON.")


def _check_version(manifest: Mapping[str, Any]) -> None:
    version = manifest.get("format_version")
    if type(version) is not int or version < 1:
        raise ModelFileError(f"its manifest has the format version {version!r}.")
    if version > FORMAT_VERSION:
        raise ModelFileError(
            f"it was written by raravis {manifest.get('raravis_version')!r} in model format "
            f"{version}; this is raravis {__version__}, which reads formats up to "
            f"{FORMAT_VERSION}. Update raravis."
        )


def _node(described: object, folder: str, depth: int) -> _Node:
    """Read one model's part of the manifest, trusting nothing in it."""
    if depth > _MAX_DEPTH:
        raise ModelFileError(f"its models are nested more than {_MAX_DEPTH} deep.")
    where = f"{folder}manifest" if folder else "the manifest"
    parts = _dict(described, where)
    class_name = parts.get("class")
    if not isinstance(class_name, str):
        raise ModelFileError(f"{where} names no class.")
    return _Node(
        class_name=class_name,
        params=_dict(parts.get("params"), f"params of {class_name}"),
        fitted=_dict(parts.get("fitted"), f"fitted of {class_name}"),
        arrays={
            name: _array_entry(entry, _member(folder, name))
            for name, entry in _named(parts.get("arrays"), f"arrays of {class_name}").items()
        },
        children={
            name: _node(child, f"{folder}children/{name}/", depth + 1)
            for name, child in _named(parts.get("children"), f"children of {class_name}").items()
        },
    )


def _dict(value: object, what: str) -> dict[str, Any]:
    if not isinstance(value, dict):
        raise ModelFileError(f"its manifest is incomplete: {what} is not an object.")
    return value


def _named(value: object, what: str) -> dict[str, Any]:
    entries = _dict(value, what)
    for name in entries:
        if not _is_name(name):
            raise ModelFileError(f"its manifest names one of the {what} {name!r}.")
    return entries


def _array_entry(value: object, member: str) -> _ArrayEntry:
    parts = _dict(value, member)
    dtype, sha256, size = parts.get("dtype"), parts.get("sha256"), parts.get("size")
    shape = parts.get("shape")
    if not (isinstance(dtype, str) and isinstance(sha256, str) and type(size) is int):
        raise ModelFileError(f"its manifest lacks dtype, sha256 or size of {member}.")
    if not (isinstance(shape, list) and len(shape) <= _MAX_DIMENSIONS) or not all(
        type(n) is int and n >= 0 for n in shape
    ):
        raise ModelFileError(f"its manifest gives {member} the shape {shape!r}.")
    return _ArrayEntry(member, dtype, tuple(shape), sha256, size)


def _check_members(archive: SealedArchive, node: _Node) -> None:
    """Refuse missing, extra and wrongly sized members before any array is read."""
    declared = {entry.member: entry.size for entry in node.entries()}
    found = {name: size for name, size in archive.sizes.items() if name != _MANIFEST}
    if missing := sorted(declared.keys() - found.keys()):
        raise ModelFileError(f"members are missing: {', '.join(missing[:5])}.")
    if extra := sorted(found.keys() - declared.keys()):
        raise ModelFileError(f"it holds members that its manifest lacks: {extra[:5]}.")
    for name, size in declared.items():
        if found[name] != size:
            raise ModelFileError(f"{name} has {found[name]} bytes; its manifest says {size}.")


def _restore(node: _Node, archive: SealedArchive) -> Any:
    model_class = _registered_class(node.class_name)
    state = State(
        params=node.params,
        fitted=node.fitted,
        arrays={name: _array(entry, archive) for name, entry in node.arrays.items()},
        children={name: _restore(child, archive) for name, child in node.children.items()},
    )
    try:
        return model_class.__raravis_restore__(state)
    except (TypeError, ValueError, LookupError, AttributeError) as error:
        # Every checksum fits, so the file was made by something else than save().
        raise ModelFileError(f"its {node.class_name} cannot be restored: {error}") from error


def _registered_class(name: str) -> type[Storable]:
    if name not in REGISTRY:
        raise ModelFileError(
            f"it holds a {name!r}, which this raravis does not know; "
            f"it knows {', '.join(sorted(REGISTRY))}."
        )
    module, _, attribute = REGISTRY[name].partition(":")
    return cast(type[Storable], getattr(import_module(module), attribute))


def _array(entry: _ArrayEntry, archive: SealedArchive) -> npt.NDArray[Any]:
    raw = archive.read(entry.member)
    if hashlib.sha256(raw).hexdigest() != entry.sha256:
        raise ModelFileError(f"the checksum of {entry.member} does not match its content.")
    return from_npy(raw, dtype=entry.dtype, shape=entry.shape, what=entry.member)
