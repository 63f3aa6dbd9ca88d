"""Which learner, code and decoder should be the defaults: all of them on the papers' data sets, by mean ranks.

trial      one observation: a learner with every code and decoder on a data set
ranking    combinations, learners, codes and decoders ranked
"""

from reproduce.defaults.trial import DEFAULTS_EXPERIMENT

EXPERIMENTS = (DEFAULTS_EXPERIMENT,)
