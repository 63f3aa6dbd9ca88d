"""All that touches files, a terminal or a browser."""

from outputcodes.app import datasets, persistence, report, tables, workflow

__all__ = ["datasets", "persistence", "report", "tables", "workflow"]
