"""What the sounds are like: a feature vector for each segment, and all of them as bags."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from raravis.audio import FeatureRecipe, Segments, extract_features, feature_names
from raravis.bags import Bags
from raravis.progress import ProgressCallback
from raravis.study.errors import StudyError
from raravis.study.files import digest, read_table
from raravis.study.per_recording import Made, Product, make_products
from raravis.study.recordings import Recording, Scan
from raravis.study.segments import (
    note_passing,
    problem_with,
    read_segments,
    segment_products,
)
from raravis.study.store import Study

__all__ = [
    "Instances",
    "feature_products",
    "feature_recipe_key",
    "gather",
    "known_problems",
    "make_features",
    "read_bags",
]


@dataclass(frozen=True)
class Instances:
    """All segments of a study with their features.

    Parameters
    ----------
    recordings : tuple of Recording
        The bags of ``bags``, in this order.
    segments : Segments of each recording
    bags : Bags
        Keys are the names of the recordings; the instances of a bag are its segments in order.
    files : mapping of str to Path
        Where the features of each recording are.
    """

    recordings: tuple[Recording, ...]
    segments: tuple[Segments, ...]
    bags: Bags
    files: Mapping[str, Path]

    def column(self, name: str) -> NDArray[np.float64]:
        """Return one column of all segments, such as ``begin_s``."""
        return np.concatenate([np.empty(0), *(getattr(part, name) for part in self.segments)])


def make_features(
    study: Study, scan: Scan, *, workers: int, progress: ProgressCallback | None = None
) -> Made:
    """Compute the features of every recording that has segments but no features yet."""
    sources = segment_products(study, scan)
    _require_made(study, sources, "segments", "segment")
    ready = [source for source in sources if source.target.is_file()]
    products = [_product(study, source) for source in ready]
    made = make_products(products, _compute, stage="features", workers=workers, progress=progress)
    note_passing(study, "features", made)
    return made


def feature_products(study: Study, scan: Scan) -> tuple[Product, ...]:
    """Return the tables of features that the settings ask for, one a usable recording."""
    return tuple(_product(study, source) for source in segment_products(study, scan))


def feature_recipe_key(study: Study) -> str:
    """Return what two studies have in common whose models can score each other's calls."""
    return study.settings.feature_recipe.hash


def gather(study: Study, scan: Scan) -> Instances:
    """Read the segments and features of all recordings that can have them."""
    sources = {source.recording: source for source in segment_products(study, scan)}
    products = {name: _product(study, source) for name, source in sources.items()}
    _require_made(study, tuple(sources.values()), "segments", "segment")
    made = [source for source in sources.values() if source.target.is_file()]
    _require_made(study, [products[it.recording] for it in made], "features", "features")
    names = feature_names(study.settings.feature_recipe)
    found = [it for it in scan.usable if products[it.name].target.is_file()]
    files = {it.name: products[it.name].target for it in found}
    segments = [_read_or_refuse(sources[it.name].target) for it in found]
    bags = _bags(files, names)
    _require_match(study, segments, bags)
    return Instances(tuple(found), tuple(segments), bags, files)


def known_problems(study: Study, scan: Scan) -> dict[str, str]:
    """Return what kept usable recordings from having features, by name."""
    found = {}
    for source in segment_products(study, scan):
        problem = problem_with(study, "segments", source) or problem_with(
            study, "features", _product(study, source)
        )
        if problem is not None:
            found[source.recording] = problem
    return found


def read_bags(files: Mapping[str, Path]) -> Bags:
    """Read the features of some recordings: a bag for each, with its name for a key."""
    first = next(iter(files.values()), None)
    table = None if first is None else read_table(first)
    if table is None:
        what = "there are no features" if first is None else f"the features in {first} are gone"
        raise StudyError(f"{what}; give the command raravis run to have them made.")
    return _bags(files, tuple(table.column_names))


def _bags(files: Mapping[str, Path], names: tuple[str, ...]) -> Bags:
    features = [_read_features(path, names) for path in files.values()]
    bags = Bags.from_list(features, list(files), len(names))
    return bags.with_instances(bags.instances, feature_names=names)


def _product(study: Study, source: Product) -> Product:
    recipe = study.settings.feature_recipe
    key = digest({"segments": source.about["key"], "hash": recipe.hash})
    return Product(
        recording=source.recording,
        path=source.path,
        size_bytes=source.size_bytes,
        mtime_ns=source.mtime_ns,
        target=study.folder / "features" / f"{source.about['content'][:24]}-{key[:16]}.parquet",
        about={"table": "features", "content": source.about["content"], "key": key},
        inputs={"recipe": recipe.to_dict(), "segments": str(source.target)},
    )


def _compute(product: Product) -> Mapping[str, Any]:
    """Compute the features of one recording."""
    recipe = FeatureRecipe.from_dict(product.inputs["recipe"])
    names = feature_names(recipe)
    segments = _read_or_refuse(Path(product.inputs["segments"]))
    if len(segments):
        values = extract_features(product.path, segments, recipe)
    else:
        values = np.empty((0, len(names)))
    return dict(zip(names, np.ascontiguousarray(values.T), strict=True))


def _read_or_refuse(path: Path) -> Segments:
    segments = read_segments(path)
    if segments is None:
        raise _damaged(path)
    return segments


def _read_features(path: Path, names: tuple[str, ...]) -> NDArray[np.float64]:
    table = read_table(path)
    if table is None or tuple(table.column_names) != names:
        raise _damaged(path)
    return np.column_stack([table.column(name).to_numpy() for name in names])


def _damaged(path: Path) -> StudyError:
    # Out of the way, so that the next run makes it again; it can be computed at any time.
    path.unlink(missing_ok=True)
    return StudyError(
        f"{path} was damaged and has been removed; give the command again, or raravis run, to "
        "have it made anew."
    )


def _require_made(study: Study, products: Sequence[Product], what: str, verb: str) -> None:
    """Refuse to go on as if all were done where a file neither is there nor is known to fail."""
    missing = [
        it.recording
        for it in products
        if not it.target.is_file() and problem_with(study, what, it) is None
    ]
    if missing:
        raise StudyError(
            f"{len(missing)} recordings have no {what} yet, or have changed since "
            f"({', '.join(missing[:3])}{', ...' if len(missing) > 3 else ''}); give the command "
            f"raravis {verb} {study.folder} first."
        )


def _require_match(study: Study, segments: Sequence[Segments], bags: Bags) -> None:
    if [len(part) for part in segments] != bags.sizes.tolist():
        raise StudyError(
            f"segments and features in {study.folder} do not belong together; remove its folder "
            "features and give the command again."
        )
