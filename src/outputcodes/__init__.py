"""Multiclass classification by output codes.

Labels pick rows of a code; a learner fits every column and answers margins; a decoder compares margins with rows
and answers class scores.
"""

from outputcodes import (
    boosting,
    bounds,
    codes,
    datasets,
    decisions,
    decoders,
    diagnostics,
    learners,
    losses,
    persistence,
    report,
    selection,
    tables,
    trees,
    workflow,
)
from outputcodes.boosting import AdaBoostMH, AdaBoostMO, AdaBoostMR, AdaBoostOC, SmoothBoost
from outputcodes.classifier import OutputCodeClassifier
from outputcodes.svm import MulticlassSVC
from outputcodes.trees import DecisionTree

__version__ = "0.1.0"

__all__ = [
    "AdaBoostMH",
    "AdaBoostMO",
    "AdaBoostMR",
    "AdaBoostOC",
    "DecisionTree",
    "MulticlassSVC",
    "OutputCodeClassifier",
    "SmoothBoost",
    "boosting",
    "bounds",
    "codes",
    "datasets",
    "decisions",
    "decoders",
    "diagnostics",
    "learners",
    "losses",
    "persistence",
    "report",
    "selection",
    "tables",
    "trees",
    "workflow",
]
