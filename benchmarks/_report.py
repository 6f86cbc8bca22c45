"""One part of the benchmarks as a program: measure, print a table, write JSON."""

import argparse
import json
import os
import time
from collections.abc import Callable, Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Any

from _timing import Figure, machine

Measure = Callable[[bool], Sequence[Figure]]


def run_part(name: str, measure: Measure) -> None:
    """Read the options, measure, print and write."""
    parser = argparse.ArgumentParser(description=measure.__doc__)
    parser.add_argument("--quick", action="store_true", help="few repetitions, smaller sizes")
    parser.add_argument("--json", type=Path, help="also write the figures to this file")
    options = parser.parse_args()
    found_on = machine()
    start = time.perf_counter()
    figures = list(measure(options.quick))
    report = {
        "part": name,
        "quick": options.quick,
        "machine": found_on,
        "seconds": round(time.perf_counter() - start, 1),
        "figures": [{**asdict(f), "verdict": f.verdict} for f in figures],
    }
    print_table(name, figures, options.quick)
    if options.json is not None:
        write_json(options.json, report)


def print_table(name: str, figures: Sequence[Figure], quick: bool) -> None:
    from rich.console import Console
    from rich.table import Table

    table = Table(title=f"{name}{' (quick: rough figures)' if quick else ''}")
    for heading in ("figure", "median", "quartiles", "target", "", "seen"):
        table.add_column(heading, overflow="fold")
    for f in figures:
        colour = {"met": "green", "missed": "red"}.get(f.verdict, "")
        verdict = f"[{colour}]{f.verdict}[/{colour}]" if colour else ""
        between = "" if f.low == f.high else f"{f.low:.3g} - {f.high:.3g}"
        table.add_row(f.name, f"{f.value:.3g} {f.unit}", between, f.goal, verdict, f.note)
    # A fixed width, so that tables saved to a file look as they do in a terminal.
    Console(width=None if os.isatty(1) else 150).print(table)


def write_json(path: Path, report: Any) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    draft = path.with_name(path.name + ".part")
    draft.write_text(json.dumps(report, indent=1) + "\n", encoding="utf-8")
    draft.replace(path)
