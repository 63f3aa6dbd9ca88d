"""Passes over the examples of a multiclass SVM, which solve the reduced problem of one example after another.

The module `reduced` states the problem, its dual and the symbols. On explicit vectors a pass maintains M (`descend`);
on a small Gram matrix it maintains the gradients (`sweep`).
"""

from __future__ import annotations

import numpy as np
from numba import njit

from outputcodes._ground.lanes import LANES, load, prefetch, spread, store
from outputcodes._kernel_machines.rows import add_multiple
from outputcodes._kernel_machines.spoc.reduced import BIG, certify, judge, reduce

# An example is set aside when its lead exceeds this multiple of the worst violation in the last epoch.
LEAD = 0.3
# Violations below this share of the tolerance are ignored.
NEGLIGIBLE = 0.01
# With more classes, a step leaves most of them as they are: whole vectors of zeros are not added.
FEW_CLASSES = 64
# How many visits ahead an example is prefetched.
AHEAD = 4


@njit(nogil=True, cache=True)
def certify_gradients(F, eta, y, cost, paired, verdicts):  # type: ignore[no-untyped-def]
    """Compute the verdict on every example from its column of F (k, n)."""
    f = np.empty(F.shape[0])
    for i in range(y.size):
        for r in range(f.size):
            f[r] = F[r, i]
        certify(f, eta[i], y[i], cost[i], paired, verdicts[i])


@njit(nogil=True, cache=True)
def add_scores(values, features, start, stop, shift, M, F):  # type: ignore[no-untyped-def]
    """Add F += Σ_s values[s] · M[feature of s], for s from start to stop; M is flat."""
    # Unsigned indices need no check for negative values. Two vectors at a time read the features half as often.
    first, last, before = np.uint64(start), np.uint64(stop), np.uint64(shift)
    for at in range(0, F.size, 2 * LANES):
        beside = min(at + LANES, F.size - LANES)
        total, other = load(F, at), load(F, beside)
        for s in range(first, last):
            x, row = spread(values[s]), features[s - before] * F.size
            total = x * load(M, row + at) + total
            other = x * load(M, row + beside) + other
        store(F, at, total)
        if beside > at:
            store(F, beside, other)


@njit(nogil=True, cache=True)
def changes(step, first, last):  # type: ignore[no-untyped-def]
    """Return whether any entry from first to last is not 0."""
    found = False
    for r in range(first, last):
        found |= step[r] != 0
    return found


@njit(nogil=True, cache=True)
def add_example(values, features, start, stop, shift, M, step):  # type: ignore[no-untyped-def]
    """Add M[feature of s] += values[s] · step, for s from start to stop; M is flat."""
    first, last, before = np.uint64(start), np.uint64(stop), np.uint64(shift)
    for at in range(0, step.size, 2 * LANES):
        beside = min(at + LANES, step.size - LANES)
        if step.size > FEW_CLASSES and not changes(step, at, beside + LANES):
            continue
        own, other = load(step, at), load(step, beside)
        for s in range(first, last):
            x, row = spread(values[s]), features[s - before] * step.size
            # The last vector may be its own neighbour: read both before either is written.
            a, b = x * own + load(M, row + at), x * other + load(M, row + beside)
            store(M, row + at, a)
            store(M, row + beside, b)


@njit(nogil=True, cache=True)
def certify_vectors(X, problem, eta, M, first, last, verdicts):  # type: ignore[no-untyped-def]
    """Compute the verdict on some examples given as explicit vectors, in the format of `descend`."""
    values, features, indptr, stride = X
    y, cost, _, targets, target, paired = problem
    for i in range(first, last):
        F = targets[target[i]].copy()
        add_scores(values, features, indptr[i], indptr[i + 1], i * stride, M, F)
        certify(F, eta[i], y[i], cost[i], paired, verdicts[i])


