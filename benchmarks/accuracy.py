"""How accurate one fixed setting is, on data like and unlike that it was chosen on.

Three models learn from the same bags: the hinge scorer, the plain likelihood model, the detector.
The detector is asked in its four ways: on its own, in context, and both with the labels of the test
bags. Decisions are made without a labelled instance, and held against the best threshold that the
same scores have, which only the truth can tell.
"""

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from _families import BIRD_SETS, FAMILIES, Problem, birds
from _report import run_part
from _timing import Figure, blas_threads
from raravis import NOVEL, KernelScorer, NovelClassClassifier, NoveltyDetector
from raravis.datasets import fetch_hja_birdsong
from raravis.metrics import auc

#: No family may do worse than the better of the two simpler models by more than this.
TOLERATED = 0.005
GAP = 0.03
Scores = NDArray[np.float64]


def measure(quick: bool) -> list[Figure]:
    """Mean AUC of every family, decisions, and birdsong with the sounds that nobody labelled."""
    repeats = 1 if quick else 2
    with blas_threads(1):
        figures = [f for name in FAMILIES for f in _family(name, repeats)]
        return [*figures, *_unlabelled_sounds(quick), *_thirteen_species(repeats)]


# ---------------------------------------------------------------------- families


@dataclass
class _Found:
    """Figures of trials by name; the report has their means."""

    values: dict[str, list[float]] = field(default_factory=dict)

    def add(self, name: str, value: float) -> None:
        self.values.setdefault(name, []).append(value)

    def mean(self, name: str) -> float:
        return float(np.nanmean(self.values[name]))

    def figure(self, family: str, name: str, **target: Any) -> Figure:
        mean, found = self.mean(name), np.array(self.values[name])
        n = int(np.isfinite(found).sum())
        error = float(np.nanstd(found, ddof=1) / np.sqrt(n)) if n > 1 else 0.0
        note = f"mean +- {error:.2g} of {n}"
        return Figure(
            f"{family}: {name}", mean, mean - error, mean + error, "", note=note, **target
        )


def _family(name: str, repeats: int) -> Iterator[Figure]:
    found = _Found()
    for repeat in range(repeats):
        for problem in FAMILIES[name](repeat):
            _judge(problem, found)
    simpler = max(found.mean("AUC, hinge scorer"), found.mean("AUC, likelihood"))
    at_least = {"at_most": False, "target": simpler - TOLERATED}
    for what in found.values:
        goal = {}
        if what in ("AUC, detector", "AUC, detector in context"):
            goal = at_least
        if "below the best threshold" in what:
            goal = {"target": GAP}
        yield found.figure(name, what, **goal)


def _judge(problem: Problem, found: _Found) -> None:
    train, test = problem.train, problem.test
    labels = _learnable(train)
    known = test.known(problem.known)
    simple: dict[str, Callable[[], Any]] = {
        "hinge scorer": lambda: KernelScorer(random_state=problem.seed),
        "likelihood": lambda: NovelClassClassifier(
            random_state=problem.seed, impossible="soften", max_rounds=200
        ),
    }
    for name, make in simple.items():
        model = make().fit(train.bags, labels)
        found.add(f"AUC, {name}", auc(known, model.score_samples(test.bags)))
    detector = NoveltyDetector(random_state=problem.seed, impossible="soften")
    detector.fit(train.bags, labels)
    told = test.labels.restrict([c for c in test.labels.classes if c in {*detector.classes_}])
    for context in (False, True):
        what = "detector in context" if context else "detector"
        scores = detector.score_samples(test.bags, context=context)
        found.add(f"AUC, {what}", auc(known, scores))
        given = detector.score_samples(test.bags, context=context, bag_labels=told)
        found.add(f"AUC, {what}, given the labels", auc(known, given))
        names = detector.annotate(test.bags, context=context)
        right = float(np.mean(_agrees(names, test.instance_labels, problem.known)))
        best = _best_accuracy(detector, test, scores, problem.known, context)
        found.add(f"annotation accuracy, {what}", right)
        found.add(f"below the best threshold, {what}", best - right)


def _learnable(train: Any) -> Any:
    counts = train.labels.counts()
    return train.labels.restrict([c for c in train.labels.classes if counts[c]])


def _agrees(names: Any, truth: Any, known: tuple[int, ...]) -> NDArray[np.bool_]:
    wanted = [t if t in known else NOVEL for t in truth.tolist()]
    return np.array([a == b for a, b in zip(names, wanted, strict=True)])


def _best_accuracy(
    model: Any, test: Any, scores: Scores, known: tuple[int, ...], context: bool
) -> float:
    """Return the annotation accuracy of the best threshold on the scores: the truth chooses it."""
    P = model.posterior(test.bags, context=context)
    guess = model.classes_[P[:, 1:].argmax(axis=1)]
    order = np.argsort(-scores)
    right = _agrees(guess, test.instance_labels, known)[order]
    novel = ~test.known(known)[order]
    n_right = np.concatenate([[0], np.cumsum(right)])
    n_novel_missed = np.concatenate([[0], np.cumsum(novel)])
    return float((n_right + novel.sum() - n_novel_missed).max() / len(scores))


# ---------------------------------------------------------------------- birdsong, every sound


def _unlabelled_sounds(quick: bool) -> Iterator[Figure]:
    """All 10,232 sounds, lists as published: what the list leaves out is novel, of two kinds."""
    found = _Found()
    sets = BIRD_SETS[::5] if quick else BIRD_SETS
    for problem in birds(sets, 0, instances="all", labels="file"):
        test, known = problem.test, problem.test.known(problem.known)
        model = NoveltyDetector(random_state=problem.seed, impossible="soften")
        model.fit(problem.train.bags, _learnable(problem.train))
        unlisted = ~known & (test.instance_labels > 0)
        unlabelled = test.instance_labels < 0
        for context in (False, True):
            scores = model.score_samples(test.bags, context=context)
            where = ", in context" if context else ""
            for kind, novel in (("unlisted species", unlisted), ("unlabelled", unlabelled)):
                among = known | novel
                found.add(f"AUC, known against {kind}{where}", auc(known[among], scores[among]))
    for what in found.values:
        yield found.figure("birds, all sounds", what)


def _thirteen_species(repeats: int) -> Iterator[Figure]:
    """All sounds and all thirteen species: annotation of instances, and Hamming loss of bags."""
    found = _Found()
    data = fetch_hja_birdsong(instances="all", labels="file")
    for seed in range(repeats):
        train, test = data.split((0.7, 0.3), seed=seed)
        present = test.labels.present
        found.add("Hamming loss, lists left empty", float(present.mean()))
        models = {
            "hinge scorer": KernelScorer(),
            "likelihood": NovelClassClassifier(impossible="soften"),
            "detector": NoveltyDetector(impossible="soften"),
        }
        labelled = test.instance_labels > 0
        for name, model in models.items():
            model.fit(train.bags, train.labels)
            wrong = model.predict_bags(test.bags) != present
            found.add(f"Hamming loss, {name}", float(wrong.mean()))
            how = {"context": True} if name == "detector" else {}
            right = _agrees(
                model.annotate(test.bags, **how), test.instance_labels, tuple(range(14))
            )
            found.add(f"annotation accuracy, all sounds, {name}", float(right.mean()))
            found.add(
                f"annotation accuracy, labelled sounds, {name}", float(right[labelled].mean())
            )
    for what in found.values:
        yield found.figure("birds, thirteen species", what)


if __name__ == "__main__":
    run_part("accuracy", measure)
