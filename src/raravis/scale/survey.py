"""One pass over a data set before the fit: what there is, how features spread, some bags to start.

What is learned of a part is small and can be merged, so parts may be looked at anywhere; the answer
does not depend on where or in which order.
"""

import hashlib
from collections.abc import Hashable, Iterable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from raravis import _classes
from raravis._provenance import HashArray
from raravis._segments import offsets_of
from raravis.errors import InputError
from raravis.scale.parts import BagParts, Block
from raravis.scaling import Scaling, ScalingName

__all__ = ["PartSurvey", "Sample", "Survey", "look_at", "merged"]

Doubles = NDArray[np.float64]
_HASH_BYTES = 8
#: How many times the bags wanted are looked at in all parts together.
_SPARE = 4.0


@dataclass(frozen=True)
class Sample:
    """The bags of lowest lot, so many that they hold about ``size`` instances together."""

    size: int
    lots: Doubles
    bags: tuple[NDArray[np.float32], ...]
    label_lists: tuple[Any, ...]

    @classmethod
    def of(cls, parts: Iterable["Sample"], size: int) -> "Sample":
        """Keep the lowest lots of several samples."""
        listed = list(parts)
        lots = np.concatenate([np.empty(0), *(s.lots for s in listed)])
        bags = [bag for s in listed for bag in s.bags]
        lists = [labels for s in listed for labels in s.label_lists]
        order = np.argsort(lots, kind="stable")
        held = np.cumsum([len(bags[i]) for i in order])
        order = order[: int(np.searchsorted(held, size)) + 1]
        return cls(size, lots[order], tuple(bags[i] for i in order), tuple(lists[i] for i in order))

    def block(self) -> Block:
        """Return the sample as one block."""
        sizes = [len(bag) for bag in self.bags]
        return Block(
            -1,
            np.concatenate(self.bags),
            offsets_of(sizes),
            list(range(len(sizes))),
            list(self.label_lists),
        )


@dataclass(frozen=True)
class PartSurvey:
    """What one part holds: counts, spread of features, classes, hashes of bags, a sample."""

    n_instances: int
    low: Doubles
    high: Doubles
    mean: Doubles
    scatter: Doubles
    classes: frozenset[Hashable]
    n_labelled: int
    key_hashes: HashArray
    bag_hashes: HashArray
    sample: Sample


@dataclass(frozen=True)
class Survey:
    """What all parts hold."""

    n_instances: int
    n_bags: int
    low: Doubles
    high: Doubles
    mean: Doubles
    variance: Doubles
    classes: tuple[Hashable, ...]
    bag_hashes: HashArray
    sample: Sample

    def scaling(self, name: ScalingName) -> Scaling:
        """Return the feature scaling of that name."""
        if name == "minmax":
            return _safe(self.low, self.high - self.low)
        if name == "standard":
            return _safe(self.mean, np.sqrt(self.variance))
        if name == "none":
            return Scaling(np.zeros(len(self.low)), np.ones(len(self.low)))
        raise InputError(
            f"scaling is {name!r}; over a data set on disk it can be 'minmax', 'standard' or "
            "'none', which one pass is enough for."
        )

    def mean_squared_distance(self, scaling: Scaling) -> float:
        """Return the mean squared distance of all pairs of scaled instances."""
        return float(2.0 * (self.variance / scaling.scale**2).sum())


def _safe(shift: Doubles, scale: Doubles) -> Scaling:
    return Scaling(shift, np.where(scale > np.finfo(np.float64).tiny, scale, 1.0))


def look_at(
    parts: BagParts, part: int, *, rows: int, sample_size: int, seed: int, soften: bool
) -> PartSurvey:
    """Read one part and say what it holds."""
    rng = np.random.default_rng([seed, part])
    # A lot far above the share wanted is never among the lowest, so it is not carried along.
    highest = _SPARE * sample_size / parts.n_instances
    found = [
        _look(block, parts, rng, (sample_size, highest), soften)
        for block in parts.blocks(part, rows=rows)
    ]
    if not found:
        return _nothing(parts.n_features, sample_size)
    return _joined(found, sample_size)


def merged(parts: BagParts, found: Sequence[PartSurvey]) -> Survey:
    """Put together what was found in the parts, in their order; refuse a bag that is in two."""
    _require_whole_bags(parts, found)
    size = found[0].sample.size
    whole = _joined([part for part in found if part.n_instances], size)
    if not whole.classes:
        raise InputError(
            f"{parts.files[0].parent}: no bag lists a class in {parts.labels!r}, so there is none "
            "to be learned; fill the column, or name another one with labels=."
        )
    return Survey(
        whole.n_instances,
        len(whole.key_hashes),
        whole.low,
        whole.high,
        whole.mean,
        whole.scatter / whole.n_instances,
        _classes.checked_classes(whole.classes),
        whole.bag_hashes,
        whole.sample,
    )


