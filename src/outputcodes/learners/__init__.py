"""Learners: every column of a code trained on the same X, margins answered."""

from outputcodes.learners.foreign import entrance, input_tags
from outputcodes.learners.names import LEARNERS, as_learner, estimators_in
from outputcodes.learners.per_column import PerColumn, rows_of_params
from outputcodes.learners.protocol import Certificate, FittedColumns, Learner
from outputcodes.learners.ridge import Ridge
from outputcodes.learners.shared import SharedLearner
from outputcodes.learners.single_call import SingleCall

__all__ = [
    "LEARNERS",
    "Certificate",
    "FittedColumns",
    "Learner",
    "PerColumn",
    "Ridge",
    "SharedLearner",
    "SingleCall",
    "as_learner",
    "entrance",
    "estimators_in",
    "input_tags",
    "rows_of_params",
]
