"""The published tables and figures of five texts, measured again: protocol, data, comparison.

Every experiment is one file: what it measures, the published numbers, and the claims they support.
"""

from reproduce.catalogue import EXPERIMENTS, find
from reproduce.comparing import Comparison, compare, lower_claim
from reproduce.experiment import Claim, Experiment, Findings, Picture, Result, Table
from reproduce.page import write_page
from reproduce.running import run

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
