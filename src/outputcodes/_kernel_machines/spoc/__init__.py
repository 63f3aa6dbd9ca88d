"""Multiclass SVMs solved by examples (SPOC): the solver of `MulticlassSVC` and of continuous codes in the l2 norm."""

from outputcodes._kernel_machines.spoc.problem import SpocCertificate, SpocSolution
from outputcodes._kernel_machines.spoc.solve import solve

__all__ = ["SpocCertificate", "SpocSolution", "solve"]
