"""Tables of any size and number of classes, drawn from a seed."""

from __future__ import annotations

import numpy as np

# The share of labels that are drawn at random.
NOISE = 0.05


def traits(k: int, n: int, d: int, seed: int = 0) -> tuple[np.ndarray, np.ndarray]:
    """Draw rows of classes that are known by their traits, as species are.

    There are d/3 traits of two to six levels. A class has two forms, which share most of their traits, and a row lacks
    some traits of its form. Every feature mixes a few traits with heavy-tailed noise; some are then bent, skewed or
    rounded.
    """
    rng = np.random.default_rng(seed)
    m = max(2, d // 3)
    levels = rng.integers(2, 7, size=m)

    def drawn(*size: int) -> np.ndarray:
        return np.floor(rng.random((*size, m)) * levels)

    forms = drawn(k, 2)
    forms[:, 1] = np.where(rng.random((k, m)) < 0.7, forms[:, 0], forms[:, 1])
    y = rng.permutation(np.arange(n) % k)
    T = forms[y, (rng.random(n) < 0.4).astype(int)]
    T = np.where(rng.random((n, m)) < 0.1, drawn(n), T)
    mixed = rng.normal(size=(m, d)) * (rng.random((m, d)) < 2 / m)
    mixed[np.arange(d) % m, np.arange(d)] += 1
    X = (T - levels / 2) @ mixed + rng.laplace(scale=0.6, size=(n, d))
    X[:, 1::4] = 1 / (1 + np.exp(-X[:, 1::4]))
    X[:, 2::4] = np.exp(X[:, 2::4] / 2)
    X[:, 3::4] = np.rint(X[:, 3::4])
    return X, noisy(y, k, rng)


def boxes(k: int, n: int, d: int, seed: int = 0) -> tuple[np.ndarray, np.ndarray]:
    """Draw rows whose class is that of a box: a random tree has 4k boxes, and each belongs to one class.

    Features are of four kinds: normal, uniform, skewed and whole numbers. Every box asks about its own features, and
    the boxes of a class have nothing in common.
    """
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, d))
    X[:, 1::4] = rng.random((n, len(X[0, 1::4])))
    X[:, 2::4] = np.exp(X[:, 2::4])
    X[:, 3::4] = np.rint(3 * X[:, 3::4])
    cells = [np.arange(n)]
    while len(cells) < 4 * k:
        cells.sort(key=len)
        rows = cells.pop()
        x = X[rows, rng.integers(d)]
        left = x <= np.quantile(x, rng.uniform(0.3, 0.7))
        cells += [rows[left], rows[~left]]
    y = np.zeros(n, dtype=int)
    for owner, rows in zip(rng.permutation(np.arange(4 * k) % k), cells, strict=True):
        y[rows] = owner
    return X, noisy(y, k, rng)


def noisy(y: np.ndarray, k: int, rng: np.random.Generator) -> np.ndarray:
    """Return labels of which some are drawn at random; each class has one of the first k rows."""
    y = np.where(rng.random(len(y)) < NOISE, rng.integers(k, size=len(y)), y)
    y[:k] = np.arange(k)
    return y
