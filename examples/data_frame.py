"""Own features from a data frame: rows in, the same rows with an answer out.

A table of calls with measurements, and one of what was heard in each recording. The recordings of
one night were heard by nobody: they are scored, not learned from.
"""

import numpy as np
import pandas as pd

from raravis import BagLabels, Bags, NovelClassClassifier

MEASURED = ["peak_khz", "length_s", "pulses"]
CALLS = {"wren": (5.0, 0.9, 30), "owl": (0.5, 0.4, 1), "unheard": (2.4, 0.1, 4)}


def tables() -> tuple[pd.DataFrame, pd.DataFrame]:
    """Make up calls in thirty nights, and what was noted of them."""
    rng = np.random.default_rng(0)
    calls, heard = [], []
    for night in range(30):
        present = [name for name in CALLS if rng.random() < 0.55]
        for name in present:
            for _ in range(rng.integers(1, 5)):
                values = np.array(CALLS[name]) * rng.lognormal(0, 0.12, 3)
                calls.append(
                    {"night": f"night {night}", **dict(zip(MEASURED, values, strict=True))}
                )
        # A missing cell: nobody listened. An empty one: somebody did, and heard neither.
        noted = None if night == 29 else ";".join(one for one in present if one != "unheard")
        heard.append({"night": f"night {night}", "species": noted})
    return pd.DataFrame(calls).sample(frac=1.0, random_state=1), pd.DataFrame(heard)


def main() -> None:
    calls, heard = tables()
    bags = Bags.from_frame(calls, bag="night", features=MEASURED)
    labels = BagLabels.from_frame(heard, bag="night", labels="species")
    print(f"{bags}\n{labels}")

    model = NovelClassClassifier().fit(bags, labels.align(bags, extra="ignore"))
    # Back in the order of the rows of the frame.
    calls["species"] = bags.to_source_order(model.annotate(bags).astype(str))
    calls["known"] = bags.to_source_order(model.score_samples(bags)).round(1)
    print(calls.sort_values("known").head(6).to_string(index=False))
    print(calls.groupby("species")[MEASURED].mean().round(1).to_string())


if __name__ == "__main__":
    main()
