"""Boosters: classifiers that grow the columns of a code round by round and end in a code, margins and a decoder."""

from typing import TYPE_CHECKING

from outputcodes._ground.lazy import lazily

if TYPE_CHECKING:
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

# A booster is imported when it is first used: what needs one of them alone does not wait for the others.
_NAMES = {
    "base": ("Booster",),
    "gradient": ("GradientBoost",),
    "mh": ("AdaBoostMH",),
    "mo": ("AdaBoostMO",),
    "mr": ("AdaBoostMR",),
    "oc": ("AdaBoostOC",),
    "plotting": ("plot_margins",),
    "smooth": ("SmoothBoost",),
}
__getattr__, __dir__ = lazily(__name__, names=_NAMES)
