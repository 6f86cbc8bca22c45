"""Every table and figure of the paper by name, and the function that runs one."""

import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, field, replace
from functools import partial
from numbers import Integral
from types import MappingProxyType
from typing import Any, Final

from threadpoolctl import threadpool_limits

from raravis.errors import InputError
from raravis.experiments import figures, published
from raravis.experiments.comparisons import paired_comparison
from raravis.experiments.grid import Arm, GridResult, RunOptions, run_grid
from raravis.experiments.journal import Journal, library_versions
from raravis.experiments.models import MODELS, check_models, nearest
from raravis.experiments.protocols import BagProtocol, BirdBags, DigitBags, with_options
from raravis.experiments.published import PublishedTable
from raravis.experiments.results import (
    Cell,
    Comparison,
    Figure,
    RocFigure,
    RocLine,
    RocPanel,
    TableResult,
)
from raravis.experiments.svm_sweep import GAMMA_FACTORS, NUS, Curve
from raravis.progress import Progress, ProgressCallback

__all__ = ["TABLES", "Request", "TableSpec", "run_table"]

#: Of the published label sets, those that a quick run takes: two of size 4, one of size 8.
_QUICK_ROWS = (0, 2, 7)
_REPEATS, _QUICK_REPEATS = 10, 2
#: Models that take minutes where the others take a second get this many repeats, unless the number
#: is asked for, and no part in a quick run, unless they are named.
_SLOW = MappingProxyType({"kernel-alternating": 1})

_MODELS = (
    "detector",
    "detector-context",
    "kernel",
    "kernel-alternating",
    "ocsvm",
    "ocsvm-true",
    "knn",
    "knn-true",
    "iforest",
    "iforest-true",
    "lof",
    "lof-true",
    "mahalanobis",
    "mahalanobis-true",
)
_FILTERED_MODELS = tuple(name for name in _MODELS if name not in _SLOW)
_SVM_MODELS = ("ocsvm-sweep", "ocsvm-sweep-rule", "ocsvm-true-posthoc", "ocsvm-true")
_ROC_MODELS = ("detector-context", "kernel", "ocsvm-true", "ocsvm-sweep-rule", "knn-true")
_ROC_KNOWN = (0, 1, 3, 7)

#: What is tested wherever both models were run.
_CLAIMS = (
    (
        "kernel scores from bag labels alone beat a one-class SVM told the true known instances",
        "kernel",
        "ocsvm-true",
    ),
    ("the exact scheme beats Algorithm 1 as printed", "kernel", "kernel-alternating"),
    (
        "thresholding a one-class SVM's scores beats refitting it for every nu",
        "ocsvm-true-posthoc",
        "ocsvm-sweep",
    ),
)


@dataclass(frozen=True)
class Request:
    """What was asked of a table, checked."""

    table: str
    models: tuple[str, ...]
    repeats: int | None
    quick: bool
    options: Mapping[str, Any]
    run: RunOptions

    def repeats_of(self, model: str) -> int:
        """Return how many repeats a model gets."""
        if self.repeats is not None:
            return self.repeats
        count = _QUICK_REPEATS if self.quick else _REPEATS
        return min(count, _SLOW.get(model, count))


@dataclass(frozen=True)
class TableSpec:
    """A table or figure of the paper.

    Parameters
    ----------
    title : str
    label : str
        Its LaTeX labels in the paper, or where else it stands.
    run : function
        From a request to the result.
    models : tuple of str
        The models compared where none are named; empty for what compares none.
    options : mapping
        What the paper leaves unsaid, or one may wish to change, and the defaults.
    """

    title: str
    label: str
    run: Callable[[Request], TableResult]
    models: tuple[str, ...] = ()
    options: Mapping[str, Any] = field(default_factory=dict)


