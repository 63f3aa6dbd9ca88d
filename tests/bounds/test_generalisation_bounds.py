"""Generalisation bounds: published forms by plain loops, their order, worked numbers and conditions."""

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.datasets import load_iris

from outputcodes.bounds.generalisation import (
    boosting_margin_bound,
    kernel_margin_bound,
    margin_bound,
    margin_loss,
    pairwise_margins,
    separable_class_error_bound,
    separable_error_bound,
)


def separated(seed, k, centred=True):
    """Examples and a matrix whose least multiclass margin is exactly 1."""
    rng = np.random.default_rng(seed)
    M = rng.normal(size=(k, k + 1))
    if centred:
        M -= M.mean(axis=0)
    X = rng.normal(size=(20 * k, k + 1)) * 3
    y = (X @ M.T).argmax(axis=1)
    top = np.sort(X @ M.T, axis=1)
    return X, y, M / (top[:, -1] - top[:, -2]).min()


def written_out(m, size, nodes, R, delta, log):
    """(130 R²/m)(D' log(4em) log(4m) + log(2(2m)^N/δ))."""
    return 130 * R**2 / m * (size * log(4 * math.e * m) * log(4 * m) + log(2) + nodes * log(2 * m) + log(1 / delta))


cases = st.builds(separated, st.integers(0, 2**32), st.integers(2, 5), st.booleans())


@settings(max_examples=60, deadline=None)
@given(case=cases)
def test_separable_bounds(case):
    X, y, M = case
    D, gram, k, m, R = X @ M.T, M @ M.T, len(M), len(X), float(np.linalg.norm(X, axis=1).max())
    gamma = pairwise_margins(D, y, gram)
    for r in range(k):
        for s in range(k):
            own = [i for i in range(m) if y[i] in (r, s)]
            distances = [abs((M[r] - M[s]) @ X[i]) / np.linalg.norm(M[r] - M[s]) for i in own if r != s]
            assert gamma[r, s] == pytest.approx(min(distances, default=math.inf))
            # A functional margin of 1 is a distance of at least 1/‖M_r − M_s‖.
            assert r == s or gamma[r, s] * np.linalg.norm(M[r] - M[s]) >= 1 - 1e-9
    pairs = [(r, s) for r in range(k) for s in range(r)]
    sizes = {
        "margins": sum(1 / gamma[r, s] ** 2 for r, s in pairs),
        "distances": sum(float(np.square(M[r] - M[s]).sum()) for r, s in pairs),
        "norm": k * float(np.square(M).sum()),
    }
    answers = []
    for by, size in sizes.items():
        answers.append(separable_error_bound(D, y, gram, R, 0.1, by=by))
        assert answers[-1] == pytest.approx(written_out(m, size, len(pairs), R, 0.1, math.log), rel=1e-6)
        in_bits = separable_error_bound(D, y, gram, R, 0.1, by=by, log_base=2)
        assert in_bits == pytest.approx(written_out(m, size, len(pairs), R, 0.1, math.log2), rel=1e-6)
    assert answers == pytest.approx(sorted(answers))
    for r in range(k):
        size = sum(float(np.square(M[r] - M[s]).sum()) for s in range(k))
        bound = separable_class_error_bound(D, y, gram, r, R, 0.1)
        assert bound == pytest.approx(written_out(m, size, k - 1, R, 0.1, math.log), rel=1e-6)
        if np.allclose(M.sum(axis=0), 0):
            assert size == pytest.approx(k * np.square(M[r]).sum() + np.square(M).sum())


def test_positive_slack_is_refused():
    X, y, M = separated(0, 3)
    D, gram = X @ M.T, M @ M.T
    with pytest.raises(ValueError, match="without slack"):
        separable_error_bound(D / 2, y, gram / 4, 1.0)
    with pytest.raises(ValueError, match="without slack"):
        separable_class_error_bound(-D, y, gram, 0, 1.0)
    with pytest.raises(ValueError, match="does not separate"):
        separable_error_bound(-D, y, gram, 1.0, by="margins")
    # Margins alone don't depend on the scale of the matrix.
    half = separable_error_bound(D / 2, y, gram / 4, 1.0, by="margins")
    assert half == pytest.approx(separable_error_bound(D, y, gram, 1.0, by="margins"))
    # What a solver's tolerance leaves below 1 is made up for exactly.
    almost = separable_error_bound(D * 0.9995, y, gram * 0.9995**2, 1.0)
    assert almost == pytest.approx(separable_error_bound(D, y, gram, 1.0))


