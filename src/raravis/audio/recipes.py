"""Recipes: every setting that a result depends on, frozen, with a hash.

Two results can be compared, and a model used on new recordings, only if their recipes are equal;
the hash is how that is checked. It also changes when the computation itself does.
"""

import hashlib
import json
import math
from collections.abc import Mapping
from dataclasses import asdict, dataclass, fields
from typing import Any, ClassVar, Literal, Self, get_args

from raravis.errors import InputError

__all__ = ["FeatureKind", "FeatureRecipe", "SegmentRecipe", "SpectrogramRecipe"]

FeatureKind = Literal["shape38", "birdnet", "columns"]

_MIX = "mix"


@dataclass(frozen=True, kw_only=True)
class SpectrogramRecipe:
    """How the spectrogram of a recording is computed and freed of noise.

    Parameters
    ----------
    channel : int or "mix"
        The channel to use, from 0, or the mean of all.
    window_s, hop_s : float
        Length of a Hann window and the step to the next; rounded to whole samples.
    min_hz, max_hz : float
        What lies outside is left out; `max_hz` None means half the sample rate.
    smooth_s, smooth_hz : float
        Power is averaged over a box of about this size before it is compared with the noise; 0
        averages nothing. Noise then fluctuates less, and so does the edge of a sound.
    noise_window_s : float
        The noise level of every frequency is estimated anew in each stretch of this length, and
        interpolated in between. The stretches count from the start of the recording.
    noise_percentile : float
        The percentile, over the frames of a stretch, that is taken for the noise level.
    """

    algorithm: ClassVar[str] = "spectrogram"
    version: ClassVar[int] = 1

    channel: int | Literal["mix"] = "mix"
    window_s: float = 0.016
    hop_s: float = 0.004
    min_hz: float = 250.0
    max_hz: float | None = None
    smooth_s: float = 0.008
    smooth_hz: float = 125.0
    noise_window_s: float = 30.0
    noise_percentile: float = 30.0

    def __post_init__(self) -> None:
        self._check_channel()
        self._require_positive("window_s", "hop_s", "noise_window_s")
        self._require_not_negative("smooth_s", "smooth_hz")
        if self.hop_s > self.window_s:
            raise InputError(
                f"hop_s is {self.hop_s:g} and window_s {self.window_s:g}; pass a hop no longer "
                "than the window, or sounds between windows are lost"
            )
        if not 0 <= self._number("min_hz") < math.inf:
            raise InputError(f"min_hz is {self.min_hz!r}; pass a frequency of 0 Hz or more")
        if self.max_hz is not None and not self._number("max_hz") > self.min_hz:
            raise InputError(
                f"max_hz is {self.max_hz!r}; pass a frequency above min_hz ({self.min_hz:g}), or "
                "None for half the sample rate"
            )
        if not 0 < self._number("noise_percentile") < 100:
            raise InputError(
                f"noise_percentile is {self.noise_percentile!r}; pass a number between 0 and 100"
            )

    @property
    def hash(self) -> str:
        """SHA-256 of all settings and of the version of the computation."""
        content = {"algorithm": self.algorithm, "version": self.version, **self.to_dict()}
        text = json.dumps(content, sort_keys=True, separators=(",", ":"), allow_nan=False)
        return hashlib.sha256(text.encode()).hexdigest()

    def to_dict(self) -> dict[str, Any]:
        """Return all settings as plain values, for TOML or JSON."""
        return asdict(self)

    @classmethod
    def from_dict(cls, settings: Mapping[str, Any]) -> Self:
        """Make a recipe from what `to_dict` returned; settings left out take their defaults."""
        names = [field.name for field in fields(cls)]
        unknown = [name for name in settings if name not in names]
        if unknown:
            raise InputError(
                f"{unknown[0]!r} is no setting of a {cls.__name__}; its settings are "
                f"{', '.join(names)}"
            )
        return cls(**settings)

    def _check_channel(self) -> None:
        whole = isinstance(self.channel, int) and not isinstance(self.channel, bool)
        if self.channel != _MIX and not (whole and int(self.channel) >= 0):
            raise InputError(
                f"channel is {self.channel!r}; pass the number of a channel, from 0, or 'mix'"
            )

    def _number(self, name: str) -> float:
        value = getattr(self, name)
        if isinstance(value, bool) or not isinstance(value, int | float) or math.isnan(value):
            raise InputError(f"{name} is {value!r}; pass a number")
        # Ints and floats of one value are one setting, with one hash.
        object.__setattr__(self, name, float(value))
        return float(value)

    def _require_positive(self, *names: str) -> None:
        for name in names:
            value = self._number(name)
            if not 0 < value < math.inf:
                raise InputError(f"{name} is {value:g}; pass a positive number")

    def _require_not_negative(self, *names: str) -> None:
        for name in names:
            value = self._number(name)
            if not 0 <= value < math.inf:
                raise InputError(f"{name} is {value:g}; pass a number of 0 or more")


