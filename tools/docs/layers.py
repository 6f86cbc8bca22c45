"""The picture of the architecture: layers as the contract has them, imports as the code does.

The layers stand in pyproject.toml under ``[tool.importlinter]``; imports are read from the code,
those inside functions included.
"""

import ast
import tomllib
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from html import escape
from pathlib import Path

__all__ = ["Unit", "drawing", "imports", "read_layers", "table"]

ROOT = Path(__file__).parents[2]
_PACKAGE = "raravis"
_WIDTH, _ROW, _TOP = 760.0, 52.0, 14.0
_BOX_WIDTH, _BOX_HEIGHT = 148.0, 30.0


@dataclass(frozen=True)
class Unit:
    """A module or package that the contract names, such as ``raravis.audio``."""

    name: str
    optional: bool

    @property
    def short(self) -> str:
        """Its name within raravis."""
        return self.name.removeprefix(f"{_PACKAGE}.")

    @property
    def files(self) -> list[Path]:
        """What it is made of."""
        place = ROOT / "src" / Path(*self.name.split("."))
        return sorted(place.rglob("*.py")) if place.is_dir() else [place.with_suffix(".py")]

    @property
    def summary(self) -> str:
        """The first line of its docstring."""
        place = ROOT / "src" / Path(*self.name.split("."))
        file = place / "__init__.py" if place.is_dir() else place.with_suffix(".py")
        text = ast.get_docstring(ast.parse(file.read_text(encoding="utf-8"))) or ""
        return text.split("\n", 1)[0]


def read_layers() -> list[list[Unit]]:
    """Return the rows of the contract, the highest first."""
    settings = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
    contracts = settings["tool"]["importlinter"]["contracts"]
    [rows] = [one["layers"] for one in contracts if one["type"] == "layers"]
    return [[_unit(name.strip()) for name in row.split("|")] for row in rows]


def _unit(text: str) -> Unit:
    return Unit(text.strip("()"), optional=text.startswith("("))


def imports(units: list[Unit]) -> dict[Unit, set[Unit]]:
    """Return which other units each one imports, anywhere in its code."""
    return {
        unit: {found for name in _imported(unit) if (found := _owner(name, units))} - {unit}
        for unit in units
    }


def _imported(unit: Unit) -> Iterator[str]:
    for file in unit.files:
        for node in ast.walk(ast.parse(file.read_text(encoding="utf-8"))):
            if isinstance(node, ast.Import):
                yield from (alias.name for alias in node.names)
            elif isinstance(node, ast.ImportFrom) and node.module:
                yield from (f"{node.module}.{alias.name}" for alias in node.names)


def _owner(name: str, units: list[Unit]) -> Unit | None:
    return next((u for u in units if name == u.name or name.startswith(f"{u.name}.")), None)


def _reduced(graph: Mapping[Unit, set[Unit]]) -> dict[Unit, set[Unit]]:
    """Leave out an import that follows from two others: lines that would only hide the rest."""
    below = {unit: _reach(unit, graph) for unit in graph}
    return {
        unit: {one for one in direct if not any(one in below[other] for other in direct - {one})}
        for unit, direct in graph.items()
    }


def _reach(unit: Unit, graph: Mapping[Unit, set[Unit]]) -> set[Unit]:
    found: set[Unit] = set()
    waiting = [unit]
    while waiting:
        for one in graph[waiting.pop()] - found:
            found.add(one)
            waiting.append(one)
    return found


def drawing() -> str:
    """Return the picture as SVG."""
    rows = read_layers()
    places = {
        unit: (_WIDTH * (i + 1) / (len(row) + 1) + _sway(number, len(row)), _TOP + _ROW * number)
        for number, row in enumerate(rows)
        for i, unit in enumerate(row)
    }
    graph = _reduced(imports(list(places)))
    height = _TOP + _ROW * len(rows)
    lines = [
        _line(places[a], places[b])
        for a, below in graph.items()
        for b in sorted(below, key=lambda unit: unit.name)
    ]
    boxes = [_box(unit, x, y) for unit, (x, y) in places.items()]
    return "\n".join(
        [
            f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {_WIDTH:g} {height:g}" '
            'role="img" font-family="DejaVu Sans, sans-serif" font-size="12">',
            "<title>Layers of raravis and the imports between them</title>",
            f'<rect width="{_WIDTH:g}" height="{height:g}" fill="white"/>',
            *lines,
            *boxes,
            "</svg>",
            "",
        ]
    )


def _sway(number: int, n: int) -> float:
    """Shift single boxes sideways, so that lines pass beside them rather than beneath."""
    return (150.0, -150.0, 0.0)[number % 3] if n == 1 else 0.0


def _line(begin: tuple[float, float], end: tuple[float, float]) -> str:
    (x0, y0), (x1, y1) = begin, end
    y0, bend = y0 + _BOX_HEIGHT, (y1 - y0) / 2
    return (
        f'<path d="M{x0:g} {y0:g}C{x0:g} {y0 + bend:g} {x1:g} {y1 - bend:g} {x1:g} {y1:g}" '
        'fill="none" stroke="#0b5c94" stroke-opacity="0.45" stroke-width="1.3"/>'
    )


def _box(unit: Unit, x: float, y: float) -> str:
    dash = ' stroke-dasharray="5 3"' if unit.optional else ""
    return (
        f'<g><title>{escape(unit.summary)}</title><rect x="{x - _BOX_WIDTH / 2:g}" y="{y:g}" '
        f'width="{_BOX_WIDTH:g}" height="{_BOX_HEIGHT:g}" rx="6" fill="#fbfaf7" stroke="#5b636d"'
        f'{dash}/><text x="{x:g}" y="{y + 20:g}" text-anchor="middle" fill="#22262b">'
        f"{escape(unit.short)}</text></g>"
    )


def table() -> str:
    """Return a Markdown table of all units: what they are for, and how large they are."""
    lines = ["| part | modules | lines | what it is |", "|---|---|---|---|"]
    for row in read_layers():
        for unit in row:
            files = unit.files
            size = sum(len(file.read_text(encoding="utf-8").splitlines()) for file in files)
            lines.append(f"| `{unit.short}` | {len(files)} | {size:,} | {unit.summary} |")
    return "\n".join(lines)


if __name__ == "__main__":
    print(table())
