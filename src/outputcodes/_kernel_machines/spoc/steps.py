"""The dual of multiclass machines by examples: the reduced problem of one, and passes over many.

In the notation of Crammer & Singer, On the algorithmic implementation of multiclass kernel-based vector machines
(JMLR 2001), with costs c_i, targets b_ir and M_r = Σ_i τ_ir h_i, the machine and its dual are

    min ½‖M‖² + Σ_i c_i ξ_i,   ξ_i = max_r (b_ir + h_i·M_r) − h_i·M_{y_i}                    (whole)
                               ξ_i = Σ_{r≠y_i} max(0, b_ir + h_i·M_r − h_i·M_{y_i})          (paired: Weston & Watkins)
    max −½ Σ_ij K_ij τ_i·τ_j − Σ_i τ_i·b_i,   Σ_r τ_ir = 0 and
                               τ_ir ≤ c_i [r = y_i]                                          (whole)
                               −c_i ≤ τ_ir ≤ 0 for r ≠ y_i                                   (paired)

F_ir = b_ir + h_i·M_r is the gradient. The kernels hold η_ir = c_i [r = y_i] − τ_ir, whose sum is c_i and which is never
negative for r ≠ y_i. An example's violation ψ_i is max F − min{F_r : η_r > 0} (whole), the largest |F_r − F_y| along
which an η_ir may move (paired). Classes are vector lanes, padded to whole ones by b = −BIG.
"""

from __future__ import annotations

import numpy as np
from numba import njit

from outputcodes._ground.lanes import LANES
from outputcodes._kernel_machines.spoc.lanes import above, add_row, add_scores, extremes, prefetch, settle, spread_out

BIG = 1e30
# An η nearer to its bound than this share of the cost is at it.
AT_BOUND = 1e-12
# An example leaves when its lead is this multiple of the last epoch's worst violation.
LEAD = 0.3
# Violations below this share of the tolerance are left as they are.
NEGLIGIBLE = 0.01
# How many visits ahead an example is brought near.
AHEAD = 4
_FAST = {"reassoc", "contract", "nsz", "arcp"}


@njit(nogil=True, cache=True, fastmath=_FAST)
def threshold(D, theta, total):  # type: ignore[no-untyped-def]
    """The θ with Σ_r max(D_r − θ, 0) = total > 0, so that min(θ, D) solves the reduced problem; from one below it.

    Newton's method on a convex, piecewise linear function, from the left: exact after finitely many passes. A pass
    that leaves out fewer than half of the classes halves the excess, so that doubles allow no more than 53 + log₂k.
    """
    before = -1.0
    while True:
        inside, count = above(D, D.size, theta)
        if count == before or count == 0:
            return theta
        before, theta = count, max(theta, (inside - total) / count)


@njit(nogil=True, cache=True, fastmath=_FAST)
def sum_of_steps(V, bound, s):  # type: ignore[no-untyped-def]
    """The s with s = Σ_r min(max(V_r − s, 0), bound): Newton's method from a guess, kept within a bracket."""
    low, high = 0.0, bound * V.size
    for _ in range(100):
        total, inside = 0.0, 0
        for r in range(V.size):
            rest = V[r] - s
            total += min(max(rest, 0.0), bound)
            inside += 1 if 0 < rest < bound else 0
        excess = s - total
        if abs(excess) <= 1e-16 * bound:
            break
        if excess > 0:
            high = s
        else:
            low = s
        s -= excess / (1 + inside)
        if not low < s < high:
            s = 0.5 * (low + high)
    return s


@njit(nogil=True, cache=True, fastmath=_FAST)
def judge(F, eta, y, cost, paired):  # type: ignore[no-untyped-def]
    """Of one example: ψ, max F, the mean F of classes with η > 0, and the lead.

    The lead is how far the gradient is from letting anything move, −1 if something may now.
    """
    near = AT_BOUND * cost
    if paired:
        worst, lead = 0.0, BIG
        for r in range(F.size):
            if r != y:
                slope, up, down = F[r] - F[y], eta[r] < cost - near, eta[r] > near
                worst = max(worst, slope if up else 0.0, -slope if down else 0.0)
                lead = min(lead, -1.0 if up and down else (slope if down else -slope))
        return worst, F[y], F[y], lead
    outside, most, least, total, holders = extremes(F, eta, F.size, near)
    most = max(outside, most)
    return most - least, most, total / holders, least - outside if holders == 1 else -1.0