def run_table(
    name: str,
    *,
    repeats: int | None = None,
    models: Sequence[str] | None = None,
    seed: int = 0,
    jobs: int = 1,
    quick: bool = False,
    options: Mapping[str, Any] = MappingProxyType({}),
    data_home: Any = None,
    journal: Any = None,
    accept_older: bool = False,
    progress: ProgressCallback | None = None,
) -> TableResult:
    """Run a table or figure of the paper again.

    Parameters
    ----------
    name : str
        One of ``TABLES``.
    repeats : int, optional
        Repeats of every label set; 10 by default, fewer of slow models, 2 in a quick run.
    models : sequence of str, optional
        Out of ``MODELS``; the table's own by default.
    seed : int
        The same seed gives the same figures, with any number of workers.
    jobs : int
        Workers, as in joblib.
    quick : bool
        Three of the label sets and few repeats, for a first look.
    options : mapping
        Settings of the table's protocol, see ``TABLES[name].options``.
    data_home : path, optional
        Folder of the data sets.
    journal : path, optional
        A file of finished figures; a run that finds some in it goes on from there.
    accept_older : bool
        Whether figures in the journal count that other versions of the code have made.
    progress : function of a ``raravis.progress.Progress``, optional
        Called whenever a label set and repeat is finished.

    Returns
    -------
    TableResult
        With ``complete=False`` after Ctrl-C.

    Examples
    --------
    >>> result = run_table("cooccurrence")
    >>> result.figures["decisions"].rows[-1]
    ('lozenge', '1/4', 'novel')
    """
    spec = _spec(name)
    request = Request(
        table=name,
        models=_default_models(spec, quick) if models is None else check_models(models),
        repeats=_check_repeats(repeats),
        quick=quick,
        options=_check_options(name, spec, options),
        run=RunOptions(
            stage=name,
            seed=_check_seed(seed),
            jobs=_check_jobs(jobs),
            data_home=data_home,
            journal=None if journal is None else Journal.open(journal, accept_older=accept_older),
            progress=progress,
        ),
    )
    start = time.perf_counter()
    result = spec.run(request)
    return replace(
        result,
        table=name,
        title=spec.title,
        protocol={"label": spec.label, "seed": seed, "quick": quick, **result.protocol},
        seconds=time.perf_counter() - start,
        versions=library_versions(),
    )


def _default_models(spec: TableSpec, quick: bool) -> tuple[str, ...]:
    return tuple(name for name in spec.models if not (quick and name in _SLOW))


# ---- tables of areas under the curve


def _auc_table(
    request: Request, *, source: PublishedTable, protocol: BagProtocol, unfiltered: bool = False
) -> TableResult:
    """Run models on the published label sets; ``unfiltered`` tests what filtration costs."""
    settings = with_options(protocol, request.options, fixed=("filtered",))
    rows = [source.rows[i] for i in _QUICK_ROWS] if request.quick else source.rows
    label_sets = tuple(row.known for row in rows)
    repeats = {model: request.repeats_of(model) for model in request.models}
    arm = Arm("table", settings, label_sets, repeats)
    others = _unfiltered(arm) if unfiltered and "kernel" in repeats else None
    grid = run_grid([arm, others] if others else [arm], request.run)
    cells = grid.cells(arm, paper=source.auc, classes=source.classes)
    return TableResult(
        table="",
        title="",
        protocol={**_protocol_json(settings, source.method, repeats), **_older(grid)},
        cells=cells,
        comparisons=(*_filtration_claim(grid, arm, others), *_claims(cells)),
        complete=grid.complete,
    )


def _unfiltered(arm: Arm) -> Arm:
    """Return the kernel scorer's arm on training bags that are not filtered: same test bags."""
    protocol: Any = arm.protocol
    whole = replace(protocol, filtered=False)
    return Arm("unfiltered", whole, arm.label_sets, {"kernel": arm.repeats["kernel"]})


def _filtration_claim(grid: GridResult, arm: Arm, others: Arm | None) -> tuple[Comparison, ...]:
    if others is None:
        return ()
    filtered = [cell for cell in grid.cells(arm) if cell.model == "kernel"]
    claim = "training bags with an empty label set help (kernel, unfiltered minus filtered)"
    return (paired_comparison(claim, grid.cells(others), filtered),)


def _claims(cells: Sequence[Cell]) -> tuple[Comparison, ...]:
    by_model = {name: [c for c in cells if c.model == name] for name in MODELS}
    return tuple(
        paired_comparison(claim, by_model[better], by_model[worse])
        for claim, better, worse in _CLAIMS
        if by_model[better] and by_model[worse]
    )


