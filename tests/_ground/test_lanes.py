"""Four, eight or sixteen numbers at once against NumPy, and the same bits whatever the processor."""

import numpy as np
import pytest
from numba import njit
from numba.core.errors import TypingError

from outputcodes._ground.lanes import (
    LANES,
    SINGLE_LANES,
    WHOLE_LANES,
    add_lanes_by_sign,
    aligned_zeros,
    any_greater,
    largest_of,
    load,
    load_high,
    load_low,
    padded,
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


@njit
def _halves(words, at, low, high, quotient):
    a, b = load_low(words, at), load_high(words, at)
    store(low, 0, a)
    store(high, 0, b)
    store(quotient, 0, a / b)


@njit
def _add_whole(sums, at, words, i):
    store(sums, at, load(sums, at) + load(words, i))


def test_words_of_two_whole_numbers_are_added_and_unpacked_exactly():
    halves = rng.integers(-(2**30), 2**30, (2, 2, 20))
    words = halves[:, 0] + (halves[:, 1] << 32)
    sums = words[0].copy()
    for at in range(0, 20, WHOLE_LANES):
        _add_whole(sums, at, words[1], at)
    assert np.array_equal(sums, words.sum(axis=0))
    low, high, quotient = np.zeros((3, LANES))
    _halves(sums, 3, low, high, quotient)
    expected = halves.sum(axis=0)[:, 3 : 3 + LANES]
    assert np.array_equal([low, high], expected)
    assert np.array_equal(quotient, expected[0] / expected[1])
    with pytest.raises(TypingError, match="words of two numbers are int64, not float64"):
        _halves(low, 0, low, high, quotient)


@njit
def _steps(a, b, out):
    x, y = load(a, 3), load(b, 0)
    store(out, 0, x + y)
    store(out, SINGLE_LANES, x - y)
    store(out, 2 * SINGLE_LANES, x * spread(np.float32(2)))
    store(out, 3 * SINGLE_LANES, where_greater(x, y, x, y))
    return any_greater(x, y)


def test_single_lanes_are_those_of_numpy():
    rng = np.random.default_rng(0)
    a, b = rng.normal(size=40).astype(np.float32), rng.normal(size=SINGLE_LANES).astype(np.float32)
    out = aligned_zeros(4 * SINGLE_LANES, dtype=np.float32)
    assert _steps(a, b, out)
    x = a[3 : 3 + SINGLE_LANES]
    assert np.array_equal(out, np.concatenate([x + b, x - b, 2 * x, np.maximum(x, b)]))
    assert not _steps(a, np.full(SINGLE_LANES, 100, np.float32), out)


@pytest.mark.parametrize("dtype", [np.float32, np.int64])
@pytest.mark.parametrize("size", [0, 1, 16, 33])
def test_aligned_zeros_begin_at_a_cache_line(size, dtype):
    zeros = aligned_zeros(size, dtype=dtype)
    assert zeros.dtype == dtype
    assert zeros.shape == (size,)
    assert zeros.ctypes.data % 64 == 0 or size == 0
    assert not zeros.any()
    assert padded(size) % SINGLE_LANES == 0
    assert padded(size) >= size


def test_lanes_are_stored_in_arrays_of_their_precision():
    with pytest.raises(TypingError, match="can't be stored in an array of float64"):
        _steps(np.zeros(40, np.float32), np.zeros(SINGLE_LANES, np.float32), np.zeros(4 * SINGLE_LANES))
