"""MIML ARFF: bags of feature vectors and their labels, as MIML, Mulan and mimllearning read them.

The first attribute names the bag, the second, relational, holds its instances, and each one after
it is a label: 1 present, 0 absent, ``?`` unknown.
"""

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from os import PathLike, fspath
from typing import TextIO

import numpy as np

from raravis._checks import some
from raravis.bags import Bags
from raravis.errors import InputError
from raravis.formats._sheet import FloatArray, number
from raravis.formats._text import open_text, write_lines
from raravis.labels import ABSENT, PRESENT, UNKNOWN, BagLabels

__all__ = ["read_miml_arff", "write_miml_arff"]

_MARKS = {int(PRESENT): "1", int(ABSENT): "0", int(UNKNOWN): "?"}
_STATUS = {mark: status for status, mark in _MARKS.items()}
_NUMERIC = {"numeric", "real", "integer"}
_ESCAPES = {"n": "\n", "r": "\r", "t": "\t"}
_PLAIN_NAME = re.compile(r"[^\s,{}'\"%\\?@]+")
_FIELD = re.compile(
    r"""\s*(?:"(?P<double>(?:[^"\\]|\\.)*)"|'(?P<single>(?:[^'\\]|\\.)*)'|(?P<plain>[^,"']*))\s*"""
)
_ATTRIBUTE = re.compile(
    r"""@attribute\s+(?:"((?:[^"\\]|\\.)*)"|'((?:[^'\\]|\\.)*)'|(\S+))\s*(.*)""", re.IGNORECASE
)


def read_miml_arff(path: str | PathLike[str]) -> tuple[Bags, BagLabels]:
    """Read bags and labels.

    Parameters
    ----------
    path : path-like

    Returns
    -------
    bags : Bags
        Keys are text; a bag whose text is empty has no instance.
    labels : BagLabels
        One a bag, in the same order.
    """
    where = fspath(path)
    with open_text(path) as file:
        head = _read_head(file, where)
        rows = [_row(fields, n, head, where) for n, fields in _data(file, head, where)]
    keys = [row.key for row in rows]
    _require_unique(rows, where)
    sizes = [len(row.instances) for row in rows]
    instances = np.concatenate([np.empty((0, len(head.features))), *(r.instances for r in rows)])
    offsets = np.concatenate([[0], np.cumsum(sizes, dtype=np.int64)]).astype(np.int64)
    bags = Bags(instances, offsets, tuple(keys), feature_names=tuple(head.features))
    status = np.array([row.status for row in rows], dtype=np.int8)
    return bags, BagLabels(
        tuple(head.labels), status.reshape(len(rows), len(head.labels)), tuple(keys)
    )


def write_miml_arff(
    bags: Bags, labels: BagLabels, path: str | PathLike[str], *, relation: str = "raravis"
) -> None:
    """Write bags and their labels, matched by key if the labels have keys.

    Keys and classes are written as text; features without a name are called ``feature_0``, ...

    Parameters
    ----------
    bags : Bags
    labels : BagLabels
        With at least one class, and as many as there are bags if they have no keys.
    path : path-like
        The folder is made if need be.
    relation : str
        The name of the data set.
    """
    matched = _matched(bags, labels)
    keys = _texts(bags.keys, "bag keys")
    classes = _texts(labels.classes, "classes")
    names = bags.feature_names or [f"feature_{i}" for i in range(bags.n_features)]
    write_lines(path, _lines(bags, matched, keys, classes, _texts(names, "features"), relation))


# ---------------------------------------------------------------------- reading


@dataclass(slots=True)
class _Head:
    """What the attributes say, as far as they have been read."""

    key: str | None = None
    relational: str | None = None
    inside: bool = False
    n_lines: int = 0
    features: list[str] = field(default_factory=list)
    labels: list[str] = field(default_factory=list)


@dataclass(frozen=True, slots=True)
class _Row:
    line: int
    key: str
    instances: FloatArray
    status: list[int]


