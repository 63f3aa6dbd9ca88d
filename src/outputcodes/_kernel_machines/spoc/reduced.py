"""The reduced problem of one example in the dual of a multiclass SVM.

In the notation of Crammer & Singer, On the algorithmic implementation of multiclass kernel-based vector machines
(JMLR 2001), with costs c_i, targets b_ir and M_r = Σ_i τ_ir h_i, the SVM and its dual are

    min ½‖M‖² + Σ_i c_i ξ_i,   ξ_i = max_r (b_ir + h_i·M_r) − h_i·M_{y_i}                    (whole)
                               ξ_i = Σ_{r≠y_i} max(0, b_ir + h_i·M_r − h_i·M_{y_i})          (paired: Weston & Watkins)
    max −½ Σ_ij K_ij τ_i·τ_j − Σ_i τ_i·b_i,   Σ_r τ_ir = 0 and
                               τ_ir ≤ c_i [r = y_i]                                          (whole)
                               −c_i ≤ τ_ir ≤ 0 for r ≠ y_i                                   (paired)

F_ir = b_ir + h_i·M_r is the gradient. The compiled functions store η_ir = c_i [r = y_i] − τ_ir, which sums to c_i and
is nonnegative for r ≠ y_i. The violation ψ_i of an example is max F − min{F_r : η_r > 0} (whole), or the largest
|F_r − F_y| along which an η_ir may move (paired). Classes are vector lanes, padded to whole vectors with b = −BIG.
"""

from __future__ import annotations

from numba import njit

from outputcodes._ground.lanes import LANES, largest_of, load, spread, sum_of, where_greater

BIG = 1e30
# An η closer to its bound than this share of the cost counts as at the bound.
AT_BOUND = 1e-12
_FAST = {"reassoc", "contract", "nsz", "arcp"}


@njit(nogil=True, cache=True)
def above(D, theta):  # type: ignore[no-untyped-def]
    """Return the sum and the number of the D > θ."""
    bar, zero, one = spread(theta), spread(0.0), spread(1.0)
    total = count = zero
    for at in range(0, D.size, LANES):
        d = load(D, at)
        total += where_greater(d, bar, d, zero)
        count += where_greater(d, bar, one, zero)
    return sum_of(total), sum_of(count)


@njit(nogil=True, cache=True)
def extremes(F, eta, near):  # type: ignore[no-untyped-def]
    """Return the largest F where η ≤ near; and the largest, smallest, sum and number of the F where η > near."""
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
    """Return θ with Σ_r max(D_r − θ, 0) = total > 0, starting below it; min(θ, D) solves the reduced problem.

    Newton's method on a convex, piecewise linear function, from the left, is exact after finitely many passes. A pass
    that leaves out fewer than half of the classes halves the excess, so doubles need at most 53 + log₂k passes.
    """
    before = -1.0
    while True:
        inside, count = above(D, theta)
        if count == before or count == 0:
            return theta
        before, theta = count, max(theta, (inside - total) / count)


@njit(nogil=True, cache=True, fastmath=_FAST)
def sum_of_steps(V, bound, s):  # type: ignore[no-untyped-def]
    """Return s = Σ_r min(max(V_r − s, 0), bound), by Newton's method from a guess, kept within a bracket."""
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
    """Return ψ, max F, the mean F of the classes with η > 0, and the lead of one example.

    The lead is how far the gradient is from allowing any η to move, or −1 if some η can move now.
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
    """Solve the reduced problem of one example with K_ii = square; eta becomes its solution, and τ changes by step.

    `most` and `mean` are the values that `judge` returns.
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
        # The θ of the classes with η > 0 is a lower bound on the θ of all classes.
        theta = threshold(step, (mean - most) / square, cost)
    else:
        # With h_i = 0 the scores do not change: put the whole cost on a class with the largest F.
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
def certify(F, eta, y, cost, paired, verdict):  # type: ignore[no-untyped-def]
    """Set verdict = (ψ, loss without its cost and without b_iy, share of the duality gap) for one example."""
    psi, most, _, _ = judge(F, eta, y, cost, paired)
    own, dot, slack = F[y], 0.0, 0.0
    for r in range(F.size):
        dot += eta[r] * (F[r] - own)
        slack += max(F[r] - own, 0.0)
    loss = slack if paired else most - own
    verdict[0], verdict[1], verdict[2] = psi, loss, cost * loss - dot
