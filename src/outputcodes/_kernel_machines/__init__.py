"""Solvers behind KernelSVM, MulticlassSVC and Continuous: Gram matrices, SMO and SPOC."""
