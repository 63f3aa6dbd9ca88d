"""Samples with real ties, and changes to them that no choice may notice: last digits, weights of 1/n, another order."""

import numpy as np

SIZE = 1e-13


def tied(seed, n_classes=4, n=72):
    """Whole-numbered features that few values, repeated rows, and classes that are turned copies of each other."""
    rng = np.random.default_rng(seed)
    own = rng.integers(0, 4, size=(n // (2 * n_classes), n_classes))
    # Class r has the rows of class 0 with the features moved on by r, each of them twice.
    X = np.vstack([np.roll(own, r, axis=1) for r in range(n_classes)] * 2).astype(np.float64)
    y = np.tile(np.repeat(np.arange(n_classes), len(own)), 2)
    return X, y


def nudged(X, seed):
    """Every entry changed in its last digits."""
    return X * (1 + SIZE * np.random.default_rng(seed).uniform(-1, 1, size=np.shape(X)))


def nudged_values(X, seed):
    """Every value of a feature changed in its last digits: equal values stay equal, as questions about X see them."""
    changed = np.empty_like(X)
    for f, x in enumerate(X.T):
        values, place = np.unique(x, return_inverse=True)
        changed[:, f] = nudged(values, (seed, f))[place]
    return changed


def equal_weights(n, seed):
    """Weights that are all the same but for rounding."""
    rng = np.random.default_rng(seed)
    return [None, np.full(n, 1 / n), np.full(n, 0.1), 1 + SIZE * rng.uniform(-1, 1, size=n)]
