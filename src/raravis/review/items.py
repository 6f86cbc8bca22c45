"""What a review is about: calls with what a model says of them, and what there is to see."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Self

import numpy as np
import numpy.typing as npt

from raravis.bags import Bags
from raravis.errors import InputError
from raravis.formats import CallTable
from raravis.labels import BagLabels
from raravis.review.media import FeatureMedia, Media, PictureMedia, SoundMedia

if TYPE_CHECKING:
    from raravis.study import StudyResults

__all__ = ["NOVEL_LABEL", "ReviewItems"]

FloatArray = npt.NDArray[np.floating]
IntArray = npt.NDArray[np.int64]

NOVEL_LABEL = "novel"


@dataclass(frozen=True, eq=False)
class ReviewItems:
    """Calls, or instances of any kind, with the scores of one model.

    Parameters
    ----------
    title : str
    run : str
        What names these scores; other scores, other name.
    model : str
        What names the model.
    calls : CallTable
        ``class_scores`` and ``novelty`` are given; ``label`` is a class or ``"novel"``.
    threshold : float
        A call is novel if its novelty is above this.
    media : Media
    features : callable
        Reads the features of all calls, a row for each; called when they are needed first.
    listed : mapping of str to tuple of str
        The classes listed for each labelled recording.
    groups : mapping of str to array of int
        Candidate new classes: positions of their members, the most typical first.
    """

    title: str
    run: str
    model: str
    calls: CallTable
    threshold: float
    media: Media
    features: Callable[[], FloatArray]
    listed: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    groups: Mapping[str, IntArray] = field(default_factory=dict)

    def __post_init__(self) -> None:
        if self.calls.class_scores is None or self.calls.novelty is None:
            raise InputError("the calls have no class_scores; score them with a model first.")

    @property
    def classes(self) -> tuple[str, ...]:
        """The classes that the model knows."""
        return self.calls.classes

    @property
    def scores(self) -> FloatArray:
        """The score of every call for every class."""
        found = self.calls.class_scores
        return np.empty((len(self.calls), 0)) if found is None else found

    @property
    def novelty(self) -> FloatArray:
        """How novel every call is."""
        found = self.calls.novelty
        return np.empty(0) if found is None else found

    @classmethod
    def from_study(cls, results: "StudyResults") -> Self:
        """Review the calls of a study."""
        durations = {found.name: found.duration_s for found in results.recordings}
        reach = max((found.sample_rate_hz / 2 for found in results.recordings), default=0.0)
        return cls(
            title=results.study.folder.resolve().name,
            run=results.run,
            model=results.model.key,
            calls=results.calls,
            threshold=results.threshold,
            media=SoundMedia(results.calls, results.sound_path, durations, reach),
            features=lambda: results.features().instances,
            listed=results.species,
            groups={found.name: found.members for found in results.candidates},
        )

    @classmethod
    def from_bags(
        cls,
        bags: Bags,
        model: Any,
        *,
        labels: BagLabels | Iterable[Iterable[Any] | None] | None = None,
        pictures: Sequence[npt.ArrayLike] | None = None,
        groups: Mapping[str, npt.ArrayLike] | None = None,
        title: str = "Review",
    ) -> Self:
        """Review the instances of bags, as a fitted model scores them.

        Parameters
        ----------
        bags : Bags
            An instance is known by the key of its bag and its place there, in place of a time.
        model : fitted estimator
        labels : BagLabels or list of sets, optional
            What is listed for the bags; shown, not used.
        pictures : sequence of array of shape (height, width), optional
            A grey picture of each instance; without them the page shows the features.
        groups : mapping of str to array of int, optional
        title : str
        """
        calls = _calls_of(bags, model)
        named = {name: np.asarray(found, np.int64) for name, found in (groups or {}).items()}
        if pictures is not None and len(pictures) != bags.n_instances:
            raise InputError(
                f"there are {len(pictures)} pictures for {bags.n_instances} instances; give one "
                "for each."
            )
        return cls(
            title=title,
            run=f"bags-{bags.fingerprint()[:12]}-{_digest(calls)}",
            model=type(model).__name__,
            calls=calls,
            threshold=-float(model.offset_),
            media=FeatureMedia(bags.instances) if pictures is None else PictureMedia(pictures),
            features=lambda: bags.instances,
            listed={} if labels is None else _listed(bags, labels),
            groups=named,
        )


def _calls_of(bags: Bags, model: Any) -> CallTable:
    names = [str(key) for key in bags.keys]
    place = np.arange(bags.n_instances) - np.repeat(bags.offsets[:-1], bags.sizes)
    time = place.astype(np.float64)
    scores = np.asarray(model.class_scores(bags), dtype=np.float64)
    novelty = -np.asarray(model.score_samples(bags), dtype=np.float64)
    classes = tuple(map(str, model.classes_))
    best = scores.argmax(axis=1) if classes else np.zeros(len(novelty), int)
    novel = novelty > -float(model.offset_)
    return CallTable(
        tuple(names[i] for i in bags.bag_index),
        time,
        time,
        label=tuple(NOVEL_LABEL if n else classes[b] for n, b in zip(novel, best, strict=True)),
        novelty=novelty,
        class_scores=scores,
        classes=classes,
    )


def _listed(
    bags: Bags, labels: BagLabels | Iterable[Iterable[Any] | None]
) -> dict[str, tuple[str, ...]]:
    known = labels if isinstance(labels, BagLabels) else BagLabels.from_sets(list(labels))
    sets = [None if found is None else tuple(sorted(map(str, found))) for found in known.to_sets()]
    pairs = zip(map(str, bags.keys), sets, strict=True)
    return {key: found for key, found in pairs if found is not None}


def _digest(calls: CallTable) -> str:
    import hashlib

    novelty = b"" if calls.novelty is None else calls.novelty.tobytes()
    return hashlib.sha256(novelty).hexdigest()[:12]
