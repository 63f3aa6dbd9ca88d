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

from outputcodes._ground.lanes import LANES, largest_of, load, prefetch, spread, store, sum_of, where_greater

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


@njit(nogil=True, cache=True)
def above(D, theta):  # type: ignore[no-untyped-def]
    """Where D > θ: the sum of D, and how many those are."""
    bar, zero, one = spread(theta), spread(0.0), spread(1.0)
    total = count = zero
    for at in range(0, D.size, LANES):
        d = load(D, at)
        total += where_greater(d, bar, d, zero)
        count += where_greater(d, bar, one, zero)
    return sum_of(total), sum_of(count)


@njit(nogil=True, cache=True)
def extremes(F, eta, near):  # type: ignore[no-untyped-def]
    """The largest F where η ≤ near; where η > near the largest, the smallest, their sum, and how many they are."""
    bar, lowest, zero, one = spread(near), spread(-BIG * BIG), spread(0.0), spread(1.0)
    outside = most = opposite = lowest
    total = count = zero
    for at in range(0, F.size, LANES):
        f, held = load(F, at), load(eta, at)
        out, inside, against = (
            where_greater(held, bar, lowest, f),
            where_greater(held, bar, f, lowest),
            where_greater(held, bar, zero - f, lowest),
        )
        outside = where_greater(out, outside, out, outside)
        most = where_greater(inside, most, inside, most)
        opposite = where_greater(against, opposite, against, opposite)
        total += where_greater(held, bar, f, zero)
        count += where_greater(held, bar, one, zero)
    return largest_of(outside), largest_of(most), -largest_of(opposite), sum_of(total), sum_of(count)


@njit(nogil=True, cache=True, fastmath=_FAST)
def threshold(D, theta, total):  # type: ignore[no-untyped-def]
    """The θ with Σ_r max(D_r − θ, 0) = total > 0, so that min(θ, D) solves the reduced problem; from one below it.

    Newton's method on a convex, piecewise linear function, from the left: exact after finitely many passes. A pass
    that leaves out fewer than half of the classes halves the excess, so that doubles allow no more than 53 + log₂k.
    """
    before = -1.0
    while True:
        inside, count = above(D, theta)
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
    outside, most, least, total, holders = extremes(F, eta, near)
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
        for r in range(F.size):
            step[r] = (F[r] - most) / square + eta[r]
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
    for r in range(F.size):
        new = max(step[r] - theta, 0.0)
        step[r] = eta[r] - new
        eta[r] = new


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
def certify_gradients(F, eta, y, cost, paired, verdicts):  # type: ignore[no-untyped-def]
    """The verdict on every example, from its column of F (k, n)."""
    f = np.empty(F.shape[0])
    for i in range(y.size):
        for r in range(f.size):
            f[r] = F[r, i]
        _certify(f, eta[i], y[i], cost[i], paired, verdicts[i])


@njit(nogil=True, cache=True)
def add_scores(values, features, start, stop, shift, M, F):  # type: ignore[no-untyped-def]
    """F += Σ_s values[s] · M[feature of s], s from start to stop; M flat."""
    # Numbers without a sign are indices that need no check for negative ones.
    first, last, before = np.uint64(start), np.uint64(stop), np.uint64(shift)
    for at in range(0, F.size, LANES):
        total = load(F, at)
        for s in range(first, last):
            total = spread(values[s]) * load(M, features[s - before] * F.size + at) + total
        store(F, at, total)


@njit(nogil=True, cache=True)
def add_example(values, features, start, stop, shift, M, step):  # type: ignore[no-untyped-def]
    """M[feature of s] += values[s] · step, s from start to stop; M flat."""
    first, last, before = np.uint64(start), np.uint64(stop), np.uint64(shift)
    for at in range(0, step.size, LANES):
        own = load(step, at)
        for s in range(first, last):
            place = features[s - before] * step.size + at
            store(M, place, spread(values[s]) * own + load(M, place))


@njit(nogil=True, cache=True)
def certify_vectors(X, machine, eta, M, first, last, verdicts):  # type: ignore[no-untyped-def]
    """The verdict on some examples of explicit vectors, which are as for `descend`."""
    values, features, indptr, stride = X
    y, cost, _, targets, target, paired = machine
    for i in range(first, last):
        F = targets[target[i]].copy()
        add_scores(values, features, indptr[i], indptr[i + 1], i * stride, M, F)
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