def _read_head(file: TextIO, where: str) -> _Head:
    """Read up to the line ``@data``."""
    head = _Head()
    for n, line in enumerate(file, start=1):
        text = line.strip()
        word = text.split(None, 1)[0].lower() if text else ""
        head.n_lines = n
        if word == "@data":
            return _complete(head, where)
        if word == "@attribute":
            _add_attribute(head, text, f"Line {n} of {where}")
        elif word == "@end":
            head.inside = False
        elif text and not text.startswith("%") and word != "@relation":
            raise InputError(
                f"Line {n} of {where} is {text[:60]!r}, where ARFF has @relation, @attribute, @end "
                "or @data; name a MIML ARFF file."
            )
    raise InputError(f"{where} has no line @data, so it is no ARFF or truncated; write it again.")


def _complete(head: _Head, where: str) -> _Head:
    if head.key is None or head.relational is None or head.inside:
        raise InputError(
            f"{where} lacks the attribute that names the bag, or the relational one that holds its "
            "instances (with its @end); MIML ARFF has both, in this order."
        )
    if not head.features or not head.labels:
        raise InputError(
            f"{where} has {len(head.features)} features and {len(head.labels)} labels; MIML ARFF "
            "has at least one of each."
        )
    for names, what in ((head.features, "features"), (head.labels, "labels")):
        if len(set(names)) < len(names):
            twice = [name for name in names if names.count(name) > 1]
            raise InputError(f"{where} has two {what} called {twice[0]!r}; rename one.")
    return head


def _add_attribute(head: _Head, text: str, where: str) -> None:
    match = _ATTRIBUTE.fullmatch(text)
    if match is None:
        raise InputError(f"{where} is no attribute: {text[:60]!r}; give it a name and a type.")
    double, single, plain, kind = match.groups()
    name = plain if plain is not None else _unescaped(double if double is not None else single)
    if kind.strip().lower() == "relational":
        if head.relational is not None:
            raise InputError(f"{where} is a second relational attribute; MIML ARFF has one.")
        head.relational, head.inside = name, True
    elif head.inside:
        if kind.strip().lower() not in _NUMERIC:
            raise InputError(
                f"{where}: the feature {name!r} is {kind[:40]!r}; features must be numeric, so "
                "encode it or leave it out."
            )
        head.features.append(name)
    elif head.relational is not None:
        head.labels.append(name)
    elif head.key is None:
        head.key = name
    else:
        raise InputError(
            f"{where}: {name!r} is a second attribute before the relational one; the first names "
            "the bag, and the labels stand after the instances."
        )


def _data(file: TextIO, head: _Head, where: str) -> Iterator[tuple[int, list[str]]]:
    for n, line in enumerate(file, start=head.n_lines + 1):
        text = line.strip()
        if not text or text.startswith("%"):
            continue
        if text.startswith("{"):
            raise InputError(
                f"Line {n} of {where} is sparse; only dense data are read, so save it as such."
            )
        yield n, _fields(text, f"Line {n} of {where}")


def _fields(text: str, where: str) -> list[str]:
    """Cut a line at its commas; mimllearning forgets those beside quotes, which is forgiven."""
    fields: list[str] = []
    at = 0
    while at <= len(text):
        match = _FIELD.match(text, at)
        if match is None or (match.end() == at and at < len(text) and text[at] in "\"'"):
            raise InputError(f"{where} has a quote that does not end; complete or correct it.")
        quoted = match["double"] if match["double"] is not None else match["single"]
        fields.append(match["plain"].strip() if quoted is None else _unescaped(quoted))
        at = match.end()
        if at >= len(text):
            break
        at += text[at] == ","
        if at == len(text):
            fields.append("")
            break
    return fields


def _unescaped(text: str) -> str:
    return re.sub(r"\\(.)", lambda match: _ESCAPES.get(match[1], match[1]), text, flags=re.DOTALL)


