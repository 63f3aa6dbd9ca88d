"""AdaBoost.MO, .MH and .MR written out from their definitions, one candidate, pair and triple at a time."""

from __future__ import annotations

import itertools
import math

import numpy as np

# What is equal, and the least share of wrong answers.
TOLERANCE, LEAST = 1e-9, 1e-10


def stump_tests(X, categorical=()):
    """(feature, threshold, side of each row): 0 = left, 1 = right, None = missing; in the order of preference."""
    for f in range(X.shape[1]):
        values = sorted({x for x in X[:, f] if not math.isnan(x)})
        cuts = values if f in categorical else [(a + b) / 2 for a, b in itertools.pairwise(values)]
        for cut in [-math.inf, *cuts]:
            yield (
                f,
                cut,
                [None if math.isnan(x) else int(not (x == cut if f in categorical else x <= cut)) for x in X[:, f]],
            )


def coefficient(correct, wrong):
    share = max(wrong / (correct + wrong), LEAST)
    return math.log((1 - share) / share) / 2


def pairs_rounds(X, Y, w, n_rounds, hypotheses, categorical=(), rate=1.0):
    """Rounds of AdaBoost over the pairs (i, s) with label Y[i, s] in {-1, 0, +1}, 0 being no pair.

    Each is a dict: feature, threshold, answers (2, L) with the coefficient in them, Z, error, weights D after it.
    """
    n, L = Y.shape
    pairs = [(i, s) for i in range(n) for s in range(L) if Y[i, s] != 0]
    total = sum(w[i] for i, _ in pairs)
    D, e0 = {(i, s): w[i] / total for i, s in pairs}, 1 / max(total, len(pairs))
    rounds = []
    while len(rounds) < n_rounds:
        candidates = []
        for f, cut, side in stump_tests(X, categorical):
            W = np.zeros((2, L, 2))
            missing = 0.0
            for i, s in pairs:
                if side[i] is None:
                    missing += D[i, s]
                else:
                    W[side[i], s, int(Y[i, s] < 0)] += D[i, s]
            candidates += [(score, f, cut, side, h) for score, h in weak_answers(W, missing, hypotheses, e0)]
        least = min(candidate[0] for candidate in candidates)
        score, f, cut, side, h = next(c for c in candidates if c[0] <= least + TOLERANCE)
        if score >= (0.5 if hypotheses == "discrete" else 1) - TOLERANCE:
            break
        correct = sum(D[i, s] for i, s in pairs if side[i] is not None and Y[i, s] * h[side[i], s] > 0)
        wrong = sum(D[i, s] for i, s in pairs if side[i] is not None and Y[i, s] * h[side[i], s] < 0)
        step = rate * (1 if hypotheses == "confidence" else coefficient(correct, wrong)) * h
        D = {(i, s): D[i, s] * (1 if side[i] is None else math.exp(-Y[i, s] * step[side[i], s])) for i, s in pairs}
        Z = sum(D.values())
        D = {pair: weight / Z for pair, weight in D.items()}
        error = wrong + (1 - correct - wrong) / 2
        rounds.append({"feature": f, "threshold": cut, "answers": step, "Z": Z, "error": error, "D": D})
        if score <= LEAST:
            break
    return rounds


def weak_answers(W, missing, hypotheses, e0):
    """(score, answers (2, L)) of a test whose sides weigh W[side, column, sign], sign 0 being +1."""
    L = W.shape[1]
    if hypotheses == "confidence":
        Z = missing + 2 * sum(math.sqrt(W[side, s, 0] * W[side, s, 1]) for side in range(2) for s in range(L))
        yield Z, np.log((W[:, :, 0] + e0) / (W[:, :, 1] + e0)) / 2
        return
    signs = np.array(
        [[-1.0 if W[side, s, 1] > W[side, s, 0] + TOLERANCE else 1.0 for s in range(L)] for side in (0, 1)]
    )
    if hypotheses == "discrete":
        yield missing / 2 + sum(min(W[side, s]) for side in range(2) for s in range(L)), signs
        return
    for answering in ([1, 1], [1, 0], [0, 1]):
        correct = sum(max(W[side, s]) for side in range(2) if answering[side] for s in range(L))
        wrong = sum(min(W[side, s]) for side in range(2) if answering[side] for s in range(L))
        silent = 1 - correct - wrong
        yield silent + 2 * math.sqrt(correct * wrong), signs * np.array(answering)[:, None]


def triples_rounds(X, Y, w, n_rounds, categorical=(), rate=1.0):
    """Rounds of AdaBoost.MR; the weights are a dict {(i, wrong label, right label): weight}."""
    n, k = Y.shape
    D = {}
    for i in range(n):
        right, wrong = [q for q in range(k) if Y[i, q] > 0], [q for q in range(k) if Y[i, q] < 0]
        for l0, l1 in itertools.product(wrong, right):
            D[i, l0, l1] = w[i] / (len(right) * len(wrong))
    total = sum(D.values())
    D = {triple: weight / total for triple, weight in D.items()}
    rounds = []
    while len(rounds) < n_rounds:
        candidates = []
        for f, cut, side in stump_tests(X, categorical):
            v = np.zeros((2, k))
            for (i, l0, l1), weight in D.items():
                if side[i] is not None:
                    v[side[i], l1] += weight / 2
                    v[side[i], l0] -= weight / 2
            candidates.append((-np.abs(v).sum(), f, cut, side, np.where(v < -TOLERANCE, -1.0, 1.0)))
        least = min(candidate[0] for candidate in candidates)
        _, f, cut, side, h = next(c for c in candidates if c[0] <= least + TOLERANCE)
        W = {-1: 0.0, 0: 0.0, 1: 0.0}
        order = {(i, l0, l1): 0 if side[i] is None else int(h[side[i], l1] - h[side[i], l0]) // 2 for i, l0, l1 in D}
        for triple, b in order.items():
            W[b] += D[triple]
        if W[1] - W[-1] <= TOLERANCE:
            break
        a = rate * coefficient(W[1], W[-1])
        D = {triple: weight * math.exp(-a * order[triple]) for triple, weight in D.items()}
        Z = sum(D.values())
        D = {triple: weight / Z for triple, weight in D.items()}
        rounds.append({"feature": f, "threshold": cut, "answers": a * h, "Z": Z, "W": W, "D": D})
        if W[1] >= 1 - LEAST:
            break
    return rounds


def margins(X, rounds, L, categorical=()):
    """F, row by row and round by round."""
    F = np.zeros((len(X), L))
    for i, row in enumerate(X):
        for one in rounds:
            x = row[one["feature"]]
            if not math.isnan(x):
                on_left = x == one["threshold"] if one["feature"] in categorical else x <= one["threshold"]
                F[i] += one["answers"][0 if on_left else 1]
    return F


def small_problem(seed, n=14, d=2, k=3, missing=0.0):
    """Few values, so that tests tie; weights, some of them 0, every class with some weight."""
    rng = np.random.default_rng(seed)
    X = rng.integers(4, size=(n, d)).astype(float) ** 2
    X[rng.random(X.shape) < missing] = np.nan
    y = np.append(np.arange(k), rng.integers(k, size=n - k))
    weight = rng.choice([0.0, 0.5, 1.0, 3.0], size=n)
    weight[:k] = 1.0
    return X, y, weight, rng
