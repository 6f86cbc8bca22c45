"""An own kernel: histograms are compared by what they share.

Documents are bags of paragraphs, paragraphs are word counts. The histogram intersection kernel
takes the place of the Gaussian one.
"""

import numpy as np

from raravis import Bags, KernelScorer
from raravis.metrics import auc

TOPICS = ("weather", "music", "cooking")
LISTED = ("weather", "music")
WORDS, PARAGRAPHS = 150, 5


def intersection(A: np.ndarray, B: np.ndarray) -> np.ndarray:
    """Return how much of each histogram of A each one of B shares."""
    return np.minimum(A[:, None, :], B[None, :, :]).sum(axis=2)


def documents(rng: np.random.Generator, n: int) -> tuple[Bags, list[set[str]], np.ndarray]:
    """Make documents of paragraphs, each about one topic, and list what they are about."""
    of_topic = np.random.default_rng(7).dirichlet(np.full(WORDS, 0.3), len(TOPICS))
    bags, truth = [], []
    for _ in range(n):
        mix = rng.dirichlet(np.full(len(TOPICS), 0.4))
        topics = rng.choice(len(TOPICS), PARAGRAPHS, p=mix)
        counts = np.array([rng.multinomial(12, of_topic[topic]) for topic in topics])
        bags.append(counts / counts.sum(axis=1, keepdims=True))
        truth.append([TOPICS[topic] for topic in topics])
    return Bags.from_list(bags), [set(one) & set(LISTED) for one in truth], np.concatenate(truth)


def main() -> None:
    rng = np.random.default_rng(0)
    train, lists, _ = documents(rng, 60)
    test, _, truth = documents(rng, 60)
    known = np.isin(truth, LISTED)
    for name, kernel in (("intersection", intersection), ("gaussian", "gaussian")):
        model = KernelScorer(kernel, scaling="none").fit(train, lists)
        print(f"{name:<14} AUC {auc(known, model.score_samples(test)):.3f}")


if __name__ == "__main__":
    main()