def _look(
    block: Block,
    parts: BagParts,
    rng: np.random.Generator,
    wanted: tuple[int, float],
    soften: bool,
) -> PartSurvey:
    if not soften:
        _require_room(block, parts)
    X = block.instances.astype(np.float64)
    mean = X.mean(axis=0)
    lots = rng.random(block.n_bags)
    ends = zip(block.offsets[:-1], block.offsets[1:], strict=True)
    views = [block.instances[start:stop] for start, stop in ends]
    sample_size, highest = wanted
    candidates = np.argsort(lots, kind="stable")
    candidates = candidates[lots[candidates] <= highest]
    held = np.cumsum(np.diff(block.offsets)[candidates])
    candidates = candidates[: int(np.searchsorted(held, sample_size)) + 1]
    return PartSurvey(
        n_instances=block.n_instances,
        low=X.min(axis=0),
        high=X.max(axis=0),
        mean=mean,
        scatter=np.square(X - mean).sum(axis=0),
        classes=frozenset(label for item in block.label_lists for label in item or ()),
        n_labelled=sum(item is not None for item in block.label_lists),
        key_hashes=_hashes(repr(key).encode() for key in block.keys),
        # As raravis._provenance has it: the content in single precision, -0 made 0.
        bag_hashes=_hashes((view + np.float32(0)).astype("<f4", copy=False) for view in views),
        sample=Sample(
            sample_size,
            lots[candidates],
            tuple(views[i].copy() for i in candidates),
            tuple(block.label_lists[i] for i in candidates),
        ),
    )


def _hashes(contents: Iterable[Any]) -> HashArray:
    digests = b"".join(hashlib.sha256(c).digest()[:_HASH_BYTES] for c in contents)
    return np.frombuffer(digests, dtype="<u8").astype(np.uint64)


def _require_room(block: Block, parts: BagParts) -> None:
    listed = np.array([len(item or ()) for item in block.label_lists])
    short = np.flatnonzero(listed > np.diff(block.offsets))
    if len(short):
        b = int(short[0])
        raise InputError(
            f"{parts.files[block.part]}: bag {block.keys[b]!r} lists {listed[b]} classes but has "
            f"{np.diff(block.offsets)[b]} instances; every class needs an instance. Complete the "
            "instances, correct the labels, or fit a model with impossible='soften'."
        )


def _nothing(n_features: int, sample_size: int) -> PartSurvey:
    none = np.zeros(n_features)
    no_hash = np.empty(0, dtype=np.uint64)
    return PartSurvey(
        0, none, none, none, none, frozenset(), 0, no_hash, no_hash,
        Sample(sample_size, np.empty(0), (), ()),
    )  # fmt: skip


def _joined(found: Sequence[PartSurvey], sample_size: int) -> PartSurvey:
    sizes = np.array([[part.n_instances] for part in found], dtype=np.float64)
    means = np.array([part.mean for part in found])
    mean = (sizes * means).sum(axis=0) / sizes.sum()
    between = (sizes * np.square(means - mean)).sum(axis=0)
    return PartSurvey(
        n_instances=int(sizes.sum()),
        low=np.min([part.low for part in found], axis=0),
        high=np.max([part.high for part in found], axis=0),
        mean=mean,
        scatter=np.sum([part.scatter for part in found], axis=0) + between,
        classes=frozenset().union(*(part.classes for part in found)),
        n_labelled=sum(part.n_labelled for part in found),
        key_hashes=np.concatenate([part.key_hashes for part in found]),
        bag_hashes=np.concatenate([part.bag_hashes for part in found]),
        sample=Sample.of([part.sample for part in found], sample_size),
    )


def _require_whole_bags(parts: BagParts, found: Sequence[PartSurvey]) -> None:
    hashes = np.concatenate([part.key_hashes for part in found])
    order = np.argsort(hashes, kind="stable")
    twice = np.flatnonzero(hashes[order][1:] == hashes[order][:-1])
    if not len(twice):
        return
    of_part = np.repeat(np.arange(len(found)), [len(part.key_hashes) for part in found])
    first, second = (int(of_part[order[twice[0] + i]]) for i in (0, 1))
    wanted = hashes[order[twice[0]]]
    key = next(key for key in parts.keys_of(second) if _hashes([repr(key).encode()])[0] == wanted)
    if first == second:
        raise InputError(
            f"{parts.files[first]}: the rows of bag {key!r} do not follow one another; sort the "
            f"part by {parts.bag!r} and write it again."
        )
    raise InputError(
        f"bag {key!r} is split: it has rows in {parts.files[first]} and in "
        f"{parts.files[second].name}; write all rows of a bag, one after the other, into one part."
    )
