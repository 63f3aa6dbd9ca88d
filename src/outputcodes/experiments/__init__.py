"""The published tables and figures of five texts, measured again: protocol, data, comparison.

Every experiment is one file: what it measures, the published numbers, and the claims they support.
"""

from outputcodes.experiments.catalogue import EXPERIMENTS, find
from outputcodes.experiments.comparing import Comparison, compare, lower_claim
from outputcodes.experiments.experiment import Claim, Experiment, Findings, Picture, Result, Table
from outputcodes.experiments.page import write_page
from outputcodes.experiments.running import run

__all__ = [
    "EXPERIMENTS",
    "Claim",
    "Comparison",
    "Experiment",
    "Findings",
    "Picture",
    "Result",
    "Table",
    "compare",
    "find",
    "lower_claim",
    "run",
    "write_page",
]
