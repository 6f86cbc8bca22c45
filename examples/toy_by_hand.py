"""The paper's toy problem, counted by hand.

Four bags of triangles, squares and lozenges; the lists name two classes. How often a symbol and a
class are both in a bag, or both not, is all that it takes to see that a lozenge is neither.
"""

from raravis import CooccurrenceScorer
from raravis.datasets import TOY_SYMBOLS, load_toy
from raravis.estimators.cooccurrence import cooccurrence_rates


def main() -> None:
    data = load_toy()
    for key, rows, listed in zip(data.bags.keys, data.bags, data.labels.to_sets(), strict=True):
        symbols = ", ".join(TOY_SYMBOLS[row.argmax()] for row in rows)
        print(f"bag {key} lists {' and '.join(sorted(listed))}: {symbols}")

    found = cooccurrence_rates(data.bags, data.labels)
    print("\nbags that hold both or neither, of four")
    for value, counts in zip(found.values, found.counts, strict=True):
        print(f"  {TOY_SYMBOLS[value.argmax()]:<8} I: {counts[0]}   II: {counts[1]}")

    scorer = CooccurrenceScorer().fit(data.bags, data.labels)
    said = dict(zip(data.instance_ids.tolist(), scorer.annotate(data.bags), strict=True))
    print("\nso, at a rate of", scorer.threshold)
    for symbol, label in sorted(said.items()):
        print(f"  {TOY_SYMBOLS[symbol]:<8} {label}")


if __name__ == "__main__":
    main()
