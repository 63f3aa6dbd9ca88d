"""Rounds of AdaBoost with decision stumps on binned features, for a block of `LANES` columns at once.

A column minimises the exponential loss Σ_i w_i exp(-s_i F(x_i)), s_i = ±1, by one stump per round. V[i, lane] is s_i
times the present weight of example i in the loss, scaled to Σ_i |V[i, lane]| = 1; 0 = absent. A stump tests whether the
code of feature f is below `cut` (categorical: equal to cut - 1; cut = 0: never) and returns left, right, or 0 if the
value is missing. W+ and W- are the weights of the two signs on a side, W0 the weight of the missing values.

    discrete          ±α with the smallest error W_wrong + W0/2, α = ½ ln(W_correct / W_wrong)
    confidence-rated  ½ ln((W+ + e) / (W- + e)) on each side, smallest Z = 2 Σ_sides √(W+ W-) + W0

Freund & Schapire (1997), figure 2; Schapire & Singer (1999), sections 3 and 4.
"""

from __future__ import annotations

from math import exp, log, sqrt
from typing import Any, NamedTuple

import numpy as np
from numba import njit
from numpy.typing import NDArray

from outputcodes._ground.choosing import TIE
from outputcodes._ground.lanes import LANES, add_lanes_by_sign, aligned_zeros, sum_lanes
from outputcodes._histograms.one_feature import least_of

# Errors, or Z, up to this count as 0, which ends the boosting. Smaller errors are replaced by this value, which keeps
# coefficients finite.
LEAST_ERROR = 1e-10
# The histograms of as many features as fit in cache, 512 KiB, are filled in one pass.
TILE_VALUES = 1 << 16
# Histograms are sums over blocks of so many rows of the table, in the order of the blocks: whoever has one block at a
# time gets the same bits. Features with more bins than MANY_BINS, most of them empty in a block, are summed row by row.
BLOCK_ROWS = 1 << 16
MANY_BINS = 1 << 14


class Part(NamedTuple):
    """Rows in blocks, sorted by class within each.

    The rows of run r, those of one class in one block, are starts[r]..starts[r+1]-1; the runs of block b are
    blocks[b]..blocks[b+1]-1.
    """

    codes: NDArray[Any]
    V: NDArray[np.float64]
    starts: NDArray[np.int64]
    blocks: NDArray[np.int64]


class State(NamedTuple):
    """One entry per lane; for held-out rows the smallest loss, its round, and how long to wait for a smaller one."""

    active: NDArray[np.bool_]
    rounds: NDArray[np.int64]
    held_best: NDArray[np.float64]
    held_round: NDArray[np.int64]
    patience: NDArray[np.int64]


class Stumps(NamedTuple):
    """One row per round. Z is the sum of the weights after the round, before they are scaled to 1 again."""

    feature: NDArray[np.int64]
    cut: NDArray[np.int64]
    left: NDArray[np.float64]
    right: NDArray[np.float64]
    Z: NDArray[np.float64]


class Cut(NamedTuple):
    """The stump of a round in each lane; sides = (left W+, left W-, right W+, right W-, W0)."""

    score: NDArray[np.float64]
    feature: NDArray[np.int64]
    cut: NDArray[np.int64]
    sides: NDArray[np.float64]


class HistogramRoom(NamedTuple):
    """Work arrays: histograms of a tile of features, one feature's sides and scores, factors of the weights."""

    histogram: NDArray[np.float64]
    of_block: NDArray[np.float64]
    of_class: NDArray[np.float64]
    left: NDArray[np.float64]
    right: NDArray[np.float64]
    score: NDArray[np.float64]
    scaled: NDArray[np.float64]
    plain: NDArray[np.float64]
    table: NDArray[np.float64]


