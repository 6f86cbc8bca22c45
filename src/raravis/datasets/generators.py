"""Bags drawn from labelled instances: the paper's two generation procedures.

Every bag draws class proportions from a Dirichlet distribution over all classes of the data, then
its instances accordingly; its label set lists the known classes among them (Algorithm 2). With
``filtered=True`` a bag whose label set is empty is drawn again (Algorithm 3).
"""

from collections.abc import Callable, Collection, Hashable, Iterable, Iterator, Sequence
from functools import partial
from typing import Any, TypeAlias

import numpy as np
import numpy.typing as npt

from raravis.bags import Bags
from raravis.datasets._base import UNLABELLED, BagDataset, Description, label_sets
from raravis.errors import InputError
from raravis.labels import BagLabels

__all__ = ["BagSize", "Seed", "draw_bags", "gather_bags", "make_bags"]

IntArray: TypeAlias = npt.NDArray[np.int64]
FloatArray: TypeAlias = npt.NDArray[np.float64]
BagSize: TypeAlias = int | tuple[int, int] | Callable[[np.random.Generator], int]
Seed: TypeAlias = int | np.random.SeedSequence | np.random.Generator

_MAX_REDRAWS = 100_000
_MIN_BETA = 1e-300  # below, the logarithm of a gamma variate overflows


def draw_bags(
    y: npt.ArrayLike,
    *,
    n_bags: int,
    bag_size: BagSize = 20,
    known: Collection[Hashable] | None = None,
    beta: float | Sequence[float] | FloatArray = 0.1,
    filtered: bool = False,
    replace: bool = True,
    seed: Seed = 0,
) -> list[IntArray]:
    """Draw bags as arrays of row numbers into `y`.

    Parameters
    ----------
    y : array-like of shape (n,)
        The class of every row.
    n_bags : int
        How many bags.
    bag_size : int, (low, high) or callable
        Instances a bag: fixed, uniform between two bounds (both possible), or
        ``bag_size(rng)`` called once a bag. Rejection does not change a bag's size.
    known : collection, optional
        The known classes; all of them by default. They matter to the draw only where `filtered`.
    beta : float or array-like
        Concentration of the Dirichlet distribution: the same for every class of `y`, or one value
        a class in the order of ``np.unique(y)``. Small values give bags of few classes.
    filtered : bool
        Whether to draw a bag again, proportions included, while it has no known class.
    replace : bool
        Whether a row may be drawn more than once. If not, no row occurs twice in all bags taken
        together, and running out of a class is an error.
    seed : int, SeedSequence or Generator
        Source of the randomness; NumPy's global state plays no part.

    Returns
    -------
    list of arrays of int
        One array a bag, in random order within the bag.

    Examples
    --------
    >>> y = np.repeat([0, 1, 2], 50)
    >>> bags = draw_bags(y, n_bags=3, bag_size=4, known=[0], filtered=True, seed=1)
    >>> [len(rows) for rows in bags]
    [4, 4, 4]
    >>> [0 in y[rows] for rows in bags]
    [True, True, True]
    """
    classes, codes = _check_classes(y)
    _check_count(n_bags, "n_bags")
    size_of = _check_bag_size(bag_size, filtered=filtered)
    concentration = _check_beta(beta, classes)
    listed = np.isin(np.arange(len(classes)), _known_codes(known, classes))
    if filtered and not listed.any():
        raise InputError(
            "filtered=True rejects every bag without a known class, but known is empty; pass at "
            "least one known class, or filtered=False"
        )
    rng = np.random.default_rng(seed)
    wanted = listed if filtered else None
    pools = [np.flatnonzero(codes == code) for code in range(len(classes))]
    counts = _draw_counts(rng, n_bags, size_of, concentration, wanted)
    if replace:
        return [_pick_with_replacement(rng, pools, row) for row in counts]
    return _pick_without_replacement(rng, pools, counts, classes)


