"""Kill -9: studies that are killed at random moments end in the results of an undisturbed one.

Each study is started by ``raravis run``, killed with its workers or without them after a random
time, and started again, until it has been killed three times or is done; then it runs to its end.
Its results are held against those of a study that nobody disturbed, byte for byte. Nothing here
is a measure of speed, and a single difference ends the program with an error.
"""

import contextlib
import os
import signal
import subprocess
import sys
import tempfile
import time
from collections import Counter
from pathlib import Path

import numpy as np

from _report import run_part
from _timing import Figure, single
from raravis.datasets import make_soundscapes
from raravis.study import Study
from raravis.study.files import write_bytes

MOST_KILLS_A_STUDY = 3
HIDDEN = "Copper triller"
STEPS = ("label", "segment", "features", "fit", "calibrate", "score", "report")


def measure(quick: bool) -> list[Figure]:
    """Count the kills that a study got over, by the step in which they fell."""
    rng = np.random.default_rng()
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        _write_recordings(folder)
        whole, usual_s = _undisturbed(folder)
        where: Counter[str] = Counter()
        n_studies = 0
        while where.total() < (4 if quick else 50):
            n_studies += 1
            where.update(_disturbed(folder, n_studies, usual_s, rng))
            _require_same(_contents(folder / f"study{n_studies}" / "results"), whole)
    spread = ", ".join(f"{where[step]} in {step}" for step in ("start", *STEPS) if where[step])
    note = f"{n_studies} studies, results equal to the byte; {spread}"
    return [single("kills survived", where.total(), unit="", note=note)]


def _write_recordings(folder: Path) -> None:
    made = make_soundscapes(folder / "recordings", n_recordings=14, duration_s=8)
    lines = [
        f"{name},{';'.join(one for one in made.species[name] if one != HIDDEN)}"
        for name in made.recordings[:12]
    ]
    write_bytes("\n".join(["recording,species", *lines, ""]).encode(), folder / "species.csv")


def _undisturbed(folder: Path) -> tuple[dict[str, bytes], float]:
    """Return the results, and the seconds of a run once everything is compiled and cached."""
    _finish(folder, "warm")
    start = time.perf_counter()
    _finish(folder, "whole")
    seconds = time.perf_counter() - start
    whole = _contents(folder / "whole" / "results")
    _require_same(_contents(folder / "warm" / "results"), whole)
    return whole, seconds


def _disturbed(folder: Path, number: int, usual_s: float, rng: np.random.Generator) -> list[str]:
    """Kill a study some times, and say in which steps; then let it come to its end."""
    name, steps = f"study{number}", []
    for _ in range(MOST_KILLS_A_STUDY):
        process = _start(folder, name)
        try:
            process.wait(rng.uniform(0.1, 1.1) * usual_s)
        except subprocess.TimeoutExpired:
            # Once the program alone dies, and once its workers with it.
            _kill(process, group=bool(rng.random() < 0.5))
            steps.append(_step(folder / name))
        if process.wait() == 0:
            break
    _finish(folder, name)
    return steps


def _start(folder: Path, name: str) -> "subprocess.Popen[bytes]":
    program = Path(sys.executable).with_name("raravis")
    command = [program, "run", "recordings", "--labels", "species.csv", "--out", name, "--quiet"]
    return subprocess.Popen(
        [*command, "--workers", "2"],
        cwd=folder,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.PIPE,
        start_new_session=True,
    )


def _kill(process: "subprocess.Popen[bytes]", *, group: bool) -> None:
    with contextlib.suppress(ProcessLookupError):
        if group:
            os.killpg(process.pid, signal.SIGKILL)
        else:
            os.kill(process.pid, signal.SIGKILL)


def _finish(folder: Path, name: str) -> None:
    process = _start(folder, name)
    _, told = process.communicate()
    if process.returncode:
        raise RuntimeError(f"a run after kills failed: {told.decode()}")


def _step(study: Path) -> str:
    """Return the step that was under way, by what the journal says of the one before."""
    if not (study / "study.toml").exists():
        return "start"
    done = [entry["verb"] for entry in Study.open(study).journal()]
    left = [step for step in STEPS if step not in done]
    return left[0] if left else "report"


def _require_same(found: dict[str, bytes], whole: dict[str, bytes]) -> None:
    wrong = sorted(n for n in found.keys() | whole.keys() if found.get(n) != whole.get(n))
    if wrong:
        raise RuntimeError(f"differs after kills: {', '.join(wrong)}")


def _contents(folder: Path) -> dict[str, bytes]:
    return {
        path.relative_to(folder).as_posix(): path.read_bytes()
        for path in folder.rglob("*")
        if path.is_file()
    }


if __name__ == "__main__":
    run_part("survival", measure)
