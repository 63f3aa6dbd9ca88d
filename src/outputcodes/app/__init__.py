"""All that touches files, a terminal or a browser."""

from typing import TYPE_CHECKING

from outputcodes._ground.files import in_place_of
from outputcodes._ground.lazy import lazily

if TYPE_CHECKING:
    from outputcodes.app import datasets, export, persistence, report, run, tables

__all__ = ["datasets", "export", "in_place_of", "persistence", "report", "run", "tables"]

# The command line prints its help without any of them.
__getattr__, __dir__ = lazily(__name__, __all__)
