"""Jin & Zhang (2005), Tables 2 to 6: smoothed boosting against AdaBoost.OC and a random code.

published    the printed numbers
trial        one observation: a method on random splits, with and without wrong labels
tables       the five tables
"""

from reproduce.jin.tables import EXPERIMENTS

__all__ = ["EXPERIMENTS"]
