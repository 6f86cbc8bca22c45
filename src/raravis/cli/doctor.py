"""``raravis doctor``: what is installed, whether it works, and where data are."""

from collections.abc import Iterator
from dataclasses import asdict
from itertools import groupby
from typing import TYPE_CHECKING, Any

import typer

from raravis._version import __version__
from raravis.cli._console import DebugOption, JsonOption, print_json, reporting

if TYPE_CHECKING:
    from raravis.cli._checkup import Checkup, Package

__all__ = ["doctor"]

SICK = 1


def doctor(*, as_json: JsonOption = False, debug: DebugOption = False) -> None:
    """Say what is installed, try out whether it works, and say where data and caches are.

    The exit status is 1 if something that is installed does not work.

    Example: raravis doctor --json
    """
    with reporting(debug=debug):
        from raravis.cli._checkup import check_up

        found = check_up()
    if as_json:
        print_json(_as_json(found))
    else:
        for line in _lines(found):
            typer.echo(line)
    if not found.well:
        raise typer.Exit(SICK)


def _as_json(found: "Checkup") -> dict[str, Any]:
    return {
        "version": __version__,
        "python": found.python,
        "system": found.system,
        "cores": found.cores,
        "well": found.well,
        "packages": [{**asdict(package), "status": package.status} for package in found.packages],
        "abilities": [asdict(ability) for ability in found.abilities],
        "places": [asdict(place) for place in found.places],
    }


def _lines(found: "Checkup") -> Iterator[str]:
    yield f"raravis {__version__}, Python {found.python}, {found.cores} cores, {found.system}"
    yield ""
    yield "Packages"
    for needed_by, group in groupby(found.packages, key=lambda package: package.needed_by):
        yield from _packages(needed_by, list(group))
    yield ""
    yield "What works"
    for ability in found.abilities:
        yield f"  {ability.name:<20}{ability.status}: {ability.detail}"
    yield ""
    yield "Where things are"
    for place in found.places:
        yield f"  {place.name:<14}{place.path or '-'} ({place.detail})"


def _packages(needed_by: str, group: "list[Package]") -> Iterator[str]:
    for package in group:
        version = package.version or "-"
        wrong = {
            "ok": "",
            "old": f"  too old, needs {package.wanted}",
            "missing": f"  missing, needs {package.wanted}",
        }[package.status]
        yield f"  {needed_by:<10}{package.name:<18}{version:<12}{wrong}".rstrip()
    if any(package.status != "ok" for package in group):
        what = "raravis" if needed_by == "core" else f"raravis[{needed_by}]"
        yield f'  {"":<10}to install: pip install "{what}"'
