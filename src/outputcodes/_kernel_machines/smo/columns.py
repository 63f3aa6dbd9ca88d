"""Sequential minimal optimisation of many small columns, one after another, on one Gram matrix in memory.

Column c is the problem of `pairs` on rows[starts[c] : starts[c + 1]] of the Gram matrix, with the same slice of t, β,
lo, hi and e. A column that contains all rows uses the matrix itself. For other columns, a row is copied when one of
its coefficients is first used.

A start near the optimum shows which rows will hardly move: those at a bound, far on the right side of the bias. They
are set aside if they are at least half of all rows, as long as the gradients, which are computed from scratch before
the certificate, don't bring them back.
"""

from __future__ import annotations

import numpy as np
from numba import njit

from outputcodes._kernel_machines.rows import add_multiple, run_starts
from outputcodes._kernel_machines.smo.pairs import line, set_sides, solve_pairs, solve_unbalanced
from outputcodes._kernel_machines.working_sets import REFRESHES

# Rows at a bound whose gradient is nearer to the bias may soon leave it.
NEAR = 0.5
# Before all gradients are known again, some rows are solved to this multiple of the tolerance.
COARSE = 10


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
        longest = max(longest, p if p < n else p // 2)
    flat, copies = store.reshape(-1), np.empty(longest * longest)
    for c in range(steps.size):
        mine = slice(starts[c], starts[c + 1])
        seen, b, below, above, p = rows[mine], beta[mine], lo[mine], hi[mine], starts[c + 1] - starts[c]
        lines, near_optimum = flat if p == n else copies, p == n and b.any()
        work, slot, runs = np.empty((4, p)), np.empty(p + 1, np.int64), run_starts(seen)
        for i in range(p):
            slot[i] = i if p == n else -1
            work[3, i] = store[seen[i], seen[i]] + offset
        slot[p] = 0
        for refreshes in range(REFRESHES + 1):
            total = 0.0
            for i in range(p):
                total += b[i]
                set_sides(i, b, below, above, work[1], work[2])
            for i in range(p):
                work[0, i] = target[starts[c] + i] - offset * total
            for i in range(p):
                if b[i] != 0:
                    add_multiple(-b[i], line(lines, slot, store, seen, runs, i), work[0])
            q, some = p, slot[:0]
            if near_optimum and refreshes < REFRESHES // 2:
                some = unsettled(work[0], b, below, above, balanced is not None)
            if 0 < some.size <= p // 2:
                q, own, place = some.size, seen[some], np.full(some.size + 1, -1)
                place[q] = 0
                kernel = copies, place, store, own, run_starts(own)
                local, part, bottom, top = work[:, some], b[some], below[some], above[some]
            else:
                kernel = lines, slot, store, seen, runs
                local, part, bottom, top = work, b, below, above
            most = min(max_steps - steps[c], max(1, budget // q))
            if most == 0 or refreshes == REFRESHES:
                break
            aim = 0.9 * tol * (COARSE if q < p and refreshes == 0 else 1)
            if balanced is None:
                taken = solve_unbalanced(*kernel, offset, local, part, bottom, top, aim, most)
            else:
                taken = solve_pairs(*kernel, local, part, bottom, top, aim, most)
            if q < p:
                b[some] = part
            steps[c] += taken
            budget -= (taken + p) * q
            # No row set aside violates then: it would be beyond the bias, and violate with a free row of the part.
            if taken == 0 and aim < tol:
                break
            if budget <= 0:
                return c
        for i in range(p):
            e[starts[c] + i] = work[0, i]
    return steps.size


@njit(nogil=True, cache=True)
def unsettled(e, beta, lo, hi, free_bias):  # type: ignore[no-untyped-def]
    """Return the rows that are free, or near the bias, or on its wrong side; none if the bias is not known."""
    total, count = 0.0, 0
    for i in range(e.size):
        if free_bias and lo[i] < beta[i] < hi[i]:
            total += e[i]
            count += 1
    bias = total / max(count, 1)
    found, size = np.empty(e.size, np.int64), 0
    for i in range(e.size):
        if (beta[i] < hi[i] and e[i] > bias - NEAR) or (beta[i] > lo[i] and e[i] < bias + NEAR):
            found[size] = i
            size += 1
    return found[: size if count > 0 or not free_bias else 0]
