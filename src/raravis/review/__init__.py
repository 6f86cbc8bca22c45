"""The page on which an expert listens, decides, and from which the model learns.

Needs the extra ``raravis[review]`` for the page itself; the log of decisions, the queues and what
is learned from decisions need nothing further.
"""

from raravis.review.decisions import Act, Decision, DecisionLog, Undo
from raravis.review.errors import ReviewError
from raravis.review.keys import CallIndex, CallKey, keys_of
from raravis.review.verdicts import Verdict, Verdicts

__all__ = [
    "Act",
    "CallIndex",
    "CallKey",
    "Decision",
    "DecisionLog",
    "ReviewError",
    "Undo",
    "Verdict",
    "Verdicts",
    "keys_of",
]
