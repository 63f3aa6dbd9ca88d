"""Learners: they train every column of a code on the same X and return margins."""

from typing import TYPE_CHECKING

from outputcodes._ground.lazy import lazily

if TYPE_CHECKING:
    from outputcodes.learners.base import Certificate, FittedColumns, Learner
    from outputcodes.learners.kernel.kernel_svm import KernelSVM
    from outputcodes.learners.linear.linear_svm import LinearSVM
    from outputcodes.learners.linear.logistic import Logistic
    from outputcodes.learners.linear.ridge import Ridge
    from outputcodes.learners.names import LEARNERS, as_learner
    from outputcodes.learners.per_column import PerColumn
    from outputcodes.learners.shared import SharedLearner
    from outputcodes.learners.single_call import SingleCall
    from outputcodes.learners.trees.boosted_trees import BoostedTrees
    from outputcodes.learners.trees.column_tree import ColumnTree
    from outputcodes.learners.trees.stumps import BoostedStumps

__all__ = [
    "LEARNERS",
    "BoostedStumps",
    "BoostedTrees",
    "Certificate",
    "ColumnTree",
    "FittedColumns",
    "KernelSVM",
    "Learner",
    "LinearSVM",
    "Logistic",
    "PerColumn",
    "Ridge",
    "SharedLearner",
    "SingleCall",
    "as_learner",
]

# An engine is imported when it is first used: what needs one of them alone does not wait for the others.
_NAMES = {
    "base": ("Certificate", "FittedColumns", "Learner"),
    "kernel.kernel_svm": ("KernelSVM",),
    "linear.linear_svm": ("LinearSVM",),
    "linear.logistic": ("Logistic",),
    "linear.ridge": ("Ridge",),
    "names": ("LEARNERS", "as_learner"),
    "per_column": ("PerColumn",),
    "shared": ("SharedLearner",),
    "single_call": ("SingleCall",),
    "trees.boosted_trees": ("BoostedTrees",),
    "trees.column_tree": ("ColumnTree",),
    "trees.stumps": ("BoostedStumps",),
}
__getattr__, __dir__ = lazily(__name__, names=_NAMES)
