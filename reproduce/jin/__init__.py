"""Jin & Zhang (2005), Tables 2 to 6: smoothed boosting against AdaBoost.OC and a random code.

published    the printed numbers
trial        one observation: a method on random splits, with and without wrong labels
tables       the five tables
fixed_gamma  the probabilistic code by its strength γ
"""

from reproduce.jin.fixed_gamma import FIXED_GAMMA_EXPERIMENT
from reproduce.jin.tables import TABLES

EXPERIMENTS = (*TABLES, FIXED_GAMMA_EXPERIMENT)
