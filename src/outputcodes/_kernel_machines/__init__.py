"""Solvers behind KernelSVM, MulticlassSVC and Continuous: Gram matrices, SMO, SPOC and their working sets."""
