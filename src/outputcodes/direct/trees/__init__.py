"""Decision trees with three kinds of questions: multiclass classifiers to compare output codes with."""

from outputcodes.direct.trees.decision_tree import DecisionTree
from outputcodes.direct.trees.export import export_text
from outputcodes.direct.trees.plotting import plot
from outputcodes.direct.trees.structure import GrownTree

__all__ = ["DecisionTree", "GrownTree", "export_text", "plot"]
