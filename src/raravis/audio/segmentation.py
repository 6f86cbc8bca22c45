"""Find the sounds in a recording."""

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import pairwise

import numpy as np
import numpy.typing as npt

from raravis.audio.noise import excess_parts
from raravis.audio.reading import BLOCK_FRAMES, PathLike, open_recording
from raravis.audio.recipes import SegmentRecipe
from raravis.audio.regions import Regions, find_regions
from raravis.audio.segments import Segments
from raravis.audio.spectrogram import Grid

__all__ = ["segment_recording"]

IntArray = npt.NDArray[np.int64]
BoolArray = npt.NDArray[np.bool_]

# Ratios of partials that stand next to each other or close by, and how exact they are.
_RATIOS = (2.0, 3.0, 4.0, 5.0, 3 / 2, 4 / 3)
_RATIO_TOLERANCE = 0.03
# A region of at most this share of another's points, with this share of its time within the other's
# time, is a piece of it.
_FRAGMENT_SHARE, _FRAGMENT_WITHIN = 0.25, 0.8
# Pairs that are compared at a time: bounds the memory that a day of dense song takes.
_PAIRS_AT_A_TIME = 1 << 17


def segment_recording(
    path: PathLike, recipe: SegmentRecipe | None = None, *, block_frames: int = BLOCK_FRAMES
) -> Segments:
    """Find the sounds in a recording: connected regions that stand out of the noise.

    The noise level of each frequency is taken off, points `low_db` above it that are connected
    make a region, and regions without a point `high_db` above it are dropped. Sounds at the same
    time but at different frequencies are different segments. The recording is read in blocks:
    memory does not grow with its length, and the result does not depend on the size of the blocks.

    Parameters
    ----------
    path : path
    recipe : SegmentRecipe, optional
    block_frames : int
        Samples of each channel to read at a time.

    Returns
    -------
    Segments
        None at all if nothing stands out; a box holds the middle of every frame and bin it covers.
    """
    recipe = SegmentRecipe() if recipe is None else recipe
    with open_recording(path, channel=recipe.channel) as sound:
        grid = Grid.of(recipe, sound.sample_rate_hz)
        if not grid.n_bins:
            return Segments.empty()
        excess = excess_parts(sound, grid, recipe, block_frames=block_frames)
        regions = find_regions(excess, grid, recipe)
    return _boxes(_merged(_sizeable(regions, grid, recipe), grid, recipe), grid, recipe)


def _merged(regions: Regions, grid: Grid, recipe: SegmentRecipe) -> Regions:
    """Join regions that are one sound, until no two are: what is joined reaches further."""
    while True:
        joined = _joined_once(regions, grid, recipe)
        if len(joined) == len(regions):
            return joined
        regions = joined.take(np.lexsort((joined.first_bin, joined.first_frame)))


def _sizeable(regions: Regions, grid: Grid, recipe: SegmentRecipe) -> Regions:
    area_s_khz = regions.n_points * grid.step_s * grid.step_hz / 1000
    return regions.take(area_s_khz >= recipe.min_area_s_khz)


def _joined_once(regions: Regions, grid: Grid, recipe: SegmentRecipe) -> Regions:
    """Join regions that are one sound, and all that such pairs connect."""
    from scipy.sparse import coo_array
    from scipy.sparse.csgraph import connected_components

    n = len(regions)
    gap = round(recipe.merge_gap_s / grid.step_s)
    # Regions come in order of their begin: those that begin until one ends follow it.
    until = np.searchsorted(regions.first_frame, regions.end_frame + gap, side="right")
    n_later = np.maximum(0, until - np.arange(n) - 1)
    pairs = [np.empty((2, 0), np.int64)]
    for one, other in _pairs(n_later):
        pair = _Pair.of(regions, one, other)
        same = _follow(pair, gap) | _partials(pair, grid, recipe) | _fragment(pair, grid, recipe)
        pairs.append(np.stack([one[same], other[same]]))
    rows, columns = np.concatenate(pairs, axis=1)
    links = coo_array((np.ones(len(rows)), (rows, columns)), shape=(n, n))
    n_groups, groups = connected_components(links, directed=False)
    return regions.joined(groups, n_groups)


def _pairs(n_later: IntArray) -> Iterator[tuple[IntArray, IntArray]]:
    """Return every i with each of the `n_later[i]` numbers after it, some at a time."""
    bounds = np.searchsorted(
        np.cumsum(n_later), np.arange(0, n_later.sum() + _PAIRS_AT_A_TIME, _PAIRS_AT_A_TIME)
    )
    bounds[-1] = len(n_later)
    for begin, end in pairwise(bounds):
        yield _pairs_of(n_later, begin, end)


