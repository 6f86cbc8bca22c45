"""The outcome of the demo in plain values, for ``--json`` and for the page."""

import math
import platform
from collections.abc import Iterable
from importlib import metadata
from typing import Any

import numpy as np
import numpy.typing as npt

from raravis._novel import NOVEL
from raravis._version import __version__
from raravis.demo.digits import DigitsDemo
from raravis.metrics import Interval, KindFigures

__all__ = ["hidden_share", "join_words", "summary", "versions"]

_REPORTED = ("numpy", "scipy", "scikit-learn", "numba")


def summary(demo: DigitsDemo) -> dict[str, Any]:
    """Return figures, settings, versions and times as what JSON can hold.

    Everything but ``seconds`` is the same for the same seed; 0/0 is None.
    """
    return {
        "command": "demo",
        "hidden": list(demo.hidden),
        "seed": demo.seed,
        "data": _data(demo),
        "model": _model(demo),
        "auc": _interval(demo.auc),
        "annotation_accuracy": _number(demo.accuracy),
        "novel": _kind(demo.detection.novel),
        "known": _kind(demo.detection.known),
        "rivals": [
            {"name": rival.name, "trained_on": rival.note, "auc": _interval(rival.auc)}
            for rival in demo.rivals
        ],
        "most_novel": [_instance(demo, i) for i in demo.most_novel.tolist()],
        "most_known": [_instance(demo, i) for i in demo.most_known.tolist()],
        "gravest_mistakes": [_instance(demo, i) for i in demo.gravest.tolist()],
        "versions": versions(),
        "seconds": {name: round(value, 3) for name, value in vars(demo.seconds).items()},
    }


def versions() -> dict[str, str]:
    """Return the versions that the figures were computed with.

    >>> list(versions())
    ['raravis', 'python', 'numpy', 'scipy', 'scikit-learn', 'numba']
    """
    found = {"raravis": __version__, "python": platform.python_version()}
    return found | {name: metadata.version(name) for name in _REPORTED}


def hidden_share(demo: DigitsDemo, instances: npt.NDArray[np.int64]) -> str:
    """Say in a sentence how many of these test instances are of a hidden digit."""
    n, n_hidden = len(instances), int(np.sum(~demo.known[instances]))
    count = {0: f"None of the {n} is", 1: f"One of the {n} is"}.get(
        n_hidden, f"{n_hidden} of the {n} are"
    )
    return f"{count} of a hidden digit ({join_words(demo.hidden, 'or')})."


def join_words(items: Iterable[object], last: str = "and") -> str:
    """Return items as a list in words.

    >>> join_words([0, 1, 2])
    '0, 1 and 2'
    """
    words = [str(item) for item in items]
    return f" {last} ".join([", ".join(words[:-1]), words[-1]] if len(words) > 1 else words)


def _data(demo: DigitsDemo) -> dict[str, Any]:
    train, test = demo.train, demo.test
    return {
        "title": train.description.title,
        "train_bags": train.bags.n_bags,
        "train_instances": train.bags.n_instances,
        "train_novel_share": _number(np.isin(train.instance_labels, demo.hidden).mean()),
        "test_bags": test.bags.n_bags,
        "test_instances": test.bags.n_instances,
        "test_novel_share": _number(1 - demo.known.mean()),
    }


def _model(demo: DigitsDemo) -> dict[str, Any]:
    model = demo.model
    return {
        "name": type(model).__name__,
        "kernel": model.kernel,
        "scaling": model.scaling,
        "gamma": _number(model.gamma_),
        "lam": _number(model.lam_),
        "threshold": _number(model.offset_),
        "support": int(model.n_support_),
    }


def _instance(demo: DigitsDemo, i: int) -> dict[str, Any]:
    said = demo.annotations[i]
    return {
        "image": int(demo.test.instance_ids[i]),
        "novelty": _number(demo.novelty[i]),
        "said": "novel" if said is NOVEL else int(said),
        "digit": int(demo.test.instance_labels[i]),
        "right": bool(demo.right[i]),
    }


def _interval(interval: Interval) -> dict[str, float | None]:
    return {
        "estimate": _number(interval.estimate),
        "low": _number(interval.low),
        "high": _number(interval.high),
        "level": _number(interval.level),
    }


def _kind(figures: KindFigures) -> dict[str, Any]:
    return {
        "precision": _number(figures.precision),
        "recall": _number(figures.recall),
        "f1": _number(figures.f1),
        "n": figures.n,
    }


def _number(value: float) -> float | None:
    # Six digits: what lies beyond them may differ between processors.
    return None if math.isnan(value) else round(float(value), 6)
