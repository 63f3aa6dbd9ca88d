"""Choosing: codes, learners and decoders compared by folds, parameters chosen by leave-one-out bounds."""

from outputcodes.selection.bound_search import BoundSearch
from outputcodes.selection.compare import Comparison, Comparisons, compare
from outputcodes.selection.leave_one_out import LeaveOneOut, leave_one_out
from outputcodes.selection.mcnemar import McNemar, mcnemar
from outputcodes.selection.statistics import Ranking, TTest, corrected_t_test, critical_difference, mean_ranks

__all__ = [
    "BoundSearch",
    "Comparison",
    "Comparisons",
    "LeaveOneOut",
    "McNemar",
    "Ranking",
    "TTest",
    "compare",
    "corrected_t_test",
    "critical_difference",
    "leave_one_out",
    "mcnemar",
    "mean_ranks",
]