def _pairs_of(n_later: IntArray, begin: int, end: int) -> tuple[IntArray, IntArray]:
    counts = n_later[begin:end]
    one = np.repeat(np.arange(begin, end), counts)
    before = np.repeat(np.cumsum(counts) - counts, counts)
    return one, one + 1 + np.arange(len(one)) - before


@dataclass(frozen=True, slots=True, eq=False)
class _Pair:
    """Pairs of regions, in frames and bins: the times they share and have, and so on."""

    shared: IntArray
    joint: IntArray
    shorter: IntArray
    pause: IntArray
    gap: IntArray
    points: IntArray
    peak_bin: IntArray

    @classmethod
    def of(cls, regions: Regions, one: IntArray, other: IntArray) -> "_Pair":
        both = np.stack([one, other])
        begin, end = regions.first_frame[both], regions.end_frame[both]
        pause = begin.max(axis=0) - end.min(axis=0)
        return cls(
            shared=np.maximum(0, -pause),
            joint=end.max(axis=0) - begin.min(axis=0),
            shorter=(end - begin).min(axis=0),
            pause=pause,
            gap=regions.first_bin[both].max(axis=0) - regions.end_bin[both].min(axis=0),
            points=regions.n_points[both],
            peak_bin=regions.peak_bin[both],
        )


def _follow(pair: _Pair, longest_pause: int) -> BoolArray:
    """Say which pairs share frequencies and follow each other after a short pause."""
    close: BoolArray = (pair.gap < 0) & (pair.pause <= longest_pause) & (pair.pause > 0)
    return close


def _partials(pair: _Pair, grid: Grid, recipe: SegmentRecipe) -> BoolArray:
    """Say which pairs begin and end together, and are near or at pitches in a simple ratio."""
    pitch = pair.peak_bin + grid.first_bin
    ratio = pitch.max(axis=0) / np.maximum(1, pitch.min(axis=0))
    off = np.abs(ratio[:, np.newaxis] / np.array(_RATIOS) - 1).min(axis=1)
    near = pair.gap * grid.step_hz <= recipe.merge_gap_hz
    # What is far apart has to agree better in time to be taken for one sound.
    wanted = np.where(near, recipe.merge_overlap, (1 + recipe.merge_overlap) / 2)
    partials: BoolArray = (near | (off <= _RATIO_TOLERANCE)) & (pair.shared >= wanted * pair.joint)
    return partials


def _fragment(pair: _Pair, grid: Grid, recipe: SegmentRecipe) -> BoolArray:
    """Say which pairs are a sound and a small piece of it nearby, within its time."""
    near = pair.gap * grid.step_hz <= recipe.merge_gap_hz
    small = pair.points.min(axis=0) <= _FRAGMENT_SHARE * pair.points.max(axis=0)
    fragment: BoolArray = near & small & (pair.shared >= _FRAGMENT_WITHIN * pair.shorter)
    return fragment


def _boxes(regions: Regions, grid: Grid, recipe: SegmentRecipe) -> Segments:
    """Return the boxes that are large enough, in pieces where they are too long."""
    begin_s = np.maximum(0.0, grid.frame_edge_s(regions.first_frame))
    end_s = grid.frame_edge_s(regions.end_frame)
    low_hz = np.maximum(0.0, grid.bin_edge_hz(regions.first_bin))
    high_hz = np.minimum(grid.sample_rate_hz / 2, grid.bin_edge_hz(regions.end_bin))
    large = (end_s - begin_s >= recipe.min_duration_s - 1e-9) & (
        high_hz - low_hz >= recipe.min_bandwidth_hz - 1e-9
    )
    begin_s, end_s, low_hz, high_hz = (v[large] for v in (begin_s, end_s, low_hz, high_hz))
    n_pieces = np.ceil((end_s - begin_s) / recipe.max_duration_s - 1e-9).astype(np.int64)
    step = np.repeat((end_s - begin_s) / n_pieces, n_pieces)
    number = np.arange(len(step)) - np.repeat(np.cumsum(n_pieces) - n_pieces, n_pieces)
    begin = np.repeat(begin_s, n_pieces) + number * step
    return Segments(begin, begin + step, np.repeat(low_hz, n_pieces), np.repeat(high_hz, n_pieces))
