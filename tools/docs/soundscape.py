"""A made-up recording with its calls boxed as ``raravis demo`` annotates them.

Run it to draw the picture of the README anew: ``python tools/docs/soundscape.py``.
"""

import io
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import numpy as np
import style  # noqa: F401 (sets the backend and the fonts)
from matplotlib.colors import ListedColormap
from matplotlib.figure import Figure
from matplotlib.patches import Rectangle
from matplotlib.patheffects import withStroke

from raravis._html.colours import night_amber
from raravis.audio import spectrogram_image
from raravis.demo.soundscapes import SoundscapeDemo, run_soundscapes
from raravis.formats import CallTable

TARGET = Path(__file__).parents[2] / "docs" / "images" / "soundscape.png"

_NOVEL = "novel"
_SECONDS, _HIGHEST_HZ = 20.0, 8400.0
_FLOOR_DB, _CEILING_DB = -70.0, -34.0
_NEAR_S, _SAME_S = 0.1, 3.0
_RIGHT_S, _TOP_KHZ = 17.5, 7.6
# Bold against thin, and white against blue: told apart in grey as well.
_COLOURS = {True: "#ffffff", False: "#6ecbff"}


def draw(demo: SoundscapeDemo) -> bytes:
    """Draw the recording that shows most, as PNG."""
    name = _telling(demo)
    figure = Figure(figsize=(9.6, 3.3), facecolor="white", layout="constrained")
    axes = figure.subplots()
    _spectrogram(axes, demo.made.folder / name)
    calls = demo.results.calls.for_recording(name)
    _boxes(axes, calls)
    axes.set(xlabel="seconds", ylabel="kHz", xlim=(0, _SECONDS), ylim=(0, _HIGHEST_HZ / 1000))
    written = io.BytesIO()
    # 64 colours are enough for a spectrogram, and a third of the size.
    figure.savefig(written, format="png", dpi=105, metadata={"Software": None})
    return _fewer_colours(written.getvalue())


def _telling(demo: SoundscapeDemo) -> str:
    """Return the recording with three labels, hidden calls among them, that is easiest to see."""

    def worth(name: str) -> tuple[int, int]:
        calls = demo.results.calls.for_recording(name)
        if demo.hidden not in demo.made.species[name]:
            return (0, 0)
        gaps = calls.begin_s[1:] - np.maximum.accumulate(calls.end_s)[:-1]
        crowded = int((gaps < _NEAR_S).sum() + (calls.end_s - calls.begin_s < _NEAR_S).sum())
        return (min(3, len(set(calls.label))), -crowded)

    return max(demo.made.recordings, key=worth)


def _spectrogram(axes: Any, path: Path) -> None:
    picture = spectrogram_image(path, 0.0, _SECONDS, high_hz=_HIGHEST_HZ, max_columns=1200)
    axes.imshow(
        np.clip(picture.decibels, _FLOOR_DB, _CEILING_DB),
        origin="lower",
        aspect="auto",
        extent=(0.0, _SECONDS, 0.0, float(picture.frequencies_hz[-1]) / 1000),
        cmap=ListedColormap(night_amber() / 255.0),
        interpolation="bilinear",
    )


def _boxes(axes: Any, calls: CallTable) -> None:
    """Box every call, and name the first of calls of one label that follow each other."""
    last: dict[str, float] = {}
    for call, label in enumerate(calls.label):
        begin, end = float(calls.begin_s[call]), float(calls.end_s[call])
        low, high = float(calls.low_hz[call]) / 1000, float(calls.high_hz[call]) / 1000
        novel = label == _NOVEL
        axes.add_patch(
            Rectangle(
                (begin - 0.04, low - 0.1),
                end - begin + 0.08,
                high - low + 0.2,
                fill=False,
                edgecolor=_COLOURS[novel],
                linewidth=2.4 if novel else 1.2,
            )
        )
        if begin - last.get(label, -np.inf) > _SAME_S:
            axes.text(
                begin - 0.04 if begin < _RIGHT_S else end + 0.04,
                high + 0.2 if high < _TOP_KHZ else low - 0.5,
                label,
                horizontalalignment="left" if begin < _RIGHT_S else "right",
                color=_COLOURS[novel],
                fontsize=9,
                fontweight="bold" if novel else "normal",
                path_effects=[withStroke(linewidth=2.5, foreground="#05070d")],
                clip_on=True,
            )
        last[label] = end


def _fewer_colours(png: bytes) -> bytes:
    from PIL import Image

    picture = Image.open(io.BytesIO(png)).convert("RGB").quantize(64, dither=Image.Dither.NONE)
    written = io.BytesIO()
    picture.save(written, format="png", optimize=True)
    return written.getvalue()


if __name__ == "__main__":
    with TemporaryDirectory() as folder:
        TARGET.parent.mkdir(parents=True, exist_ok=True)
        TARGET.write_bytes(draw(run_soundscapes(folder)))
