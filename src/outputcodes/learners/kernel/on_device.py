"""Kernel SVM columns on a device: rounds until no row violates, with gradients from scratch before the certificate."""

from __future__ import annotations

import numpy as np

from outputcodes._ground import progress
from outputcodes._kernel_machines.device.backend import DeviceGram, PosedColumns
from outputcodes._kernel_machines.working_sets import AIM, INNER, REFRESHES
from outputcodes.learners.kernel.dual import STEPS_PER_CALL, SolvedColumns, bias_of


def solve_on_device(gram: DeviceGram, posed: PosedColumns, tol: float, max_iter: int) -> SolvedColumns:
    """Solve every column. Each has a working set of its own; columns that no row violates are left alone."""
    columns = gram.columns(posed)
    steps = columns.steps()
    for refreshes in range(REFRESHES):
        ends, aim = columns.ends(), 1.0
        while True:
            gaps = ends[:, 0] - ends[:, 1]
            active = np.flatnonzero((gaps > aim * tol) & (steps < max_iter))
            progress.reached(len(gaps) - len(active), len(gaps))
            if not len(active):
                break
            most = min(STEPS_PER_CALL, max_iter - int(steps[active].max()))
            before = steps
            columns.improve(active, np.maximum(INNER * gaps, 0.5 * tol), most)
            ends, steps, aim = columns.ends(), columns.steps(), AIM
            if np.array_equal(steps, before):
                # Rounding leaves no step that would help.
                break
        if aim == 1.0 and refreshes:
            # Nothing has changed since the gradients were computed from scratch.
            break
        columns.refresh()
    ends = columns.ends()
    gap = ends[:, 0] - ends[:, 1]
    rows, column, beta = columns.support()
    folded = posed.offset * np.bincount(column, beta, len(gap))
    bias = bias_of(*columns.free(), ends.T) if posed.free_bias else folded
    return SolvedColumns(rows, column, beta, bias, gap, steps, gap <= tol)
