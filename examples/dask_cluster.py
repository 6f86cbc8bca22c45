"""A Dask cluster: the same fit, side by side, to the same bits.

Two workers on this machine share the parts of a data set; on a real cluster the address of its
scheduler is all that changes. The result is compared with that of a single process.
"""

import tempfile

import numpy as np
from dask.distributed import Client, LocalCluster

from raravis import NovelClassClassifier
from raravis.scale import fit_parquet, write_mixture


def main() -> None:
    with (
        tempfile.TemporaryDirectory() as folder,
        LocalCluster(n_workers=2, threads_per_worker=1, dashboard_address=None) as cluster,
        Client(cluster) as client,
    ):
        parts = write_mixture(folder, 8_000, n_classes=3, rows_a_part=2_000)
        alone = fit_parquet(NovelClassClassifier(n_landmarks=50), parts)
        together = fit_parquet(NovelClassClassifier(n_landmarks=50), parts, client=client)
        rng = np.random.default_rng(0)
        new = rng.normal(size=(100, parts.n_features))
        same = np.array_equal(alone.score_samples(new), together.score_samples(new))
        print(f"{len(parts.files)} parts on {len(client.nthreads())} workers; equal: {same}")


if __name__ == "__main__":
    main()
