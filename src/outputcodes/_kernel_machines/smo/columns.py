"""Sequential minimal optimisation of many small columns, one after another, on one Gram matrix in memory.

Column c is the problem of `pairs` on rows[starts[c] : starts[c + 1]] of the Gram matrix, with the same slice of t, β,
lo, hi and e. A column that contains all rows uses the matrix itself. For other columns, a row is copied when one of
its coefficients is first used.
"""

from __future__ import annotations

import numpy as np
from numba import njit

from outputcodes._kernel_machines.rows import add_multiple
from outputcodes._kernel_machines.smo.pairs import line, runs_of, set_sides, solve_pairs, solve_unbalanced
from outputcodes._kernel_machines.working_sets import REFRESHES


@njit(nogil=True, cache=True)
def solve_block(  # type: ignore[no-untyped-def]
    store, offset, balanced, rows, starts, target, beta, lo, hi, e, steps, tol, max_steps, budget
):
    """Solve one column after another until `budget` values have been read; return the number of finished columns.

    β, e and steps are changed in place. `balanced` is None without the constraint Σβ = 0, so that only one of the two
    solvers is compiled.
    """
    n, longest = store.shape[1], 0
    for c in range(steps.size):
        p = starts[c + 1] - starts[c]
        if longest < p < n:
            longest = p
    flat, copies = store.reshape(-1), np.empty(longest * longest)
    for c in range(steps.size):
        mine = slice(starts[c], starts[c + 1])
        seen, b, below, above, p = rows[mine], beta[mine], lo[mine], hi[mine], starts[c + 1] - starts[c]
        lines = flat if p == n else copies
        work, slot, runs = np.empty((4, p)), np.empty(p + 1, np.int64), runs_of(seen)
        for i in range(p):
            slot[i] = i if p == n else -1
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
                    add_multiple(-b[i], line(lines, slot, store, seen, runs, i), work[0])
            most = min(max_steps - steps[c], max(1, budget // p))
            if most == 0 or refreshes == REFRESHES:
                break
            if balanced is None:
                taken = solve_unbalanced(lines, slot, store, seen, runs, offset, work, b, below, above, 0.9 * tol, most)
            else:
                taken = solve_pairs(lines, slot, store, seen, runs, work, b, below, above, 0.9 * tol, most)
            steps[c] += taken
            budget -= (taken + p) * p
            if taken == 0:
                break
            if budget <= 0:
                return c
        for i in range(p):
            e[starts[c] + i] = work[0, i]
    return steps.size
