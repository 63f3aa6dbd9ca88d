"""Boosted stumps and decision trees for all columns on features binned once."""
