"""The multiclass margin bounds at work: above the complexity they stand for, and above the error on new examples."""

import math

import numpy as np
import pytest
from sklearn.datasets import load_iris

from outputcodes.bounds import boosting_margin_bound, kernel_margin_bound, margin_bound, margin_loss
from outputcodes.diagnostics import multiclass_margins

CENTRES = np.exp(2j * np.pi * np.arange(3) / 3)
VECTORS = np.column_stack([CENTRES.real, CENTRES.imag])


def circle(n, noise, seed):
    """Points of the unit circle with the class of the nearest of three centres, or, rarely, another one."""
    rng = np.random.default_rng(seed)
    angle = rng.uniform(0, 2 * np.pi, n)
    X = np.column_stack([np.cos(angle), np.sin(angle)])
    y = (X @ VECTORS.T).argmax(axis=1)
    wrong = rng.random(n) < noise
    return X, np.where(wrong, (y + rng.integers(1, 3, n)) % 3, y)


def test_the_kernel_bound_is_above_that_of_the_exact_rademacher_average():
    # (1/m) E sup_{‖w‖ ≤ Λ} Σ σ_i w·x_i = (Λ/m) E‖Σ σ_i x_i‖ over all 2^m signs, at most Λ √(tr K)/m.
    X, norm, margins = load_iris().data[::15], 2.0, np.linspace(-1, 2, 10)
    m, K = len(X), X @ X.T
    signs = 1 - 2 * ((np.arange(2**m)[:, None] >> np.arange(m)) & 1)
    exact = norm / m * np.linalg.norm(signs @ X, axis=1).mean()
    trace = norm * math.sqrt(np.trace(K)) / m
    bounds = [margin_bound(margins, 3, complexity, 0.5) for complexity in (exact, trace)]
    bounds.append(kernel_margin_bound(margins, 3, math.sqrt(np.diag(K).max()), norm, 0.5))
    assert bounds == sorted(bounds)


@pytest.mark.parametrize("seed", range(5))
@pytest.mark.parametrize("rho", [0.2, 0.5, 1.0])
def test_new_examples_err_less_often_than_a_bound_that_says_something(rho, seed):
    X, y = circle(200_000, 0.03, seed)
    margins = multiclass_margins(X @ VECTORS.T, y)
    # Each class vector has norm 1, the limit of (Σ ‖w_r‖^p)^(1/p) for large p.
    bound = kernel_margin_bound(margins, 3, 1.0, 1.0, rho)
    X, y = circle(200_000, 0.03, seed + 100)
    error = (multiclass_margins(X @ VECTORS.T, y) <= 0).mean()
    assert error <= bound < 1
    assert margin_loss(margins, rho) < bound


def test_bounds_fall_with_the_sample_and_rise_with_the_complexity():
    few, many = np.full(10**4, 0.6), np.full(10**6, 0.6)
    assert kernel_margin_bound(many, 3, 1.0, 1.0, 0.5) < kernel_margin_bound(few, 3, 1.0, 1.0, 0.5)
    assert kernel_margin_bound(many, 3, 1.0, 1.0, 0.5) < kernel_margin_bound(many, 4, 1.0, 1.0, 0.5)
    # Scores, norms and ρ in another unit belong to the same SVM.
    scaled = kernel_margin_bound(7 * many, 3, 1.0, 7.0, 3.5)
    assert scaled == pytest.approx(kernel_margin_bound(many, 3, 1.0, 1.0, 0.5))
    assert boosting_margin_bound(many, 10, 3, 0.5) < boosting_margin_bound(many, 10, 3, 0.25)
    # For all θ at once costs something, and never less than one of them.
    for theta in (0.5, 0.3, 0.1):
        assert boosting_margin_bound(many, 10, 3, theta, all_theta=True) > boosting_margin_bound(many, 10, 3, theta)
