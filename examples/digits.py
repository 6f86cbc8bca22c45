"""Handwritten digits: two of them on no list, three models, one comparison.

The score functions, the likelihood model, and a one-class SVM that learns from the same training
instances without their lists.
"""

from time import perf_counter

import numpy as np

from raravis import KernelScorer, NovelClassClassifier
from raravis.datasets import load_digit_bags
from raravis.estimators.baselines import OneClassBaseline
from raravis.metrics import bootstrap_auc

HIDDEN = (3, 8)


def main() -> None:
    listed = [digit for digit in range(10) if digit not in HIDDEN]
    train = load_digit_bags(known=listed, n_bags=100, subset="train", seed=0)
    test = load_digit_bags(known=listed, n_bags=60, subset="test", seed=1)
    known = np.isin(test.instance_labels, listed)
    print(f"trained on {train.bags}; {HIDDEN} on no list")

    models = (KernelScorer(), NovelClassClassifier(), OneClassBaseline("ocsvm", instances="all"))
    for model in models:
        began = perf_counter()
        scores = model.fit(train.bags, train.labels).score_samples(test.bags)
        seconds = perf_counter() - began
        found = bootstrap_auc(known, scores, test.bags.bag_index, seed=0)
        name = type(model).__name__
        print(
            f"{name:<22} AUC {found.estimate:.3f} ({found.low:.3f} to {found.high:.3f})"
            f", {seconds:.1f} s"
        )


if __name__ == "__main__":
    main()
