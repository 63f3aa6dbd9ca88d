"""All that touches files, a terminal or a browser."""

from outputcodes._ground.files import in_place_of
from outputcodes.app import datasets, persistence, report, run, tables

__all__ = ["datasets", "in_place_of", "persistence", "report", "run", "tables"]
