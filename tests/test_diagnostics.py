"""Diagnostics against plain loops."""

import numpy as np
import oracles
import pytest

from outputcodes import diagnostics


def test_column_errors_and_class_margins():
    rng = np.random.default_rng(0)
    M = oracles.random_code(rng, 4, 6)
    y, weight = rng.integers(3, size=50), rng.random(50)  # class 3 has no example
    F = rng.normal(size=(50, 6))
    F[rng.random(F.shape) < 0.1] = 0
    for w in (None, weight):
        mass = np.ones(50) if w is None else w
        errors, margins = diagnostics.column_errors(F, y, M, w), diagnostics.class_margins(F, y, M, w)
        for s in range(6):
            seen = [i for i in range(50) if M[y[i], s] != 0]
            wrong = sum(mass[i] * (1 - oracles.sign(M[y[i], s] * F[i, s])) / 2 for i in seen)
            assert np.isclose(errors[s], wrong / mass[seen].sum())
            for r in range(3):
                own = [i for i in range(50) if y[i] == r]
                assert np.isclose(margins[r, s], sum(mass[i] * M[r, s] * F[i, s] for i in own) / mass[own].sum())
        assert (margins[3] == 0).all()


def test_a_column_that_sees_nobody_tells_nothing():
    assert diagnostics.column_errors([[1.0, 2.0]], [0], [[1, 0], [-1, 1], [1, -1]]).tolist() == [0, 0.5]


def test_multiclass_margins_are_positive_where_the_class_is_strictly_best():
    D = np.random.default_rng(1).integers(0, 4, size=(200, 3)).astype(float)
    y = np.arange(200) % 3
    margins = diagnostics.multiclass_margins(D, y)
    strictly = [all(D[i, y[i]] > D[i, r] for r in range(3) if r != y[i]) for i in range(200)]
    assert np.array_equal(margins > 0, strictly)
    assert np.isfinite(margins).all()


def test_what_does_not_fit_is_refused():
    M = oracles.one_vs_all(3)
    for y in ([-1], [3], ["a"], [0.5]):
        with pytest.raises(ValueError, match="y "):
            diagnostics.column_errors(np.zeros((1, 3)), y, M)
    with pytest.raises(ValueError, match="don't match"):
        diagnostics.class_margins(np.zeros((2, 3)), [0], M)
    with pytest.raises(ValueError, match="don't match"):
        diagnostics.multiclass_margins(np.zeros((2, 3)), [0])
