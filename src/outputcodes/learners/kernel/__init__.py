"""Kernel SVMs: all columns solved on one Gram matrix."""
