"""Searches over parameters whose candidates share what they prepare, train and read."""

from outputcodes.selection.searches.grid import GridSearch, RandomSearch

__all__ = ["GridSearch", "RandomSearch"]
