"""Jobs that need a process of their own: peak memory, first compilation, import time.

``python benchmarks/_child.py JOB '{"option": value}'`` prints one line of JSON.
"""

import json
import resource
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

_STATUS = Path("/proc/self/status")
_KIB = 1024


def _reset_peak() -> int:
    """Forget the peak so far where the system can, and return what is resident now."""
    if not _STATUS.exists():
        return _peak()
    try:
        Path("/proc/self/clear_refs").write_text("5", encoding="ascii")
    except OSError:
        return _peak()
    return _status("VmRSS")


def _peak() -> int:
    # Not ru_maxrss where it can be helped: Linux lets a child inherit its parent's.
    if _STATUS.exists():
        return _status("VmHWM")
    unit = 1 if sys.platform == "darwin" else _KIB
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * unit


def _status(field: str) -> int:
    for line in _STATUS.read_text(encoding="ascii").splitlines():
        if line.startswith(field + ":"):
            return int(line.split()[1]) * _KIB
    raise RuntimeError(f"{_STATUS} has no field {field}")


def _measured(work: Callable[[], Any]) -> tuple[dict[str, float], Any]:
    before = _reset_peak()
    start = time.perf_counter()
    result = work()
    seconds = time.perf_counter() - start
    return {"seconds": seconds, "peak_bytes": max(0, _peak() - before)}, result


def _warmed_up() -> None:
    """Load and compile everything that a fit uses."""
    from _data import mixture
    from raravis import KernelScorer

    bags, labels = mixture(200)
    KernelScorer().fit(bags, labels).class_scores(bags)


def _fit_hja(**parameters: Any) -> dict[str, float]:
    """Fit KernelScorer on the HJA training bags."""
    from _data import hja_split
    from raravis import KernelScorer

    _warmed_up()
    train, _ = hja_split()
    figures, _ = _measured(lambda: KernelScorer(**parameters).fit(train.bags, train.labels))
    return figures


def _gram_hja(form: str, gamma: float) -> dict[str, float]:
    """Form the Gram matrix of the same instances."""
    import _grams
    from _data import hja_split, scaled

    train, _ = hja_split()
    X = scaled(train.bags)
    form_gram = getattr(_grams, form)
    form_gram(X[:100], gamma)
    figures, _ = _measured(lambda: form_gram(X, gamma))
    return figures


def _fit_mixture(n_instances: int, n_scored: int) -> dict[str, float]:
    """Fit on a mixture, score fresh bags, and pass once over all kernel values of the training."""
    import numpy as np

    from _data import mixture, scaled
    from _grams import kernel_product
    from raravis import KernelScorer
    from raravis.kernels import DEFAULT_BUDGET

    _warmed_up()
    bags, labels = mixture(n_instances)
    fresh, _ = mixture(n_scored, seed=1)
    fit, model = _measured(lambda: KernelScorer().fit(bags, labels))
    model.class_scores(fresh)
    scoring, _ = _measured(lambda: model.class_scores(fresh))
    X, W = scaled(bags), np.ones((bags.n_instances, labels.n_classes))
    stream, _ = _measured(lambda: kernel_product(X, X, W, model.gamma_, block=64))
    return {
        "n": bags.n_instances,
        "n_support": model.n_support_,
        "n_scored": fresh.n_instances,
        "fit_seconds": fit["seconds"],
        "fit_bytes": fit["peak_bytes"],
        "budget_bytes": DEFAULT_BUDGET,
        "score_seconds": scoring["seconds"],
        "stream_seconds": stream["seconds"],
    }


def _first_fit() -> dict[str, float]:
    """Time the import, the first small fit, and the same fit again."""
    start = time.perf_counter()
    from raravis import BagLabels, Bags, KernelScorer

    bags = Bags.from_list([[[0.0], [2.0]], [[1.0], [2.0]], [[2.0]]])
    labels = BagLabels.from_sets([{"a"}, {"b"}, set()])
    loaded = time.perf_counter()
    KernelScorer().fit(bags, labels)
    first = time.perf_counter()
    KernelScorer().fit(bags, labels)
    again = time.perf_counter()
    return {"load": loaded - start, "first": first - loaded, "again": again - first}


def _process(paths: list[str], warm_up: str) -> dict[str, float]:
    """Segment recordings and compute the 38 features of what is found."""
    from raravis.audio import extract_features, inspect_recording, segment_recording

    def work() -> int:
        n_segments = 0
        for path in paths:
            segments = segment_recording(path)
            n_segments += len(extract_features(path, segments))
        return n_segments

    # Everything that is compiled is compiled before the clock starts.
    extract_features(warm_up, segment_recording(warm_up))
    _reset_peak()
    before, start = time.process_time(), time.perf_counter()
    n_segments = work()
    return {
        "seconds": time.perf_counter() - start,
        "cpu_seconds": time.process_time() - before,
        "audio_seconds": sum(inspect_recording(path, scan=False).duration_s for path in paths),
        "n_segments": n_segments,
        # All that is resident, the interpreter and the libraries included.
        "peak_bytes": _peak(),
    }


def _scale(task: str, **options: Any) -> dict[str, float]:
    """Run a job of the scale benchmark."""
    import _scale_jobs

    if task in ("fit", "peer", "ours"):
        options["status"] = (_reset_peak, _peak)
    found: dict[str, float] = getattr(_scale_jobs, task)(**options)
    return found


def _import() -> dict[str, float]:
    start = time.perf_counter()
    import raravis  # noqa: F401

    return {"seconds": time.perf_counter() - start}


JOBS: dict[str, Callable[..., dict[str, float]]] = {
    "fit_hja": _fit_hja,
    "gram_hja": _gram_hja,
    "fit_mixture": _fit_mixture,
    "first_fit": _first_fit,
    "process": _process,
    "import": _import,
    "scale": _scale,
}


if __name__ == "__main__":
    print(json.dumps(JOBS[sys.argv[1]](**json.loads(sys.argv[2]))))
