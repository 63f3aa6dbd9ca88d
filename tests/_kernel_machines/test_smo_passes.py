"""The passes of SMO against NumPy; of equal candidates the first is taken, whatever the last digits."""

import numpy as np
import pytest

from outputcodes._kernel_machines.smo.passes import BIG, TAU, move_pair, move_two, pair_gains, partner_gains

SIZES = [1, 7, 8, 33, 256, 1001]


def column(n, dtype=np.float64, seed=0):
    rng = np.random.default_rng(seed)
    e = rng.normal(size=n)
    up, low = np.where(rng.random(n) < 0.6, 0, -BIG), np.where(rng.random(n) < 0.6, 0, BIG)
    up[0] = low[-1] = 0
    rows = rng.random((2, n)).astype(dtype)
    return e, up, low, 1 + rng.random(n), *rows


def slope(e, up, low):
    return np.maximum(np.maximum(e + up, -(e + low)), 0)


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("n", SIZES)
def test_pairs(n, dtype):
    e, up, low, diag, row_i, row_j = column(n, dtype)
    moved = e - 0.3 * (row_i.astype(float) - row_j)
    i = move_pair(e, up, row_i, row_j, 0.3)
    assert np.allclose(e, moved, rtol=1e-14, atol=1e-14)
    assert i == np.argmax(e + up)
    gaps = np.maximum(e[i] - (e + low), 0)
    gains = gaps**2 / np.maximum(diag[i] + diag - 2.0 * row_i, TAU)
    assert pair_gains(e, low, diag, row_i, diag[i], e[i]) == (np.argmax(gains), gaps.max())


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("n", SIZES)
def test_two_coefficients(n, dtype):
    e, up, low, diag, row_i, row_j = column(n, dtype)
    moved = e - 0.2 * row_i.astype(float) - 0.1 * row_j.astype(float) - 0.05
    inverse = 1 / diag
    i, steepest = move_two(e, up, low, inverse, row_i, row_j, 0.2, 0.1, 0.05)
    assert np.allclose(e, moved, rtol=1e-14, atol=1e-14)
    slopes = slope(e, up, low)
    assert i == np.argmax(slopes**2 * inverse)
    assert steepest == slopes.max()
    value = row_i.astype(float) + 1
    gains = slope(e - 0.2 * value, up, low) ** 2 / np.maximum(diag - 0.5 * value**2, 1e-5)
    assert partner_gains(e, up, low, diag, row_i, 1.0, 0.2, 0.5, 1e-5) == np.argmax(gains)


@pytest.mark.parametrize("noise", [0.0, 1e-13])
def test_of_equal_candidates_the_first_wins(noise):
    rng = np.random.default_rng(1)
    for value in (-3.0, -1e-9, 1e-9, 0.7, 1e9):
        e, zeros, ones = np.full(200, value), np.zeros(200), np.ones(200)
        e[:60] -= abs(value)
        e *= 1 + noise * rng.uniform(-1, 1, size=200)
        assert move_pair(e, zeros, zeros, zeros, 0.0) == 60
        gain = np.full(200, 2.0)
        gain[60:] = 1.0
        gain *= 1 + noise * rng.uniform(-1, 1, size=200)
        assert pair_gains(gain, zeros, ones, zeros, 1.0, 3.0)[0] == 60
    slopes = np.concatenate([np.full(60, 0.5), np.full(140, 1.0)]) * (1 + noise * rng.uniform(-1, 1, size=200))
    assert move_two(slopes, zeros, zeros, ones, zeros, zeros, 0.0, 0.0, 0.0)[0] == 60
    assert partner_gains(slopes, zeros, zeros, ones, zeros, 0.0, 0.0, 1.0, 1e-5) == 60


def test_nothing_that_may_move_is_no_violation():
    fixed = np.full(9, BIG)
    assert pair_gains(np.ones(9), fixed, np.ones(9), np.zeros(9), 1.0, 2.0)[1] == 0
    assert pair_gains(np.ones(9), np.zeros(9), np.ones(9), np.zeros(9), 1.0, 1 - BIG)[1] == 0
    assert move_two(np.ones(9), -fixed, fixed, np.ones(9), np.zeros(9), np.zeros(9), 0.0, 0.0, 0.0)[1] == 0
