"""How the training and test bags of a repeat are made, and what of it the papers leave unsaid."""

import hashlib
import numbers
from collections.abc import Hashable, Mapping, Sequence
from dataclasses import asdict, dataclass, fields, replace
from typing import Any, ClassVar, Protocol, Self

import numpy as np
import numpy.typing as npt

from raravis.bags import Bags
from raravis.datasets import (
    BagDataset,
    fetch_hja_birdsong,
    fetch_mnist_components,
    make_bags,
)
from raravis.errors import InputError
from raravis.experiments.results import JSON
from raravis.labels import BagLabels

__all__ = [
    "BagProtocol",
    "BirdBags",
    "DigitBags",
    "Source",
    "Trial",
    "trial_seeds",
    "with_options",
]

BoolArray = npt.NDArray[np.bool_]


@dataclass(frozen=True, eq=False)
class Trial:
    """One repeat for one label set: what a model may see, and what it is judged by.

    Parameters
    ----------
    train, labels
        The training bags and, for each, which of the known classes it holds.
    train_known : ndarray of bool of shape (n_training_instances,)
        The truth, for models that are told it; others must not look.
    test, test_known
        The test bags and whether each of their instances is of a known class.
    seed : int
        For whatever a model draws.
    """

    train: Bags
    labels: BagLabels
    train_known: BoolArray
    test: Bags
    test_known: BoolArray
    seed: int


class Source(Protocol):
    """Loaded data that draws the trials of one protocol."""

    def trial(self, known: Sequence[Hashable], repeat: int, seed: int) -> Trial:
        """Return one repeat for one label set."""


class BagProtocol(Protocol):
    """The settings of an experiment's bags."""

    def load(self, data_home: Any = None) -> Source:
        """Read the data once, for all trials."""

    def describe(self) -> dict[str, JSON]:
        """Return every setting, and which of them the publication leaves unsaid."""

    def checked(self) -> Self:
        """Return the settings themselves, or refuse them."""


@dataclass(frozen=True)
class DigitBags:
    """Bags of MNIST digits: training bags of training images, test bags of test images.

    Parameters
    ----------
    n_train_bags, n_test_bags, bag_size : int
    beta : float
        Dirichlet concentration of every digit.
    n_components : int
        Principal components, those of all training images.
    filtered : bool
        Whether training bags without a label are drawn again. Test bags never are, and do not
        depend on it: tables with and without share their test bags.

    Examples
    --------
    >>> DigitBags(filtered=True).describe()["bag_size"]
    20
    """

    n_train_bags: int = 100
    n_test_bags: int = 100
    bag_size: int = 20
    beta: float = 0.1
    n_components: int = 20
    filtered: bool = False
    assumed: ClassVar[tuple[str, ...]] = ("n_train_bags", "n_test_bags", "images")

    def load(self, data_home: Any = None) -> "_Digits":
        """Read the images and project them."""
        return _Digits(
            self,
            fetch_mnist_components(self.n_components, subset="train", data_home=data_home),
            fetch_mnist_components(self.n_components, subset="test", data_home=data_home),
        )

    def describe(self) -> dict[str, JSON]:
        """Return every setting, and which of them the paper leaves unsaid."""
        return {
            "data": "MNIST",
            **asdict(self),
            "images": "training bags draw from the training images, test bags from the test images",
            "assumed": list(self.assumed),
        }

    def checked(self) -> Self:
        """Return the settings themselves, or refuse them."""
        for name in ("n_train_bags", "n_test_bags", "bag_size", "n_components"):
            _require_count(name, getattr(self, name))
        _require_number("beta", self.beta)
        return self


@dataclass(frozen=True)
class BirdBags:
    """HJA birdsong, labelled instances only, split at random by bag.

    Parameters
    ----------
    train_fraction : float
        Share of the 548 bags to train on; the others are for testing.

    Examples
    --------
    >>> BirdBags().describe()["train_fraction"]
    0.7
    """

    train_fraction: float = 0.7
    assumed: ClassVar[tuple[str, ...]] = ("train_fraction", "bag_labels")

    def load(self, data_home: Any = None) -> "_Birds":
        """Read the recordings."""
        return _Birds(self, fetch_hja_birdsong(data_home=data_home))

    def describe(self) -> dict[str, JSON]:
        """Return every setting, and which of them the paper leaves unsaid."""
        return {
            "data": "HJA birdsong, the 4,998 labelled instances",
            **asdict(self),
            "bag_labels": "union of the instances' labels",
            "assumed": list(self.assumed),
        }

    def checked(self) -> Self:
        """Return the settings themselves, or refuse them."""
        _require_number("train_fraction", self.train_fraction)
        if self.train_fraction >= 1:
            raise InputError(
                f"train_fraction is {self.train_fraction!r}; pass a share between 0 and 1, such "
                "as 0.7, so that bags are left for testing."
            )
        return self


