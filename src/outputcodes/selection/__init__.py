"""Choosing: codes, learners and decoders compared by folds, parameters chosen by leave-one-out bounds."""

from outputcodes._ground.planning import Planning, Size
from outputcodes.selection.bound_search import BoundSearch
from outputcodes.selection.compare import compare
from outputcodes.selection.journal import Journal, JournalError
from outputcodes.selection.leave_one_out import LeaveOneOut, leave_one_out
from outputcodes.selection.mcnemar import McNemar, mcnemar
from outputcodes.selection.metrics import METRICS
from outputcodes.selection.race import CONTESTANTS, Race
from outputcodes.selection.ranking import Results, ranked
from outputcodes.selection.results import Cell, Decoded, Measurement, Result
from outputcodes.selection.same_predictions import one_row_each
from outputcodes.selection.searches import GridSearch, HalvingRandomSearch, HalvingSearch, RandomSearch
from outputcodes.selection.spaces import SPACES, Cost, Parameter, Shape, Space, space_of
from outputcodes.selection.statistics import Ranking, TTest, corrected_t_test, critical_difference, mean_ranks

__all__ = [
    "CONTESTANTS",
    "METRICS",
    "SPACES",
    "BoundSearch",
    "Cell",
    "Cost",
    "Decoded",
    "GridSearch",
    "HalvingRandomSearch",
    "HalvingSearch",
    "Journal",
    "JournalError",
    "LeaveOneOut",
    "McNemar",
    "Measurement",
    "Parameter",
    "Planning",
    "Race",
    "RandomSearch",
    "Ranking",
    "Result",
    "Results",
    "Shape",
    "Size",
    "Space",
    "TTest",
    "compare",
    "corrected_t_test",
    "critical_difference",
    "leave_one_out",
    "mcnemar",
    "mean_ranks",
    "one_row_each",
    "ranked",
    "space_of",
]
