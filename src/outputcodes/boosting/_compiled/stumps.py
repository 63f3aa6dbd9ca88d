"""Decision stumps whose test, one feature and one cut, is shared by all columns: scores of all tests in one pass.

V[i, lane] is the sign of pair (example i, column) times its weight, 0 = absent, for a block of `LANES` columns. On each
side of a test, W+ and W- are the weights of the two signs in a column; W0 is the weight of the pairs whose value is
missing. The score of a test, summed over columns and sides (smaller is better), is

    CONFIDENT   Z = 2 Σ √(W+ W-) + W0
    DISCRETE    error Σ min(W+, W-) + W0/2
    ABSTAINING  the larger and the smaller of W+, W- on the left, and on the right: four sums, from which any Z follows
    RANKING     -Σ |W+ - W-|

Schapire & Singer (1999), sections 4 to 7; Allwein, Schapire & Singer (2000), section 5.
"""

from __future__ import annotations

from math import exp, sqrt

from numba import njit

from outputcodes._ground.lanes import LANES, scale_lanes_by_sign, sum_lanes
from outputcodes._histograms.stumps import MANY_BINS, fill_histograms, n_tests, side_of, sum_sides

CONFIDENT, DISCRETE, ABSTAINING, RANKING = range(4)


@njit(nogil=True, cache=True)
def fill_signed(part, first, last, histogram, of_block):  # type: ignore[no-untyped-def]
    """Write histogram[f, b, lane], the sum of V over the rows with code b in feature first + f, block by block."""
    codes, V, starts, blocks = part
    bins = histogram.shape[1]
    total, more, rows = histogram.reshape(-1), of_block.reshape(-1), V.reshape(-1)
    for block in range(len(blocks) - 1):
        in_place = block == 0 or bins - 1 > MANY_BINS
        sums = total if in_place else more
        if block == 0 or not in_place:
            for q in range((last - first) * bins * LANES):
                sums[q] = 0.0
        for i in range(starts[blocks[block]], starts[blocks[block + 1]]):
            for f in range(first, last):
                at = ((f - first) * bins + codes[i, f]) * LANES
                sum_lanes(sums, at, sums, at, rows, i * LANES)
        if not in_place:
            for q in range((last - first) * bins * LANES):
                total[q] += more[q]


@njit(nogil=True, cache=True)
def add_up(values, start):  # type: ignore[no-untyped-def]
    """Return the sum of `LANES` values."""
    a = (values[start] + values[start + 1]) + (values[start + 2] + values[start + 3])
    b = (values[start + 4] + values[start + 5]) + (values[start + 6] + values[start + 7])
    return a + b


@njit(nogil=True, cache=True)
def score_tests(part, n_bins, categorical, offsets, first, last, kind, room, worth):  # type: ignore[no-untyped-def]
    """Write worth[:, offsets[f] + c], the score of cut c of feature f in these columns, for features first..last-1."""
    if kind == RANKING:
        fill_signed(part, first, last, room.of_class, room.of_block)
        score_signed(room.of_class, n_bins, categorical, offsets, first, last, room, worth)
        return
    fill_histograms(part, first, last, room.histogram, room.of_block, room.of_class)
    score_histograms(room.histogram, n_bins, categorical, offsets, first, last, kind, room, worth)


@njit(nogil=True, cache=True)
def score_histograms(  # type: ignore[no-untyped-def]
    histograms, n_bins, categorical, offsets, first, last, kind, room, worth
):
    """Score the cuts of features first..last-1, whose histograms these are, for kinds other than RANKING."""
    score = room.score
    for f in range(first, last):
        bins, place = n_bins[f], offsets[f]
        histogram = histograms[f - first]
        n_cuts = sum_sides(histogram, bins, categorical[f], room.left, room.right)
        missing = add_up(histogram[bins], 0) + add_up(histogram[bins], LANES)
        left_plus, left_minus, right_plus, right_minus = room.left[0], room.left[1], room.right[0], room.right[1]
        if kind == CONFIDENT:
            for q in range(n_cuts * LANES):
                score[q] = sqrt(left_plus[q] * left_minus[q]) + sqrt(right_plus[q] * right_minus[q])
            for c in range(n_cuts):
                worth[0, place + c] = 2.0 * add_up(score, c * LANES) + missing
        elif kind == DISCRETE:
            for q in range(n_cuts * LANES):
                score[q] = min(left_plus[q], left_minus[q]) + min(right_plus[q], right_minus[q])
            for c in range(n_cuts):
                worth[0, place + c] = add_up(score, c * LANES) + 0.5 * missing
        else:
            for side in range(2):
                plus = left_plus if side == 0 else right_plus
                minus = left_minus if side == 0 else right_minus
                for larger in range(2):
                    for q in range(n_cuts * LANES):
                        score[q] = max(plus[q], minus[q]) if larger == 0 else min(plus[q], minus[q])
                    for c in range(n_cuts):
                        worth[2 * side + larger, place + c] = add_up(score, c * LANES)