@dataclass(frozen=True, eq=False)
class _Digits:
    protocol: DigitBags
    train: tuple[npt.NDArray[np.float64], npt.NDArray[np.int64]]
    test: tuple[npt.NDArray[np.float64], npt.NDArray[np.int64]]

    def trial(self, known: Sequence[Hashable], repeat: int, seed: int) -> Trial:
        """Draw training bags and test bags from streams of their own."""
        settings = self.protocol
        for_train, for_test, for_model = trial_seeds(seed, known, repeat)
        train = make_bags(
            *self.train,
            n_bags=settings.n_train_bags,
            bag_size=settings.bag_size,
            known=known,
            beta=settings.beta,
            filtered=settings.filtered,
            seed=for_train,
        )
        test = make_bags(
            *self.test,
            n_bags=settings.n_test_bags,
            bag_size=settings.bag_size,
            known=known,
            beta=settings.beta,
            seed=for_test,
        )
        return _trial(train, test, known, for_model)


@dataclass(frozen=True, eq=False)
class _Birds:
    protocol: BirdBags
    data: BagDataset

    def trial(self, known: Sequence[Hashable], repeat: int, seed: int) -> Trial:
        """Split the recordings."""
        for_split, _, for_model = trial_seeds(seed, known, repeat)
        share = self.protocol.train_fraction
        train, test = self.data.restrict(known).split((share, 1 - share), seed=_number(for_split))
        return _trial(train, test, known, for_model)


def trial_seeds(seed: int, known: Sequence[Hashable], repeat: int) -> list[np.random.SeedSequence]:
    """Return the seeds of training bags, test bags and models.

    They follow from the seed, the repeat and the label set and from nothing else, so that models
    see the same bags and no figure depends on what else was run, or in which order.

    Examples
    --------
    >>> first, again = trial_seeds(0, (1, 2), 3), trial_seeds(0, (2, 1), 3)
    >>> first[0].generate_state(1) == again[0].generate_state(1)
    array([ True])
    """
    named = "\n".join(sorted(map(repr, known))).encode()
    digest = np.frombuffer(hashlib.sha256(named).digest()[:16], dtype="<u4")
    return np.random.SeedSequence([seed, repeat, *map(int, digest)]).spawn(3)


def with_options(protocol: Any, options: Mapping[str, Any], *, fixed: Sequence[str] = ()) -> Any:
    """Return the protocol with some settings changed, checked.

    Examples
    --------
    >>> with_options(BirdBags(), {"train_fraction": 0.5})
    BirdBags(train_fraction=0.5)
    """
    accepted = [field.name for field in fields(protocol) if field.name not in fixed]
    unknown = [name for name in options if name not in accepted]
    if unknown:
        raise InputError(
            f"{unknown[0]!r} is no option of this table; its options are {', '.join(accepted)}."
        )
    return replace(protocol, **options).checked()


def _trial(
    train: BagDataset, test: BagDataset, known: Sequence[Hashable], seed: np.random.SeedSequence
) -> Trial:
    counts = train.labels.counts()
    # A class that no training bag holds cannot be learned; its test instances count as known.
    learnable = [label for label in train.labels.classes if counts[label]]
    return Trial(
        train=train.bags,
        labels=train.labels.restrict(learnable),
        train_known=train.known(known),
        test=test.bags,
        test_known=test.known(known),
        seed=_number(seed),
    )


def _number(seed: np.random.SeedSequence) -> int:
    return int(seed.generate_state(1)[0])


def _require_count(name: str, value: object) -> None:
    is_whole = isinstance(value, numbers.Integral) and not isinstance(value, bool)
    if not is_whole or int(value) < 1:  # type: ignore[call-overload]
        raise InputError(f"{name} is {value!r}; pass a whole number of at least 1.")


def _require_number(name: str, value: object) -> None:
    is_number = isinstance(value, numbers.Real) and not isinstance(value, bool)
    if not is_number or not 0 < float(value) < float("inf"):  # type: ignore[arg-type]
        raise InputError(f"{name} is {value!r}; pass a number above 0.")