@njit(nogil=True, cache=True, fastmath={"reassoc", "contract", "nsz", "arcp"})
def descend(X, problem, eta, M, work, active, counts, worst, tol, max_epochs, visits):  # type: ignore[no-untyped-def]
    """Visit examples one by one, in a new random order in every epoch, until all ψ ≤ tol.

    X = (values, features, indptr, stride): row i holds values[indptr[i] : indptr[i + 1]], for the features at
    features[indptr[i] − i·stride :]. problem = (y, cost, K_ii, targets, target, paired) with b_i = targets[target[i]].
    eta (n, k) and the flat M (d, k) are changed in place; work (2, k) is scratch space. `active` holds the active
    examples; those with a large lead over the violations of the last epoch become inactive. counts = (position in the
    epoch or −1 before it, active examples, epochs, random number) and worst = (ψ of this epoch, ψ of the last) carry
    over to the next call. Return whether the active examples are done. The method is that of Keerthi et al., A
    sequential dual method for large scale multi-class linear SVMs, KDD 2008.
    """
    values, features, indptr, stride = X
    y, cost, squares, targets, target, paired = problem
    k = eta.shape[1]
    F, step, flat = work[0], work[1], eta.reshape(-1)
    at, size, draw = counts[0], counts[1], counts[3]
    done = False
    for _ in range(visits):
        if at >= size:
            counts[2] += 1
            done = worst[0] <= tol
            at, worst[1], worst[0] = -1, max(worst[0], tol), 0.0
            if done or counts[2] >= max_epochs:
                break
        if at < 0:
            at = 0
            for place in range(size - 1, 0, -1):
                draw = draw * 6364136223846793005 + 1442695040888963407
                other = ((draw >> 33) & 0x7FFFFFFF) % (place + 1)
                active[place], active[other] = active[other], active[place]
        i, ahead = active[at], active[min(at + AHEAD, size - 1)]
        for line in range(ahead * k, (ahead + 1) * k, LANES):
            prefetch(flat, line)
        for line in range(indptr[ahead], min(indptr[ahead + 1], indptr[ahead] + 128), LANES):
            prefetch(values, line)
        F[:] = targets[target[i]]
        start, stop, shift = indptr[i], indptr[i + 1], i * stride
        add_scores(values, features, start, stop, shift, M, F)
        psi, most, mean, lead = judge(F, eta[i], y[i], cost[i], paired)
        if lead > LEAD * worst[1]:
            size -= 1
            active[at] = active[size]
            active[size] = i
            continue
        at += 1
        worst[0] = max(worst[0], psi)
        if psi <= NEGLIGIBLE * tol:
            continue
        reduce(F, eta[i], y[i], cost[i], squares[i], paired, most, mean, step)
        add_example(values, features, start, stop, shift, M, step)
    counts[0], counts[1], counts[3] = at, size, draw
    return done


@njit(nogil=True, cache=True)
def sweep(K, F, eta, y, cost, paired, tol, max_steps):  # type: ignore[no-untyped-def]
    """Visit the examples of a small Gram matrix K (p, p), worst first, until all ψ ≤ tol; return the number of steps.

    F and eta (k, p) are changed in place. A step changes few classes and updates one row of F for each of them.
    """
    k, p = F.shape
    f, own, step = np.empty(k), np.empty(k), np.empty(k)
    steps, bar = 0, BIG
    while steps < max_steps:
        worst = 0.0
        for q in range(p):
            for r in range(k):
                f[r], own[r] = F[r, q], eta[r, q]
            psi, most, mean, _ = judge(f, own, y[q], cost[q], paired)
            worst = max(worst, psi)
            if psi <= bar:
                continue
            reduce(f, own, y[q], cost[q], K[q, q], paired, most, mean, step)
            steps += 1
            for r in range(k):
                if step[r] != 0:
                    eta[r, q] = own[r]
                    add_multiple(step[r], K[q], F[r])
            if steps >= max_steps:
                break
        if worst <= tol:
            break
        bar = max(0.2 * worst, tol)
    return steps
