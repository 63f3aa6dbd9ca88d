"""Vectors of float32 against NumPy."""

import numpy as np
import pytest
from numba import njit

from outputcodes._ground.local_rows import local_rows, unnumbered
from outputcodes._ground.single_lanes import (
    LANES,
    aligned_zeros,
    any_greater,
    load,
    padded,
    spread,
    store,
    where_greater,
)


@njit
def _steps(a, b, out):
    x, y = load(a, 3), load(b, 0)
    store(out, 0, x + y)
    store(out, LANES, x - y)
    store(out, 2 * LANES, x * spread(np.float32(2)))
    store(out, 3 * LANES, where_greater(x, y, x, y))
    return any_greater(x, y)


def test_lanes_are_those_of_numpy():
    rng = np.random.default_rng(0)
    a, b = rng.normal(size=40).astype(np.float32), rng.normal(size=LANES).astype(np.float32)
    out = aligned_zeros(4 * LANES)
    assert _steps(a, b, out)
    x = a[3 : 3 + LANES]
    assert np.array_equal(out, np.concatenate([x + b, x - b, 2 * x, np.maximum(x, b)]))
    assert not _steps(a, np.full(LANES, 100, np.float32), out)


@pytest.mark.parametrize("size", [0, 1, 16, 33])
def test_aligned_zeros_begin_at_a_cache_line(size):
    zeros = aligned_zeros(size)
    assert zeros.shape == (size,)
    assert zeros.ctypes.data % 64 == 0 or size == 0
    assert not zeros.any()
    assert padded(size) % LANES == 0
    assert padded(size) >= size


def test_local_rows_are_the_rows_and_leave_the_scratch_as_it_was():
    import scipy.sparse as sp

    X = sp.random_array((20, 50), density=0.1, rng=np.random.default_rng(0), format="csr")
    scratch, rows = unnumbered(50), np.array([7, 3, 3, 19])
    local = local_rows(X, rows, scratch)
    shape = (len(rows), len(local.features))
    dense = np.zeros((len(rows), 50), dtype=np.float32)
    dense[:, local.features] = sp.csr_array(local[:3], shape=shape).toarray()
    assert np.array_equal(dense, X.toarray()[rows].astype(np.float32))
    assert (scratch == -1).all()