def _protocol_json(
    settings: BagProtocol, method: str, repeats: Mapping[str, int]
) -> dict[str, Any]:
    svm = any(name.startswith("ocsvm") for name in repeats)
    return {
        **settings.describe(),
        "published_method": method,
        "repeats": dict(repeats),
        "models": {name: MODELS[name].description for name in repeats},
        "told_truth": [name for name in repeats if MODELS[name].told_truth],
        "auc": "exact ROC over the scores of all test instances; the sweep: trapezoids over refits",
        "scaling": "min-max over the training instances",
        **(_SVM_JSON if svm else {}),
    }


def _older(grid: GridResult) -> dict[str, Any]:
    return {"figures_of_other_code": grid.n_older} if grid.n_older else {}


def _table_2015(request: Request) -> TableResult:
    """Run the follow-up's MNIST rows; the published figure of a cell is the better method's."""
    settings = with_options(_BAGS_2015, request.options, fixed=("filtered",))
    best = {row.known: max(row.miml_nc, row.ks) for row in published.MNIST_2015}
    repeats = {model: request.repeats_of(model) for model in request.models}
    arm = Arm("table", settings, tuple(best), repeats)
    grid = run_grid([arm], request.run)
    cells = grid.cells(arm, paper=best.get, classes=tuple(range(10)))
    return TableResult(
        table="",
        title="",
        protocol={**_protocol_json(settings, _METHOD_2015, repeats), **_older(grid)},
        cells=cells,
        comparisons=_claims(cells),
        figures={"published": figures.mnist_2015_table()},
        complete=grid.complete,
    )


# ---- figures and small tables


def _cooccurrence(_: Request) -> TableResult:
    protocol = {"threshold": 0.75}
    return TableResult("", "", protocol, figures=figures.cooccurrence_figures())


def _bags(request: Request) -> TableResult:
    found = figures.example_bags(request.run.seed, request.run.data_home)
    protocol = {"known": [0, 1, 2, 3], "bag_size": 20, "beta": 0.1, "filtered": True}
    return TableResult("", "", protocol, figures=found)


def _counts(request: Request) -> TableResult:
    found: dict[str, Figure] = {
        "digits": figures.digit_counts(request.run.seed, request.run.data_home),
        "birds": figures.bird_counts(request.run.data_home),
    }
    return TableResult("", "", {"bag_size": 20, "beta": 0.1, "filtered": False}, figures=found)


def _roc(request: Request) -> TableResult:
    """Run the first repeat of one label set in both settings, and keep the curves."""
    settings = with_options(DigitBags(), request.options, fixed=("filtered",))
    lines: dict[str, list[RocLine]] = {"(a) not filtered": [], "(b) training bags filtered": []}
    complete = True
    try:
        for title, model, curve in _roc_curves(settings, request):
            lines[title].append(figures.roc_line(model, curve))
    except KeyboardInterrupt:
        complete = False
    figure = RocFigure(tuple(RocPanel(title, tuple(found)) for title, found in lines.items()))
    models = {name: MODELS[name].description for name in request.models}
    protocol = {**settings.describe(), "known": list(_ROC_KNOWN), "repeat": 0, "models": models}
    del protocol["filtered"]
    return TableResult("", "", protocol, figures={"roc": figure}, complete=complete)


def _roc_curves(settings: Any, request: Request) -> Iterator[tuple[str, str, Curve]]:
    settings_of = {"(a) not filtered": False, "(b) training bags filtered": True}
    total = len(settings_of) * len(request.models)
    done = 0
    for title, filtered in settings_of.items():
        source = replace(settings, filtered=filtered).load(request.run.data_home)
        trial = source.trial(_ROC_KNOWN, 0, request.run.seed)
        for model in request.models:
            with threadpool_limits(1):
                curve = MODELS[model].curve(trial)
            yield title, model, curve
            done += 1
            if request.run.progress is not None:
                request.run.progress(Progress("roc", done, total))


# ---- checks


