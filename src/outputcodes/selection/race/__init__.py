"""A race of classifiers: the best model for a table within a time limit."""

from outputcodes.selection.race.contestants import CONTESTANTS
from outputcodes.selection.race.race import Race
from outputcodes.selection.race.recorder import Recorder

__all__ = ["CONTESTANTS", "Race", "Recorder"]
