"""Run the benchmarks: ``python benchmarks/run.py [--only NAME] [--quick] [--json FILE]``.

Every part runs in a process of its own and leaves ``benchmarks/results/PART.json``.
"""

import argparse
import json
import subprocess
import sys
from pathlib import Path
from typing import Any

from _report import write_json
from _timing import HERE

PARTS = (
    "fit",
    "em",
    "scaling",
    "scoring",
    "peers",
    "accuracy",
    "discovery",
    "audio",
    "syllables",
    "review",
    "scale",
)
RESULTS = HERE / "results"


def main() -> int:
    """Run the parts asked for; the exit status says whether all of them ran."""
    options = _options()
    reports = [_run(part, options.quick) for part in ([options.only] if options.only else PARTS)]
    done = [report for report in reports if report is not None]
    verdicts = [f["verdict"] for report in done for f in report["figures"] if f["verdict"]]
    print(f"{verdicts.count('met')} of {len(verdicts)} targets met.")
    if options.json is not None:
        write_json(options.json, done)
    return 0 if len(done) == len(reports) else 1


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description="Benchmarks of raravis, as ratios.")
    parser.add_argument("--only", choices=PARTS, help="run this part alone")
    parser.add_argument("--quick", action="store_true", help="few repetitions, smaller sizes")
    parser.add_argument("--json", type=Path, help="write all figures to this file too")
    return parser.parse_args()


def _run(part: str, quick: bool) -> Any:
    target = RESULTS / f"{part}.json"
    command = [sys.executable, str(HERE / f"{part}.py"), "--json", str(target)]
    status = subprocess.run(command + ["--quick"] * quick, check=False).returncode
    if status:
        print(f"{part} failed with exit status {status}.")
        return None
    return json.loads(target.read_text(encoding="utf-8"))


if __name__ == "__main__":
    sys.exit(main())
