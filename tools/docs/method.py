"""The pictures of the page on the method, computed anew at every build."""

from functools import cache
from typing import Any

import numpy as np
import style
from matplotlib.figure import Figure
from sklearn.svm import OneClassSVM
from style import KNOWN, NOVEL, OTHER, SOFT, svg

from raravis import Bags, KernelScorer, NovelClassClassifier
from raravis.datasets import BagDataset, load_digit_bags, make_bags
from raravis.metrics import exact_roc

__all__ = ["PICTURES"]

_NAMES = {"wren": KNOWN, "owl": OTHER, "unheard": NOVEL}
_MARKS = {"wren": "o", "owl": "s", "unheard": "^"}
_CENTRES = {"wren": (-1.3, -0.6), "owl": (1.3, -0.6), "unheard": (0.0, 1.3)}


@cache
def _blobs(seed: int = 1) -> BagDataset:
    """Draw bags of points around three places, of which the lists name two."""
    rng = np.random.default_rng(seed)
    truth = np.repeat(list(_CENTRES), 150)
    points = np.array([_CENTRES[name] for name in truth]) + rng.normal(0, 0.48, (len(truth), 2))
    return make_bags(
        points, truth, n_bags=40, bag_size=6, known=["wren", "owl"], beta=0.5, seed=seed
    )


def seen() -> str:
    """Draw what the learner sees of the data, beside the truth."""
    data = _blobs()
    figure = Figure(figsize=(7.6, 3.5))
    left, right = figure.subplots(1, 2, sharex=True, sharey=True)
    x, y = data.bags.instances.T
    left.scatter(x, y, c="#c9c5bc", s=12, linewidths=0)
    for bag, mark in zip(_three_bags(data), "opD", strict=True):
        rows = data.bags.bag_index == bag
        listed = ", ".join(sorted(data.labels.to_sets()[bag])) or "nothing"
        left.scatter(
            x[rows],
            y[rows],
            s=42,
            marker=mark,
            label=f"a bag that lists {listed}",
            facecolors="none",
            edgecolors=style.TEXT,
            linewidths=1.2,
        )
    left.set_title("What is given: bags, each with its list")
    left.legend(loc="lower center", bbox_to_anchor=(0.5, -0.42))
    _truth(right, data)
    right.set_title("What is wanted: the class of every point")
    right.legend(loc="lower center", bbox_to_anchor=(0.5, -0.42), ncols=1)
    return _plain(figure)


def _three_bags(data: BagDataset) -> list[int]:
    lists = [frozenset(one) for one in data.labels.to_sets()]
    return [lists.index(frozenset(wanted)) for wanted in ({"wren"}, {"owl"}, {"wren", "owl"})]


def _truth(axes: Any, data: BagDataset) -> None:
    for name, colour in _NAMES.items():
        rows = data.instance_labels == name
        axes.scatter(
            *data.bags.instances[rows].T,
            s=16,
            c=colour,
            marker=_MARKS[name],
            linewidths=0,
            alpha=0.75,
            label="unheard, on no list" if name == "unheard" else name,
        )


def maps() -> str:
    """Where a one-class method, the hinge scorer and the likelihood model draw the line."""
    data = _blobs()
    side = np.linspace(-3.2, 3.2, 60)
    grid = np.array([(x, y) for y in side for x in side])
    one_class = OneClassSVM(nu=0.1, gamma=1.0).fit(data.bags.instances)
    models = [KernelScorer(), NovelClassClassifier()]
    found = [one_class.decision_function(grid)]
    found += [
        model.fit(data.bags, data.labels).decision_function(Bags.from_matrix(grid))
        for model in models
    ]
    titles = ("One-class SVM on all points", "KernelScorer", "NovelClassClassifier")
    figure = Figure(figsize=(8.4, 3.2))
    for axes, title, scores in zip(figure.subplots(1, 3, sharey=True), titles, found, strict=True):
        height = scores.reshape(len(side), -1)
        reach = float(np.abs(height).max())
        axes.contourf(side, side, height, levels=np.linspace(-reach, reach, 13), cmap="RdBu")
        axes.contour(side, side, height, levels=[0.0], colors="black", linewidths=1.4)
        for name in _NAMES:
            rows = data.instance_labels == name
            axes.scatter(
                *data.bags.instances[rows].T,
                s=7,
                c=style.TEXT,
                marker=_MARKS[name],
                linewidths=0,
                alpha=0.55,
            )
        axes.set_title(title)
    return _plain(figure)