@njit(nogil=True, cache=True, fastmath=_FAST)
def reduce(F, eta, y, cost, square, paired, most, mean, step):  # type: ignore[no-untyped-def]
    """The reduced problem of one example, K_ii = square: eta becomes its solution, τ gains step.

    `most` and `mean` are what `judge` says.
    """
    if paired:
        own, rest = F[y], cost - eta[y]
        for r in range(F.size):
            step[r] = (F[r] - own) / square + rest + eta[r] if square > 0 else BIG * (F[r] - own)
        step[y] = -BIG
        s = sum_of_steps(step, cost, rest) if square > 0 else 0.0
        total = 0.0
        for r in range(F.size):
            new = min(max(step[r] - s, 0.0), cost)
            total += new
            step[r] = eta[r] - new
            eta[r] = new
        step[y] = total - rest
        eta[y] = cost - total
        return
    if square > 0:
        spread_out(F, eta, step, F.size, most, 1 / square)
        # The θ of the classes that held something bounds that of all from below.
        theta = threshold(step, (mean - most) / square, cost)
    else:
        # Outside every machine, an example is a slack: that of a class with the largest target.
        first = 0
        while F[first] < most:
            first += 1
        step[:] = 0
        step[first] = cost
        theta = 0.0
    settle(step, eta, F.size, theta)


@njit(nogil=True, cache=True, fastmath=_FAST)
def _certify(F, eta, y, cost, paired, verdict):  # type: ignore[no-untyped-def]
    """verdict = (ψ, loss without its cost and without b_iy, share in the duality gap) of one example."""
    psi, most, _, _ = judge(F, eta, y, cost, paired)
    own, dot, slack = F[y], 0.0, 0.0
    for r in range(F.size):
        dot += eta[r] * (F[r] - own)
        slack += max(F[r] - own, 0.0)
    loss = slack if paired else most - own
    verdict[0], verdict[1], verdict[2] = psi, loss, cost * loss - dot


@njit(nogil=True, cache=True)
def certify_gradients(F, machine, eta, verdicts):  # type: ignore[no-untyped-def]
    """The verdict on every example, from its row of F."""
    y, cost, paired = machine[0], machine[1], machine[5]
    for i in range(y.size):
        _certify(F[i], eta[i], y[i], cost[i], paired, verdicts[i])


@njit(nogil=True, cache=True)
def certify_vectors(X, machine, eta, M, first, last, verdicts):  # type: ignore[no-untyped-def]
    """The verdict on some examples of explicit vectors, which are as for `descend`."""
    values, features, indptr, stride = X
    y, cost, _, targets, target, paired = machine
    k = eta.shape[1]
    for i in range(first, last):
        F = targets[target[i]].copy()
        for lane in range(0, k, LANES):
            add_scores(values, features, indptr[i], indptr[i + 1], i * stride, M, k, lane, F)
        _certify(F, eta[i], y[i], cost[i], paired, verdicts[i])


@njit(nogil=True, cache=True, fastmath=_FAST)
def descend(X, machine, eta, M, work, active, counts, worst, tol, max_epochs, visits):  # type: ignore[no-untyped-def]
    """Visit examples of explicit vectors one by one, in an order drawn anew in every epoch, until all ψ ≤ tol.

    X = (values, features, indptr, stride): row i holds values[indptr[i] : indptr[i + 1]], of the features at
    features[indptr[i] − i·stride :]. machine = (y, cost, K_ii, targets, target, paired) with b_i = targets[target[i]].
    eta (n, k) and the flat M (d, k) are changed; work (2, k) is scratch. `active` are the examples in play; those with
    a large lead over the violations of the last epoch leave. counts = (place in the epoch or −1 before it, examples in
    play, epochs, random number) and worst = (ψ of this epoch, of the last) carry over to the next call; the answer says
    whether the examples in play are done. (Keerthi et al., A sequential dual method for large scale multi-class linear
    SVMs, KDD 2008.)
    """
    values, features, indptr, stride = X
    y, cost, squares, targets, target, paired = machine
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
        for lane in range(0, k, LANES):
            add_scores(values, features, start, stop, shift, M, k, lane, F)
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
        for lane in range(0, k, LANES):
            add_row(values, features, start, stop, shift, M, k, lane, step)
    counts[0], counts[1], counts[3] = at, size, draw
    return done


@njit(nogil=True, cache=True, fastmath=_FAST)
def _add_row(F, row, step):  # type: ignore[no-untyped-def]
    for q in range(F.size):
        F[q] += step * row[q]


@njit(nogil=True, cache=True)
def sweep(K, F, eta, y, cost, paired, tol, max_steps):  # type: ignore[no-untyped-def]
    """Examples of a small Gram matrix K (p, p) in turn, the worst first, until all ψ ≤ tol; the number of steps.

    F and eta (k, p) are changed: a step moves few classes, and updates a row of F for each.
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
                    _add_row(F[r], K[q], step[r])
            if steps >= max_steps:
                break
        if worst <= tol:
            break
        bar = max(0.2 * worst, tol)
    return steps
