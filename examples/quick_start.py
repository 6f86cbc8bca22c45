"""Quick start: bags, lists, and the calls that nobody listed.

Three kinds of calls, described by two numbers. Lists name wrens and owls; a third kind of call is
in most recordings and on no list.
"""

import numpy as np

from raravis import NOVEL, Bags, KernelScorer

PLACES = {"wren": (0.0, 0.0), "owl": (4.0, 0.0), "unheard": (2.0, 3.5)}


def recording(rng: np.random.Generator, *callers: str) -> np.ndarray:
    """Return the calls of a recording: three of each caller, each a little different."""
    return np.array([PLACES[one] + rng.normal(0, 0.4, 2) for one in callers for _ in range(3)])


def main() -> None:
    rng = np.random.default_rng(0)
    heard = [("wren",), ("owl",), ("wren", "unheard"), ("owl", "unheard"), ("unheard",)] * 6
    bags = Bags.from_list([recording(rng, *callers) for callers in heard])
    lists = [set(callers) - {"unheard"} for callers in heard]

    model = KernelScorer().fit(bags, lists)

    new = Bags.from_list([recording(rng, "wren", "owl"), recording(rng, "unheard")])
    said = model.annotate(new)
    for bag, call, label in zip(new.bag_index, new.instances, said, strict=True):
        print(f"recording {bag}, call at {call.round(1)}: {label if label is not NOVEL else '?'}")


if __name__ == "__main__":
    main()
