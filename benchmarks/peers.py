"""Other libraries on the same HJA bags: scikit-learn's OneClassSVM, mimllearning's classifiers."""

from collections.abc import Callable
from importlib.util import find_spec
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.metrics import f1_score, hamming_loss, roc_auc_score
from sklearn.svm import OneClassSVM

from _data import KNOWN, hja_split, scaled
from _report import run_part
from _timing import Figure, blas_threads, interleaved, ratio, spread
from raravis import KernelScorer
from raravis.datasets import BagDataset

NUS = (0.5, 0.1, 0.02)


def measure(quick: bool) -> list[Figure]:
    """Time and accuracy on the same bags, scaled alike, on one thread."""
    with blas_threads(1):
        figures = one_class_svm(rounds=3 if quick else 15, n_splits=2 if quick else 10)
        if find_spec("miml") is None:
            print("mimllearning is not installed: pip install --group benchmark, then run again.")
            return figures
        return figures + bag_classifiers(rounds=1 if quick else 3, n_splits=2 if quick else 5)


def one_class_svm(*, rounds: int, n_splits: int) -> list[Figure]:
    """Fit and score, same instances, same gamma; the AUC of known against novel instances."""
    train, test = hja_split()
    gamma = KernelScorer().fit(train.bags, train.labels).gamma_
    tasks: dict[str, Callable[[], object]] = {
        "ours": lambda: _our_scores(train, test),
        **{str(nu): lambda nu=nu: _svm_scores(train, test, gamma, nu) for nu in NUS},
    }
    times = interleaved(tasks, rounds=rounds)
    return [
        *(
            ratio(
                f"fit and score / OneClassSVM's: nu {nu}",
                times["ours"],
                times[str(nu)],
                note=f"{1e3 * times['ours'].median:.0f} ms / {1e3 * times[str(nu)].median:.0f} ms",
            )
            for nu in NUS
        ),
        *_aucs(n_splits),
    ]


def _our_scores(train: BagDataset, test: BagDataset) -> NDArray[Any]:
    return KernelScorer().fit(train.bags, train.labels).score_samples(test.bags)


def _svm_scores(
    train: BagDataset, test: BagDataset, gamma: float, nu: float, *, only_known: bool = False
) -> NDArray[Any]:
    X = scaled(train.bags)
    taught = X[train.known(KNOWN)] if only_known else X
    scores: NDArray[Any] = (
        OneClassSVM(gamma=gamma, nu=nu).fit(taught).score_samples(scaled(train.bags, test.bags))
    )
    return scores


def _aucs(n_splits: int) -> list[Figure]:
    """AUCs over splits; ``only_known`` gives the rival the true classes of training instances."""
    found: dict[str, list[float]] = {}
    for seed in range(n_splits):
        train, test = hja_split(seed)
        known = test.known(KNOWN)
        model = KernelScorer().fit(train.bags, train.labels)
        scores = {"AUC: KernelScorer": model.score_samples(test.bags)}
        for nu in NUS:
            for only in (False, True):
                name = f"AUC: OneClassSVM, nu {nu}, {'known' if only else 'all'} instances"
                scores[name] = _svm_scores(train, test, model.gamma_, nu, only_known=only)
        for name, values in scores.items():
            found.setdefault(name, []).append(float(roc_auc_score(known, values)))
    return [spread(name, values, unit="") for name, values in found.items()]


def bag_classifiers(*, rounds: int, n_splits: int) -> list[Figure]:
    """Fit and predict the labels of bags; Hamming loss and macro F1 on held-out bags."""
    train, test = hja_split()
    data = _translated(train, test)
    tasks: dict[str, Callable[[], object]] = {
        "KernelScorer": lambda: _our_bags(train, test),
        **{
            name: lambda make=make: _their_bags(make(), *data)
            for name, make in _classifiers().items()
        },
    }
    times = interleaved(tasks, rounds=rounds)
    faster = [
        ratio(
            f"time / KernelScorer's: {name}",
            times[name],
            times["KernelScorer"],
            note=f"{times[name].median:.2f} s / {times['KernelScorer'].median:.2f} s",
        )
        for name in _classifiers()
    ]
    return faster + _bag_accuracies(n_splits)


