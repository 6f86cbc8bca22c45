"""The page on which an expert listens and decides, and from which the model learns.

The page itself needs the extra ``raravis[review]``; the log of decisions, the queues and what is
learned from decisions need nothing further.
"""

from raravis.review.decisions import Act, Decision, DecisionLog, Undo
from raravis.review.errors import ReviewError
from raravis.review.items import ReviewItems
from raravis.review.keys import CallIndex, CallKey, keys_of
from raravis.review.serving import serve
from raravis.review.verdicts import Verdict, Verdicts

__all__ = [
    "Act",
    "CallIndex",
    "CallKey",
    "Decision",
    "DecisionLog",
    "ReviewError",
    "ReviewItems",
    "Undo",
    "Verdict",
    "Verdicts",
    "keys_of",
    "serve",
]
