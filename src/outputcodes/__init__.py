"""Multiclass classification by output codes.

Labels pick rows of a code; a learner fits every column and answers margins; a decoder compares margins with rows
and answers class scores.
"""

from outputcodes import bounds, codes, decoders, diagnostics, learners, losses, selection
from outputcodes.classifier import OutputCodeClassifier

__version__ = "0.1.0"

__all__ = ["OutputCodeClassifier", "bounds", "codes", "decoders", "diagnostics", "learners", "losses", "selection"]
