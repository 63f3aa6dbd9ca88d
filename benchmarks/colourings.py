"""Compare the time of a round of AdaBoost.OC and SmoothBoost with its floor.

    OUTPUTCODES_DATA=<folder> python benchmarks/colourings.py [--quick]

A round needs at least one addition per value of the binned features (n·d, into a histogram), and one product and one
sum per pair of an example and a class (n·k). These two passes are measured separately, with the same kernels. We know
of no other maintained implementation; scikit-learn's AdaBoostClassifier shows the cost of the same number of stumps.
"""

from __future__ import annotations

import resource
import time

import numpy as np
from common import QUICK, exponent, interleaved, load, print_table, save
from sklearn.ensemble import AdaBoostClassifier

# Private names: the floor is the time of two passes of the implementation itself.
from outputcodes._ground.blocks import serially
from outputcodes._histograms.binning import bin_features
from outputcodes.boosting import AdaBoostOC, SmoothBoost
from outputcodes.boosting._compiled.pairs import scale_by_colour, sum_by_colour
from outputcodes.boosting._pairs import PairWeights
from outputcodes.boosting.binary_weak import StumpLearner
from outputcodes.boosting.colourings import random_colouring


def seconds_per_round(model, X, y, rounds: int = 40) -> float:
    """Return seconds per round, as the difference of two runs, so that binning and checks do not count."""

    def fit(n_rounds: int) -> float:
        start = time.perf_counter()
        model.set_params(n_rounds=n_rounds, random_state=0).fit(X, y)
        return time.perf_counter() - start

    short, long = (min(fit(n_rounds) for _ in range(5)) for n_rounds in (1, rounds + 1))
    return (long - short) / rounds


def floor(X: np.ndarray, y: np.ndarray) -> tuple[float, float]:
    """Return the seconds of the pass over the features, and of the pass over the pairs."""
    k, rng = int(y.max()) + 1, np.random.default_rng(0)
    learner = StumpLearner(bin_features(X, "exact", np.zeros(X.shape[1], dtype=bool)), serially)
    pairs, colouring = PairWeights(y, k), random_colouring(k, rng)
    weight, factors = np.full(len(y), 1 / len(y)), np.ones((2, len(y)))

    def pairs_alone() -> None:
        scale_by_colour(pairs.rows.parts, colouring, 0, len(y), factors)
        sum_by_colour(pairs.rows.parts, colouring, 0, len(y), pairs.rows.sides)

    passes = {"features": lambda: learner.edges(colouring[y] * weight), "pairs": pairs_alone}
    for run in passes.values():
        run()
    taken, _ = interleaved(passes, repeats=15)
    return taken["features"], taken["pairs"]


def speed(name: str) -> dict[str, object]:
    X, y, train = load(name)
    X, y = X[train].astype(np.float64), y[train]
    AdaBoostOC(1).fit(X, y)  # compile before timing
    features, pairs = floor(X, y)
    models = AdaBoostOC(), SmoothBoost(), SmoothBoost(n_jobs=2)
    oc, smooth, threaded = (1e3 * seconds_per_round(model, X, y) for model in models)
    start = time.perf_counter()
    AdaBoostClassifier(n_estimators=10, random_state=0).fit(X, y)
    theirs = 1e3 * (time.perf_counter() - start) / 10
    return {
        "data": name,
        "n × d, k": f"{X.shape[0]} × {X.shape[1]}, {y.max() + 1}",
        "OC ms/round": oc,
        "SmoothBoost ms/round": smooth,
        "with 2 threads": threaded,
        "features alone ms": 1e3 * features,
        "pairs alone ms": 1e3 * pairs,
        "SmoothBoost / floor": smooth / (1e3 * (features + pairs)),
        "AdaBoostClassifier ms/round": theirs,
        "peak RSS MB": resource.getrusage(resource.RUSAGE_SELF).ru_maxrss // 1024,
    }


def growth() -> list[dict[str, object]]:
    """Measure the exponents of SmoothBoost's time; in theory each is at most 1."""
    few = 20 if QUICK else 1

    def taken(n: int = 20_000 // few, d: int = 20, k: int = 20, rounds: int = 40) -> float:
        rng = np.random.default_rng(0)
        X, y = rng.integers(50, size=(n, d)).astype(float), np.arange(n) % k
        return seconds_per_round(SmoothBoost(), X, y, rounds) * rounds

    axes = {
        "n": [20_000 // few, 40_000 // few, 80_000 // few],
        "d": [50, 100, 200],
        "k": [50, 100, 200],
        "rounds": [40, 80, 160],
    }
    return [
        {"grows with": name, "exponent": exponent(sizes, [taken(**{name: size}) for size in sizes])}
        for name, sizes in axes.items()
    ]


def main() -> None:
    table = [speed(name) for name in ("letter", "isolet")]
    grown = growth()
    print_table(table)
    print_table(grown)
    save("colourings", [*table, *grown])


if __name__ == "__main__":
    main()
