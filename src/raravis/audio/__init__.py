"""From recordings to segments and their features; needs the extra ``raravis[audio]``."""

from raravis.audio.columns import table_recipe
from raravis.audio.errors import AudioError
from raravis.audio.features import extract_features, feature_names, feature_terms
from raravis.audio.file_names import time_from_name
from raravis.audio.reading import clip
from raravis.audio.recipes import FeatureRecipe, SegmentRecipe
from raravis.audio.recordings import RecordingInfo, inspect_recording, list_recordings
from raravis.audio.segmentation import segment_recording
from raravis.audio.segments import Segments, fixed_windows
from raravis.audio.spectrogram import Picture, spectrogram_image

__all__ = [
    "AudioError",
    "FeatureRecipe",
    "Picture",
    "RecordingInfo",
    "SegmentRecipe",
    "Segments",
    "clip",
    "extract_features",
    "feature_names",
    "feature_terms",
    "fixed_windows",
    "inspect_recording",
    "list_recordings",
    "segment_recording",
    "spectrogram_image",
    "table_recipe",
    "time_from_name",
]
