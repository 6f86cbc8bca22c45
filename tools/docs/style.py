"""How every picture of the documentation looks."""

import io
from typing import Any

import matplotlib as mpl

mpl.use("Agg")
# What is told by colour is told by shape or words besides.
KNOWN, NOVEL, OTHER, SOFT, TEXT = "#0b5c94", "#a8430a", "#1d6b5f", "#5b636d", "#22262b"

mpl.rcParams.update(
    {
        # Text stays text: it can be read aloud, searched and selected.
        "svg.fonttype": "none",
        # Equal pictures are equal files.
        "svg.hashsalt": "raravis",
        "font.family": "sans-serif",
        "font.sans-serif": ["DejaVu Sans"],
        "font.size": 9.5,
        "axes.titlesize": 10,
        "axes.titlelocation": "left",
        "axes.edgecolor": "#b9b5ab",
        "axes.labelcolor": SOFT,
        "axes.spines.top": False,
        "axes.spines.right": False,
        "text.color": TEXT,
        "xtick.color": SOFT,
        "ytick.color": SOFT,
        "legend.frameon": False,
        "legend.fontsize": 9,
        "figure.facecolor": "white",
        "figure.constrained_layout.use": True,
    }
)


def svg(figure: Any) -> str:
    """Return a figure as SVG text."""
    written = io.StringIO()
    figure.savefig(written, format="svg", metadata={"Date": None})
    return written.getvalue()
