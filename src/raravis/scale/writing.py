"""Write bags as a Parquet data set, part by part, so that only one part is ever in memory."""

import json
import secrets
from collections.abc import Callable, Iterable, Sequence
from functools import partial
from os import PathLike
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from raravis.datasets import BagDataset
from raravis.errors import InputError
from raravis.scale.parts import LISTING, BagParts

if TYPE_CHECKING:
    import pyarrow as pa

__all__ = ["TRUTH", "write_parts", "written_whole"]

#: The column with the true class of an instance, as text; nothing but an evaluation reads it.
TRUTH = "true_class"
_ROWS_A_GROUP = 1 << 16


def write_parts(folder: str | PathLike[str], chunks: Iterable[BagDataset]) -> BagParts:
    """Write each chunk as one part of a data set, and the list of parts at the end.

    Parameters
    ----------
    folder : path
        Made if need be; it must hold no Parquet files yet.
    chunks : iterable of BagDataset
        No two bags of one key, also not of different chunks. Empty bags have no rows, and are left
        out. The true classes stand in a column of their own that fits do not read.

    Examples
    --------
    >>> import tempfile
    >>> from raravis.datasets import load_toy
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     parts = write_parts(folder, [load_toy()])
    >>> [file.name for file in parts.files], parts.rows
    (['part-00000.parquet'], (16,))
    """
    import pyarrow.parquet as pq

    place = Path(folder)
    place.mkdir(parents=True, exist_ok=True)
    there = sorted(file.name for file in place.glob("*.parquet"))
    if there:
        raise InputError(
            f"{place} holds {there[0]!r} and {len(there) - 1} other Parquet files; write into an "
            "empty folder, so that two data sets do not mix."
        )
    rows: dict[str, int] = {}
    for i, chunk in enumerate(chunks):
        name = f"part-{i:05d}.parquet"
        table = _table(chunk)
        write = partial(pq.write_table, table, row_group_size=_ROWS_A_GROUP)
        written_whole(place / name, write)
        rows[name] = table.num_rows
    text = json.dumps({"parts": rows}, indent=1) + "\n"
    written_whole(place / LISTING, lambda draft: draft.write_text(text, encoding="utf-8"))
    return BagParts.open(place)


def written_whole(target: Path, write: Callable[[Path], object]) -> None:
    """Have ``write`` fill a draft in the same folder, and give it its name once it is whole."""
    draft = target.with_name(f".{target.name}.{secrets.token_hex(4)}.draft")
    try:
        write(draft)
        draft.replace(target)
    finally:
        draft.unlink(missing_ok=True)


def _table(chunk: BagDataset) -> "pa.Table":
    import pyarrow as pa

    bags = chunk.bags
    table = bags.with_instances(bags.instances.astype(np.float32)).to_arrow()
    listed = pa.array(_in_order(chunk))
    table = table.append_column("labels", listed.take(pa.array(bags.bag_index)))
    truth = pa.array([str(label) for label in chunk.instance_labels.tolist()])
    return table.append_column(TRUTH, truth.dictionary_encode().cast(pa.string()))


def _in_order(chunk: BagDataset) -> list[Sequence[object] | None]:
    """Label lists in the order of the classes; a class of unknown presence cannot be told."""
    labels = chunk.labels
    if labels.unknown[labels.reviewed].any():
        raise InputError(
            "some bags are reviewed for some classes only; a list of classes cannot say that, so "
            "restrict the labels to the classes that were looked for."
        )
    names = np.empty(labels.n_classes, dtype=object)
    names[:] = labels.classes
    return [
        names[row].tolist() if seen else None
        for row, seen in zip(labels.present, labels.reviewed, strict=True)
    ]
