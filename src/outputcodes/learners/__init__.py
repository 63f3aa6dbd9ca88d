"""Learners: every column of a code trained on the same X, margins answered."""

from outputcodes.learners.kernel_svm import KernelSVM
from outputcodes.learners.linear_svm import LinearSVM
from outputcodes.learners.logistic import Logistic
from outputcodes.learners.names import LEARNERS, as_learner
from outputcodes.learners.per_column import PerColumn
from outputcodes.learners.protocol import Certificate, FittedColumns, Learner
from outputcodes.learners.ridge import Ridge
from outputcodes.learners.shared import SharedLearner
from outputcodes.learners.single_call import SingleCall
from outputcodes.learners.stumps import BoostedStumps
from outputcodes.learners.tree import Tree

__all__ = [
    "LEARNERS",
    "BoostedStumps",
    "Certificate",
    "FittedColumns",
    "KernelSVM",
    "Learner",
    "LinearSVM",
    "Logistic",
    "PerColumn",
    "Ridge",
    "SharedLearner",
    "SingleCall",
    "Tree",
    "as_learner",
]
