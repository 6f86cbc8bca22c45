"""What a study is set to do: ``study.toml``, which people may read and edit."""

import json
import math
import tomllib
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, Literal, get_args

from raravis.audio import FeatureRecipe, SegmentRecipe
from raravis.errors import InputError
from raravis.study.errors import StudyError
from raravis.study.files import write_bytes

__all__ = [
    "FORMAT",
    "Decisions",
    "KnownLabels",
    "ModelKind",
    "Segmentation",
    "Settings",
    "read_settings",
    "write_settings",
]

FORMAT = 1

Segmentation = Literal["automatic", "windows", "boxes"]
KnownLabels = Literal["use", "ignore"]
ModelKind = Literal["NoveltyDetector", "KernelScorer"]
Decisions = Literal["use", "ignore"]

_CHOICES: dict[str, Any] = {
    "segmentation": Segmentation,
    "model": ModelKind,
    "decisions": Decisions,
    "known_labels": KnownLabels,
}

_HEAD = """\
# A raravis study: these settings, and beside them what was computed with them. They may be edited
# here; the next run computes again what depends on them, and nothing else.
"""


@dataclass(frozen=True, kw_only=True)
class Settings:
    """What a study is about and how its results are computed.

    Parameters
    ----------
    recordings : str
        The folder of the recordings.
    labels : str or None
        The table of the species heard in each recording.
    recording_column, species_column : str or None
        The columns of that table, where their names do not tell.
    separator : str
        What stands between species in a cell.
    segmentation : {"automatic", "windows", "boxes"}
        Sounds that stand out of the noise, windows of one length, or boxes that a table gives.
    window_s, hop_s : float
        Of the windows.
    boxes : str or None
        The table of the boxes.
    segment_recipe : SegmentRecipe
    feature_recipe : FeatureRecipe
    model : {"NoveltyDetector", "KernelScorer"}
        What learns the species.
    decisions : {"use", "ignore"}
        Whether it also learns from what people decided on the review page.
    known_labels : {"use", "ignore"}
        Whether the calls of a labelled recording can only be of the species listed for it.
    miss_rate : float or None
        What `calibrate` promises: at most this share of listed species lose all their calls in a
        recording. None leaves the model's own threshold.
    truth : str or None
        A table of sounds, or a folder of tables, that somebody has noted with their species: the
        report then says how right the results are. Nothing is learned from it.
    seed : int
    """

    recordings: str
    labels: str | None = None
    recording_column: str | None = None
    species_column: str | None = None
    separator: str = ";"
    segmentation: Segmentation = "automatic"
    window_s: float = 3.0
    hop_s: float | None = None
    boxes: str | None = None
    segment_recipe: SegmentRecipe = field(default_factory=SegmentRecipe)
    feature_recipe: FeatureRecipe = field(default_factory=FeatureRecipe)
    model: ModelKind = "NoveltyDetector"
    decisions: Decisions = "ignore"
    known_labels: KnownLabels = "use"
    miss_rate: float | None = None
    truth: str | None = None
    seed: int = 0

    def __post_init__(self) -> None:
        for name, kinds in _CHOICES.items():
            if getattr(self, name) not in get_args(kinds):
                accepted = ", ".join(map(repr, get_args(kinds)))
                raise InputError(f"{name} is {getattr(self, name)!r}; pass one of {accepted}.")
        _require_number("window_s", self.window_s, above=0.0)
        if self.hop_s is not None:
            _require_number("hop_s", self.hop_s, above=0.0)
        if self.miss_rate is not None:
            _require_number("miss_rate", self.miss_rate, above=0.0, below=1.0)
        if type(self.seed) is not int or self.seed < 0:
            raise InputError(f"seed is {self.seed!r}; pass a whole number, at least 0.")
        if self.segmentation == "boxes" and not self.boxes:
            raise InputError('segmentation is "boxes", but there is no table of boxes; name one.')

    def changed(self, **settings: Any) -> "Settings":
        """Return the settings with some replaced."""
        return replace(self, **settings)


def _require_number(name: str, value: Any, *, above: float, below: float = math.inf) -> None:
    if isinstance(value, bool) or not isinstance(value, int | float) or not above < value < below:
        upper = "" if math.isinf(below) else f" and below {below:g}"
        raise InputError(f"{name} is {value!r}; pass a number above {above:g}{upper}.")


