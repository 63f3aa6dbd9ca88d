"""Slow, plain versions of the definitions, written from the papers and sharing no code with the library.

A loss or a decoder that has none here is tested by the properties that all share; the comparison with its definition is
reported as skipped.
"""

from __future__ import annotations

import functools
import itertools
import math

import numpy as np
from scipy import integrate, optimize, stats

from outputcodes import losses as library

# Margin losses, one number at a time.
LOSSES = {
    "hinge": lambda z: max(1 - z, 0),
    "squared-hinge": lambda z: max(1 - z, 0) ** 2,
    "exponential": lambda z: math.exp(-z),
    "logistic": lambda z: math.log(1 + math.exp(-2 * z)),
    "squared": lambda z: (1 - z) ** 2,
    "linear": lambda z: -z,
    "randomised": lambda z: 1 / (1 + math.exp(2 * z)),
    "hamming": lambda z: 0.5 if z == 0 else float(z < 0),
}


def loss(name):
    """Return the plain version of a loss; without one, that of the library, for tests of what is built on losses."""
    return LOSSES.get(name) or library.LOSSES[name]


def sign(z):
    return int(z > 0) - int(z < 0)


def row_distance(u, v):
    """The distance of two rows, entry by entry."""
    return sum(0.5 if a == 0 or b == 0 else float(a != b) for a, b in zip(u, v, strict=True))


def loss_distances(f, M, loss, zeros="count"):
    """d(r), or the mean over the entries that count with zeros ignored."""
    answers = []
    for row in M:
        terms = [loss(m * z) for m, z in zip(row, f, strict=True) if zeros == "count" or m != 0]
        answers.append(sum(terms) if zeros == "count" else sum(terms) / len(terms))
    return np.array(answers)


def agreements(f, M):
    """For each row, how many of its non-zero entries the signs of f match and contradict."""
    matches = [sum(m != 0 and sign(z) == m for m, z in zip(row, f, strict=True)) for row in M]
    mismatches = [sum(m != 0 and sign(z) == -m for m, z in zip(row, f, strict=True)) for row in M]
    return zip(matches, mismatches, strict=True)


def euclidean(f, M):
    return [-math.sqrt(sum((z - m) ** 2 for m, z in zip(row, f, strict=True))) for row in M]


def attenuated_euclidean(f, M):
    return [-math.sqrt(sum(abs(m) * abs(z) * (z - m) ** 2 for m, z in zip(row, f, strict=True))) for row in M]


def inverse_hamming(f, M):
    delta = np.array([[row_distance(u, v) for u in M] for v in M])
    return np.linalg.solve(delta, loss_distances(f, M, LOSSES["hamming"]))


def vote(f, M):
    k = len(M)
    votes, sums = np.zeros(k), np.zeros(k)
    for column, z in zip(np.transpose(M), f, strict=True):
        for r in np.flatnonzero(column):
            votes[r] += (1 + sign(z) * column[r]) / 2
            sums[r] += column[r] * z
    order = sorted(range(k), key=lambda r: (votes[r], sums[r], -r))
    return [order.index(r) for r in range(k)]


def dag(f, M):
    k = len(M)
    alive, answer = list(range(k)), np.full(k, float(k))
    for step in range(1, k):
        a, b = alive[0], alive[-1]
        j = next(j for j in range(len(f)) if M[a][j] != 0 and M[b][j] != 0)
        answer[alive.pop(-1 if f[j] * M[a][j] >= 0 else 0)] = step
    return answer


# Class scores of one row of margins, for the decoders that learn nothing; a loss decodes by its distances.
DECODERS = {
    **{name: lambda f, M, loss=loss: -loss_distances(f, M, loss) for name, loss in LOSSES.items()},
    "exponential": lambda f, M: -np.log(loss_distances(f, M, LOSSES["exponential"])),
    "euclidean": euclidean,
    "attenuated-euclidean": attenuated_euclidean,
    "laplacian": lambda f, M: [(a + 1) / (a + b + 2) for a, b in agreements(f, M)],
    "beta-density": lambda f, M: [pessimistic_share(a, b) for a, b in agreements(f, M)],
    "inverse-hamming": inverse_hamming,
    "vote": vote,
    "dag": dag,
}
# Decoders of which only the order of the classes is defined: votes first, then summed margins, then the lower index.
ORDERS = {"vote"}


@functools.cache
def pessimistic_share(a, b):
    """The pessimistic beta density, by numerical integration of the density and a root search."""
    mode = a / (a + b) if a + b else 0.5
    density = stats.beta(a + 1, b + 1).pdf

    def mass(low):
        return integrate.quad(density, low, mode)[0]

    return optimize.brentq(lambda low: mass(low) - 1 / 3, 0, mode) if mass(0) > 1 / 3 else 0.0


def accuracy_weights(F, y, M, weight):
    """H, the share of each class that each column gets right, rows normalised."""
    H = np.zeros(np.shape(M))
    for r in range(len(M)):
        for s in range(len(M[0])):
            own = [i for i in range(len(y)) if y[i] == r]
            if M[r][s] != 0 and own:
                right = sum(weight[i] for i in own if sign(F[i][s]) == M[r][s])
                H[r, s] = right / sum(weight[i] for i in own)
        if H[r].sum() == 0:
            H[r] = np.abs(M[r])
        H[r] /= H[r].sum()
    return H


def random_code(rng, k, L, zeros=True):
    """A code with distinct rows, no all-zero row and both signs in every column."""
    columns = [c for c in itertools.product([-1, 0, 1] if zeros else [-1, 1], repeat=k) if {-1, 1} <= set(c)]
    while True:
        M = np.array(columns)[rng.integers(len(columns), size=L)].T
        if len(np.unique(M, axis=0)) == k and M.any(axis=1).all():
            return M


def all_pairs(k):
    pairs = [(a, b) for a in range(k) for b in range(a + 1, k)]
    M = np.zeros((k, len(pairs)), dtype=int)
    for j, (a, b) in enumerate(pairs):
        M[a, j], M[b, j] = 1, -1
    return M


def one_vs_all(k):
    return 2 * np.eye(k, dtype=int) - 1
