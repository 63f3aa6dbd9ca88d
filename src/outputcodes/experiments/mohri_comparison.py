"""Mohri's lecture, the computational comparison: time of one-vs-all and one-vs-one against m and k, measured."""

from __future__ import annotations

import time
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.datasets import make_blobs
from sklearn.svm import SVC

from outputcodes import OutputCodeClassifier
from outputcodes.experiments.comparing import slope
from outputcodes.experiments.experiment import Claim, Experiment, Findings, Picture, Result, Table, Unit
from outputcodes.learners import KernelSVM

CODES = {"one-vs-all": "one-vs-all", "one-vs-one": "all-pairs"}
ENGINES = {"a machine alone for each column (SVC)": "alone", "all columns together (KernelSVM)": "together"}
# m at k = FIXED_K, and k at m = FIXED_M.
SIZES, FIXED_K = (1500, 3000, 6000, 12000), 8
CLASSES, FIXED_M = (4, 8, 16, 32), 6000
QUICK_SIZES, QUICK_CLASSES, QUICK_M = (500, 1000, 2000), (4, 8, 16), 1000
FEATURES, SPREAD, TESTED, C = 10, 2.5, 1000, 1.0
# An exponent is as predicted if it differs by no more: constant costs and caches bend the lines by so much.
LEEWAY = 0.5


def blobs(m: int, k: int) -> tuple[NDArray[np.float64], NDArray[np.intp]]:
    """Overlapping clouds of equal size, so that the share of support vectors does not depend on m."""
    centres = np.random.default_rng(k).uniform(-4, 4, size=(k, FEATURES))
    X, y = make_blobs(m, centers=centres, cluster_std=SPREAD, random_state=0)
    return X, y.astype(np.intp)


def measure(engine: str, approach: str, m: int, k: int, repeats: int) -> dict[str, float]:
    """The least seconds to train on m examples and to test 1,000, and support vectors for each column."""
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
    return {"training": min(training), "testing": min(testing)}


def _units(data_sets: tuple[str, ...], quick: bool, repeats: int) -> list[Unit]:
    sizes, classes, m = (QUICK_SIZES, QUICK_CLASSES, QUICK_M) if quick else (SIZES, CLASSES, FIXED_M)
    points = dict.fromkeys([*((size, FIXED_K) for size in sizes), *((m, k) for k in classes)])
    units = [
        {"engine": engine, "approach": approach, "m": m, "k": k, "repeats": repeats}
        for engine in ENGINES.values()
        for approach in CODES
        for m, k in points
    ]
    alone = [
        {"engine": engine, "approach": "binary", "m": size, "k": FIXED_K, "repeats": repeats}
        for engine in ENGINES.values()
        for size in sizes
    ]
    return [*alone, *units]


def _series(results: list[Result], engine: str, approach: str, along: str, what: str) -> tuple[list[int], list[float]]:
    """Sizes and seconds of the points that differ in m alone, or in k alone."""
    here = [r for r in results if (r.unit["engine"], r.unit["approach"]) == (engine, approach)]
    other = "k" if along == "m" else "m"
    counts = [r.unit[other] for r in here]
    # The value that most points share is the one that is kept while the other grows.
    fixed = max(set(counts), key=counts.count) if counts else None
    points = sorted((r.unit[along], float(r.found[what])) for r in here if r.unit[other] == fixed)
    return [size for size, _ in points], [seconds for _, seconds in points]


def _exponent(results: list[Result], engine: str, approach: str, along: str, what: str) -> float | None:
    sizes, seconds = _series(results, engine, approach, along, what)
    return slope(sizes, seconds) if len(sizes) > 1 else None


def _present(results: list[Result]) -> Findings:
    rows, claims = [], []
    for told, engine in ENGINES.items():
        alpha = _exponent(results, engine, "binary", "m", "training")
        if alpha is None:
            continue
        predicted = {
            ("one-vs-all", "training", "m"): alpha,
            ("one-vs-all", "training", "k"): 1.0,
            ("one-vs-one", "training", "m"): alpha,
            ("one-vs-one", "training", "k"): 2 - alpha,
            ("one-vs-all", "testing", "k"): 1.0,
            ("one-vs-one", "testing", "k"): 2.0,
        }
        rows.append((told, "one binary machine", "training", "m", "α", f"{alpha:.2f}"))
        for (approach, what, along), expected in predicted.items():
            found = _exponent(results, engine, approach, along, what)
            if found is None:
                continue
            rows.append((told, approach, what, along, f"{expected:.2f}", f"{found:.2f}"))
            if engine == "alone" and what == "training":
                near = abs(found - expected) <= LEEWAY
                claims.append(
                    Claim(
                        f"the time to train {approach} grows as {along}^{expected:.2f}, machines trained alone",
                        "supported" if near else "not supported",
                        f"measured {along}^{found:.2f}; as predicted if within {LEEWAY}",
                    )
                )
    header = ("engine", "approach", "time of", "grows with", "predicted exponent", "measured exponent")
    remarks = (
        "With α the exponent of one binary machine, the lecture predicts m^α·k for one-vs-all and m^α·k^(2−α) for "
        "one-vs-one in training, and k and k² binary answers in testing; each of one-vs-one's machines has fewer "
        "support vectors, and so its testing grows by less than k². What columns share is not in the lecture's model: "
        "together, all columns cost less than it says.",
    )
    caption = "Seconds to train, against examples and classes"
    pictures = [Picture("mohri-comparison", caption, lambda figure: _draw(figure, results))]
    return Findings([Table("Exponents", header, rows, remarks)], claims, pictures)


def _draw(figure: Any, results: list[Result]) -> None:
    figure.set_size_inches(8, 3.4)
    left, right = figure.subplots(1, 2)
    for axis, along in ((left, "m"), (right, "k")):
        for colour, approach in zip(("tab:blue", "tab:orange"), CODES, strict=True):
            for style, (told, engine) in zip(("o--", "o-"), ENGINES.items(), strict=True):
                sizes, seconds = _series(results, engine, approach, along, "training")
                axis.loglog(sizes, seconds, style, color=colour, label=f"{approach}, {told}")
        axis.set(xlabel={"m": "examples m", "k": "classes k"}[along], ylabel="seconds to train")
    handles, labels = right.get_legend_handles_labels()
    figure.legend(handles, labels, loc="outside lower center", ncols=2, frameon=False)


MOHRI_COMPARISON = Experiment(
    name="mohri-comparison",
    title="Mohri, the computational comparison of one-vs-all and one-vs-one",
    source="Mohri, Foundations of Machine Learning, lecture on multi-class classification",
    protocol=f"""
Gaussian clouds in {FEATURES} dimensions, support vector machines with a Gaussian kernel, C = {C}; m grows at k =
{FIXED_K}, k grows at m = {FIXED_M}. Exponents are slopes on logarithmic axes. Once every column is a machine alone
(scikit-learn's SVC, as the lecture's model has it), once all columns share their kernel values. The least of `repeats`
runs, on one core.
""",
    data_sets=(),
    units=_units,
    measure=measure,
    present=_present,
    options={"repeats": 1},
    timed=True,
)
