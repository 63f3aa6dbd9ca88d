"""All that touches files, a terminal or a browser."""

from outputcodes.app import datasets, persistence, report, run, tables

__all__ = ["datasets", "persistence", "report", "run", "tables"]
