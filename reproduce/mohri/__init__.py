"""Mohri's lecture on multiclass classification: how time grows with m and k, and the approaches it lists.

growth        the computational comparison of one-vs-all and one-vs-one, measured
exponents     what those times show
approaches    multiclass classifiers and combinations of binary ones, side by side
"""

from reproduce.mohri.approaches import APPROACHES_EXPERIMENT
from reproduce.mohri.growth import GROWTH_EXPERIMENT

EXPERIMENTS = (GROWTH_EXPERIMENT, APPROACHES_EXPERIMENT)