@njit(nogil=True, cache=True)
def score_signed(signed, n_bins, categorical, offsets, first, last, room, worth):  # type: ignore[no-untyped-def]
    """Score the cuts of features first..last-1 for RANKING, which needs only the sums of V in each bin."""
    score, total = room.score, room.left[0]
    for f in range(first, last):
        bins, place = n_bins[f], offsets[f]
        h = signed[f - first].reshape(-1)
        for lane in range(LANES):
            score[lane] = 0.0
            total[lane] = 0.0
        for b in range(bins):
            sum_lanes(total, 0, total, 0, h, b * LANES)
        # score[c] = the sum to the left of cut c.
        n_cuts = n_tests(bins, categorical[f])
        for b in range(n_cuts - 1):
            if categorical[f]:
                for lane in range(LANES):
                    score[(b + 1) * LANES + lane] = h[b * LANES + lane]
            else:
                sum_lanes(score, (b + 1) * LANES, score, b * LANES, h, b * LANES)
        for c in range(n_cuts):
            for lane in range(LANES):
                left = score[c * LANES + lane]
                score[c * LANES + lane] = -abs(left) - abs(total[lane] - left)
            worth[0, place + c] = add_up(score, c * LANES)


@njit(nogil=True, cache=True)
def sides_of_rows(codes, feature, bins, cut, categorical, sides):  # type: ignore[no-untyped-def]
    """Write sides[i], the side of row i."""
    for i in range(len(codes)):
        sides[i] = side_of(codes[i, feature], bins, cut, categorical)


@njit(nogil=True, cache=True)
def weigh_sides(histogram, bins, cut, categorical, room, sides):  # type: ignore[no-untyped-def]
    """Write sides[side, sign, lane], the weight of the pairs of that sign there; sign 0 = positive, side 2 = missing.

    Sums over bins, not over rows: blocks of rows have their histogram already.
    """
    sum_sides(histogram, bins, categorical, room.left, room.right)
    for sign in range(2):
        for lane in range(LANES):
            sides[0, sign, lane] = room.left[sign, cut * LANES + lane]
            sides[1, sign, lane] = room.right[sign, cut * LANES + lane]
            sides[2, sign, lane] = histogram[bins, sign * LANES + lane]


@njit(nogil=True, cache=True)
def reweight_sides(part, feature, bins, cut, categorical, factors):  # type: ignore[no-untyped-def]
    """Multiply V[i, lane] by factors[side, sign, lane]."""
    codes, V, _, _ = part
    by, rows = factors.reshape(-1), V.reshape(-1)
    for i in range(len(V)):
        side = side_of(codes[i, feature], bins, cut, categorical)
        scale_lanes_by_sign(rows, i * LANES, by, side * 2 * LANES)


@njit(nogil=True, cache=True)
def weigh_triples(first, last, H, Y, share, mass):  # type: ignore[no-untyped-def]
    """Return (W+, W-, W0) of rows first..last-1, the weight of triples (i, wrong, right) by (h(right) - h(wrong))/2.

    Triple (i, l0, l1) has weight mass[i] · share[i, l0] · share[i, l1]. The shares of the labels in Y_i sum to 1, and
    so do those of the other labels.
    """
    better, worse, equal = 0.0, 0.0, 0.0
    for i in range(first, last):
        right_up = right_down = wrong_up = wrong_down = 0.0
        for q in range(H.shape[1]):
            up = share[i, q] if H[i, q] > 0 else 0.0
            down = share[i, q] if H[i, q] < 0 else 0.0
            if Y[i, q] > 0:
                right_up += up
                right_down += down
            else:
                wrong_up += up
                wrong_down += down
        plus, minus = mass[i] * right_up * wrong_down, mass[i] * right_down * wrong_up
        better += plus
        worse += minus
        equal += mass[i] - plus - minus
    return better, worse, equal


@njit(nogil=True, cache=True)
def reweight_triples(first, last, rate, Z, H, Y, share, mass, V):  # type: ignore[no-untyped-def]
    """Multiply D(i, l0, l1) by exp(rate/2 · (h(l0) - h(l1))) / Z and set V to ½ Y · mass · share.

    Column l of V is in block l // LANES.
    """
    up, down = exp(0.5 * rate), exp(-0.5 * rate)
    for i in range(first, last):
        if mass[i] == 0.0:
            continue
        right = wrong = 0.0
        for q in range(H.shape[1]):
            s = H[i, q] * Y[i, q]
            share[i, q] *= down if s > 0 else (up if s < 0 else 1.0)
            if Y[i, q] > 0:
                right += share[i, q]
            else:
                wrong += share[i, q]
        mass[i] *= right * wrong / Z
        for q in range(H.shape[1]):
            share[i, q] /= right if Y[i, q] > 0 else wrong
            V[q // LANES, i, q % LANES] = 0.5 * Y[i, q] * mass[i] * share[i, q]
