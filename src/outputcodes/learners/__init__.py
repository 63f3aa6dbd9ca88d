"""Learners: every column of a code trained on the same X, margins answered."""

from outputcodes.learners.foreign import entrance, input_tags
from outputcodes.learners.names import as_learner, estimators_in
from outputcodes.learners.per_column import PerColumn
from outputcodes.learners.protocol import Certificate, FittedColumns, Learner
from outputcodes.learners.single_call import SingleCall

__all__ = [
    "Certificate",
    "FittedColumns",
    "Learner",
    "PerColumn",
    "SingleCall",
    "as_learner",
    "entrance",
    "estimators_in",
    "input_tags",
]
