"""Beyond memory and beyond one machine: the same mathematics over Parquet data sets."""

from raravis.scale.fitting import fit_parquet
from raravis.scale.generators import mixture_chunks, mnist_in_bags, write_mixture
from raravis.scale.parts import BagParts
from raravis.scale.scoring import score_parquet
from raravis.scale.writing import write_parts

__all__ = [
    "BagParts",
    "fit_parquet",
    "mixture_chunks",
    "mnist_in_bags",
    "score_parquet",
    "write_mixture",
    "write_parts",
]
