"""The report on disk: made when the results have changed, and only then."""

from raravis._version import __version__
from raravis.progress import ProgressCallback
from raravis.study.files import write_bytes
from raravis.study.labels import hash_place
from raravis.study.report.page import render_report
from raravis.study.results import StudyResults
from raravis.study.truth import judge

__all__ = ["report_is_current", "write_report"]

_VERSION = 1


def report_is_current(results: StudyResults) -> bool:
    """Whether the report shows these results."""
    there = results.study.report_path.is_file()
    return there and results.study.stamp("report") == _stamp(results)


def write_report(results: StudyResults, *, progress: ProgressCallback | None = None) -> None:
    """Write the report; it appears whole or not at all."""
    page = render_report(results, judge(results), progress)
    write_bytes(page.encode(), results.study.report_path)
    results.study.set_stamp("report", _stamp(results))


def _stamp(results: StudyResults) -> dict[str, object]:
    return {
        "version": _VERSION,
        "raravis": __version__,
        "run": results.run,
        "truth": _truth_key(results),
    }


def _truth_key(results: StudyResults) -> str:
    named = results.study.settings.truth
    return hash_place(results.study.given_path(named)) if named else ""