def _row(fields: Sequence[str], line: int, head: _Head, where: str) -> _Row:
    if len(fields) != 2 + len(head.labels):
        raise InputError(
            f"Line {line} of {where} has {len(fields)} values; it needs {2 + len(head.labels)}: "
            "the bag, its instances in quotes, and a label for each attribute after them."
        )
    key, text, marks = fields[0], fields[1], fields[2:]
    at = f"Line {line} of {where}"
    if not key:
        raise InputError(f"{at} names no bag; give it a name.")
    status = [_STATUS.get(mark) for mark in marks]
    if None in status:
        raise InputError(
            f"{at} has the label {marks[status.index(None)]!r}; labels are 1, 0 or ? for unknown."
        )
    instances = [_instance(part, head, at) for part in text.split("\n") if text.strip()]
    values = np.array(instances, dtype=np.float64).reshape(len(instances), len(head.features))
    return _Row(line, key, values, [mark for mark in status if mark is not None])


def _instance(text: str, head: _Head, where: str) -> list[float]:
    cells = text.split(",")
    if len(cells) != len(head.features):
        raise InputError(
            f"{where} has an instance of {len(cells)} values; there are {len(head.features)} "
            "features, so each instance needs as many."
        )
    values = [number(cell, where) for cell in cells]
    if not np.isfinite(values).all():
        raise InputError(
            f"{where} has an instance with the value {cells[int(np.argmin(np.isfinite(values)))]!r}"
            "; features must be finite, so impute it or leave the instance out."
        )
    return values


def _require_unique(rows: Iterable[_Row], where: str) -> None:
    seen: dict[str, int] = {}
    for row in rows:
        if row.key in seen:
            raise InputError(
                f"Line {row.line} of {where} has the bag {row.key!r} again, which line "
                f"{seen[row.key]} has; put all instances of a bag into one line."
            )
        seen[row.key] = row.line


# ---------------------------------------------------------------------- writing


def _matched(bags: Bags, labels: BagLabels) -> BagLabels:
    if not labels.n_classes:
        raise InputError("labels has no class; MIML ARFF has at least one, so name the classes.")
    if labels.keys is not None:
        return labels.align(bags)
    if labels.n_bags != bags.n_bags:
        raise InputError(
            f"There are labels of {labels.n_bags} bags for {bags.n_bags} bags; give one for each."
        )
    return labels


def _texts(names: Iterable[object], what: str) -> list[str]:
    texts = [str(name) for name in names]
    if "" in texts or len(set(texts)) < len(texts):
        raise InputError(
            f"The {what} ({some(texts)}) are, as text, empty or the same somewhere; ARFF needs "
            "names, so rename them."
        )
    for text in texts:
        if "\0" in text:
            raise InputError(f"{text!r} among the {what} holds a NUL; rename it.")
    return texts


def _lines(
    bags: Bags,
    labels: BagLabels,
    keys: Sequence[str],
    classes: Sequence[str],
    features: Sequence[str],
    relation: str,
) -> Iterator[str]:
    yield f"@relation {_quoted(relation)}\n"
    yield "@attribute id {" + ",".join(map(_quoted, keys)) + "}\n"
    yield "@attribute bag relational\n"
    for name in features:
        yield f"@attribute {_quoted(name)} numeric\n"
    yield "@end bag\n"
    for name in classes:
        yield f"@attribute {_quoted(name)} {{0,1}}\n"
    yield "@data\n"
    for key, instances, status in zip(keys, bags, labels.status, strict=True):
        rows = (",".join(map(repr, map(float, row))) for row in instances.tolist())
        marks = ",".join(_MARKS[mark] for mark in status.tolist())
        yield f'{_quoted(key)},"' + "\\n".join(rows) + f'",{marks}\n'


def _quoted(name: str) -> str:
    """Return a name as ARFF wants it: in quotes, with escapes, unless it is plain."""
    if _PLAIN_NAME.fullmatch(name):
        return name
    text = name.replace("\\", "\\\\").replace("'", "\\'")
    for letter, mark in _ESCAPES.items():
        text = text.replace(mark, f"\\{letter}")
    return f"'{text}'"
