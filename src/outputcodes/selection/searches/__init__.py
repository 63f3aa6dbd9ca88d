"""Searches over parameters whose candidates share what they prepare, train and read."""

from outputcodes.selection.searches.grid import GridSearch, RandomSearch
from outputcodes.selection.searches.halving import HalvingSearch

__all__ = ["GridSearch", "HalvingSearch", "RandomSearch"]
