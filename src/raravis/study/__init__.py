"""A study: a folder that holds one piece of work, from recordings to annotated calls.

What is computed stands there under the content and the settings that it was computed from, so
every step skips what is done, and a run that was killed goes on where it was. The steps are
functions of `raravis.study.steps`. Needs the extra ``raravis[audio]``.
"""

from raravis.study.decided import DecisionReader
from raravis.study.errors import StudyBusyError, StudyError
from raravis.study.recordings import Recording
from raravis.study.results import CandidateClass, ModelNote, StudyResults
from raravis.study.settings import Settings
from raravis.study.steps import Done
from raravis.study.store import Study

__all__ = [
    "CandidateClass",
    "DecisionReader",
    "Done",
    "ModelNote",
    "Recording",
    "Settings",
    "Study",
    "StudyBusyError",
    "StudyError",
    "StudyResults",
]
