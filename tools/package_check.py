"""Build wheel and sdist, install them where nothing else is, and see whether they work.

    python tools/package_check.py              every extra by itself, all together, and the sdist
    python tools/package_check.py core review  some of them

Takes minutes and a package index; ``make package-check`` runs it. Environments are made in a folder
that is gone afterwards.
"""

import json
import os
import shutil
import subprocess
import sys
import tomllib
import venv
from pathlib import Path
from tempfile import TemporaryDirectory
from time import perf_counter

ROOT = Path(__file__).parents[1]
CORE, ALL, SDIST = "core", "all", "sdist"
# Ten times as fast as pip, and not needed.
_UV = shutil.which("uv")
_CACHE = Path.home() / ".cache" / "uv"

# A user's own program: what it may expect of the types that the package ships.
_TYPED = """
from typing import assert_type

import numpy as np
import numpy.typing as npt

from raravis import Bags, KernelScorer

model = KernelScorer().fit(Bags.from_list([[[0.0]], [[1.0]]]), [{"wren"}, set()])
assert_type(model, KernelScorer)
assert_type(model.score_samples([[[0.5]]]), npt.NDArray[np.float64])
"""


def run(*command: str | Path | None, folder: Path) -> str:
    """Run a program in an empty home, and return what it printed; raise if it failed."""
    env = {
        name: value
        for name, value in os.environ.items()
        if not name.startswith(("PYTHON", "RARAVIS", "VIRTUAL_ENV", "XDG"))
    }
    done = subprocess.run(
        [str(part) for part in command],
        cwd=folder,
        # Whoever has a cache of packages may say so: an empty home has none.
        env={"UV_CACHE_DIR": str(_CACHE)} | env | {"HOME": str(folder)},
        text=True,
        capture_output=True,
        check=False,
    )
    if done.returncode:
        sys.exit(f"{' '.join(map(str, command))}\n{done.stdout}\n{done.stderr}")
    return done.stdout


def build(folder: Path) -> tuple[Path, Path]:
    """Build both, the wheel out of the sdist, as an index would get them."""
    if _UV is None:
        tools = environment(folder / "build-env", "build")
        run(tools / "python", "-m", "build", "--outdir", folder / "dist", ROOT, folder=folder)
    else:
        run(_UV, "build", "--quiet", "--out-dir", folder / "dist", ROOT, folder=folder)
    [wheel], [sdist] = (list((folder / "dist").glob(f"*{end}")) for end in (".whl", ".tar.gz"))
    return wheel, sdist


def environment(place: Path, *wanted: str) -> Path:
    """Make an environment with some packages, and return where its programs are."""
    programs = place / ("Scripts" if os.name == "nt" else "bin")
    if _UV is None:
        venv.create(place, with_pip=True)
    else:
        run(_UV, "venv", "--quiet", "--python", sys.executable, place, folder=place.parent)
    install(programs, *wanted)
    return programs


def install(programs: Path, *wanted: str) -> None:
    """Add packages to an environment."""
    with_pip = (programs / "python", "-m", "pip", "install", "--quiet")
    with_uv = (_UV, "pip", "install", "--quiet", "--python", programs / "python")
    run(*(with_pip if _UV is None else with_uv), *wanted, folder=programs.parent)


def check(name: str, wanted: str, folder: Path) -> str:
    """Install and try out; return what was tried."""
    programs = environment(folder, wanted)
    raravis = programs / "raravis"
    tried = ["import", "help"]
    run(programs / "python", "-W", "error", "-c", "import raravis; raravis.Bags", folder=folder)
    verbs = [
        line.split()[0]
        for line in run(raravis, "--help", folder=folder).split("Commands:")[1].splitlines()
        if line.startswith("  ") and not line.startswith("   ") and line.strip()
    ]
    for verb in verbs:
        if not verb.startswith("Example"):
            run(raravis, verb, "--help", folder=folder)
    found = json.loads(run(raravis, "doctor", "--json", folder=folder))
    works = {one["name"] for one in found["abilities"] if one["status"] == "works"}
    if not found["well"]:
        sys.exit(f"{name}: raravis doctor is not well: {found}")
    tried.append(f"doctor ({', '.join(sorted(works))} work)")
    if name in (CORE, SDIST):
        run(raravis, "demo", "--digits", "--quiet", "--out", folder / "demo", folder=folder)
        tried.append("demo --digits")
    if name == CORE:
        install(programs, "mypy")
        (folder / "typed.py").write_text(_TYPED)
        run(programs / "mypy", "--strict", "typed.py", folder=folder)
        tried.append("types")
    return ", ".join(tried)


def main(names: list[str]) -> None:
    """Check each of the names, or everything."""
    settings = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
    extras = list(settings["project"]["optional-dependencies"])
    with TemporaryDirectory() as folder:
        wheel, sdist = build(Path(folder))
        wanted = {CORE: str(wheel), **{one: f"{wheel}[{one}]" for one in extras}}
        wanted |= {ALL: f"{wheel}[{','.join(extras)}]", SDIST: str(sdist)}
        for name in names or wanted:
            if name not in wanted:
                sys.exit(f"{name!r} is nothing to check; name some of {', '.join(wanted)}.")
            began = perf_counter()
            tried = check(name, wanted[name], Path(folder) / f"env-{name}")
            print(f"{name:<12} {perf_counter() - began:6.0f} s  {tried}", flush=True)


if __name__ == "__main__":
    main(sys.argv[1:])
