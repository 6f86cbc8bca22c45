"""Where the sounds are: a table of segments for each recording."""

from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from raravis.audio import SegmentRecipe, Segments, fixed_windows, segment_recording
from raravis.progress import ProgressCallback
from raravis.study.errors import StudyError
from raravis.study.files import digest, read_table
from raravis.study.per_recording import Made, Product, make_products
from raravis.study.recordings import Recording, Scan
from raravis.study.store import Study

if TYPE_CHECKING:
    from raravis.formats import CallTable

__all__ = ["make_segments", "note_passing", "problem_with", "read_segments", "segment_products"]

_VERSION = 1
_COLUMNS = ("begin_s", "end_s", "low_hz", "high_hz")


def make_segments(
    study: Study, scan: Scan, *, workers: int, progress: ProgressCallback | None = None
) -> Made:
    """Find the segments of every recording that has none yet."""
    products = segment_products(study, scan)
    made = make_products(products, _compute, stage="segments", workers=workers, progress=progress)
    note_passing(study, "segments", made)
    return made


def note_passing(study: Study, step: str, made: Made) -> None:
    """Keep what went wrong this time only, so that the steps to come may go on without it."""
    content = {"passing": dict(made.passing)}
    if study.stamp(step) != content:
        study.set_stamp(step, content)


def problem_with(study: Study, step: str, product: Product) -> str | None:
    """Return why a file could not be made, for good or when it was last tried."""
    if product.target.is_file():
        return None
    found = product.problem or study.stamp(step).get("passing", {}).get(product.target.name)
    return None if found is None else str(found)


def segment_products(study: Study, scan: Scan) -> tuple[Product, ...]:
    """Return the tables of segments that the settings ask for, one a usable recording."""
    boxes = _boxes(study, scan)
    return tuple(_product(study, found, boxes.get(found.name)) for found in scan.usable)


def read_segments(path: Path) -> Segments | None:
    """Return segments from their file, or None if it is missing or damaged."""
    table = read_table(path)
    if table is None:
        return None
    return Segments(*(table.column(name).to_numpy() for name in _COLUMNS))


def _product(study: Study, found: Recording, boxes: "CallTable | None") -> Product:
    inputs = _inputs(study, found, boxes)
    key = digest({"version": _VERSION, **inputs})
    name = f"{found.sha256[:24]}-{key[:16]}.parquet"
    return Product(
        recording=found.name,
        path=str(study.recordings_folder / found.name),
        size_bytes=found.size_bytes,
        mtime_ns=found.mtime_ns,
        target=study.folder / "segments" / name,
        about={"table": "segments", "content": found.sha256, "key": key},
        inputs=inputs,
    )


def _inputs(study: Study, found: Recording, boxes: "CallTable | None") -> dict[str, Any]:
    settings = study.settings
    if settings.segmentation == "automatic":
        recipe = settings.segment_recipe
        return {"recipe": recipe.to_dict(), "hash": recipe.hash}
    extent = {"duration_s": found.duration_s, "nyquist_hz": found.sample_rate_hz / 2}
    if settings.segmentation == "windows":
        return {"window_s": settings.window_s, "hop_s": settings.hop_s, **extent}
    return {"boxes": [] if boxes is None else _box_rows(boxes, **extent)}


def _compute(product: Product) -> Mapping[str, Any]:
    """Compute the segments of one recording."""
    inputs = product.inputs
    if "recipe" in inputs:
        found = segment_recording(product.path, SegmentRecipe.from_dict(inputs["recipe"]))
    elif "boxes" in inputs:
        found = Segments(*np.reshape(np.array(inputs["boxes"], dtype=np.float64), (-1, 4)).T)
    else:
        found = fixed_windows(
            inputs["duration_s"],
            inputs["window_s"],
            inputs["hop_s"],
            nyquist_hz=inputs["nyquist_hz"],
        )
    return {name: getattr(found, name) for name in _COLUMNS}


# ---------------------------------------------------------------------- boxes from outside


def _boxes(study: Study, scan: Scan) -> dict[str, "CallTable"]:
    """Return the boxes that a table gives, by the name of the recording."""
    if study.settings.segmentation != "boxes" or not study.settings.boxes:
        return {}
    from raravis.study.tables import read_call_tables

    place = study.given_path(study.settings.boxes)
    names = [found.name for found in scan.recordings]
    calls, _ = read_call_tables(place, names)
    if not calls:
        raise StudyError(
            f"none of the boxes in {place} is in a recording of {study.recordings_folder}; the "
            "table must name recordings as they are called there."
        )
    return calls


def _box_rows(boxes: "CallTable", *, duration_s: float, nyquist_hz: float) -> list[list[float]]:
    """Return boxes within the recording; an unknown frequency is that of the whole spectrum."""
    low = np.where(np.isnan(boxes.low_hz), 0.0, boxes.low_hz)
    high = np.where(np.isnan(boxes.high_hz), nyquist_hz, boxes.high_hz)
    inside = boxes.begin_s < duration_s
    columns = (
        boxes.begin_s,
        np.minimum(boxes.end_s, duration_s),
        np.minimum(low, nyquist_hz),
        np.minimum(high, nyquist_hz),
    )
    rows: list[list[float]] = np.column_stack(columns)[inside].tolist()
    return rows
