"""New classes: what is novel falls into groups, and some bags are better to look at than others.

Four digits are on no list. Novel instances are grouped into candidates; then bags are reviewed one
by one, as the discovery queue says, until all four digits have been met.
"""

import numpy as np

from raravis import KernelScorer
from raravis.datasets import load_digit_bags
from raravis.grouping import discovery_queue, group_novel

LISTED = [0, 1, 2, 4, 6, 7]


def bags_until_all(order: np.ndarray, bag_index: np.ndarray, truth: np.ndarray) -> int:
    """Count the bags that are reviewed until every unlisted digit has been seen."""
    missing = set(truth.tolist()) - set(LISTED)
    for n, bag in enumerate(order, start=1):
        missing -= set(truth[bag_index == bag].tolist())
        if not missing:
            return n
    return len(order)


def main() -> None:
    data = load_digit_bags(known=LISTED, n_bags=120, bag_size=6, beta=0.2, seed=0)
    model = KernelScorer().fit(data.bags, data.labels)

    for number, group in enumerate(group_novel(model, data.bags).groups, start=1):
        digits, counts = np.unique(data.instance_labels[group.members], return_counts=True)
        most = counts.argmax()
        print(f"candidate {number}: {group.size} instances, {counts[most]} of them {digits[most]}")

    queue = discovery_queue(model, data.bags)
    truth, bag_index = data.instance_labels, data.bags.bag_index
    rng = np.random.default_rng(0)
    at_random = [
        bags_until_all(rng.permutation(data.bags.n_bags), bag_index, truth) for _ in range(200)
    ]
    print(
        f"bags reviewed until all four were met: {bags_until_all(queue.order, bag_index, truth)}"
        f" in the order of the queue, {np.mean(at_random):.1f} at random"
    )
    print(f"the first: {queue.entries[0].reason}")


if __name__ == "__main__":
    main()