def _spec(name: object) -> TableSpec:
    if not isinstance(name, str) or name not in TABLES:
        raise InputError(
            f"there is no table {name!r}; {nearest(name, TABLES)}the tables are "
            f"{', '.join(TABLES)}."
        )
    return TABLES[name]


def _check_options(name: str, spec: TableSpec, options: Mapping[str, Any]) -> Mapping[str, Any]:
    unknown = [option for option in options if option not in spec.options]
    if unknown:
        accepted = ", ".join(spec.options) or "none"
        raise InputError(
            f"table {name!r} has no option {unknown[0]!r}; its options are: {accepted}."
        )
    return dict(options)


def _check_repeats(repeats: object) -> int | None:
    if repeats is None:
        return None
    if not _is_whole(repeats) or int(repeats) < 1:  # type: ignore[call-overload]
        raise InputError(f"repeats is {repeats!r}; pass a whole number of at least 1.")
    return int(repeats)  # type: ignore[call-overload, no-any-return]


def _check_seed(seed: object) -> int:
    if not _is_whole(seed) or int(seed) < 0:  # type: ignore[call-overload]
        raise InputError(f"seed is {seed!r}; pass a whole number of at least 0.")
    return int(seed)  # type: ignore[call-overload, no-any-return]


def _check_jobs(jobs: object) -> int:
    if not _is_whole(jobs) or int(jobs) == 0:  # type: ignore[call-overload]
        raise InputError(f"jobs is {jobs!r}; pass a number of workers, or -1 for one a core.")
    return int(jobs)  # type: ignore[call-overload, no-any-return]


def _is_whole(value: object) -> bool:
    return isinstance(value, Integral) and not isinstance(value, bool)


# ---- the tables

_SVM_JSON: Final = {
    "svm_gamma_factors": list(GAMMA_FACTORS),
    "svm_nus": {"first": NUS[0], "last": NUS[-1], "step": 0.02},
}
_METHOD_2015: Final = "MIML-NC (2015), above KS in every row"
_BAGS_2015: Final = DigitBags(bag_size=10)


def _options(protocol: Any) -> dict[str, Any]:
    return {name: value for name, value in asdict(protocol).items() if name != "filtered"}


def _auc_spec(
    title: str, source: PublishedTable, protocol: Any, models: tuple[str, ...], **settings: Any
) -> TableSpec:
    run = partial(_auc_table, source=source, protocol=protocol, **settings)
    return TableSpec(title, source.label, run, models, _options(protocol))


TABLES: dict[str, TableSpec] = {
    "cooccurrence": TableSpec(
        "Co-occurrence rates of the toy problem", "tb:toy_problem, tb:co-occurrence", _cooccurrence
    ),
    "bags": TableSpec("Example bags of handwritten digits", "tb:digits_bag", _bags),
    "counts": TableSpec("Instances by class", "tb:bags, tb:birdname", _counts),
    "mnist": _auc_spec(
        "MNIST bags, training and test bags not filtered", published.MNIST, DigitBags(), _MODELS
    ),
    "mnist-filtered": _auc_spec(
        "MNIST bags, training bags filtered",
        published.MNIST_FILTERED,
        DigitBags(filtered=True),
        _FILTERED_MODELS,
        unfiltered=True,
    ),
    "hja": _auc_spec("HJA birdsong", published.HJA, BirdBags(), _MODELS),
    "svm-mnist": _auc_spec(
        "One-class SVM on MNIST bags", published.MNIST_SVM, DigitBags(), _SVM_MODELS
    ),
    "svm-hja": _auc_spec(
        "One-class SVM on HJA birdsong", published.HJA_SVM, BirdBags(), _SVM_MODELS
    ),
    "roc": TableSpec(
        "ROC curves on MNIST bags, without and with filtration",
        "fig:roc_digit",
        _roc,
        _ROC_MODELS,
        _options(DigitBags()),
    ),
    "icml2015": TableSpec(
        "MNIST rows of the 2015 follow-up",
        "Pham et al. (2015), Table 2",
        _table_2015,
        _FILTERED_MODELS,
        _options(_BAGS_2015),
    ),
}
