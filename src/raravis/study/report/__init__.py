"""The report of a study: one page that carries its pictures and sounds within itself."""

from raravis.study.report.page import render_report
from raravis.study.report.write import report_is_current, write_report

__all__ = ["render_report", "report_is_current", "write_report"]
