"""Eight numbers at once against NumPy, and the same bits whatever the processor."""

import numpy as np
from numba import njit

from outputcodes._ground.lanes import (
    LANES,
    add_lanes_by_sign,
    aligned_zeros,
    largest_of,
    load,
    prefetch,
    scale_lanes_by_sign,
    spread,
    store,
    sum_lanes,
    sum_of,
    where_greater,
)

rng = np.random.default_rng(0)
A = rng.normal(size=40)
V = A[3 : 3 + LANES]


@njit
def combine(a, at, out):
    v, w = load(a, at), load(a, at + 1)
    prefetch(a, at)
    total = v + w
    total += v
    store(out, 5, total - w * spread(0.5))
    store(out, 5 + LANES, where_greater(v, w, v, spread(2.0)))
    return sum_of(v), largest_of(v)


def test_arithmetic_and_folds():
    out = np.zeros(40)
    total, largest = combine(A, 3, out)
    W = A[4 : 4 + LANES]
    assert np.allclose(out[5 : 5 + LANES], 2 * V + W / 2, rtol=1e-14)
    assert np.array_equal(out[5 + LANES : 5 + 2 * LANES], np.where(V > W, V, 2.0))
    assert not out[:5].any()
    assert not out[5 + 2 * LANES :].any()
    assert largest == V.max()
    # Added in this order on every processor.
    four = V[:4] + V[4:]
    two = four[:2] + four[2:]
    assert total == two[0] + two[1]


def test_additions_by_sign():
    sums = rng.random(40)
    before = sums.copy()
    add_lanes_by_sign(sums, 8, A, 3)
    before[8:16] += np.maximum(V, 0)
    before[16:24] += np.maximum(-V, 0)
    assert np.array_equal(sums, before)
    sum_lanes(sums, 0, before, 8, A, 3)
    assert np.array_equal(sums[:LANES], before[8:16] + V)


def test_factors_by_sign():
    values, factors = A.copy(), rng.random(40)
    scale_lanes_by_sign(values, 3, factors, 10)
    assert np.array_equal(values[3 : 3 + LANES], V * np.where(V < 0, factors[18:26], factors[10:18]))
    assert np.array_equal(np.delete(values, slice(3, 3 + LANES)), np.delete(A, slice(3, 3 + LANES)))


def test_aligned_zeros():
    for shape in ((3, 8), (2, 5, 16)):
        zeros = aligned_zeros(*shape)
        assert zeros.shape == shape
        assert not zeros.any()
        assert zeros.ctypes.data % 64 == 0