def descent() -> str:
    """Draw the objective by round: the paper's algorithm and the exact scheme."""
    data = load_digit_bags(known=[0, 1, 2], n_bags=40, bag_size=6, seed=0)
    figure = Figure(figsize=(6.6, 3.0))
    axes = figure.subplots()
    for solver, colour, dash in (("alternating", NOVEL, "--"), ("cccp", KNOWN, "-")):
        model = KernelScorer(gamma=0.05, lam=1e-3, solver=solver, max_rounds=30)
        paths = _paths(model, data)
        rounds = max(len(path) for path in paths)
        total = np.sum([np.pad(p, (0, rounds - len(p)), mode="edge") for p in paths], axis=0)
        name = "Algorithm 1, as printed" if solver == "alternating" else "convex-concave, exact"
        axes.plot(np.arange(1, rounds + 1), total, dash, color=colour, marker="o", ms=3, label=name)
    axes.set(xlabel="round", ylabel="objective")
    axes.legend()
    return svg(figure)


def _paths(model: KernelScorer, data: BagDataset) -> list[Any]:
    model.fit(data.bags, data.labels)
    return [np.asarray(descent.objective) for descent in model.score_functions_.descents]


def posterior() -> str:
    """One bag before and after its list is taken into account."""
    data = _blobs()
    model = NovelClassClassifier().fit(data.bags, data.labels)
    bag = Bags.from_list([[(-0.8, 0.1), (-1.5, -0.7), (1.15, 0.0), (0.1, 1.2)]])
    views = (
        ("by themselves", model.posterior(bag)),
        ("the bag lists wren alone", model.posterior(bag, bag_labels=[{"wren"}])),
        ("the bag lists nothing", model.posterior(bag, bag_labels=[set()])),
    )
    order = ["novel", *model.classes_]
    colours = {"novel": NOVEL, "wren": KNOWN, "owl": OTHER}
    figure = Figure(figsize=(8.2, 2.7))
    for axes, (title, shares) in zip(figure.subplots(1, 3, sharey=True), views, strict=True):
        below = np.zeros(len(shares))
        for column, name in enumerate(order):
            axes.bar(
                range(1, 5),
                shares[:, column],
                bottom=below,
                color=colours[name],
                label=name,
                hatch="//" if name == "novel" else None,
                edgecolor="white",
                width=0.75,
            )
            below += shares[:, column]
        axes.set_title(title)
        axes.set_xticks(range(1, 5))
        axes.set_xlabel("instance")
    figure.axes[0].set_ylabel("probability")
    figure.legend(*figure.axes[0].get_legend_handles_labels(), loc="outside right center")
    return svg(figure)


def thresholds() -> str:
    """Scores of known and of novel instances, and what a threshold does to them."""
    model, data = _digits()
    known = np.isin(data.instance_labels, list(model.classes_))
    scores = model.score_samples(data.bags)
    figure = Figure(figsize=(8.2, 3.1))
    left, right = figure.subplots(1, 2, width_ratios=(1.5, 1))
    bins = np.linspace(*np.quantile(scores, [0.002, 0.998]), 46)
    left.hist(scores[known], bins, color=KNOWN, alpha=0.85, label="listed digits")
    left.hist(
        scores[~known], bins, histtype="step", color=NOVEL, lw=1.8, label="3 and 8, on no list"
    )
    left.axvline(
        model.offset_, color=style.TEXT, lw=1.2, ls="--", label="the model's own threshold"
    )
    left.set(xlabel="score (high = known)", ylabel="instances")
    left.legend()
    curve = exact_roc(known, scores)
    right.plot(curve.fpr, curve.tpr, color=KNOWN, lw=1.8)
    right.plot([0, 1], [0, 1], color=SOFT, lw=0.8, ls=":")
    at = ((scores[~known] >= model.offset_).mean(), (scores[known] >= model.offset_).mean())
    right.plot(*at, "o", color=style.TEXT, ms=6)
    right.annotate("the threshold", at, (10, -14), textcoords="offset points")
    right.set(xlabel="novel instances kept", ylabel="known instances kept", aspect="equal")
    right.set_title(f"AUC {curve.auc:.3f}")
    return svg(figure)


@cache
def _digits() -> tuple[Any, BagDataset]:
    known = [0, 1, 2, 4, 5, 6, 7, 9]
    train = load_digit_bags(known=known, n_bags=120, subset="train", seed=0)
    test = load_digit_bags(known=known, n_bags=60, subset="test", seed=1)
    return KernelScorer().fit(train.bags, train.labels), test


def _plain(figure: Any) -> str:
    for axes in figure.axes:
        axes.set(xticks=[], yticks=[], aspect="equal")
        axes.spines[:].set_visible(False)
    return svg(figure)


PICTURES = {
    "seen.svg": seen,
    "maps.svg": maps,
    "descent.svg": descent,
    "posterior.svg": posterior,
    "thresholds.svg": thresholds,
}
