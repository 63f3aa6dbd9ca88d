"""Allwein, Schapire & Singer (2000): Tables 2 and 3, Figures 3 to 7.

published     the printed numbers
cells         errors by data set, decoder and code, beside the published ones
rivals        codes and decoders compared with each other
drawing       bars of differences between decoders and between codes
table2        AdaBoost
table3        support vector machines
one_vs_all    whether one-vs-all is the weakest code of support vector machines
settings      which setting of support vector machines meets the published numbers
choices       what the choices that the paper leaves open change
random_codes  the codes of the tables, with either rule for sparse ones
intervals     the synthetic data and its weak learners
figure3       AdaBoost on synthetic data
"""

from reproduce.allwein.choices import CHOICES_EXPERIMENT
from reproduce.allwein.figure3 import FIGURE3_EXPERIMENT
from reproduce.allwein.settings import SETTINGS_EXPERIMENT
from reproduce.allwein.table2 import TABLE2_EXPERIMENT
from reproduce.allwein.table3 import TABLE3_EXPERIMENT

EXPERIMENTS = (TABLE2_EXPERIMENT, TABLE3_EXPERIMENT, SETTINGS_EXPERIMENT, CHOICES_EXPERIMENT, FIGURE3_EXPERIMENT)