def make_bags(
    X: npt.ArrayLike,
    y: npt.ArrayLike,
    *,
    n_bags: int,
    bag_size: BagSize = 20,
    known: Collection[Hashable] | None = None,
    beta: float | Sequence[float] | FloatArray = 0.1,
    filtered: bool = False,
    replace: bool = True,
    seed: Seed = 0,
    name: str = "bags",
    description: Description | None = None,
) -> BagDataset:
    """Draw bags of labelled instances, labelled with the known classes that they hold.

    Parameters
    ----------
    X : array-like of shape (n, n_features)
        The instances.
    y : array-like of shape (n,)
        Their classes; `UNLABELLED` (-1) where nobody noted one, and never a known class.
    n_bags, bag_size, known, beta, filtered, replace, seed
        As for `draw_bags`.
    name : str
        Name of the data set.
    description : Description, optional
        What the instances are and where they come from.

    Returns
    -------
    BagDataset
        Its ``instance_ids`` are row numbers of `X`; its labels list the known classes only.

    Examples
    --------
    >>> X, y = np.eye(3), np.array(["wren", "thrush", "owl"])
    >>> data = make_bags(X, y, n_bags=5, bag_size=4, known=["owl", "wren"])
    >>> data.bags.n_instances, data.labels.classes
    (20, ('owl', 'wren'))
    """
    features, truth = np.asarray(X), np.asarray(y)
    if features.ndim != 2 or truth.shape != features.shape[:1]:
        raise InputError(
            f"X of shape {features.shape} and y of shape {truth.shape} do not go together; pass "
            "one row of X and one class of y an instance"
        )
    listed = _listed(known, truth)
    draw = partial(draw_bags, n_bags=n_bags, bag_size=bag_size, beta=beta, filtered=filtered)
    return gather_bags(
        lambda ids: features[ids],
        truth,
        draw(truth, known=listed, replace=replace, seed=seed),
        known=listed,
        name=name,
        description=description or Description(title=name),
    )


def _listed(known: Collection[Hashable] | None, truth: npt.NDArray[Any]) -> list[Hashable]:
    classes, _ = _check_classes(truth)
    listed = [classes[code] for code in _known_codes(known, classes)]
    if known is None:
        return [item for item in listed if item != UNLABELLED]
    if UNLABELLED in listed:
        raise InputError(
            f"known lists {UNLABELLED}, which marks instances of no noted class; give that class "
            "another name"
        )
    return listed


def gather_bags(
    instances_of: Callable[[IntArray], npt.NDArray[Any]],
    y: npt.NDArray[Any],
    rows: list[IntArray],
    *,
    known: Collection[Hashable],
    name: str,
    description: Description,
) -> BagDataset:
    """Make a data set of drawn rows; its labels list the known classes of every bag.

    `instances_of` maps row numbers to feature vectors, so that only what was drawn is computed.
    """
    ids = np.concatenate([np.empty(0, np.int64), *rows])
    instances = instances_of(ids)
    ends = np.cumsum([len(index) for index in rows])
    bags = Bags.from_list(np.split(instances, ends[:-1]), n_features=instances.shape[1])
    sets = label_sets(bags, y[ids], known)
    return BagDataset(
        bags=bags,
        labels=BagLabels.from_sets(sets, classes=known, keys=bags.keys),
        instance_labels=y[ids],
        instance_ids=ids,
        name=name,
        description=description,
    )


def _log_dirichlet(rng: np.random.Generator, beta: FloatArray) -> FloatArray:
    """Draw Dirichlet proportions, as logarithms up to a constant.

    A gamma variate of shape b is one of shape b + 1 times U^(1/b): its logarithm exists where the
    variate itself underflows to zero, as all of them do together when every b is small.
    """
    logs: FloatArray = np.log(rng.standard_gamma(beta + 1.0))
    logs -= rng.standard_exponential(beta.shape) / beta
    return logs


def _proportions(rng: np.random.Generator, beta: FloatArray) -> FloatArray:
    logs = _log_dirichlet(rng, beta)
    weights: FloatArray = np.exp(logs - logs.max())
    weights /= weights.sum()
    return weights


def _draw_counts(
    rng: np.random.Generator,
    n_bags: int,
    size_of: Callable[[np.random.Generator], int],
    beta: FloatArray,
    wanted: npt.NDArray[np.bool_] | None,
) -> Iterator[IntArray]:
    """Yield how many instances of each class every bag holds."""
    for _ in range(n_bags):
        yield _draw_one(rng, size_of(rng), beta, wanted)


def _draw_one(
    rng: np.random.Generator, size: int, beta: FloatArray, wanted: npt.NDArray[np.bool_] | None
) -> IntArray:
    for _ in range(_MAX_REDRAWS):
        counts: IntArray = rng.multinomial(size, _proportions(rng, beta))
        if wanted is None or counts[wanted].any():
            return counts
    raise InputError(
        f"no bag with a known class came up in {_MAX_REDRAWS} draws; raise beta of the known "
        "classes, or pass filtered=False"
    )


def _pick_with_replacement(
    rng: np.random.Generator, pools: list[IntArray], counts: IntArray
) -> IntArray:
    drawn = [pools[c][rng.integers(len(pools[c]), size=counts[c])] for c in np.flatnonzero(counts)]
    return _shuffled(rng, drawn)


