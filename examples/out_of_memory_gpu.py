"""More than memory holds, and a GPU: fit and score from Parquet.

A made-up data set is written part by part, learned from within a budget of memory, and scored to
files. Where there is a GPU that torch can use, it does the work; where not, the processor.
"""

import tempfile

import numpy as np
import pyarrow.parquet as pq

from raravis import NovelClassClassifier
from raravis.metrics import auc
from raravis.scale import fit_parquet, score_parquet, write_mixture


def main(n_instances: int = 20_000) -> None:
    with tempfile.TemporaryDirectory() as folder:
        parts = write_mixture(f"{folder}/data", n_instances, n_classes=5, rows_a_part=5_000)
        print(f"{len(parts.files)} parts, {n_instances:,} instances")
        model = fit_parquet(
            NovelClassClassifier(n_landmarks=100), parts, memory_budget=64 << 20, device="auto"
        )
        files = score_parquet(model, parts, f"{folder}/scores", device="auto")
        scores = np.concatenate([pq.read_table(file)["score"].to_numpy() for file in files])
        truth = np.concatenate(
            [pq.read_table(file)["true_class"].to_pylist() for file in parts.files]
        )
        print(f"AUC {auc(np.isin(truth, model.classes_.astype(str)), scores):.3f}")


if __name__ == "__main__":
    main()
