"""Crammer & Singer (2002): Figure 5, and the norms of section 6.

general_solver    the problem of a continuous code for a general solver, in two forms
figure5           SPOC against that solver
norms             continuous codes of three norms on the same margins
"""

from reproduce.crammer.figure5 import FIGURE5_EXPERIMENT
from reproduce.crammer.norms import NORMS_EXPERIMENT

EXPERIMENTS = (FIGURE5_EXPERIMENT, NORMS_EXPERIMENT)