def test_boosting_margin_bound():
    # m = 10^6, l = 10, d = 3, θ = ½, δ = 0.05.
    sample = np.ones(10**6)
    assert boosting_margin_bound(sample, 10, 3, 0.5) == pytest.approx(1.3717, abs=5e-5)
    sample[:1000] = 0.5
    assert boosting_margin_bound(sample, 10, 3, 0.5) == pytest.approx(1.3717 + 0.001, abs=5e-5)
    # θ = 0.3 is rounded to ¼ with j = 2, and δ becomes δ/8.
    uniform = boosting_margin_bound(np.ones(10**6), 10, 3, 0.3, all_theta=True)
    assert uniform == pytest.approx(boosting_margin_bound(np.ones(10**6), 10, 3, 0.25, 0.05 / 8))
    m, d, theta, delta = 400, 2, 0.8, 0.1
    one = math.log(1 / delta) / (8 * m) + 2 * d / (m * theta**2) * math.log(2 * math.e * m / d) * math.log(
        math.e * m / d
    )
    assert boosting_margin_bound(np.ones(m), 1, d, theta, delta) == pytest.approx(16 * math.sqrt(one))
    for wrong in ({"theta": 0.0}, {"theta": 1.5}, {"delta": 0.0}, {"n_columns": 10**6}):
        arguments = {"n_columns": 10, "vc_dimension": 3, "theta": 0.5} | wrong
        with pytest.raises(ValueError, match=next(iter(wrong))):
            boosting_margin_bound(np.ones(1000), **arguments)


@settings(max_examples=50, deadline=None)
@given(st.lists(st.floats(-5, 5), min_size=1, max_size=30), st.floats(0.01, 4))
def test_the_margin_loss_lies_between_two_error_rates(margins, rho):
    m = np.array(margins)
    assert (m <= 0).mean() - 1e-12 <= margin_loss(m, rho) <= (m <= rho).mean() + 1e-12
    expected = np.mean([min(1, max(0, 1 - u / rho)) for u in margins])
    assert margin_loss(m, rho) == pytest.approx(expected)
    bound = margin_bound(m, 4, 0.3, rho, 0.1)
    assert bound == pytest.approx(expected + 4 * 4 / rho * 0.3 + math.sqrt(math.log(10) / (2 * len(m))))
    r, norm = 1.5, 2.0
    complexity = math.sqrt(r**2 * norm**2 / len(m))
    assert kernel_margin_bound(m, 4, r, norm, rho, 0.1) == pytest.approx(margin_bound(m, 4, complexity, rho, 0.1))


def test_the_complexity_of_a_ball_is_at_least_its_rademacher_average():
    # (1/m) E‖Σ σ_i x_i‖·Λ over all sign vectors ≤ Λ √(tr K)/m ≤ √(r²Λ²/m).
    X, norm = load_iris().data[::15], 2.0
    m, K = len(X), X @ X.T
    signs = 1 - 2 * ((np.arange(2**m)[:, None] >> np.arange(m)) & 1)
    exact = norm / m * np.sqrt(np.einsum("ti,ij,tj->t", signs, K, signs)).mean()
    middle = norm * math.sqrt(np.trace(K)) / m
    assert exact <= middle <= math.sqrt(np.diag(K).max() * norm**2 / m)


def test_bad_arguments():
    X, y, M = separated(1, 3)
    D, gram = X @ M.T, M @ M.T
    for call, message in [
        (lambda: margin_loss([1.0], 0.0), "rho"),
        (lambda: margin_loss([], 1.0), "margins"),
        (lambda: margin_bound([], 3, 0.1, 1.0), "margins"),
        (lambda: boosting_margin_bound(np.full(1000, np.nan), 2, 1, 0.5), "margins"),
        (lambda: margin_bound([1.0], 3, 0.1, 1.0, 1.0), "delta"),
        (lambda: margin_bound([1.0], 3, -0.1, 1.0), "complexity"),
        (lambda: kernel_margin_bound([1.0], 3, -1.0, 1.0, 1.0), "radius"),
        (lambda: separable_error_bound(D, y, gram, 0.0), "radius"),
        (lambda: separable_error_bound(D, y, gram, 1.0, log_base=1.0), "log_base"),
        (lambda: separable_error_bound(D, y, gram, 1.0, by="size"), "by='size'"),
        (lambda: separable_error_bound(D, y, gram[:2], 1.0), "gram"),
        (lambda: separable_class_error_bound(D, y, gram, 3, 1.0), "label=3"),
        (lambda: pairwise_margins(D, y, np.ones((3, 3))), "equal class vectors"),
    ]:
        with pytest.raises(ValueError, match=message):
            call()
