"""Example-wise solver for multiclass SVMs (SPOC), used by `MulticlassSVC` and continuous codes in the l2 norm."""

from outputcodes._kernel_machines.spoc.problem import SpocCertificate, SpocSolution
from outputcodes._kernel_machines.spoc.solve import solve

__all__ = ["SpocCertificate", "SpocSolution", "solve"]
