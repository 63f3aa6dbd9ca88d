"""The losses of boosted trees: gradients by differences, Newton steps in 64 bits."""

import numpy as np
import pytest
from scipy.special import expit, log_softmax, softmax

from outputcodes.learners.trees.boosted.logistic import LogisticColumns
from outputcodes.learners.trees.boosted.multinomial import LONGEST, MANY, Multinomial
from outputcodes.learners.trees.boosted.sketches import LeafValues, Sketch, random_signs

N, RATE, L2 = 30, 0.5, 0.2


def moved(state, width, m=4):
    """The loss after one round of leaves with random values; the leaves and the sketched gradients."""
    rng = np.random.default_rng(0)
    order, segments = rng.permutation(N).astype(np.uint32), np.array([[0, 12], [12, 13], [13, N]])
    steps, sketch = rng.normal(size=(3, width)).astype(np.float32), rng.normal(size=(m, width)).astype(np.float32)
    G, h = np.empty((N, m), np.float32), np.empty(N, np.float32)
    behind = ((0, 0), (0, state.lanes - width))
    given = np.pad(steps, behind)
    state.advance(order, segments, LeafValues(given, np.exp(given), given), Sketch(np.pad(sketch, behind), G, h))
    F = state.base + steps[np.repeat([0, 1, 2], np.diff(segments).ravel())][np.argsort(order)]
    return F, sketch, G / state.weight_unit, h / state.weight_unit, order, segments


def stepped(state, tree):
    """The Newton steps of three leaves."""
    values = LeafValues(*np.empty((3, 3, state.lanes), np.float32))
    nothing = Sketch(np.empty((0, state.lanes), np.float32), np.empty((N, 0), np.float32), np.empty(N, np.float32))
    state.step(tree, range(3), RATE, L2 * state.weight_unit, values, nothing)
    return values.steps


@pytest.mark.parametrize("m", [4, 6])
@pytest.mark.parametrize("k", [2, 5, 17])
def test_multinomial_gradients_by_differences(k, m):
    rng = np.random.default_rng(k)
    y, weight = rng.integers(k, size=N), rng.random(N) + 0.5
    state = Multinomial(y, weight, k, np.arange(N))
    F, sketch, G, h, *_ = moved(state, k, m)

    def loss(F):
        return -weight * log_softmax(F, axis=1)[np.arange(N), y]

    gradient = np.stack([(loss(F - 1e-5 * e) - loss(F + 1e-5 * e)) / 2e-5 for e in np.eye(k)], axis=1)
    np.testing.assert_allclose(G, gradient @ sketch.T, atol=1e-5)
    P = softmax(F, axis=1)
    np.testing.assert_allclose(h, weight * (1 - (P**2).sum(axis=1)), atol=1e-5)
    mean, errors = state.loss(np.arange(N))
    assert mean == pytest.approx(loss(F).sum() / weight.sum(), abs=1e-5)
    assert errors == pytest.approx(weight @ (F.argmax(axis=1) != y) / weight.sum())


def test_of_equally_probable_classes_the_first_is_the_answer():
    state = Multinomial(np.array([0, 1, 2]), np.ones(3), 3, np.arange(3))
    state.P[:, :3] = [[0.4, 0.4, 0.2], [0.4, 0.4, 0.2], [0.2, 0.4, 0.4]]
    assert [state.loss(np.array([i]))[1] for i in range(3)] == [0, 1, 1]


@pytest.mark.parametrize("k", [3, MANY + 6])
def test_multinomial_newton_steps(k):
    rng = np.random.default_rng(k)
    y, weight = rng.integers(k, size=N), rng.random(N) + 0.5
    state = Multinomial(y, weight, k, np.arange(N))
    F, _, _, _, order, segments = moved(state, k)
    tree = type("Tree", (), {"order": order, "leaves": segments})
    values = stepped(state, tree)
    P = softmax(F, axis=1)
    for leaf, (first, last) in enumerate(segments):
        rows = order[first:last]
        g = (weight[rows, None] * (np.eye(k)[y[rows]] - P[rows])).sum(axis=0)
        h = (weight[rows, None] * P[rows] * (1 - P[rows])).sum(axis=0) + L2
        expected = np.clip(RATE * g / h, -LONGEST, LONGEST)
        if k > MANY:
            # One step for all classes without a row, subtracted everywhere.
            absent = np.setdiff1d(np.arange(k), y[rows])
            expected[absent] = RATE * g[absent].sum() / h[absent].sum()
            expected -= expected[absent[0]]
        np.testing.assert_allclose(values[leaf, :k], expected, atol=2e-5)
        assert not values[leaf, k:].any()


def columns(seed):
    rng = np.random.default_rng(seed)
    signed = rng.integers(-1, 2, size=(4, 5)) * rng.random((4, 5)).round(2)
    y, weight = rng.integers(4, size=N), rng.random(N) + 0.5
    return LogisticColumns(y, weight, signed, np.arange(N)), weight[:, None] * signed[y]


def test_logistic_gradients_and_steps():
    state, signed = columns(0)
    F, sketch, G, h, order, segments = moved(state, 5)
    size, sign = np.abs(signed), np.sign(signed)

    def loss(F):
        return size * np.logaddexp(0, -2 * sign * F)

    gradient = (loss(F - 1e-5) - loss(F + 1e-5)) / 2e-5
    bend = 4 * size * expit(2 * F) * expit(-2 * F)
    np.testing.assert_allclose(G, gradient @ sketch.T, atol=2e-5)
    np.testing.assert_allclose(h, bend.sum(axis=1), atol=1e-5)
    mean, errors = state.loss(np.arange(N))
    assert mean == pytest.approx(loss(F).sum() / size.sum(), abs=1e-5)
    assert errors == pytest.approx((size * (sign * F <= 0)).sum() / size.sum())
    tree = type("Tree", (), {"order": order, "leaves": segments})
    values = stepped(state, tree)
    for leaf, (first, last) in enumerate(segments):
        rows = order[first:last]
        expected = RATE * gradient[rows].sum(axis=0) / (bend[rows].sum(axis=0) + L2)
        np.testing.assert_allclose(values[leaf], np.clip(expected, -LONGEST, LONGEST), atol=2e-5)


def test_sketches_never_lose_all_gradients():
    for seed in range(200):
        signs = random_signs(3, 2, np.random.default_rng(seed), balanced=True)
        assert set(np.unique(signs)) == {-1, 1}
        # Multinomial gradients sum to 0: a constant column would project them to 0.
        assert (np.abs(signs.sum(axis=1)) < 3).all()
    np.testing.assert_array_equal(random_signs(4, 4, np.random.default_rng(0), balanced=True), np.eye(4))
