"""A small data set on disk, and the same bags in memory."""

from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq

from raravis.scale import BagParts, mixture_chunks, write_parts

OPTIONS = {"n_classes": 3, "n_novel": 1, "n_features": 5, "seed": 3}


def made(folder: Path, n: int = 600, rows: int = 250) -> BagParts:
    """Write a mixture in parts."""
    return write_parts(folder, mixture_chunks(n, rows_a_chunk=rows, **OPTIONS))


def table(**columns: list[object]) -> pa.Table:
    """Make a table with float features."""
    made = {}
    for name, values in columns.items():
        kind = pa.float32() if name.startswith("x") else None
        made[name] = pa.array(values, type=kind)
    return pa.table(made)


def written(folder: Path, *tables: pa.Table) -> Path:
    """Write tables as parts without a list beside them."""
    folder.mkdir(parents=True, exist_ok=True)
    for i, part in enumerate(tables):
        pq.write_table(part, folder / f"part-{i}.parquet")
    return folder