def make_histogram_room(n_bins: NDArray[np.int64]) -> tuple[Cut, HistogramRoom]:
    """Allocate work arrays for features with `n_bins` bins."""
    widest = int(n_bins.max()) + 1
    tile = min(len(n_bins), max(1, TILE_VALUES // (widest * 2 * LANES)))
    left, right = np.empty((2, 2, widest * LANES))
    scaled, plain = np.empty((2, LANES, 3, 2))
    feature, cut = np.zeros((2, LANES), dtype=np.int64)
    return Cut(np.empty(LANES), feature, cut, np.empty((LANES, 5))), HistogramRoom(
        aligned_zeros(tile, widest, 2 * LANES),
        aligned_zeros(tile, widest if widest - 1 <= MANY_BINS else 1, 2 * LANES),
        aligned_zeros(tile, widest, LANES),
        left,
        right,
        np.empty(widest * LANES),
        scaled,
        plain,
        np.empty((LANES, widest, 2)),
    )


def by_block_and_class(rows: NDArray[np.intp], y: NDArray[np.intp]) -> NDArray[np.intp]:
    """Return the order of rows of the table in blocks, by class within each, where y are the classes of these rows.

    >>> by_block_and_class(np.array([0, 1, 2, BLOCK_ROWS]), np.array([1, 0, 1, 0]))
    array([1, 0, 2, 3])
    """
    return np.lexsort((y, rows // BLOCK_ROWS))


def runs_of(rows: NDArray[np.intp], y: NDArray[np.intp]) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Return the `starts` and `blocks` of a `Part` with these rows of the table, in order, and their classes.

    >>> runs_of(np.array([1, 0, 2, BLOCK_ROWS]), np.array([0, 1, 1, 0]))
    (array([0, 1, 3, 4]), array([0, 2, 3]))
    """
    new_block = np.diff(rows // BLOCK_ROWS, prepend=-1) != 0
    starts = np.append(np.flatnonzero(new_block | (np.diff(y, prepend=-1) != 0)), len(y))
    return starts, np.searchsorted(starts, np.append(np.flatnonzero(new_block), len(y)))


@njit(nogil=True, cache=True)
def fill_histograms(part, first, last, histogram, of_block, of_class):  # type: ignore[no-untyped-def]
    """Set histogram[f, b] to (W+ of each lane, W- of each lane) of the rows with code b in feature first + f."""
    total, more = histogram.reshape(-1), of_block.reshape(-1)
    cells = (last - first) * histogram.shape[1]
    for block in range(len(part.blocks) - 1):
        in_place = block == 0 or histogram.shape[1] - 1 > MANY_BINS
        sums = total if in_place else more
        if block == 0 or not in_place:
            for q in range(cells * 2 * LANES):
                sums[q] = 0.0
        fill_block(part, block, first, last, histogram.shape[1], sums, of_class.reshape(-1))
        if not in_place:
            for q in range(cells * 2 * LANES):
                total[q] += more[q]


@njit(inline="always")
def fill_block(part, block, first, last, bins, sums, sums_of_class):  # type: ignore[no-untyped-def]
    """Add the weights of the rows of a block to the histograms `sums`, with so many bins each.

    Within a class, a lane has one sign. Signed weights are therefore summed per class and separated by sign afterwards,
    unless the class has so few rows compared with the bins that this is slower.
    """
    codes, starts, blocks, rows = part.codes, part.starts, part.blocks, part.V.reshape(-1)
    cells = (last - first) * bins
    for r in range(blocks[block], blocks[block + 1]):
        if starts[r + 1] - starts[r] < 3 * bins:
            for i in range(starts[r], starts[r + 1]):
                for f in range(first, last):
                    add_lanes_by_sign(sums, ((f - first) * bins + codes[i, f]) * 2 * LANES, rows, i * LANES)
            continue
        for q in range(cells * LANES):
            sums_of_class[q] = 0.0
        for i in range(starts[r], starts[r + 1]):
            for f in range(first, last):
                at = ((f - first) * bins + codes[i, f]) * LANES
                sum_lanes(sums_of_class, at, sums_of_class, at, rows, i * LANES)
        for q in range(cells):
            add_lanes_by_sign(sums, q * 2 * LANES, sums_of_class, q * LANES)


@njit(nogil=True, cache=True)
def n_tests(bins, categorical):  # type: ignore[no-untyped-def]
    """Return the number of cuts of a feature; a cut above all numbers would repeat cut 0, the constant."""
    return bins + 1 if categorical else max(bins, 1)


@njit(nogil=True, cache=True)
def side_of(code, bins, cut, categorical):  # type: ignore[no-untyped-def]
    """Return 0 for left of the cut, 1 for right, 2 for missing."""
    if code == bins:
        return 2
    return 0 if (code == cut - 1 if categorical else code < cut) else 1


@njit(nogil=True, cache=True)
def sum_sides(histogram, bins, categorical, left, right):  # type: ignore[no-untyped-def]
    """Set left[sign, c·LANES + lane] and right[...] to the weights on both sides of cut c; return the number of cuts.

    Each side is a sum of its own parts, never a difference, so that a pure side has a weight of exactly 0.
    """
    h, on_left, on_right = histogram.reshape(-1), left.reshape(-1), right.reshape(-1)
    for sign in range(2):
        start, shift = sign * left.shape[1], sign * LANES
        end = start + bins * LANES
        for lane in range(LANES):
            on_left[start + lane] = 0.0
            on_right[end + lane] = 0.0
        for b in range(bins):
            q = start + b * LANES
            sum_lanes(on_left, q + LANES, on_left, q, h, 2 * b * LANES + shift)
        for b in range(bins - 1, -1, -1):
            q = start + b * LANES
            sum_lanes(on_right, q, on_right, q + LANES, h, 2 * b * LANES + shift)
            if categorical:
                sum_lanes(on_right, q + LANES, on_right, q + LANES, on_left, q)
                for lane in range(LANES):
                    on_left[q + LANES + lane] = histogram[b, shift + lane]
    return n_tests(bins, categorical)


@njit(nogil=True, cache=True)
def score_cuts(left, right, n_cuts, confident, score):  # type: ignore[no-untyped-def]
    """Set score[c·LANES + lane] to the smaller error of the two polarities, or Z, without the missing values."""
    if confident:
        for q in range(n_cuts * LANES):
            score[q] = 2.0 * (sqrt(left[0, q] * left[1, q]) + sqrt(right[0, q] * right[1, q]))
    else:
        for q in range(n_cuts * LANES):
            score[q] = min(left[1, q] + right[0, q], left[0, q] + right[1, q])


@njit(nogil=True, cache=True)
def find_stumps(part, n_bins, categorical, confident, active, choice, room):  # type: ignore[no-untyped-def]
    """Find the best stump of each active lane."""
    n_features = len(n_bins)
    for lane in range(LANES):
        choice.score[lane] = np.inf
    for first in range(0, n_features, len(room.histogram)):
        last = min(first + len(room.histogram), n_features)
        fill_histograms(part, first, last, room.histogram, room.of_block, room.of_class)
        choose_stumps(room.histogram, first, last, n_bins, categorical, confident, active, choice, room)


@njit(nogil=True, cache=True)
def choose_stumps(  # type: ignore[no-untyped-def]
    histograms, first, last, n_bins, categorical, confident, active, choice, room
):
    """Replace the choice of each active lane by a better stump on the features first..last-1, if there is one."""
    score = room.score
    for f in range(first, last):
        bins = n_bins[f]
        histogram = histograms[f - first]
        n_cuts = sum_sides(histogram, bins, categorical[f], room.left, room.right)
        score_cuts(room.left, room.right, n_cuts, confident, score)
        for lane in range(LANES):
            if not active[lane]:
                continue
            missing = histogram[bins, lane] + histogram[bins, LANES + lane]
            smallest = least_of(score, lane, LANES, n_cuts)
            total = smallest + (missing if confident else 0.5 * missing)
            if total < choice.score[lane] - TIE:
                c = 0
                while score[c * LANES + lane] > smallest + TIE:
                    c += 1
                choice.score[lane], choice.feature[lane], choice.cut[lane] = total, f, c
                for sign in range(2):
                    choice.sides[lane, sign] = room.left[sign, c * LANES + lane]
                    choice.sides[lane, 2 + sign] = room.right[sign, c * LANES + lane]
                choice.sides[lane, 4] = missing


@njit(nogil=True, cache=True)
def answers(confident, score, sides, smoothing):  # type: ignore[no-untyped-def]
    """Return (left, right, keep, stop): the outputs of the stump, and whether its round is kept and is the last."""
    left_plus, left_minus, right_plus, right_minus = sides[0], sides[1], sides[2], sides[3]
    if confident:
        left = 0.5 * log((left_plus + smoothing) / (left_minus + smoothing))
        right = 0.5 * log((right_plus + smoothing) / (right_minus + smoothing))
        return left, right, score < 1.0 - TIE, score <= LEAST_ERROR
    correct, wrong, polarity = left_plus + right_minus, left_minus + right_plus, 1.0
    if wrong > correct + TIE:
        correct, wrong, polarity = wrong, correct, -1.0
    error = max(wrong / (wrong + correct), LEAST_ERROR) if wrong + correct > 0.0 else 0.5
    alpha = 0.5 * log((1.0 - error) / error)
    return polarity * alpha, -polarity * alpha, score < 0.5 - TIE, score <= LEAST_ERROR


@njit(nogil=True, cache=True)
def settle(t, lane, confident, smoothing, state, choice, stumps, room):  # type: ignore[no-untyped-def]
    """Store the stump of round t in a lane, and the factors by which it changes the weights."""
    plain, sides = room.plain[lane], choice.sides[lane]
    for q in range(6):
        plain[q // 2, q % 2] = 1.0
        room.scaled[lane, q // 2, q % 2] = 1.0
    if not state.active[lane]:
        return
    left, right, keep, stop = answers(confident, choice.score[lane], sides, smoothing)
    state.active[lane] = keep and not stop
    if not keep:
        return
    state.rounds[lane] = t + 1
    stumps.feature[t, lane], stumps.cut[t, lane] = choice.feature[lane], choice.cut[lane]
    stumps.left[t, lane], stumps.right[t, lane] = left, right
    plain[0, 0], plain[0, 1], plain[1, 0], plain[1, 1] = exp(-left), exp(left), exp(-right), exp(right)
    Z = sides[4]
    for q in range(4):
        Z += plain[q // 2, q % 2] * sides[q]
    for q in range(6):
        room.scaled[lane, q // 2, q % 2] = plain[q // 2, q % 2] / Z
    stumps.Z[t, lane] = Z


@njit(nogil=True, cache=True)
def reweight(part, n_bins, categorical, choice, factor, table):  # type: ignore[no-untyped-def]
    """Multiply V[i, lane] by factor[lane, side, V[i, lane] < 0], where side 0 = left, 1 = right, 2 = missing."""
    codes, V, feature = part.codes, part.V, choice.feature
    for lane in range(LANES):
        bins, cut, equal = n_bins[feature[lane]], choice.cut[lane], categorical[feature[lane]]
        for b in range(bins + 1):
            side = side_of(b, bins, cut, equal)
            table[lane, b, 0], table[lane, b, 1] = factor[lane, side, 0], factor[lane, side, 1]
    for i in range(len(codes)):
        for lane in range(LANES):
            V[i, lane] *= table[lane, codes[i, feature[lane]], int(V[i, lane] < 0.0)]


@njit(nogil=True, cache=True)
def boost(  # type: ignore[no-untyped-def]
    train, held, n_bins, categorical, confident, smoothing, first, last, state, stumps, choice, room
):
    """Run rounds first..last-1 of all active lanes; stopped lanes keep their weights and add nothing.

    The weights of the held-out rows are never scaled, so that their sum is the loss on them.
    """
    for t in range(first, last):
        find_stumps(train, n_bins, categorical, confident, state.active, choice, room)
        for lane in range(LANES):
            settle(t, lane, confident, smoothing[lane], state, choice, stumps, room)
        reweight(train, n_bins, categorical, choice, room.scaled, room.table)
        reweight(held, n_bins, categorical, choice, room.plain, room.table)
        running = False
        for lane in range(LANES):
            loss = 0.0
            for block in range(len(held.blocks) - 1):
                of_block = 0.0
                for i in range(held.starts[held.blocks[block]], held.starts[held.blocks[block + 1]]):
                    of_block += abs(held.V[i, lane])
                loss += of_block
            watch(t, lane, loss, state)
            running |= state.active[lane]
        if not running:
            return


@njit(nogil=True, cache=True)
def watch(t, lane, loss, state):  # type: ignore[no-untyped-def]
    """Note the loss of a lane on held-out rows after round t, and stop it if it has waited long enough."""
    if state.rounds[lane] == t + 1 and loss < (1.0 - TIE) * state.held_best[lane]:
        state.held_best[lane], state.held_round[lane] = loss, t + 1
    elif t + 1 - state.held_round[lane] >= state.patience[lane]:
        state.active[lane] = False
