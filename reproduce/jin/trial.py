"""One measurement of Jin & Zhang's tables: a method on random splits, with or without wrong labels."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.base import BaseEstimator
from sklearn.model_selection import StratifiedShuffleSplit

from outputcodes import OutputCodeClassifier
from outputcodes.boosting import AdaBoostOC, SmoothBoost
from outputcodes.boosting.colourings import random_colouring
from outputcodes.learners import BoostedStumps
from reproduce.data import load_data_set

Array = NDArray[np.float64]
Labels = NDArray[np.intp]

TRAINING_SHARE = 0.6
# How many of the smallest classes the paper's counts of rows leave out, and how many rows it took of a larger set.
LEFT_OUT, TAKEN = {"ecoli": 3, "glass": 1, "yeast": 1}, {"pendigits": 2000}


def reduced(name: str) -> tuple[Array, Labels]:
    """Return the rows and classes of the paper's Table 1, as far as they are known."""
    data = load_data_set(name)
    rows = np.arange(len(data.y))
    if name in TAKEN:
        rows = np.random.default_rng(0).permutation(len(rows))[: TAKEN[name]]
    kept = np.isin(data.y[rows], np.argsort(np.bincount(data.y), kind="stable")[LEFT_OUT.get(name, 0) :])
    rows = rows[kept]
    return data.X.to_numpy(np.float64)[rows], np.unique(data.y[rows], return_inverse=True)[1]


def with_noise(y: Labels, share: float, k: int, rng: np.random.Generator) -> Labels:
    """Make a share of the labels wrong."""
    wrong = rng.permutation(len(y))[: round(share * len(y))]
    noisy = y.copy()
    noisy[wrong] = (y[wrong] + rng.integers(1, k, size=len(wrong))) % k
    return noisy


def _contender(method: str, rounds: int, k: int, lam: float, seed: int, gamma: float | None = None) -> BaseEstimator:
    """Return the classifier of a row of the tables."""
    if method == "ecoc":
        rng = np.random.default_rng(seed)
        code = np.stack([random_colouring(k, rng) for _ in range(rounds)], axis=1)
        stump = BoostedStumps(n_rounds=1, hypotheses="discrete")
        return OutputCodeClassifier(stump, code=code, decoder="hamming", random_state=seed)
    if method == "oc":
        return AdaBoostOC(rounds, random_state=seed)
    if method == "one-vs-all":
        return OutputCodeClassifier(SmoothBoost(rounds, lam, random_state=seed), code="one-vs-all", decoder="linear")
    return SmoothBoost(rounds, lam, gamma=gamma, random_state=seed).set_params(coding=method)


def chosen_lambda(method: str, rounds: int, X: Array, y: Labels, lambdas: list[float], trials: int, seed: int) -> float:
    """Return the first λ of the smallest error on held-out training rows; all codes use the random code's."""
    method = "one-vs-all" if method == "one-vs-all" else "random"
    k = int(y.max()) + 1
    errors = np.zeros(len(lambdas))
    for kept, held in StratifiedShuffleSplit(trials, test_size=0.2, random_state=seed).split(X, y):
        for at, lam in enumerate(lambdas):
            model = _contender(method, rounds, k, lam, seed).fit(X[kept], y[kept])
            errors[at] += np.count_nonzero(model.predict(X[held]) != y[held])
    return lambdas[int(errors.argmin())]


def measure(
    data_set: str,
    method: str,
    rounds: int,
    noise: float,
    splits: int,
    lambdas: list[float],
    trials: int,
    gamma: float | None = None,
    seed: int = 0,
) -> dict[str, Any]:
    """Return the test errors of all splits in percent, and the λ and γ chosen for each."""
    X, y = reduced(data_set)
    k = int(y.max()) + 1
    found: dict[str, Any] = {"errors": [], "lambdas": [], "gammas": []}
    parts = StratifiedShuffleSplit(splits, train_size=TRAINING_SHARE, random_state=seed).split(X, y)
    # Every split has its own random numbers.
    for own, (train, test) in enumerate(parts, start=seed * splits):
        labels = with_noise(y[train], noise, k, np.random.default_rng(own))
        smooth = method not in ("ecoc", "oc")
        lam = chosen_lambda(method, rounds, X[train], labels, lambdas, trials, own) if smooth else 0.0
        model: Any = _contender(method, rounds, k, lam, own, gamma).fit(X[train], labels)
        found["errors"].append(round(100 * float(np.mean(model.predict(X[test]) != y[test])), 3))
        if smooth:
            found["lambdas"].append(lam)
        if method == "probabilistic":
            found["gammas"].append(model.gamma_)
    return found