@dataclass(frozen=True, kw_only=True)
class SegmentRecipe(SpectrogramRecipe):
    """How sounds are found: what stands out of the noise, in connected regions.

    Parameters
    ----------
    low_db, high_db : float
        A region holds what is at least `low_db` above the noise, and at least one point `high_db`
        above it.
    valley_db : float
        Sounds that run into each other are taken apart where the level between them falls by at
        least this below both of their peaks.
    peak_range_db, peak_reach_s : float
        What is more than `peak_range_db` below the loudest point of its frequency's neighbourhood
        within `peak_reach_s` seconds is left out: echoes and tails.
    min_duration_s, max_duration_s : float
        Shorter regions are dropped, and one that goes on for longer is cut.
    min_bandwidth_hz, min_area_s_khz : float
        Narrower regions and those of fewer points are dropped; the area is in seconds times
        kilohertz.
    merge_gap_s : float
        Regions whose frequencies overlap and that follow each other after a pause of at most this
        are one.
    merge_overlap, merge_gap_hz : float
        Regions no further apart than `merge_gap_hz` are one sound if they share this part of their
        joint time, or if one is a small piece within the time of the other. So are regions further
        apart that agree twice as well, if their loudest frequencies are in a ratio of small whole
        numbers, as partials of a tone are. A `merge_overlap` above 1 and a `merge_gap_hz` of 0
        merge nothing but what touches.

    Examples
    --------
    >>> recipe = SegmentRecipe(min_hz=500)
    >>> SegmentRecipe.from_dict(recipe.to_dict()) == recipe
    True
    >>> recipe.hash == SegmentRecipe().hash
    False
    """

    algorithm: ClassVar[str] = "segments"
    version: ClassVar[int] = 1

    low_db: float = 8.0
    high_db: float = 12.0
    valley_db: float = 12.0
    peak_range_db: float = 25.0
    peak_reach_s: float = 0.1
    min_duration_s: float = 0.02
    max_duration_s: float = 10.0
    min_bandwidth_hz: float = 100.0
    min_area_s_khz: float = 0.03
    merge_gap_s: float = 0.0
    merge_overlap: float = 0.5
    merge_gap_hz: float = 1000.0

    def __post_init__(self) -> None:
        super().__post_init__()
        self._require_positive("low_db", "high_db", "valley_db", "peak_range_db")
        self._require_positive("max_duration_s")
        self._require_not_negative("peak_reach_s", "min_duration_s", "min_bandwidth_hz")
        self._require_not_negative("min_area_s_khz", "merge_gap_s", "merge_gap_hz")
        self._require_not_negative("merge_overlap")
        if self.high_db < self.low_db:
            raise InputError(
                f"low_db is {self.low_db:g} and high_db {self.high_db:g}; pass a high threshold "
                "that is not below the low one"
            )
        if self.max_duration_s <= self.min_duration_s:
            raise InputError(
                f"max_duration_s is {self.max_duration_s:g} and min_duration_s "
                f"{self.min_duration_s:g}; pass a maximum above the minimum"
            )


@dataclass(frozen=True, kw_only=True)
class FeatureRecipe(SpectrogramRecipe):
    """How a segment becomes a feature vector.

    Parameters
    ----------
    kind : {"shape38", "birdnet", "columns"}
        The 38 features of mask shape, profiles and gradients of the HJA work; embeddings of
        the BirdNET model, which needs the extra ``raravis[birdnet]``; or the columns of a table.
    mask_db, peak_range_db : float
        For ``"shape38"``: the mask of a segment is what is at least `mask_db` above the noise and
        at most `peak_range_db` below the segment's loudest point.
    isolate : bool
        For ``"birdnet"``: whether the model hears a segment alone, what is outside of its box
        being faded out, or with what surrounds it.
    table, table_sha256 : str, optional
        For ``"columns"``: the table and the checksum of its content; `table_recipe` fills them in.

    Examples
    --------
    >>> FeatureRecipe(kind="birdnet").hash == FeatureRecipe().hash
    False
    """

    algorithm: ClassVar[str] = "features"
    version: ClassVar[int] = 1

    kind: FeatureKind = "shape38"
    mask_db: float = 8.0
    peak_range_db: float = 25.0
    isolate: bool = True
    table: str | None = None
    table_sha256: str | None = None

    def __post_init__(self) -> None:
        super().__post_init__()
        self._require_positive("mask_db", "peak_range_db")
        if not isinstance(self.isolate, bool):
            raise InputError(f"isolate is {self.isolate!r}; pass True or False")
        if self.kind not in get_args(FeatureKind):
            kinds = " or ".join(map(repr, get_args(FeatureKind)))
            raise InputError(f"kind is {self.kind!r}; pass {kinds}")
        for name in ("table", "table_sha256"):
            value = getattr(self, name)
            if value is not None and not (isinstance(value, str) and value):
                raise InputError(f"{name} is {value!r}; pass text, or None")
        if (self.kind == "columns") != (self.table is not None):
            raise InputError(
                f"kind is {self.kind!r} and table {self.table!r}; pass a table with the kind "
                "'columns', and only with it"
            )
