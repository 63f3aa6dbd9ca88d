"""The rows that violate a column, beside their definition in NumPy."""

import numpy as np
import pytest
from numpy.testing import assert_array_equal

from outputcodes._kernel_machines.smo.violating import violating
from outputcodes.learners.kernel.dual import ONE, ROUNDING, may_move

RNG = np.random.default_rng(0)


@pytest.mark.parametrize("outside", [np.inf, 0.0])
@pytest.mark.parametrize("least", [1e-3, -0.5])
@pytest.mark.parametrize("tol", [1e-3, 0.5, 100.0])
def test_violators_are_those_of_the_definition(outside, tol, least):
    for _ in range(20):
        n = int(RNG.integers(1, 60))
        lo, hi, e = -RNG.integers(0, 3, n) * 1.0, RNG.integers(0, 3, n) * 1.0, RNG.normal(size=n)
        beta = np.where(RNG.random(n) < 0.3, lo, np.where(RNG.random(n) < 0.4, hi, RNG.uniform(lo, hi)))
        # A coefficient that is a digit short of its bound can't grow, but is offered to the solver.
        beta[0] = hi[0] * (1 - 1e-15)
        rows = np.empty((2, n), dtype=np.intp)
        highest, lowest, growing, shrinking = violating(e, beta, lo, hi, ROUNDING, outside, tol, least, *rows)
        low, up = may_move(np.stack([beta, lo, hi]), ONE)
        assert highest == max([-outside, *e[up]])
        assert lowest == min([outside, *e[low]])
        if highest - lowest <= tol:
            assert growing == shrinking == 0
            continue
        assert_array_equal(rows[0, :growing], np.flatnonzero((beta < hi) & (e > lowest + least)))
        assert_array_equal(rows[1, :shrinking], np.flatnonzero((beta > lo) & (e < highest - least)))
