"""Thresholds that say where they come from and what they promise."""

import copy
import datetime as dt
import hashlib
import json
import math
from collections.abc import Callable, Hashable, Mapping
from dataclasses import dataclass, fields
from typing import Any, ClassVar, Literal, Self, TypeAlias, TypeVar, get_args

import numpy as np
from sklearn.utils.validation import check_is_fitted

from raravis._state import JSON, State, decode_value, encode_value
from raravis.errors import InputError

__all__ = [
    "Calibration",
    "ClassThreshold",
    "NoThreshold",
    "Rule",
    "Threshold",
    "apply_threshold",
    "model_fingerprint",
    "threshold_of",
    "today",
]

Rule: TypeAlias = Literal[
    "class_kept",
    "share_kept",
    "all_kept",
    "cross_class_kept",
    "cross_all_kept",
    "refit_class_kept",
    "refit_all_kept",
    "known_recall",
    "bag_known_recall",
    "novel_precision",
]
"""What a threshold promises, for programs; ``Threshold.guarantee`` says it in a sentence."""

Model = TypeVar("Model")
Record = TypeVar("Record", bound="Threshold | NoThreshold")


@dataclass(frozen=True, slots=True)
class ClassThreshold:
    """What calibration found for one class.

    Parameters
    ----------
    label : hashable
        The class.
    n : int
        Calibration bags that hold it.
    value : float or None
        The highest threshold that keeps the promise for this class; None if there is none.
    needed : int or None
        Where there is none: how many bags of the class there would have to be in all, as far as can
        be told; None if more would not help.
    """

    label: Hashable
    n: int
    value: float | None
    needed: int | None = None


@dataclass(frozen=True, slots=True)
class Threshold:
    """A score from which on an instance is known, and what calling the rest novel promises.

    Parameters
    ----------
    value : float
        An instance is known if its score reaches this.
    rule : str
        How it was found.
    level : float
        The share promised: of bags or instances kept, or the precision.
    confidence : float or None
        How sure the promise is, over draws of the calibration data; None if it holds on average
        over them.
    n : int
        Bags or reviews that it rests on.
    date : str
        Day on which it was found, as ISO 8601.
    data : str
        Fingerprint of the calibration data.
    guarantee : str
        The promise as a sentence, with what it takes for granted.
    model : str
        Fingerprint of the model whose scores these are; empty if scores alone were given.
    per_class : tuple of ClassThreshold
        What was found class by class, where the rule asks for that; ``value`` is the lowest.

    Examples
    --------
    >>> found = Threshold(0.25, "known_recall", 0.9, None, 50, "2026-05-01", "ab12", "...")
    >>> Threshold.from_dict(found.to_dict()) == found
    True
    """

    value: float
    rule: Rule
    level: float
    confidence: float | None
    n: int
    date: str
    data: str
    guarantee: str
    model: str = ""
    per_class: tuple[ClassThreshold, ...] = ()

    kind: ClassVar[str] = "threshold"

    def __post_init__(self) -> None:
        _check_common(self.rule, self.level, self.n)
        if not math.isfinite(self.value):
            raise InputError(f"value is {self.value!r}; a threshold is a finite number.")

    def to_dict(self) -> dict[str, JSON]:
        """Return the threshold as a dict of plain JSON values."""
        return _to_dict(self)

    @classmethod
    def from_dict(cls, record: Mapping[str, Any]) -> Self:
        """Read what ``to_dict`` returned."""
        return _from_dict(cls, record)


@dataclass(frozen=True, slots=True)
class NoThreshold:
    """The answer that no threshold reaches the level asked for; false where truth is asked.

    Parameters
    ----------
    rule, level, confidence, n, date, data, model
        As for :class:`Threshold`.
    reason : str
        What is missing, as a sentence.
    needed : int or None
        How many bags or reviews there would have to be in all, as far as can be told; None if more
        of them would not help. Where the promise is for each class, of the class that lacks most.
    per_class : tuple of ClassThreshold
        What was found class by class, where the rule asks for that.

    Examples
    --------
    >>> bool(NoThreshold("known_recall", 0.99, None, 50, "2026-05-01", "ab12", "...", needed=99))
    False
    """

    rule: Rule
    level: float
    confidence: float | None
    n: int
    date: str
    data: str
    reason: str
    model: str = ""
    needed: int | None = None
    per_class: tuple[ClassThreshold, ...] = ()

    kind: ClassVar[str] = "no threshold"

    def __post_init__(self) -> None:
        _check_common(self.rule, self.level, self.n)

    def __bool__(self) -> bool:
        return False

    @property
    def missing(self) -> int | None:
        """How many more bags or reviews would do."""
        return None if self.needed is None else max(0, self.needed - self.n)

    def to_dict(self) -> dict[str, JSON]:
        """Return the answer as a dict of plain JSON values."""
        return _to_dict(self)

    @classmethod
    def from_dict(cls, record: Mapping[str, Any]) -> Self:
        """Read what ``to_dict`` returned."""
        return _from_dict(cls, record)


Calibration: TypeAlias = Threshold | NoThreshold


