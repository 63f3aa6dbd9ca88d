"""Boosters: classifiers that grow the columns of a code round by round and end in a code, margins and a decoder."""

from outputcodes.boosting.base import Booster
from outputcodes.boosting.gradient import GradientBoost
from outputcodes.boosting.mh import AdaBoostMH
from outputcodes.boosting.mo import AdaBoostMO
from outputcodes.boosting.mr import AdaBoostMR
from outputcodes.boosting.oc import AdaBoostOC
from outputcodes.boosting.plotting import plot_margins
from outputcodes.boosting.smooth import SmoothBoost

__all__ = [
    "AdaBoostMH",
    "AdaBoostMO",
    "AdaBoostMR",
    "AdaBoostOC",
    "Booster",
    "GradientBoost",
    "SmoothBoost",
    "plot_margins",
]
