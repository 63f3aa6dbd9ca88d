"""Choosing: codes, learners and decoders compared by folds, parameters chosen by leave-one-out bounds."""

from outputcodes.selection.bound_search import BoundSearch
from outputcodes.selection.compare import Comparison, compare
from outputcodes.selection.leave_one_out import LeaveOneOut, leave_one_out
from outputcodes.selection.statistics import Ranking, TTest, corrected_t_test, critical_difference, mean_ranks

__all__ = [
    "BoundSearch",
    "Comparison",
    "LeaveOneOut",
    "Ranking",
    "TTest",
    "compare",
    "corrected_t_test",
    "critical_difference",
    "leave_one_out",
    "mean_ranks",
]
