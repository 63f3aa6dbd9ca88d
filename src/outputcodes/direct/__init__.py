"""Classifiers that need no code: multiclass SVMs, decision trees and nearest centroids."""

from outputcodes.direct import trees
from outputcodes.direct.multiclass_svm import MulticlassSVC
from outputcodes.direct.nearest_centroids import NearestCentroids
from outputcodes.direct.trees import DecisionTree

__all__ = ["DecisionTree", "MulticlassSVC", "NearestCentroids", "trees"]
