"""Decision trees with three kinds of questions: single multiclass classifiers to hold output codes against."""

from outputcodes.trees.decision_tree import DecisionTree
from outputcodes.trees.export import export_text
from outputcodes.trees.plotting import plot
from outputcodes.trees.structure import GrownTree

__all__ = ["DecisionTree", "GrownTree", "export_text", "plot"]
