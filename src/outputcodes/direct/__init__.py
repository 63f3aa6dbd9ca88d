"""Classifiers that need no code: multiclass SVMs and decision trees."""

from outputcodes.direct import trees
from outputcodes.direct.multiclass_svm import MulticlassSVC
from outputcodes.direct.trees import DecisionTree

__all__ = ["DecisionTree", "MulticlassSVC", "trees"]