def apply_threshold(model: Model, threshold: Calibration) -> Model:
    """Return a copy of a fitted model that decides by a threshold.

    The copy shares the model's arrays; the model itself stays as it is. The threshold is kept with
    the copy, also on disk: see :func:`threshold_of`.

    Parameters
    ----------
    model : fitted estimator of raravis
    threshold : Threshold
        Found for this very model, if for any.
    """
    check_is_fitted(model)
    if not isinstance(threshold, Threshold):
        raise InputError(_not_a_threshold(threshold))
    if threshold.model and threshold.model != model_fingerprint(model):
        raise InputError(
            "the threshold was found for another model: scores of different models are on "
            "different scales. Calibrate this model, or apply the threshold to the model that it "
            "was found for."
        )
    decided: Any = copy.copy(model)
    decided.offset_ = threshold.value
    decided.threshold_ = threshold.to_dict()
    result: Model = decided
    return result


def threshold_of(model: object) -> Threshold | None:
    """Return the threshold that was applied to a model; None if it decides by its own."""
    record = getattr(model, "threshold_", None)
    if record is None:
        return None
    applied = Threshold.from_dict(record)
    # A model that was fitted again, or whose offset was set by hand, has left it behind.
    current = applied.value == getattr(model, "offset_", None)
    same = not applied.model or applied.model == model_fingerprint(model)
    return applied if current and same else None


def model_fingerprint(model: Any) -> str:
    """Return SHA-256 digits of what a fitted model is, but for the threshold that it decides by.

    For a model that can be saved these are its parameters and everything learned; for another its
    kind, parameters, classes and training bags.
    """
    digest = hashlib.sha256()
    try:
        _add_state(digest.update, type(model).__name__, model.__raravis_state__())
    except (AttributeError, InputError):
        hashes = getattr(model, "training_bags_", None)
        described = [
            type(model).__name__,
            {name: _encoded(value) for name, value in model.get_params(deep=False).items()},
            [repr(label) for label in model.classes_],
            [] if hashes is None else hashes.tolist(),
        ]
        digest.update(json.dumps(described, sort_keys=True).encode())
    return digest.hexdigest()


def _add_state(update: Callable[[bytes], None], name: str, state: State) -> None:
    """Feed a state to a hash, in an order of its own, children included."""
    fitted = {k: v for k, v in state.fitted.items() if k not in ("offset", "threshold")}
    update(json.dumps([name, dict(state.params), fitted], sort_keys=True).encode())
    for key, array in sorted(state.arrays.items()):
        update(f"{key} {array.dtype.str} {array.shape}".encode())
        update(np.ascontiguousarray(array).tobytes())
    for key, child in sorted(state.children.items()):
        _add_state(update, f"{key} {type(child).__name__}", child.__raravis_state__())


def today(date: str | None) -> str:
    """Return a date as ISO 8601, that of today in UTC if none is given."""
    if date is None:
        return dt.datetime.now(dt.UTC).date().isoformat()
    try:
        return dt.date.fromisoformat(date).isoformat()
    except (TypeError, ValueError) as error:
        raise InputError(f"date is {date!r}; pass a day such as '2026-05-01', or None.") from error


def _encoded(value: object) -> JSON:
    """Return a parameter as JSON; what has no such form counts by its type alone."""
    try:
        return encode_value(value)
    except InputError:
        return type(value).__name__


def _check_common(rule: str, level: float, n: int) -> None:
    if rule not in get_args(Rule):
        raise InputError(f"rule is {rule!r}; it must be one of {', '.join(get_args(Rule))}.")
    if not 0.0 < level < 1.0:
        raise InputError(f"level is {level!r}; pass a share between 0 and 1.")
    if n < 0:
        raise InputError(f"n is {n!r}; pass a whole number, at least 0.")


def _to_dict(record: Calibration) -> dict[str, JSON]:
    listed = {name: encode_value(value) for name, value in _shallow(record).items()}
    classes = [
        {name: encode_value(value) for name, value in _shallow(found).items()}
        for found in record.per_class
    ]
    return {"kind": record.kind, **listed, "per_class": list(classes)}


def _shallow(record: Any) -> dict[str, Any]:
    return {f.name: getattr(record, f.name) for f in fields(record) if f.name != "per_class"}


def _from_dict(cls: type[Record], record: Any) -> Record:
    if not isinstance(record, Mapping) or record.get("kind") != cls.kind:
        found = record.get("kind") if isinstance(record, Mapping) else type(record).__name__
        raise InputError(f"this is no {cls.kind} but {found!r}; pass what to_dict returned.")
    content = {name: value for name, value in record.items() if name != "kind"}
    try:
        classes = [ClassThreshold(**_decoded(entry)) for entry in content.pop("per_class", ())]
        return cls(**_decoded(content), per_class=tuple(classes))
    except InputError:
        raise
    except (TypeError, ValueError, AttributeError) as error:
        raise InputError(
            f"this {cls.kind} cannot be read ({error}); pass what to_dict of this version of "
            "raravis, or an older one, returned."
        ) from error


def _decoded(entry: Mapping[str, JSON]) -> dict[str, Any]:
    return {name: decode_value(value) for name, value in entry.items()}


def _not_a_threshold(found: object) -> str:
    if isinstance(found, NoThreshold):
        return f"there is no threshold to apply: {found.reason}"
    return (
        f"threshold is a {type(found).__name__}; pass the Threshold that a function of "
        "raravis.calibration returned."
    )
