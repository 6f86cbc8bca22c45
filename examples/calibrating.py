"""Calibrating: thresholds that keep a promise, and what happens on new bags.

From held-out bags without a single labelled instance, a threshold is found for several promises; on
bags that nobody has seen, it is counted how well each is kept, and what it costs.
"""

import numpy as np

from raravis import KernelScorer
from raravis.calibration import apply_threshold, threshold_from_bags, witness_scores
from raravis.datasets import load_digit_bags

LISTED = [0, 1, 2, 3, 4]


def main() -> None:
    train = load_digit_bags(known=LISTED, n_bags=80, subset="train", seed=0)
    held_out = load_digit_bags(known=LISTED, n_bags=150, subset="test", seed=1)
    new = load_digit_bags(known=LISTED, n_bags=300, subset="test", seed=2)
    model = KernelScorer().fit(train.bags, train.labels)
    novel = ~np.isin(new.instance_labels, LISTED)

    print("allowed   lost witnesses   novel found   threshold")
    for alpha in (0.3, 0.1, 0.05, 0.01):
        found = threshold_from_bags(
            model, held_out.bags, held_out.labels, alpha=alpha, scope="share"
        )
        if not found:
            print(f"{alpha:>7.0%}   {found.reason}")
            continue
        careful = apply_threshold(model, found)
        witnesses = witness_scores(careful, new.bags, new.labels)
        lost = (witnesses.scores < careful.offset_)[witnesses.present].mean()
        flagged = (careful.predict(new.bags) < 0)[novel].mean()
        print(f"{alpha:>7.0%}   {lost:>14.1%}   {flagged:>11.0%}   {found.value:>9.3f}")
    print("\nof the last:", found.guarantee if found else found.reason)


if __name__ == "__main__":
    main()
