"""Boosted trees: one tree per round for all classes, or columns, grown on a sketch of their gradients."""
