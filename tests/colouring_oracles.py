"""AdaBoost.OC and SmoothBoost in plain loops, written from their definitions and sharing no code with the library."""

from __future__ import annotations

import itertools
import math

import numpy as np


def stumps(X, categorical=()):
    """Every stump in its order: (feature, threshold, polarity, predictions of the rows)."""
    for j in range(X.shape[1]):
        x = X[:, j]
        values = sorted(set(x[~np.isnan(x)]))
        halves = values if j in categorical else [(a + b) / 2 for a, b in itertools.pairwise(values)]
        for threshold in [-math.inf, *halves]:
            left = x == threshold if j in categorical else x <= threshold
            sides = np.where(np.isnan(x), 0, np.where(left, 1, -1))
            for polarity in (1, -1):
                yield j, threshold, polarity, (polarity * sides).tolist()


def best_stump(X, signs, D, categorical=()):
    """The first stump whose error, an abstention counting half, is within 1e-9 of the least."""
    rated = []
    for j, threshold, polarity, h in stumps(X, categorical):
        error = sum(d * (0.5 if a == 0 else float(a != s)) for d, a, s in zip(D, h, signs, strict=True))
        rated.append((error, j, threshold, polarity, h))
    least = min(r[0] for r in rated)
    return next(r for r in rated if r[0] <= least + 1e-9)


def separation(D, y, f):
    """U and D(i) of pair weights D[i][r] under a colouring."""
    n, k = len(y), len(f)
    own = [sum(D[i][r] for r in range(k) if r != y[i] and f[r] != f[y[i]]) for i in range(n)]
    U = sum(own)
    return U, [d / U for d in own]


def fitted_round(X, y, f, D, categorical):
    """The stump of pair weights D under a colouring, its error and U where it does not abstain; None without edge."""
    U, weight = separation(D, y, f)
    score, j, threshold, polarity, h = best_stump(X, [f[c] for c in y], weight, categorical)
    if score >= 0.5 - 1e-9:
        return None
    wrong = sum(d for d, a, c in zip(weight, h, y, strict=True) if a == -f[c])
    answered = sum(d for d, a in zip(weight, h, strict=True) if a != 0)
    e = max(wrong / answered, 1e-10)
    return {"stump": (j, threshold, polarity), "h": h, "f": f, "e": e, "U": U * answered, "weight": weight}


def adaboost_oc(X, y, k, colourings, variant="binary", weight=None, categorical=(), rate=1.0):
    """The rounds of the colourings that have an edge."""
    n = len(y)
    w = [1.0] * n if weight is None else list(weight)
    D = [[w[i] / (sum(w) * (k - 1)) if r != y[i] else 0.0 for r in range(k)] for i in range(n)]
    rounds = []
    for f in colourings:
        one = fitted_round(X, y, f, D, categorical)
        if one is None:
            continue
        e, h = one["e"], one["h"]
        if variant == "pseudo":
            e = max(0.5 - one["U"] * (0.5 - e), 1e-10)
        alpha = rate * 0.5 * math.log((1 - e) / e)
        for i in range(n):
            for r in range(k):
                # An abstention treats all its pairs alike.
                bracket = int(f[y[i]] != h[i]) + int(f[r] == h[i]) if h[i] != 0 else 1
                D[i][r] *= math.exp(alpha * bracket)
        Z = sum(map(sum, D))
        D = [[d / Z for d in row] for row in D]
        rounds.append({**one, "alpha": alpha})
    return rounds


def smooth_boost(X, y, k, colourings, lam, weight=None, categorical=(), rate=1.0):
    """The same of SmoothBoost; a colouring may be a function of φ."""
    n = len(y)
    w = np.ones(n) / n if weight is None else np.asarray(weight) / sum(weight)
    mu = np.full((n, k), 1 / (1 + lam * (k - 1)))
    rounds = []
    for choose in colourings:
        f = choose(phi(mu, y, w)) if callable(choose) else choose
        D = np.array([[w[i] * mu[i, y[i]] * mu[i, r] if r != y[i] else 0.0 for r in range(k)] for i in range(n)])
        one = fitted_round(X, y, f, D / D.sum(), categorical)
        if one is None:
            continue
        a = rate * 0.25 * math.log((1 - one["e"]) / one["e"])
        mu = updated(mu, y, f, one["h"], a, lam)
        rounds.append({**one, "alpha": a})
    return rounds


def updated(mu, y, f, h, a, lam):
    """μ after a round."""
    new = np.empty_like(mu)
    for i in range(len(y)):
        grown = [mu[i, r] * math.exp(a * f[r] * h[i]) for r in range(len(f))]
        below = grown[y[i]] + lam * sum(g for r, g in enumerate(grown) if r != y[i])
        new[i] = [g / below for g in grown]
    return new


def phi(mu, y, w):
    """φ of weights w that sum to 1."""
    n, k = mu.shape
    answer = [0.0] * k
    for r in range(k):
        for i in range(n):
            answer[r] += w[i] * mu[i, y[i]] * (mu[i, r] - (r == y[i]) * sum(mu[i]))
    return np.array(answer)


def problem(seed, n=24, d=3, k=4, missing=0.0):
    """Few values, so that stumps tie; a row of each class; weights."""
    rng = np.random.default_rng(seed)
    X = rng.integers(5, size=(n, d)).astype(float) ** 2
    X[rng.random(X.shape) < missing] = np.nan
    return X, np.append(np.arange(k), rng.integers(k, size=n - k)), rng.choice([0.5, 1.0, 3.0], size=n)


def scores(model, X):
    """(n, k), for two classes too."""
    return model.decoder_.scores(model.margins(X), model.code_matrix_)


def same_rounds(model, rounds, X):
    """The fitted model says what the loops say, round by round."""
    assert model.n_rounds_ == len(rounds)
    assert model.code_matrix_.T.tolist() == [list(r["f"]) for r in rounds]
    assert model.columns_.feature[0].tolist() == [r["stump"][0] for r in rounds]
    assert np.allclose(model.columns_.threshold[0], [r["stump"][1] for r in rounds])
    for name, own in (("error", "e"), ("separated", "U"), ("coefficient", "alpha")):
        assert np.allclose(model.history_[name], [r[own] for r in rounds], rtol=1e-8, atol=1e-12)
    expected = np.transpose([r["alpha"] * np.array(r["h"]) for r in rounds])
    assert np.allclose(model.margins(X), expected, rtol=1e-7, atol=1e-9)
    assert np.allclose(scores(model, X), expected @ model.code_matrix_.T, rtol=1e-7, atol=1e-8)
