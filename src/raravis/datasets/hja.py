"""The HJA birdsong data of Briggs, Fern and Raich: 548 recordings of 13 species."""

from collections.abc import Hashable, Mapping
from io import BytesIO
from typing import Any, Literal, NamedTuple, TypeAlias
from warnings import warn

import numpy as np
import numpy.typing as npt

from raravis.bags import Bags
from raravis.datasets._base import UNLABELLED, BagDataset, Description, label_sets
from raravis.datasets._fetch import PathLike, Progress, fetch_bytes
from raravis.datasets._registry import HJA_FILES
from raravis.errors import InputError, RaravisWarning
from raravis.labels import BagLabels

__all__ = ["fetch_hja_birdsong"]

IntArray: TypeAlias = npt.NDArray[np.int64]
Instances: TypeAlias = Literal["labelled", "all"]
Labels: TypeAlias = Literal["instances", "file"]

_CONSISTENT: Mapping[str, Labels] = {"labelled": "instances", "all": "file"}
_CLASSES = tuple(range(1, 14))

_KEPT = {
    "labelled": "Only the 4,998 instances whose species is noted are kept, as in the 2013 paper.",
    "all": "All 10,232 instances are kept; 5,234 of them have no noted species.",
}
_LISTED = {
    "instances": "Bag labels are the union of the noted species of a bag's instances.",
    "file": "Bag labels are those of the published bag-label file.",
}
_TRAP = {
    ("labelled", "file"): (
        "62 of the 548 bags list a species that none of their instances is labelled with, and the "
        "unlabelled instances are dropped: the label has no witness left"
    ),
    ("all", "instances"): (
        "in 62 of the 548 bags a species that the experts listed is missing from the labels, for "
        "none of its instances is labelled, though they may be in the bag"
    ),
}


class _Files(NamedTuple):
    bag_ids: IntArray
    instances: npt.NDArray[np.float64]
    instance_labels: IntArray
    bag_labels: dict[Hashable, set[Hashable]]
    class_names: dict[int, str]


def fetch_hja_birdsong(
    *,
    instances: Instances = "labelled",
    labels: Labels | None = None,
    data_home: PathLike | None = None,
    allow_download: bool = True,
    progress: Progress | None = None,
) -> BagDataset:
    """Return the HJA birdsong data: ten-second recordings, a vocalisation an instance.

    Parameters
    ----------
    instances : {"labelled", "all"}
        The 4,998 instances whose species is noted (the 2013 paper), or all 10,232; the species of
        the others is then `UNLABELLED`.
    labels : {"instances", "file"}, optional
        Where the bag labels come from: the union of the instances' labels, or the published
        bag-label file, which in 62 bags lists a species that no labelled instance has. The
        default is what agrees with `instances`: the union for ``"labelled"``, the file for
        ``"all"``. The other two combinations contradict themselves in those 62 bags, and warn.
    data_home, allow_download, progress
        As for `fetch_mnist`; the files lie in the folder's ``hja_birdsong``.

    Returns
    -------
    BagDataset
        548 bags of 38 features; classes are 1 to 13, ``class_names`` says which species;
        ``instance_ids`` are rows of the published feature file. The features differ by seven
        orders of magnitude in scale: rescale them before any distance.

    Examples
    --------
    >>> data = fetch_hja_birdsong()  # doctest: +SKIP
    >>> data.class_names[1]  # doctest: +SKIP
    'Brown Creeper'
    """
    source = _check_choice(instances, labels)
    if (instances, source) in _TRAP:
        advice = f"pass labels={_CONSISTENT[instances]!r} for labels that agree"
        warn(f"{_TRAP[instances, source]}; {advice}", RaravisWarning, stacklevel=2)
    files = _load(data_home=data_home, allow_download=allow_download, progress=progress)
    rows = np.flatnonzero((instances == "all") | (files.instance_labels != UNLABELLED))
    return _assemble(files, rows, source, f"{_KEPT[instances]} {_LISTED[source]}")


def _check_choice(instances: str, labels: str | None) -> Labels:
    if instances not in _CONSISTENT:
        raise InputError(f"instances is {instances!r}; pass 'labelled' or 'all'")
    if labels is None:
        return _CONSISTENT[instances]
    if labels not in _LISTED:
        raise InputError(f"labels is {labels!r}; pass 'instances', 'file', or None")
    return "file" if labels == "file" else "instances"


def _load(**where: Any) -> _Files:
    text = {name: fetch_bytes(file, **where) for name, file in HJA_FILES.items()}
    features = _parse_table(text["hja_birdsong_features.txt"])
    return _Files(
        bag_ids=features[:, 0].astype(np.int64),
        instances=np.ascontiguousarray(features[:, 1:]),
        instance_labels=_parse_table(text["hja_birdsong_instance_labels.txt"])[:, 1].astype(
            np.int64
        ),
        bag_labels=_parse_bag_labels(text["hja_birdsong_bag_labels.txt"]),
        class_names=_parse_class_names(text["hja_birdsong_class_names.txt"]),
    )


def _assemble(files: _Files, rows: IntArray, source: Labels, notes: str) -> BagDataset:
    bags = Bags.from_arrays(files.instances[rows], files.bag_ids[rows])
    truth = files.instance_labels[rows]
    if source == "file":
        sets = [files.bag_labels[key] for key in bags.keys]
    else:
        sets = label_sets(bags, truth, _CLASSES)
    return BagDataset(
        bags=bags,
        labels=BagLabels.from_sets(sets, classes=_CLASSES, keys=bags.keys),
        instance_labels=truth,
        instance_ids=rows,
        name="hja_birdsong",
        description=_describe(notes),
        class_names=files.class_names,
    )


def _parse_table(content: bytes) -> npt.NDArray[np.float64]:
    return np.loadtxt(BytesIO(content), delimiter=",", skiprows=1, ndmin=2)


def _parse_bag_labels(content: bytes) -> dict[Hashable, set[Hashable]]:
    rows = [
        [int(cell) for cell in line.split(",") if cell.strip()]
        for line in content.decode("ascii").splitlines()[1:]
    ]
    return {row[0]: set(row[1:]) for row in rows if row}


def _parse_class_names(content: bytes) -> dict[int, str]:
    """Read lines such as ``1<tab>BRCR - Brown Creeper``."""
    lines = [line.split("\t") for line in content.decode("ascii").splitlines() if line.strip()]
    return {int(code): name.partition(" - ")[2].strip() for code, name in lines}


def _describe(notes: str) -> Description:
    return Description(
        title="HJA birdsong: 548 ten-second recordings, 13 species, one vocalisation an instance",
        origin=(
            "Oregon State University, H. J. Andrews Experimental Forest; "
            "web.engr.oregonstate.edu/~briggsf/kdd2012datasets/hja_birdsong"
        ),
        terms="published for research",
        citation=(
            "F. Briggs, X. Z. Fern, R. Raich. Rank-loss support instance machines for MIML "
            "instance annotation. KDD, 2012."
        ),
        notes=f"{notes} Features differ by seven orders of magnitude in scale.",
    )
