"""What ``raravis demo`` shows: the whole method on data that ship with scikit-learn.

``run_digits`` computes, ``summary`` puts the outcome into plain values, ``render_page`` into one
HTML page. Nothing here prints, and nothing is downloaded.
"""

from raravis.demo.digits import DigitsDemo, Rival, Seconds, run_digits
from raravis.demo.page import check_folder, render_page, write_page
from raravis.demo.summary import hidden_share, join_words, summary, versions

__all__ = [
    "DigitsDemo",
    "Rival",
    "Seconds",
    "check_folder",
    "hidden_share",
    "join_words",
    "render_page",
    "run_digits",
    "summary",
    "versions",
    "write_page",
]
