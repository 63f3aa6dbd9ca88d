"""Searches over parameters whose candidates share what they prepare, train and read."""

from outputcodes.selection.searches.grid import GridSearch, RandomSearch
from outputcodes.selection.searches.halving import HalvingRandomSearch, HalvingSearch

__all__ = ["GridSearch", "HalvingRandomSearch", "HalvingSearch", "RandomSearch"]