def _pick_without_replacement(
    rng: np.random.Generator,
    pools: list[IntArray],
    counts: Iterator[IntArray],
    classes: list[Hashable],
) -> list[IntArray]:
    """Deal every class's rows out in one random order."""
    decks = [rng.permutation(pool) for pool in pools]
    used = np.zeros(len(decks), dtype=np.int64)
    bags = []
    for number, row in enumerate(counts):
        _check_enough(used + row, decks, classes, number)
        drawn = [decks[c][used[c] : used[c] + row[c]] for c in np.flatnonzero(row)]
        bags.append(_shuffled(rng, drawn))
        used += row
    return bags


def _check_enough(
    needed: IntArray, decks: list[IntArray], classes: list[Hashable], number: int
) -> None:
    for code in np.flatnonzero(needed > [len(deck) for deck in decks]):
        raise InputError(
            f"class {classes[code]!r} has {len(decks[code])} rows and runs out at bag {number} of "
            "a draw without replacement; draw fewer or smaller bags, or pass replace=True"
        )


def _shuffled(rng: np.random.Generator, drawn: list[IntArray]) -> IntArray:
    return rng.permutation(np.concatenate([np.empty(0, np.int64), *drawn]))


def _check_classes(y: npt.ArrayLike) -> tuple[list[Hashable], IntArray]:
    labels = np.asarray(y)
    if labels.ndim != 1 or not len(labels):
        raise InputError(f"y has shape {labels.shape}; pass one class a row, at least one row")
    if labels.dtype.kind == "f" and not np.isfinite(labels).all():
        raise InputError("y contains NaN or infinity; every row needs a class")
    try:
        classes, codes = np.unique(labels, return_inverse=True)
    except TypeError as error:
        raise InputError(
            "the classes in y are of kinds that cannot be sorted together; pass only numbers, or "
            "only strings"
        ) from error
    return classes.tolist(), codes.astype(np.int64)


def _known_codes(known: Collection[Hashable] | None, classes: list[Hashable]) -> list[int]:
    if known is None:
        return list(range(len(classes)))
    if isinstance(known, str | bytes) or not isinstance(known, Iterable):
        raise InputError(f"known is {known!r}; pass a collection of classes")
    listed = list(known)
    missing = [item for item in listed if item not in classes]
    if missing:
        raise InputError(
            f"known lists {missing[:5]!r}, which do not occur in y; its classes are "
            f"{classes[:20]!r}"
        )
    return sorted({classes.index(item) for item in listed})


def _check_beta(beta: float | Sequence[float] | FloatArray, classes: list[Hashable]) -> FloatArray:
    values = np.asarray(beta, dtype=np.float64)
    if values.ndim > 1 or (values.ndim == 1 and len(values) != len(classes)):
        raise InputError(
            f"beta has shape {values.shape}; pass one number, or one for each of the "
            f"{len(classes)} classes {classes[:20]!r}"
        )
    if not (np.isfinite(values) & (values >= _MIN_BETA)).all():
        raise InputError(
            f"beta is {beta!r}; every concentration must be positive and finite (to exclude a "
            "class, leave its rows out of y)"
        )
    return np.full(len(classes), 1.0) * values


def _check_count(value: object, what: str) -> int:
    if not isinstance(value, int | np.integer) or isinstance(value, bool) or value < 1:
        raise InputError(f"{what} is {value!r}; pass a whole number of at least 1")
    return int(value)


def _check_bag_size(bag_size: BagSize, *, filtered: bool) -> Callable[[np.random.Generator], int]:
    """Return a function that draws the size of one bag."""
    smallest = 1 if filtered else 0  # an empty bag never has a known class
    if callable(bag_size):
        return lambda rng: _check_drawn_size(bag_size(rng), smallest)
    if isinstance(bag_size, tuple | list):
        low, high = _check_range(bag_size, smallest)
        return lambda rng: int(rng.integers(low, high, endpoint=True))
    size = _check_count(bag_size, "bag_size")
    return lambda _: size


def _check_range(bounds: Sequence[object], smallest: int) -> tuple[int, int]:
    whole = [value for value in bounds if isinstance(value, int | np.integer)]
    if len(bounds) != 2 or len(whole) != 2 or not smallest <= whole[0] <= whole[1]:
        raise InputError(
            f"bag_size is {bounds!r}; as a range it must be two whole numbers (low, high), low at "
            f"least {smallest} and high at least low"
        )
    return int(whole[0]), int(whole[1])


def _check_drawn_size(value: object, smallest: int) -> int:
    if not isinstance(value, int | np.integer) or value < smallest:
        raise InputError(
            f"the bag_size function returned {value!r}; it must return a whole number of at "
            f"least {smallest}"
        )
    return int(value)
