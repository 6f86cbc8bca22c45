"""How a model judges the calls of recordings: which class each is, and how novel."""

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from raravis.bags import Bags
from raravis.labels import ABSENT, BagLabels

__all__ = ["CONTEXT_FROM", "Judged", "judge_calls"]

FloatArray = NDArray[np.float64]

#: Labelled recordings from which on the other calls of a recording count. How class shares differ
#: between recordings is learned from these; with few of them it misleads.
CONTEXT_FROM = 50

# Odds are told apart up to this: beyond it they say no more than "certain".
_LEAST = 1e-12


@dataclass(frozen=True, eq=False)
class Judged:
    """What a model says of each call.

    Parameters
    ----------
    classes : array of int of shape (n_calls,)
        The column of the most probable class of those that its recording may hold.
    novelty : array of shape (n_calls,)
        High is novel; finite, also where the recording holds nothing but novel calls.
    certain : array of bool of shape (n_calls,)
        Calls that are novel whatever the threshold: their recording can hold no known class.
    scores : array of shape (n_calls, n_classes)
        By the sound, whatever the lists say.
    """

    classes: NDArray[np.int64]
    novelty: FloatArray
    certain: NDArray[np.bool_]
    scores: FloatArray


def judge_calls(
    model: Any,
    bags: Bags,
    listed: BagLabels | None,
    *,
    promised: bool = False,
    context: bool = False,
) -> Judged:
    """Let a model judge every call, by the lists of the recordings if there are any.

    A model of probabilities takes in a list as a whole: each species must have a call; and with
    ``context`` the other calls of the recording. Under a threshold that promises something it
    scores every call on its own, as it did when the threshold was found; the list then chooses
    among classes alone.
    """
    certain = _without_any(bags, listed, len(model.classes_))
    if hasattr(model, "posterior"):
        return _by_probability(model, bags, listed, certain, promised, context and not promised)
    return _by_score(model, bags, listed, certain)


def _by_probability(
    model: Any,
    bags: Bags,
    listed: BagLabels | None,
    certain: NDArray[np.bool_],
    promised: bool,
    context: bool,
) -> Judged:
    free = model.posterior(bags, context=context)
    told = free if listed is None else model.posterior(bags, bag_labels=listed, context=context)
    odds = np.log(np.maximum(free, _LEAST))
    # Where nothing can be listed, calls rank by their sound.
    judge = free if promised else np.where(certain[:, None], free, told)
    known = np.maximum(judge[:, 1:].sum(axis=1), _LEAST)
    return Judged(
        classes=told[:, 1:].argmax(axis=1) if told.shape[1] > 1 else np.zeros(len(told), int),
        novelty=np.log(np.maximum(judge[:, 0], _LEAST)) - np.log(known),
        certain=certain,
        scores=odds[:, 1:] - odds[:, :1],
    )


def _by_score(
    model: Any, bags: Bags, listed: BagLabels | None, certain: NDArray[np.bool_]
) -> Judged:
    scores = np.asarray(model.class_scores(bags), dtype=np.float64)
    allowed = scores
    if listed is not None:
        absent = _absent(bags, listed) & ~certain[:, None]
        allowed = np.where(absent, -np.inf, scores)
    return Judged(allowed.argmax(axis=1), -allowed.max(axis=1), certain, scores)


def _without_any(bags: Bags, listed: BagLabels | None, n_classes: int) -> NDArray[np.bool_]:
    if listed is None or not n_classes:
        return np.zeros(bags.n_instances, dtype=bool)
    return np.asarray(_absent(bags, listed).all(axis=1), dtype=bool)


def _absent(bags: Bags, listed: BagLabels) -> NDArray[np.bool_]:
    absent: NDArray[np.bool_] = (listed.status == ABSENT)[bags.bag_index]
    return absent
