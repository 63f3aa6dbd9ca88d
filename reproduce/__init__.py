"""Published tables and figures of five papers, measured again: protocol → data → comparison → page.

    experiment   what an experiment is: units that are measured, findings that are presented
    data         the data sets as the papers used them
    running      runs the units of an experiment, writes and resumes results
    judging      our numbers against published ones, claims tested over data sets
    page         renders results to a page
    catalogue    the table of experiments
    __main__     the command line

    allwein      Allwein, Schapire & Singer (2000): Tables 2 and 3, Figures 3 to 7
    crammer      Crammer & Singer (2002): Figure 5, and the norms of section 6
    defaults     our own comparison behind the defaults of OutputCodeClassifier
    jin          Jin & Zhang (2005): Tables 2 to 6
    mohri        Mohri's lecture: how training time grows, and the approaches side by side
    passerini    Passerini, Pontil & Frasconi (2004): Figures 2 to 4

It is not part of the installed package and uses public names of `outputcodes` only. Run it with `make reproduce`.
"""

from reproduce.catalogue import EXPERIMENTS, find
from reproduce.experiment import Claim, Experiment, Findings, Observation, Picture, TextTable
from reproduce.judging import Agreement, lower_claim
from reproduce.page import write_page
from reproduce.running import run_experiment

__all__ = [
    "EXPERIMENTS",
    "Agreement",
    "Claim",
    "Experiment",
    "Findings",
    "Observation",
    "Picture",
    "TextTable",
    "find",
    "lower_claim",
    "run_experiment",
    "write_page",
]
