"""The computational comparison of Mohri's lecture: time of one-vs-all and one-vs-one against m and k, measured."""

from __future__ import annotations

import time
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.datasets import make_blobs
from sklearn.svm import SVC

from outputcodes import OutputCodeClassifier
from outputcodes.learners import KernelSVM
from reproduce.experiment import Experiment, Unit
from reproduce.mohri.exponents import ENGINES, present

SOURCE = "Mohri, Foundations of Machine Learning, lecture on multi-class classification"
CODES = {"one-vs-all": "one-vs-all", "one-vs-one": "all-pairs"}
# m at k = FIXED_K, and k at m = FIXED_M.
SIZES, FIXED_K = (1500, 2250, 3000, 4500, 6000, 9000, 12000), 8
CLASSES, FIXED_M = (4, 6, 8, 12, 16, 24, 32), 6000
QUICK_SIZES, QUICK_CLASSES, QUICK_M = (500, 1000, 2000), (4, 8, 16), 1000
FEATURES, SPREAD, TESTED, C = 10, 2.5, 1000, 1.0


def blobs(m: int, k: int) -> tuple[NDArray[np.float64], NDArray[np.intp]]:
    """Draw overlapping clouds of equal size, so that the share of support vectors does not depend on m."""
    centres = np.random.default_rng(k).uniform(-4, 4, size=(k, FEATURES))
    X, y = make_blobs(m, centers=centres, cluster_std=SPREAD, random_state=0)
    return X, y.astype(np.intp)


def measure(engine: str, approach: str, m: int, k: int, repeats: int) -> dict[str, float]:
    """Return the fewest seconds to train on m examples and to test 1,000, and the mean support vectors per column."""
    X, y = blobs(m + TESTED, k)
    gamma = 1 / (FEATURES * float(X.var()))
    learner: Any = SVC(C=C, gamma=gamma) if engine == "alone" else KernelSVM(C=C, gamma=gamma)
    if approach == "binary":
        y = y % 2
    code = np.array([[-1], [1]]) if approach == "binary" else CODES[approach]
    model = OutputCodeClassifier(learner, code=code, decoder="hinge")
    model.fit(X[:200], y[:200])  # Compiled before the clock starts.
    training, testing = [], []
    for _ in range(repeats):
        start = time.perf_counter()
        model.fit(X[:m], y[:m])
        training.append(time.perf_counter() - start)
        start = time.perf_counter()
        model.predict(X[m:])
        testing.append(time.perf_counter() - start)
    if engine == "alone":
        separate: Any = model.columns_.fitted
        support = np.mean([svc.n_support_.sum() for svc in separate.estimators])
    else:
        support = np.count_nonzero(model.columns_.dual(), axis=0).mean()
    return {"training": min(training), "testing": min(testing), "support": float(support)}


def units(data_sets: tuple[str, ...], quick: bool, repeats: int) -> list[Unit]:
    """Return a unit per engine, approach and size: m grows, then k."""
    sizes, classes, m = (QUICK_SIZES, QUICK_CLASSES, QUICK_M) if quick else (SIZES, CLASSES, FIXED_M)
    points = dict.fromkeys([*((size, FIXED_K) for size in sizes), *((m, k) for k in classes)])
    combined = [
        {"engine": engine, "approach": approach, "m": m, "k": k, "repeats": repeats}
        for engine in ENGINES
        for approach in CODES
        for m, k in points
    ]
    binary = [
        {"engine": engine, "approach": "binary", "m": size, "k": FIXED_K, "repeats": repeats}
        for engine in ENGINES
        for size in sizes
    ]
    return [*binary, *combined]


GROWTH_EXPERIMENT = Experiment(
    name="mohri-comparison",
    title="Mohri, the computational comparison of one-vs-all and one-vs-one",
    source=SOURCE,
    protocol=f"""
Gaussian clouds in {FEATURES} dimensions, SVMs with a Gaussian kernel, C = {C}; m grows at k = {FIXED_K}, k grows at
m = {FIXED_M}. Exponents are slopes on logarithmic axes. Two engines are measured: a separate SVM per column
(scikit-learn's SVC, as in the lecture's model), and all columns together with shared kernel values. Times are the
shortest of `repeats` runs, on one core.
""",
    data_sets=(),
    units=units,
    measure=measure,
    present=present,
    options={"repeats": 3},
    timed=True,
)
