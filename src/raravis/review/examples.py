"""Known examples to compare a call with: the nearest of each class that may be meant."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from raravis.review.items import ReviewItems

__all__ = ["Example", "Examples"]

FloatArray = npt.NDArray[np.floating]
IntArray = npt.NDArray[np.int64]

# So many calls of a class that the model is surest of stand for it.
_A_CLASS = 40


@dataclass(frozen=True, slots=True)
class Example:
    """A call that is taken for one of a class; confirmed if a person said so."""

    position: int
    class_name: str
    confirmed: bool


class Examples:
    """The calls that stand for each class, and which of them are nearest to a call.

    Decided calls stand for their class. So do those that the model gives the highest score for it,
    in recordings that list the class if there are any.

    Parameters
    ----------
    items : ReviewItems
    """

    def __init__(self, items: ReviewItems) -> None:
        self._scaled = _standardised(items.features())
        self._typical = _typical(items)

    def nearest(
        self, position: int, classes: Iterable[str], confirmed: Mapping[str, Iterable[int]]
    ) -> list[Example]:
        """Return for each class the nearest call that stands for it.

        Parameters
        ----------
        position : int
        classes : iterable of str
        confirmed : mapping of str to positions
            The calls that people said to be of a class.
        """
        found = [self._nearest_of(position, name, confirmed.get(name, ())) for name in classes]
        return [example for example in found if example is not None]

    def _nearest_of(self, position: int, name: str, confirmed: Iterable[int]) -> Example | None:
        sure = {int(p) for p in confirmed if p != position}
        usual = {int(p) for p in self._typical.get(name, ()) if p != position}
        places = np.array(sorted(sure | usual), dtype=np.int64)
        if not len(places):
            return None
        distance = np.linalg.norm(self._scaled[places] - self._scaled[position], axis=1)
        best = int(places[distance.argmin()])
        return Example(best, name, best in sure)


def _standardised(features: FloatArray) -> FloatArray:
    if not len(features):
        return features
    spread = features.std(axis=0)
    scaled: FloatArray = (features - features.mean(axis=0)) / np.where(spread > 0, spread, 1.0)
    return scaled.astype(np.float32)


def _typical(items: ReviewItems) -> dict[str, IntArray]:
    """Return the calls with the highest scores for each class that the model also takes for it."""
    labels = np.array(items.calls.label, dtype=object)
    number = {name: k for k, name in enumerate(items.calls.recordings)}
    recording = np.array([number[name] for name in items.calls.recording], dtype=np.int64)
    found = {}
    for column, name in enumerate(items.classes):
        lists_it = np.array([name in items.listed.get(key, ()) for key in number], dtype=bool)
        mine = np.flatnonzero(labels == name)
        listed = mine[lists_it[recording[mine]]]
        chosen = listed if len(listed) else mine
        best = np.argsort(-items.scores[chosen, column], kind="stable")[:_A_CLASS]
        found[name] = chosen[best].astype(np.int64)
    return found
