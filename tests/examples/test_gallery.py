"""Every program of the gallery runs, and what it prints is true."""

import re
import runpy
from collections.abc import Callable
from pathlib import Path

import pytest

GALLERY = Path(__file__).parents[2] / "examples"


def numbers(pattern: str, printed: str) -> list[float]:
    """Return the numbers that a pattern catches, line by line."""
    return [float(value) for value in re.findall(pattern, printed, re.M)]


def quick_start(printed: str) -> None:
    said = re.findall(r": (\S+)$", printed, re.M)
    assert said == ["wren"] * 3 + ["owl"] * 3 + ["?"] * 3


def toy_by_hand(printed: str) -> None:
    assert re.search(r"lozenge +novel$", printed, re.M)
    assert re.search(r"square +II$", printed, re.M)


def digits(printed: str) -> None:
    hinge, likelihood, one_class = numbers(r"AUC (0\.\d+)", printed)
    assert min(hinge, likelihood) > 0.95
    assert one_class < 0.7


def hja_birdsong(printed: str) -> None:
    alone, with_lists = numbers(r"AUC .*: +(0\.\d+)$", printed)
    assert 0.85 < alone < with_lists


def image_segments(printed: str) -> None:
    named, novel = numbers(r": +(\d+)%$", printed)
    assert named > 90
    assert novel > 60


def calibrating(printed: str) -> None:
    allowed = numbers(r"^ +(\d+)%   ", printed)
    lost = numbers(r"^ +\d+% +([\d.]+)%", printed)
    assert len(lost) == len(allowed) >= 3
    assert all(share < 1.25 * limit for share, limit in zip(lost, allowed, strict=True))


def new_classes(printed: str) -> None:
    assert set(re.findall(r"of them (\d)$", printed, re.M)) == {"3", "5", "8", "9"}
    [(queue, at_random)] = re.findall(r"(\d+) in the order of the queue, ([\d.]+) at", printed)
    assert int(queue) < float(at_random)


def own_kernel(printed: str) -> None:
    intersection, gaussian = numbers(r"AUC ([\d.]+)$", printed)
    assert min(intersection, gaussian) > 0.8


def data_frame(printed: str) -> None:
    # Where a kind of call is on the average, the made-up measurements are those of that kind.
    of_kind = dict(re.findall(r"^(novel|owl|wren) +([\d.]+) ", printed, re.M))
    assert float(of_kind["owl"]) < 1 < float(of_kind["novel"]) < 3 < float(of_kind["wren"])


def out_of_memory_gpu(printed: str) -> None:
    assert "4 parts" in printed
    [area] = numbers(r"AUC ([\d.]+)$", printed)
    assert area > 0.8


def dask_cluster(printed: str) -> None:
    assert printed == "4 parts on 2 workers; equal: True\n"


CHECKS: dict[str, Callable[[str], None]] = {
    check.__name__: check
    for check in (
        quick_start,
        toy_by_hand,
        digits,
        image_segments,
        calibrating,
        new_classes,
        own_kernel,
        data_frame,
        out_of_memory_gpu,
    )
}


def run(name: str, capsys: pytest.CaptureFixture[str]) -> str:
    runpy.run_path(str(GALLERY / f"{name}.py"), run_name="__main__")
    return capsys.readouterr().out


@pytest.mark.parametrize("name", CHECKS)
def test_an_example(name: str, capsys: pytest.CaptureFixture[str]) -> None:
    CHECKS[name](run(name, capsys))


@pytest.mark.data
def test_the_example_on_birdsong(
    real_data: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("RARAVIS_DATA", str(real_data))
    hja_birdsong(run("hja_birdsong", capsys))


# What Dask's workers leave open ends with their processes, not with ours.
@pytest.mark.filterwarnings("ignore")
def test_the_example_on_a_cluster(capsys: pytest.CaptureFixture[str]) -> None:
    pytest.importorskip("distributed", reason="dask is not installed")
    dask_cluster(run("dask_cluster", capsys))


def test_no_example_is_forgotten() -> None:
    assert {path.stem for path in GALLERY.glob("*.py")} == {*CHECKS, "hja_birdsong", "dask_cluster"}
