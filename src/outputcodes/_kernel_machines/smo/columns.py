"""Sequential minimal optimisation of many small columns, one after another, on one Gram matrix in memory.

Column c is the problem of `pairs` on rows[starts[c] : starts[c + 1]] of the Gram matrix, with the same slice of t, β,
lo, hi and e. A column that contains all rows uses the matrix itself. For other columns, a row is copied when one of
its coefficients is first used.
"""

from __future__ import annotations

import numpy as np
from numba import njit

from outputcodes._ground.lanes import LANES
from outputcodes._kernel_machines.smo.pairs import add_multiple, line, runs_of, set_sides, solve_pairs, solve_unbalanced
from outputcodes._kernel_machines.smo.passes import BIG
from outputcodes._kernel_machines.working_sets import REFRESHES


@njit(nogil=True, cache=True)
def solve_block(  # type: ignore[no-untyped-def]
    store, flat, offset, balanced, rows, starts, target, beta, lo, hi, e, steps, tol, max_steps, budget
):
    """Solve one column after another until `budget` values have been read; return the number of finished columns.

    β, e and steps are changed in place. `flat` is `store` as a flat array with LANES extra values, or empty. `balanced`
    is None without the constraint Σβ = 0, so that only one of the two solvers is compiled.
    """
    n, longest = store.shape[1], 0
    for c in range(steps.size):
        p = starts[c + 1] - starts[c]
        if p > longest and (p < n or flat.size == 0):
            longest = p
    copies = np.empty(longest * (longest + LANES))
    for c in range(steps.size):
        mine = slice(starts[c], starts[c + 1])
        seen, b, below, above, p = rows[mine], beta[mine], lo[mine], hi[mine], starts[c + 1] - starts[c]
        width = (p + LANES - 1) // LANES * LANES
        whole = p == n and flat.size > 0
        lines, stride = flat if whole else copies, n if whole else width
        work, slot, runs = np.empty((4, width)), np.empty(p + 1, np.int64), runs_of(seen)
        for i in range(width):
            work[0, i], work[1, i], work[2, i], work[3, i] = 0, -BIG, BIG, 0
        for i in range(p):
            slot[i] = i if whole else -1
            work[3, i] = store[seen[i], seen[i]] + offset
            set_sides(i, b, below, above, work[1], work[2])
        slot[p] = 0
        for refreshes in range(REFRESHES + 1):
            total = 0.0
            for i in range(p):
                total += b[i]
            for i in range(p):
                work[0, i] = target[starts[c] + i] - offset * total
            for i in range(p):
                if b[i] != 0:
                    add_multiple(-b[i], line(lines, slot, stride, store, seen, runs, i, width), work[0])
            most = min(max_steps - steps[c], max(1, budget // width))
            if most == 0 or refreshes == REFRESHES:
                break
            if balanced is None:
                taken = solve_unbalanced(
                    lines, slot, stride, store, seen, runs, offset, work, b, below, above, 0.9 * tol, most
                )
            else:
                taken = solve_pairs(lines, slot, stride, store, seen, runs, work, b, below, above, 0.9 * tol, most)
            steps[c] += taken
            budget -= (taken + p) * width
            if taken == 0:
                break
            if budget <= 0:
                return c
        for i in range(p):
            e[starts[c] + i] = work[0, i]
    return steps.size
