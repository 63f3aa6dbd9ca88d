"""Multiclass classification by output codes.

Labels pick rows of a code; a learner fits every column and returns margins; a decoder compares margins with rows
and returns class scores.
"""

from typing import TYPE_CHECKING

from outputcodes._ground.lazy import lazily

if TYPE_CHECKING:
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
    from outputcodes.app.export import to_onnx
    from outputcodes.boosting import AdaBoostMH, AdaBoostMO, AdaBoostMR, AdaBoostOC, GradientBoost, SmoothBoost
    from outputcodes.classifier import OutputCodeClassifier
    from outputcodes.direct import DecisionTree, MulticlassSVC, NearestCentroids

__version__ = "0.2.0"

__all__ = [
    "AdaBoostMH",
    "AdaBoostMO",
    "AdaBoostMR",
    "AdaBoostOC",
    "DecisionTree",
    "GradientBoost",
    "MulticlassSVC",
    "NearestCentroids",
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
    "to_onnx",
    "training",
]

# A module is imported when it is first used: the import of the package then takes no time, and a classifier doesn't
# wait for what only the command line needs.
_NAMES = {
    "app.export": ("to_onnx",),
    "boosting": ("AdaBoostMH", "AdaBoostMO", "AdaBoostMR", "AdaBoostOC", "GradientBoost", "SmoothBoost"),
    "classifier": ("OutputCodeClassifier",),
    "direct": ("DecisionTree", "MulticlassSVC", "NearestCentroids"),
}
_MODULES = [name for name in __all__ if name.islower() and name != "to_onnx"]
__getattr__, __dir__ = lazily(__name__, _MODULES, _NAMES)
