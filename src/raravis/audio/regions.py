"""Connected regions of what stands out of the noise, found in parts of a spectrogram."""

from collections.abc import Iterator
from dataclasses import dataclass, fields
from typing import Any, Self, TypeAlias

import numpy as np
import numpy.typing as npt

from raravis.audio.recipes import SegmentRecipe
from raravis.audio.spectrogram import Grid, Power, with_context

__all__ = ["Regions", "find_regions"]

IntArray: TypeAlias = npt.NDArray[np.int64]
Labels: TypeAlias = npt.NDArray[np.int32]
BoolArray: TypeAlias = npt.NDArray[np.bool_]

# Levels closer than this are not told apart when basins are flooded.
_LEVEL_STEP_DB = 0.05


@dataclass(frozen=True, slots=True, eq=False)
class Regions:
    """What is kept of regions: the box, the number of points, and the loudest of them.

    Frames and bins are half-open intervals; bins count from the first one that is kept.

    Parameters
    ----------
    first_frame, end_frame, first_bin, end_bin : array of int of shape (n,)
    n_points : array of int of shape (n,)
    peak_db : array of shape (n,)
        Above the noise.
    peak_bin : array of int of shape (n,)
    """

    first_frame: IntArray
    end_frame: IntArray
    first_bin: IntArray
    end_bin: IntArray
    n_points: IntArray
    peak_db: Power
    peak_bin: IntArray

    @classmethod
    def concat(cls, parts: list["Regions"]) -> Self:
        """Put regions after each other."""
        return cls(*(np.concatenate([getattr(p, f.name) for p in parts]) for f in fields(cls)))

    @classmethod
    def empty(cls) -> Self:
        """Return no regions."""
        columns: dict[str, Any] = {field.name: np.empty(0, np.int64) for field in fields(cls)}
        return cls(**{**columns, "peak_db": np.empty(0, np.float32)})

    def take(self, rows: IntArray | BoolArray) -> "Regions":
        """Return some of the regions."""
        return Regions(*(getattr(self, field.name)[rows] for field in fields(self)))

    def joined(self, groups: IntArray | Labels, n_groups: int) -> "Regions":
        """Make one region of all that are in a group; groups are numbered from 0."""
        lowest = (np.full(n_groups, np.iinfo(np.int64).max) for _ in range(2))
        first_frame, first_bin = lowest
        np.minimum.at(first_frame, groups, self.first_frame)
        np.minimum.at(first_bin, groups, self.first_bin)
        end_frame, end_bin = (np.zeros(n_groups, np.int64) for _ in range(2))
        np.maximum.at(end_frame, groups, self.end_frame)
        np.maximum.at(end_bin, groups, self.end_bin)
        # The loudest comes last in its group, so that it is what stays; of equals, the lowest.
        order = np.lexsort((-self.peak_bin, self.peak_db))
        loudest = np.zeros(n_groups, np.int64)
        loudest[groups[order]] = order
        return Regions(
            first_frame,
            end_frame,
            first_bin,
            end_bin,
            np.bincount(groups, self.n_points, minlength=n_groups).astype(np.int64),
            self.peak_db[loudest],
            self.peak_bin[loudest],
        )

    def __len__(self) -> int:
        return len(self.n_points)


def find_regions(excess: Iterator[Power], grid: Grid, recipe: SegmentRecipe) -> Regions:
    """Find regions that hold `low_db` everywhere and `high_db` somewhere, in order of their begin.

    Regions that go on from one part into the next are one; parts are cut where the least goes on.
    """
    reach = round(recipe.peak_reach_s / grid.step_s)
    done: list[Regions] = []
    seam = _Seam.blank(grid.n_bins)
    first_frame = 0
    for part, mask in _parts_to_label(excess, reach, recipe):
        found, labels = _label(part, mask, first_frame, recipe)
        finished, seam = _continued(seam, found, labels)
        done.append(finished.take(finished.peak_db >= recipe.high_db))
        first_frame += len(part)
    done.append(seam.open.take(seam.open.peak_db >= recipe.high_db))
    regions = Regions.concat(done)
    return regions.take(np.lexsort((regions.first_bin, regions.first_frame)))


