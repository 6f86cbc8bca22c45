"""Work in processes: every task has an outcome, whatever becomes of the others."""

import os
import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from raravis.audio import AudioError
from raravis.errors import InputError
from raravis.progress import Progress
from raravis.study.files import read_table
from raravis.study.per_recording import Product, make_products
from raravis.study.workers import DIED, checked_workers, map_tasks


def square(number: int) -> int:
    return number * number


def square_or_die(number: int) -> int:
    if number == 3:
        os._exit(1)
    return number * number


def square_or_fail(number: int) -> int:
    if number == 3:
        raise ZeroDivisionError
    return number * number


@pytest.mark.parametrize("workers", [1, 3])
def test_every_task_has_its_outcome(workers: int) -> None:
    assert dict(map_tasks(square, range(20), workers=workers)) == {n: n * n for n in range(20)}
    assert list(map_tasks(square, [], workers=workers)) == []


def test_one_death_costs_one_task() -> None:
    found = dict(map_tasks(square_or_die, range(6), workers=2))
    assert found == {n: DIED if n == 3 else n * n for n in range(6)}


def test_an_error_of_our_own_making_ends_the_work() -> None:
    with pytest.raises(ZeroDivisionError):
        list(map_tasks(square_or_fail, range(6), workers=2))


def test_a_script_that_is_not_guarded_is_not_run_again(tmp_path: Path) -> None:
    script = tmp_path / "script.py"
    script.write_text(
        "import math\nfrom raravis.study.workers import map_tasks\n"
        "print('once')\nprint(sorted(map_tasks(math.factorial, [3, 4, 5], workers=2)))\n",
        encoding="utf-8",
    )
    done = subprocess.run(  # noqa: S603
        [sys.executable, str(script)], capture_output=True, text=True, check=True, timeout=120
    )
    assert done.stdout == "once\n[(3, 6), (4, 24), (5, 120)]\n"


def test_number_of_workers() -> None:
    assert checked_workers(None) >= 1
    with pytest.raises(InputError, match="workers is 0; pass at least 1"):
        checked_workers(0)


# ---------------------------------------------------------------------- files for recordings


def count_bytes(product: Product) -> Mapping[str, Any]:
    content = Path(product.path).read_bytes()
    if content == b"bad":
        raise AudioError("this is no sound")
    if content == b"deadly":
        os._exit(1)
    if content == b"locked":
        raise PermissionError(13, "Permission denied")
    if content == b"changing":
        Path(product.path).write_bytes(b"changed!!")
    return {"byte": np.frombuffer(content, dtype=np.uint8).astype(np.int64)}


def products(folder: Path, contents: Mapping[str, bytes]) -> list[Product]:
    made = []
    for name, content in contents.items():
        path = folder / name
        path.write_bytes(content)
        state = path.stat()
        target = folder / "made" / f"{content.hex()}.parquet"
        about = {"of": content.hex()}
        made.append(Product(name, str(path), state.st_size, state.st_mtime_ns, target, about))
    return made


@pytest.mark.parametrize("workers", [1, 2])
def test_products_are_made_once_and_bad_ones_listed(tmp_path: Path, workers: int) -> None:
    asked = {"a": b"12", "b": b"345", "c": b"bad", "d": b"locked", "e": b"12", "f": b"changing"}
    if workers > 1:
        asked["g"] = b"deadly"
    told: list[Progress] = []
    due = products(tmp_path, asked)
    made = make_products(due, count_bytes, stage="bytes", workers=workers, progress=told.append)
    assert made.n_rows == {"a": 2, "b": 3, "e": 2}
    assert (made.n_made, made.n_kept) == (2, 0)
    problems = {it.recording: it.what for it in made.problems}
    assert problems.pop("c") == "this is no sound"
    assert problems.pop("d") == "Permission denied"
    assert problems.pop("f").startswith("the file changed or vanished while it was read")
    assert problems.pop("g", "the process that read it died") == "the process that read it died"
    assert problems == {}
    n_passing = len(asked) - 4
    assert len(made.passing) == n_passing
    assert told[-1] == Progress("bytes", len(asked) - 1, len(asked) - 1)
    table = read_table(due[1].target, about=due[1].about)
    assert table is not None
    assert table.column("byte").to_pylist() == [*b"345"]
    # Of the second time only what may have passed is tried again.
    told.clear()
    again = (
        make_products(due, count_bytes, stage="bytes", workers=1, progress=told.append)
        if (workers == 1)
        else made
    )
    assert again.n_rows == made.n_rows
    if workers == 1:
        assert (again.n_made, again.n_kept) == (0, 3)
        assert told[-1].total == n_passing


def test_what_has_vanished_is_not_made(tmp_path: Path) -> None:
    due = products(tmp_path, {"a": b"12"})
    (tmp_path / "a").unlink()
    made = make_products(due, count_bytes, stage="bytes", workers=1)
    assert made.n_rows == {}
    assert made.problems[0].what.startswith("the file changed or vanished")
