"""What there is to see and hear of a call: sound, pictures, or nothing but features."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Literal, Protocol, TypeAlias, get_args

import numpy as np
import numpy.typing as npt

from raravis.formats import CallTable
from raravis.review.pictures import Colours, grey_png, spectrogram_png, wav

__all__ = [
    "VIEWS",
    "FeatureMedia",
    "Frame",
    "Media",
    "MediaKind",
    "PictureMedia",
    "SoundMedia",
    "View",
]

MediaKind: TypeAlias = Literal["sound", "picture", "features"]
View: TypeAlias = Literal["context", "near"]

VIEWS: tuple[View, ...] = get_args(View)

FloatArray: TypeAlias = npt.NDArray[np.floating]

_MOST_COLUMNS: dict[View, int] = {"context": 1000, "near": 240}
_LONGEST_S = 30.0


@dataclass(frozen=True, slots=True)
class Frame:
    """What part of a recording a picture shows, or a sound plays."""

    begin_s: float
    end_s: float
    low_hz: float = 0.0
    high_hz: float = 0.0


class Media(Protocol):
    """What the page asks of the medium, by the position of a call; None = there is nothing."""

    @property
    def kind(self) -> MediaKind:
        """What it is."""

    def frame(self, position: int, view: View) -> Frame | None:
        """Return what the picture and the sound of a view cover."""

    def picture(self, position: int, view: View, colours: Colours) -> bytes | None:
        """Return a PNG."""

    def sound(self, position: int, view: View) -> bytes | None:
        """Return a WAV."""

    def vector(self, position: int) -> list[float] | None:
        """Return the features that are shown in place of a picture."""


@dataclass(frozen=True, eq=False)
class SoundMedia:
    """Calls in recordings: spectrograms, and stretches to listen to.

    Parameters
    ----------
    calls : CallTable
    path_of : callable
        From the name of a recording to its file. Names come from the study, never from a request.
    durations : mapping of str to float
        Of the recordings, in seconds.
    reach_hz : float
        What the recordings reach up to: half of the greatest sample rate; 0 = unknown.
    """

    calls: CallTable
    path_of: Callable[[str], Path]
    durations: Mapping[str, float]
    reach_hz: float = 0.0
    kind: MediaKind = "sound"
    #: What pictures reach up to, at the least: the same for all calls, so that they compare.
    highest_hz: float = field(init=False)

    def __post_init__(self) -> None:
        usual = _usual_highest(self.calls)
        highest = min(usual, self.reach_hz) if self.reach_hz else usual
        object.__setattr__(self, "highest_hz", highest)

    def frame(self, position: int, view: View) -> Frame:
        """Return the call with silence around it ("near"), or well within its surroundings."""
        begin, end = float(self.calls.begin_s[position]), float(self.calls.end_s[position])
        length = end - begin
        if view == "near":
            width = min(max(length + 0.3, 0.6), _LONGEST_S)
        else:
            width = min(max(3.0 * length, length + 1.0, 2.5), max(_LONGEST_S, length))
        duration = max(self.durations.get(self.calls.recording[position], end), end)
        width = min(width, duration)
        first = min(max(0.0, (begin + end - width) / 2), duration - width)
        above = 1.05 * float(np.nan_to_num(self.calls.high_hz[position]))
        if self.reach_hz:
            above = min(above, self.reach_hz)
        return Frame(first, first + width, 0.0, max(self.highest_hz, above))

    def picture(self, position: int, view: View, colours: Colours) -> bytes | None:
        """Return a spectrogram; None if the recording cannot be read any more."""
        from raravis.audio import AudioError, spectrogram_image

        found = self.frame(position, view)
        try:
            seen = spectrogram_image(
                self._path(position),
                found.begin_s,
                found.end_s,
                high_hz=found.high_hz,
                max_columns=_MOST_COLUMNS[view],
            )
        except (AudioError, OSError):
            return None
        return spectrogram_png(_up_to(seen.decibels, seen.frequencies_hz, found.high_hz), colours)

    def sound(self, position: int, view: View) -> bytes | None:
        """Return what the picture shows, to listen to."""
        from raravis.audio import AudioError, clip

        found = self.frame(position, view)
        try:
            samples, rate = clip(self._path(position), found.begin_s, found.end_s)
        except (AudioError, OSError):
            return None
        return wav(samples, rate) if len(samples) else None

    def vector(self, position: int) -> None:
        """Return nothing: there is more to see than features."""
        del position

    def _path(self, position: int) -> Path:
        return self.path_of(self.calls.recording[position])


def _usual_highest(calls: CallTable) -> float:
    """Return what nearly all calls stay below, with some room above."""
    known = calls.high_hz[np.isfinite(calls.high_hz)]
    return float(1.2 * np.percentile(known, 99)) if len(known) else 12_000.0


def _up_to(decibels: FloatArray, frequencies_hz: FloatArray, high_hz: float) -> FloatArray:
    """Fill up with silence to a frequency that the recording does not reach."""
    if len(frequencies_hz) < 2 or not decibels.size:
        return decibels
    step = frequencies_hz[1] - frequencies_hz[0]
    missing = int((high_hz - frequencies_hz[-1]) / step)
    if missing <= 0:
        return decibels
    return np.pad(decibels, ((0, missing), (0, 0)), constant_values=decibels.min())


@dataclass(frozen=True, eq=False)
class PictureMedia:
    """Instances that are pictures.

    Parameters
    ----------
    pictures : sequence of array of shape (height, width)
        Grey, from 0 (black) to 255 (white).
    """

    pictures: Sequence[npt.ArrayLike]
    kind: MediaKind = "picture"

    def frame(self, position: int, view: View) -> None:
        """Return nothing: a picture is seen whole."""

    def picture(self, position: int, view: View, colours: Colours) -> bytes:
        """Return the picture; there is but one."""
        del view
        return grey_png(self.pictures[position], colours)

    def sound(self, position: int, view: View) -> None:
        """Return nothing."""

    def vector(self, position: int) -> None:
        """Return nothing: there is more to see than features."""


@dataclass(frozen=True, eq=False)
class FeatureMedia:
    """Instances of which there is nothing but features."""

    features: FloatArray
    kind: MediaKind = "features"

    def frame(self, position: int, view: View) -> None:
        """Return nothing."""

    def picture(self, position: int, view: View, colours: Colours) -> None:
        """Return nothing: the page draws the features itself."""

    def sound(self, position: int, view: View) -> None:
        """Return nothing."""

    def vector(self, position: int) -> list[float]:
        """Return the features, scaled to the range that they have over all instances."""
        low, high = self.features.min(axis=0), self.features.max(axis=0)
        span = np.where(high > low, high - low, 1.0)
        scaled = (self.features[position] - low) / span
        return [round(float(value), 4) for value in scaled[:_MOST_FEATURES]]


_MOST_FEATURES = 512
