"""What a study has found, as reports and the review page show it."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cached_property
from os import PathLike
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from raravis.formats import CallTable
from raravis.study.recordings import Recording
from raravis.study.store import Study

if TYPE_CHECKING:
    from raravis.bags import Bags

__all__ = ["CandidateClass", "ModelNote", "StudyResults"]

IntArray = NDArray[np.int64]


@dataclass(frozen=True)
class ModelNote:
    """What a model is and what it learned from.

    Parameters
    ----------
    key : str
        What names the model within the study.
    kind : str
        Its class, such as ``"NoveltyDetector"``.
    classes : tuple of str
        The known classes.
    n_bags, n_instances : int
        The labelled recordings that it learned from, and their calls.
    n_decisions : int
        The calls decided by people that it learned from as well.
    fitted_at : str
        ISO 8601, in UTC.
    seconds : float
        How long that took.
    parameters : mapping of str to str
        Its settings, for people.
    """

    key: str
    kind: str
    classes: tuple[str, ...]
    n_bags: int
    n_instances: int
    n_decisions: int = 0
    fitted_at: str = ""
    seconds: float = 0.0
    parameters: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True, eq=False)
class CandidateClass:
    """Novel calls that resemble each other: perhaps one new class.

    Parameters
    ----------
    name : str
        Such as ``"group 1"``; unique within a study's results.
    members : array of int
        Positions in ``StudyResults.calls``, the most typical first.
    medoid : int
        The position of the call that is most like the others.
    """

    name: str
    members: IntArray
    medoid: int


@dataclass(frozen=True, eq=False)
class StudyResults:
    """Everything that a study's report shows.

    Parameters
    ----------
    study : Study
        Its folder and settings.
    recordings : tuple of Recording
        All that were found, usable or not, by name.
    problems : mapping of str to str
        What kept a usable recording from being segmented or scored, by its name.
    calls : CallTable
        By recording, then in order of time. ``label`` is a class or ``"novel"``; ``class_scores``
        has a column for each of ``classes``.
    species : mapping of str to tuple of str
        The species listed for each labelled recording; none for one that was listened to and found
        empty. A recording that is not in here has no labels.
    unmatched : tuple of str
        Names in the table of species that match no recording, or several.
    model : ModelNote
    threshold : float
        A call is novel if its ``novelty`` is above this.
    promise : str
        What the threshold promises, as a sentence; empty if it is the model's own.
    candidates : tuple of CandidateClass
        The largest first; none if there are too few novel calls.
    run : str
        What names these scores within the study.
    scored_at : str
        ISO 8601, in UTC.
    feature_files : mapping of str to Path
        Where the features of each scored recording are; see `features`.
    """

    study: Study
    recordings: tuple[Recording, ...]
    problems: Mapping[str, str]
    calls: CallTable
    species: Mapping[str, tuple[str, ...]]
    unmatched: tuple[str, ...]
    model: ModelNote
    threshold: float
    promise: str
    candidates: tuple[CandidateClass, ...]
    run: str
    scored_at: str
    feature_files: Mapping[str, Path] = field(default_factory=dict)

    @classmethod
    def load(cls, study: Study | str | PathLike[str]) -> "StudyResults":
        """Read the results of a study whose calls have been scored."""
        from raravis.study.runs import load_results

        return load_results(study if isinstance(study, Study) else Study.open(study))

    @property
    def novel(self) -> NDArray[np.bool_]:
        """Whether each call is novel."""
        return self.novelty > self.threshold

    @property
    def novelty(self) -> NDArray[np.float64]:
        """How novel each call is; finite."""
        found = self.calls.novelty
        return np.empty(0) if found is None else found

    @property
    def by_novelty(self) -> IntArray:
        """Positions of all calls, the most novel first."""
        return np.argsort(-self.novelty, kind="stable").astype(np.int64)

    def recording_of(self, name: str) -> Recording:
        """Return what is known of a recording."""
        return self._by_name[name]

    @cached_property
    def _by_name(self) -> dict[str, Recording]:
        return {found.name: found for found in self.recordings}

    def sound_path(self, recording: str) -> Path:
        """Return the file of a recording."""
        return self.study.recordings_folder / recording

    def features(self) -> "Bags":
        """Read the features of all calls: a bag for each scored recording, rows as in `calls`."""
        from raravis.study.features import read_bags

        return read_bags(self.feature_files)

    def about(self) -> dict[str, Any]:
        """Return the main counts, for the command line."""
        return {
            "recordings": len(self.recordings),
            "calls": len(self.calls),
            "novel": int(self.novel.sum()),
            "classes": list(self.model.classes),
        }
