"""What estimators check and learn at their door, whatever they fit afterwards."""

import math
import warnings
from numbers import Integral, Real
from typing import Any

import numpy as np

from raravis.bags import Bags
from raravis.errors import InputError, RaravisWarning
from raravis.labels import BagLabels
from raravis.scaling import Scaling, ScalingName

__all__ = ["learn_scaling", "learnable", "require_count", "require_number", "seed_of"]


def learnable(bags: Bags, labels: BagLabels) -> BagLabels:
    """Keep the classes that some bag with instances has; say which are dropped."""
    present = np.asarray(labels.present[bags.sizes > 0].any(axis=0))
    if not present.any():
        raise InputError(
            f"no class can be learned from {bags!r}: no bag with instances lists a class. Pass "
            "labels in which at least one bag that has instances lists at least one class."
        )
    if not present.all():
        lost = [labels.classes[i] for i in np.flatnonzero(~present)]
        warnings.warn(
            f"{len(lost)} classes are listed by no bag that has instances and are left out: "
            f"{', '.join(map(repr, lost[:5]))}{', ...' if len(lost) > 5 else ''}.",
            RaravisWarning,
            stacklevel=3,
        )
        labels = labels.restrict([labels.classes[i] for i in np.flatnonzero(present)])
    return labels


def learn_scaling(bags: Bags, name: ScalingName, kernel: Any) -> Scaling:
    """Scale features; the rows of a precomputed Gram matrix are not features."""
    precomputed = isinstance(kernel, str) and kernel == "precomputed"
    scaling = Scaling.learn(bags.instances, "none" if precomputed else name)
    if precomputed and bags.n_features != bags.n_instances:
        raise InputError(
            f"kernel is 'precomputed', but {bags.n_instances} training instances have "
            f"{bags.n_features} columns; pass the square Gram matrix, a column per instance."
        )
    return scaling


def require_number(name: str, value: Any, *, words: tuple[str, ...] = ()) -> None:
    """Refuse what is neither a finite number above 0 nor one of the words."""
    if isinstance(value, str) and value in words:
        return
    is_number = isinstance(value, Real) and not isinstance(value, bool)
    if not is_number or not math.isfinite(value) or value <= 0:
        choices = "".join(f", or {word!r}" for word in words)
        raise InputError(f"{name} is {value!r}; pass a finite number above 0{choices}.")


def require_count(name: str, value: Any) -> None:
    """Refuse what is no whole number of at least 1."""
    if isinstance(value, bool) or not isinstance(value, Integral) or value < 1:
        raise InputError(f"{name} is {value!r}; pass a whole number, at least 1.")


def seed_of(random_state: Any) -> int:
    """Return the seed that a ``random_state`` stands for; None draws one."""
    if random_state is None:
        return int(np.random.SeedSequence().generate_state(1)[0])
    if not isinstance(random_state, Integral) or random_state < 0:
        raise InputError(
            f"random_state is {random_state!r}; pass a whole number, at least 0, or None."
        )
    return int(random_state)
