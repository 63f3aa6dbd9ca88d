"""Multiclass classification by output codes.

Labels pick rows of a code; a learner fits every column and returns margins; a decoder compares margins with rows
and returns class scores.
"""

from outputcodes import (
    app,
    boosting,
    bounds,
    codes,
    decisions,
    decoders,
    diagnostics,
    direct,
    learners,
    losses,
    selection,
    training,
)
from outputcodes.boosting import AdaBoostMH, AdaBoostMO, AdaBoostMR, AdaBoostOC, SmoothBoost
from outputcodes.classifier import OutputCodeClassifier
from outputcodes.direct import DecisionTree, MulticlassSVC

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
    "app",
    "boosting",
    "bounds",
    "codes",
    "decisions",
    "decoders",
    "diagnostics",
    "direct",
    "learners",
    "losses",
    "selection",
    "training",
]