def _parts_to_label(
    excess: Iterator[Power], reach: int, recipe: SegmentRecipe
) -> Iterator[tuple[Power, BoolArray]]:
    """Return parts with their masks, cut where the fewest points are in the mask."""
    held: list[tuple[Power, BoolArray]] = []
    for extended in with_context(excess, reach):
        part = extended[reach : len(extended) - reach]
        mask = part >= recipe.low_db
        mask &= part > _loudest_near(extended, reach) - np.float32(recipe.peak_range_db)
        held.append((part, mask))
        whole, covered = (np.concatenate(both) for both in zip(*held, strict=True))
        # Anywhere in the later half, and there the last of the best places.
        middle = len(covered) // 2
        counts = np.count_nonzero(covered[middle:], axis=1)
        cut = len(covered) - int(counts[::-1].argmin())
        yield whole[:cut], covered[:cut]
        held = [(whole[cut:], covered[cut:])]
    yield from (last for last in held if len(last[0]))


def _loudest_near(extended: Power, reach: int) -> Power:
    """Return the maximum over `reach` frames on both sides, by doubling."""
    n_out = len(extended) - 2 * reach
    width, wanted = 1, 2 * reach + 1
    highest = extended
    while 2 * width <= wanted:
        highest = np.maximum(highest[:-width], highest[width:])
        width *= 2
    rest = wanted - width
    return np.maximum(highest[:n_out], highest[rest : rest + n_out])


def _label(
    part: Power, mask: BoolArray, first_frame: int, recipe: SegmentRecipe
) -> tuple[Regions, Labels]:
    """Find the regions of one part; labels count from 1."""
    from raravis.audio._loops import flood, measure_basins, order_by_level

    points = np.flatnonzero(mask)
    order = order_by_level(part.ravel()[points], recipe.low_db, _LEVEL_STEP_DB)
    labels, n_found = flood(part, points[order], np.float32(recipe.valley_db))
    table, peak_db = measure_basins(part, labels, points, n_found)
    begin, end, first_bin, end_bin, n_points, peak_bin = table
    return Regions(
        begin + first_frame,
        end + first_frame,
        first_bin,
        end_bin,
        n_points,
        peak_db,
        peak_bin,
    ), labels


@dataclass(frozen=True, slots=True)
class _Seam:
    """The last frame so far: the regions that reach it, and which of them every bin is in."""

    open: Regions
    owner: IntArray

    @classmethod
    def blank(cls, n_bins: int) -> "_Seam":
        return cls(Regions.empty(), np.full(n_bins, -1))


def _continued(seam: _Seam, found: Regions, labels: Labels) -> tuple[Regions, _Seam]:
    """Join what goes on from one part into the next; return what has ended, and the new seam."""
    from scipy.sparse import coo_array
    from scipy.sparse.csgraph import connected_components

    n_open = len(seam.open)
    every = Regions.concat([seam.open, found])
    first, last = labels[0] - 1, labels[-1] - 1
    before, after = _neighbours(seam.owner, first)
    links = coo_array(
        (np.ones(len(before)), (before, n_open + after)), shape=(len(every), len(every))
    )
    n_groups, groups = connected_components(links, directed=False)
    joined = every.joined(groups, n_groups)
    owner = np.full(len(last), -1)
    owner[last >= 0] = groups[n_open + last[last >= 0]]
    open_groups = np.unique(owner[owner >= 0])
    ended = np.ones(n_groups, dtype=np.bool_)
    ended[open_groups] = False
    place = np.searchsorted(open_groups, owner)
    return joined.take(ended), _Seam(joined.take(open_groups), np.where(owner >= 0, place, -1))


def _neighbours(last: IntArray, first: IntArray) -> tuple[IntArray, IntArray]:
    """Return the regions that meet where one frame follows another, corner to corner included."""
    n = len(last)
    before = np.concatenate([last[max(0, -shift) : n - max(0, shift)] for shift in (-1, 0, 1)])
    after = np.concatenate([first[max(0, shift) : n - max(0, -shift)] for shift in (-1, 0, 1)])
    meet = (before >= 0) & (after >= 0)
    return before[meet], after[meet]