def _bag_accuracies(n_splits: int) -> list[Figure]:
    losses: dict[str, list[float]] = {}
    scores: dict[str, list[float]] = {}
    for seed in range(n_splits):
        train, test = hja_split(seed)
        truth = test.labels.present.astype(int)
        data = _translated(train, test)
        # One of their classifiers draws from numpy's global state.
        np.random.seed(seed)  # noqa: NPY002
        guesses = {"KernelScorer": _our_bags(train, test)}
        guesses |= {name: _their_bags(make(), *data) for name, make in _classifiers().items()}
        for name, guess in guesses.items():
            losses.setdefault(name, []).append(float(hamming_loss(truth, guess)))
            score = f1_score(truth, guess, average="macro", zero_division=0)
            scores.setdefault(name, []).append(float(score))
    return [
        *(spread(f"Hamming loss: {name}", values, unit="") for name, values in losses.items()),
        *(spread(f"macro F1: {name}", values, unit="") for name, values in scores.items()),
    ]


def _our_bags(train: BagDataset, test: BagDataset) -> NDArray[Any]:
    return KernelScorer().fit(train.bags, train.labels).predict_bags(test.bags)


def _their_bags(classifier: Any, train: Any, test: Any) -> NDArray[Any]:
    classifier.fit(train)
    return np.asarray(classifier.evaluate(test)).astype(int)


def _classifiers() -> dict[str, Callable[[], Any]]:
    """Return the classifiers of mimllearning, with the learners its documentation pairs them with.

    The forest and the neighbours give the reduction to one vector a bag a strong learner.
    """
    from miml.classifier import (
        APRClassifier,
        MIMLtoMIBRClassifier,
        MIMLtoMILPClassifier,
        MIMLtoMLClassifier,
        MIWrapperClassifier,
    )
    from miml.transformation import ArithmeticTransformation, MinMaxTransformation
    from sklearn.ensemble import RandomForestClassifier
    from sklearn.neighbors import KNeighborsClassifier
    from sklearn.tree import DecisionTreeClassifier

    class Wrapper(MIWrapperClassifier):  # type: ignore[misc]
        # It puts one-element rows of labels into cells, which NumPy refuses from 2.4 on.
        def fit(self, x_train: Any, y_train: Any, weight: int = 2) -> None:
            super().fit(x_train, np.ravel(y_train), weight)

    def wrapper() -> Any:
        return Wrapper(DecisionTreeClassifier(random_state=0))

    def forest() -> Any:
        return RandomForestClassifier(random_state=0)

    return {
        "binary relevance, APR": lambda: MIMLtoMIBRClassifier(APRClassifier()),
        "binary relevance, tree wrapper": lambda: MIMLtoMIBRClassifier(wrapper()),
        "label powerset, tree wrapper": lambda: MIMLtoMILPClassifier(wrapper()),
        "bag mean, forest": lambda: MIMLtoMLClassifier(forest(), ArithmeticTransformation()),
        "bag min-max, forest": lambda: MIMLtoMLClassifier(forest(), MinMaxTransformation()),
        "bag mean, 5 neighbours": lambda: MIMLtoMLClassifier(
            KNeighborsClassifier(), ArithmeticTransformation()
        ),
    }


def _translated(train: BagDataset, test: BagDataset) -> tuple[Any, Any]:
    return _their_dataset(train, train), _their_dataset(train, test)


def _their_dataset(train: BagDataset, data: BagDataset) -> Any:
    """Return the same bags, scaled as ours are, in the form that mimllearning takes."""
    from miml.data import Bag, Instance, MIMLDataset

    theirs = MIMLDataset()
    theirs.set_features_name([f"x{i}" for i in range(data.bags.n_features)])
    theirs.set_labels_name([f"class {c}" for c in data.labels.classes])
    bags = data.bags.with_instances(scaled(train.bags, data.bags))
    for key, instances, present in zip(bags.keys, bags, data.labels.present, strict=True):
        bag = Bag(str(key))
        for x in instances:
            bag.add_instance(Instance([*x.tolist(), *present.astype(int).tolist()]))
        theirs.add_bag(bag)
    return theirs


if __name__ == "__main__":
    run_part("peers", measure)
