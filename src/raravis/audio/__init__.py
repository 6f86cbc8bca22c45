"""From recordings to segments and their features; needs the extra ``raravis[audio]``."""

from raravis.audio.errors import AudioError
from raravis.audio.file_names import time_from_name
from raravis.audio.reading import clip
from raravis.audio.recipes import FeatureRecipe, SegmentRecipe
from raravis.audio.recordings import RecordingInfo, inspect_recording, list_recordings
from raravis.audio.segments import Segments, fixed_windows

__all__ = [
    "AudioError",
    "FeatureRecipe",
    "RecordingInfo",
    "SegmentRecipe",
    "Segments",
    "clip",
    "fixed_windows",
    "inspect_recording",
    "list_recordings",
    "time_from_name",
]
