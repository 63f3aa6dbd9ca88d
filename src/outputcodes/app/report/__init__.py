"""Ranked results as plain data and as one HTML page that needs no network; single predictions explained."""

from outputcodes.app.report.answers import Answers, answers
from outputcodes.app.report.data import report_data
from outputcodes.app.report.explain import Explanation, explain
from outputcodes.app.report.importance import permuted_columns
from outputcodes.app.report.page import Report, render, write_report
from outputcodes.app.report.race import race_data

__all__ = [
    "Answers",
    "Explanation",
    "Report",
    "answers",
    "explain",
    "permuted_columns",
    "race_data",
    "render",
    "report_data",
    "write_report",
]
