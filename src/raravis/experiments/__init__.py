"""The paper's tables and figures, run again and held against the published numbers."""

from raravis.experiments.models import MODELS, ModelSpec
from raravis.experiments.results import (
    BagPictures,
    BagRow,
    Cell,
    Comparison,
    DataTable,
    Figure,
    ModelSummary,
    RocFigure,
    RocLine,
    RocPanel,
    TableResult,
)
from raravis.experiments.tables import TABLES, TableSpec, run_table

__all__ = [
    "MODELS",
    "TABLES",
    "BagPictures",
    "BagRow",
    "Cell",
    "Comparison",
    "DataTable",
    "Figure",
    "ModelSpec",
    "ModelSummary",
    "RocFigure",
    "RocLine",
    "RocPanel",
    "TableResult",
    "TableSpec",
    "run_table",
]
