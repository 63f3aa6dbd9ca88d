"""Multiclass classification by output codes.

Labels pick rows of a code; a learner fits every column and returns margins; a decoder compares margins with rows
and returns class scores.
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

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
    from outputcodes.boosting import AdaBoostMH, AdaBoostMO, AdaBoostMR, AdaBoostOC, GradientBoost, SmoothBoost
    from outputcodes.classifier import OutputCodeClassifier
    from outputcodes.direct import DecisionTree, MulticlassSVC

__version__ = "0.1.0"

__all__ = [
    "AdaBoostMH",
    "AdaBoostMO",
    "AdaBoostMR",
    "AdaBoostOC",
    "DecisionTree",
    "GradientBoost",
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

# Where the classes are; all other names are modules. A module is imported when it is first used: the import of the
# package then takes no time, and a classifier doesn't wait for what only the command line needs.
_HOMES = {
    "AdaBoostMH": "boosting",
    "AdaBoostMO": "boosting",
    "AdaBoostMR": "boosting",
    "AdaBoostOC": "boosting",
    "DecisionTree": "direct",
    "GradientBoost": "boosting",
    "MulticlassSVC": "direct",
    "OutputCodeClassifier": "classifier",
    "SmoothBoost": "boosting",
}


def __getattr__(name: str) -> Any:
    if name not in __all__:
        raise AttributeError(f"module 'outputcodes' has no attribute {name!r}")
    module = import_module(f"outputcodes.{_HOMES.get(name, name)}")
    # Kept, so that this function is called once per name.
    globals()[name] = getattr(module, name) if name in _HOMES else module
    return globals()[name]


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
