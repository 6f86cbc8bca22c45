"""Results made by hand, for tests of how results are shown."""

import numpy as np

from raravis.experiments import (
    BagPictures,
    BagRow,
    Cell,
    Comparison,
    DataTable,
    RocFigure,
    RocLine,
    RocPanel,
    TableResult,
)

MODELS = ("kernel", "ocsvm", "ocsvm-true", "iforest-true", "lof-true", "knn-true")
KNOWN = tuple(tuple(range(i, i + 4)) for i in range(5)) + tuple(tuple(range(8)) for _ in range(1))
VERSIONS = {"raravis": "0.1.0", "python": "3.11.9", "numpy": "2.4.0"}


def made_cells(known: tuple[tuple[object, ...], ...] = KNOWN) -> tuple[Cell, ...]:
    rng = np.random.default_rng(0)
    return tuple(
        Cell(
            known=classes,
            novel=tuple(i for i in range(10) if i not in classes),
            model=model,
            aucs=tuple(np.clip(rng.normal(0.95 - 0.08 * k, 0.02, 10), 0, 1).round(6).tolist()),
            paper=0.85,
            seconds=1.5,
        )
        for classes in known
        for k, model in enumerate(MODELS)
    )


def made_table(name: str = "mnist", *, complete: bool = True) -> TableResult:
    return TableResult(
        table=name,
        title="MNIST bags, <all> kept",
        protocol={"train_bags": 100, "beta": 0.1, "scaling": None, "grids": {"gamma": [1, 2]}},
        cells=made_cells(),
        comparisons=(Comparison("Empty-label bags help", 0.012, 0.008, 0.016, 0.95, 60, True),),
        seconds=61.0,
        versions=VERSIONS,
        complete=complete,
    )


def made_birds() -> TableResult:
    names = ("Hermit Thrush", "Varied Thrush", "Winter Wren", "Pacific-slope Flycatcher")
    cells = tuple(
        Cell(known, None, "kernel", aucs, paper)
        for known, aucs, paper in (
            (names, (0.91, 0.93), 0.90),
            (names[:2], (0.7, 0.71), 0.85),
            (names[1:], (float("nan"), float("nan")), 0.9),
        )
    )
    return TableResult("hja", "Birdsong", {}, cells, seconds=3.0, versions=VERSIONS)


def made_figures() -> TableResult:
    rng = np.random.default_rng(1)
    step = (0.0, 0.2, 1.0)
    curves = tuple(
        RocLine(model, step, (0.0, 0.9 - 0.1 * i, 1.0), 0.9 - 0.05 * i)
        for i, model in enumerate(MODELS)
    )
    images = tuple(rng.integers(0, 256, (28, 28), dtype=np.uint8) for _ in range(20))
    bags = tuple(
        BagRow(f"bag {i}", labels, images, tuple(j % 6 for j in range(20)))
        for i, labels in enumerate([(0, 1, 2, 3), (1,), ()])
    )
    return TableResult(
        "figures",
        "Figures",
        {"seed": 0},
        figures={
            "roc": RocFigure((RocPanel("Y = 0, 1", curves), RocPanel("Y = 2, 3", curves[:2]))),
            "bags": BagPictures(bags),
            "counts": DataTable("Counts | of each", ("class", "n", "rate"), (("<a>", 3, 1 / 3),)),
        },
        versions=VERSIONS,
    )