# ---------------------------------------------------------------------- TOML

# The table of study.toml that each setting stands in, and its name there.
_PLACES = {
    "recordings": ("study", "recordings"),
    "seed": ("study", "seed"),
    "labels": ("labels", "table"),
    "recording_column": ("labels", "recording_column"),
    "species_column": ("labels", "species_column"),
    "separator": ("labels", "separator"),
    "segmentation": ("segments", "method"),
    "window_s": ("segments", "window_s"),
    "hop_s": ("segments", "hop_s"),
    "boxes": ("segments", "boxes"),
    "segment_recipe": ("segments", "recipe"),
    "feature_recipe": ("features", "recipe"),
    "model": ("model", "kind"),
    "decisions": ("model", "decisions"),
    "known_labels": ("scores", "known_labels"),
    "miss_rate": ("scores", "miss_rate"),
    "truth": ("report", "truth"),
}


def write_settings(settings: Settings, path: Path) -> None:
    """Write ``study.toml``."""
    tables: dict[str, dict[str, Any]] = {"study": {"format": FORMAT}}
    for name, (table, key) in _PLACES.items():
        value = getattr(settings, name)
        if hasattr(value, "to_dict"):
            tables[f"{table}.{key}"] = value.to_dict()
        else:
            tables.setdefault(table, {})[key] = value
    text = _HEAD + "".join(_table_text(name, table) for name, table in sorted(tables.items()))
    write_bytes(text.encode(), path)


def _table_text(name: str, values: Mapping[str, Any]) -> str:
    # TOML has no null: what is not set is a comment.
    lines = [f"# {k} =" if v is None else f"{k} = {_value_text(v)}" for k, v in values.items()]
    return f"\n[{name}]\n" + "".join(f"{line}\n" for line in lines)


def _value_text(value: Any) -> str:
    # What JSON writes for text without other than ASCII, numbers and truth is TOML as well,
    # but for halves of surrogate pairs, which stand in no path that UTF-8 can hold.
    if isinstance(value, str):
        # JSON lets the one control character stand that TOML does not.
        return json.dumps(value, ensure_ascii=False).replace("\x7f", "\\u007f")
    return json.dumps(value)


def read_settings(path: Path) -> Settings:
    """Read ``study.toml``; what it says wrong is told with its name."""
    try:
        found = tomllib.loads(path.read_text(encoding="utf-8"))
    except (OSError, ValueError, RecursionError) as error:
        raise StudyError(f"{path} cannot be read ({error}); correct it or restore it.") from error
    _check_format(found, path)
    try:
        return _from_tables(found)
    except (InputError, TypeError) as error:
        raise StudyError(f"{path}: {error} Correct it there.") from error


def _check_format(found: Mapping[str, Any], path: Path) -> None:
    head = found.get("study")
    version = head.get("format") if isinstance(head, dict) else None
    if not isinstance(version, int):
        raise StudyError(f"{path} is not the study.toml of a study: it has no format; restore it.")
    if version > FORMAT:
        raise StudyError(
            f"{path} has format {version}, but this raravis reads up to {FORMAT}; update raravis."
        )


def _from_tables(found: Mapping[str, Any]) -> Settings:
    _refuse_strangers(found)
    values: dict[str, Any] = {}
    for name, (table, key) in _PLACES.items():
        if key in found.get(table, {}):
            values[name] = found[table][key]
    if not isinstance(values.get("recordings"), str):
        raise InputError("[study] recordings is missing; name the folder of the recordings.")
    for name, recipe in (("segment_recipe", SegmentRecipe), ("feature_recipe", FeatureRecipe)):
        if name in values:
            values[name] = recipe.from_dict(values[name])
    return Settings(**values)


def _refuse_strangers(found: Mapping[str, Any]) -> None:
    known = {*_PLACES.values(), ("study", "format")}
    for table, entries in found.items():
        for key in entries if isinstance(entries, dict) else [""]:
            if (table, key) not in known:
                names = ", ".join(sorted(f"{t}.{k}" for t, k in known))
                raise InputError(f"there is no setting {table}.{key}; there are {names}.")
