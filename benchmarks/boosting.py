"""Compare a round of AdaBoost.MO with its histogram pass, and MO and MH with LightGBM, XGBoost and scikit-learn.

    OUTPUTCODES_DATA=<folder> python benchmarks/boosting.py [rounds] [labels] [large] [growth] [--quick]

All use two cores: ours and scikit-learn with n_jobs=2, the others as two models at a time with one thread each. All
have as many rounds and bins, and fitting and predicting are timed separately. The algorithms differ, so the table has
test errors beside the times. Our result is checked by an identity: the product of
all Z is the mean exponential loss. The floor of a round is n·d·L additions into histograms of float64, eight per
instruction. The histogram pass alone, without scores and weights, is timed as well.
"""

from __future__ import annotations

import resource
import time
from functools import partial

import numpy as np
from common import QUICK, WORDS, exponents, interleaved, load, print_table, save
from peers import BINS, fit_columns, margins, stump_models
from sklearn.ensemble import AdaBoostClassifier
from sklearn.multiclass import OneVsRestClassifier
from sklearn.tree import DecisionTreeClassifier

# Private names: the histogram pass of the implementation is timed by itself.
from outputcodes._ground.blocks import serially
from outputcodes._histograms.binning import bin_features
from outputcodes._histograms.stumps import fill_histograms
from outputcodes.boosting import AdaBoostMH, AdaBoostMO
from outputcodes.boosting._compiled.stumps import CONFIDENT
from outputcodes.boosting._shared_stumps import ColumnWeights
from outputcodes.codes import as_code

ROUNDS = 20 if QUICK else 200


def split(name):
    X, y, train = load(name)
    X = X.astype(np.float64)
    return X[train], y[train], X[~train], y[~train]


def error(predicted, y):
    return float(np.mean(predicted != y))


def histogram_pass(X, y, M, bins):
    """Return the CPU seconds of all histograms of one round, and nothing else."""
    weights = ColumnWeights(
        bin_features(X, bins, np.zeros(X.shape[1], dtype=bool)),
        y,
        M.astype(float),
        np.ones(len(y)),
        CONFIDENT,
        serially,
    )
    room, d, tile = weights._room(), X.shape[1], weights._tile

    def fill():
        for block in range(len(weights.V)):
            for first in range(0, d, tile):
                last = min(first + tile, d)
                fill_histograms(weights._part(block), first, last, room.histogram, room.of_class)

    return least_cpu(fill)


def least_cpu(run, repeats=5):
    seconds = []
    for _ in range(repeats):
        start = time.process_time()
        run()
        seconds.append(time.process_time() - start)
    return min(seconds)


def rounds():
    """One round compared with its histogram pass; all rounds compared with one stump model per column."""
    table = []
    for name in ("letter", "isolet"):
        X, y, X_test, y_test = split(name)
        M = as_code("dense").draw(y.max() + 1, random_state=0).matrix()
        (n, d), L = X.shape, M.shape[1]
        ours, others = AdaBoostMO(M, ROUNDS, bins=BINS, n_jobs=2), stump_models(ROUNDS)
        AdaBoostMO(M, 2, bins=BINS, n_jobs=2).fit(X, y)  # compile before timing
        repeats = 3 if name == "letter" else 1
        fits = {"MO": partial(ours.fit, X, y)}
        fits |= {who: partial(fit_columns, make, X, y, M) for who, make in others.items()}
        seconds, fitted = interleaved(fits, repeats)
        loss = np.exp(-M[y] * ours.margins(X)).mean()
        assert np.isclose(loss, ours.history_["Z"].prod(), rtol=1e-8)
        decoder = ours.with_decoder("logistic").decoder_
        predicts = {"MO": partial(ours.predict, X_test)}
        predicts |= {
            who: lambda own=fitted[who], X=X_test, M=M, by=decoder: by.predict(margins(own, X), M) for who in others
        }
        predicting, predicted = interleaved(predicts, repeats)
        few, more = (AdaBoostMO(M, T, bins=BINS) for T in (5, 25))
        of_a_round = (
            least_cpu(lambda m=more, X=X, y=y: m.fit(X, y), 3) - least_cpu(lambda m=few, X=X, y=y: m.fit(X, y), 3)
        ) / 20
        alone = histogram_pass(X, y, M, ours.bins)
        row = {"data": name, "L": L, **{f"{who} fit s": s for who, s in seconds.items()}}
        if others:
            row["faster peer / MO"] = min(seconds[who] for who in others) / seconds["MO"]
        row |= {
            "round ms": 1e3 * of_a_round,
            "histograms ms": 1e3 * alone,
            "round / histograms": of_a_round / alone,
            "G additions/s of a core": 1e-9 * n * d * L / of_a_round,
            **{f"{who} predict s": s for who, s in predicting.items()},
            **{f"{who} error": error(answer, y_test) for who, answer in predicted.items()},
        }
        table.append(row)
    print_table(table)
    return table


def labels():
    """AdaBoost.MH compared with scikit-learn's one-vs-rest AdaBoost, at equal rounds and at equal error."""
    X, y, X_test, y_test = split("letter")
    ours = AdaBoostMH(ROUNDS, n_jobs=2)
    theirs = OneVsRestClassifier(AdaBoostClassifier(DecisionTreeClassifier(max_depth=1), n_estimators=ROUNDS), n_jobs=2)
    AdaBoostMH(2).fit(X, y)
    seconds, _ = interleaved({"ours": lambda: ours.fit(X, y), "theirs": lambda: theirs.fit(X, y)}, repeats=3)
    ratio = seconds["theirs"] / seconds["ours"]
    reached = error(theirs.predict(X_test), y_test)
    longer = AdaBoostMH(10 * ROUNDS, n_jobs=2).fit(X, y)
    errors = [error(predicted, y_test) for predicted in longer.staged_predict(X_test)]
    enough = next((t for t, e in enumerate(errors, 1) if e <= reached), None)
    row = {
        "data": "letter",
        "rounds": ROUNDS,
        "MH s": seconds["ours"],
        "one-vs-rest AdaBoost s": seconds["theirs"],
        "ratio": ratio,
        "error MH": errors[ROUNDS - 1],
        "theirs": reached,
        "rounds for their error": str(enough),
    }
    if enough is not None:
        short = AdaBoostMH(enough, n_jobs=2)
        again, _ = interleaved({"ours": lambda: ours.fit(X, y), "short": lambda: short.fit(X, y)}, repeats=5)
        row |= {"s": again["short"], "ratio at their error": ratio * again["ours"] / again["short"]}
    print_table([row])
    return [row]


def large():
    """1,000 classes, 100 columns, 100,000 rows of 128 features, 200 rounds."""
    rng = np.random.default_rng(0)
    n, d, k, L = (2000, 16, 50, 20) if QUICK else (100_000, 128, 1000, 100)
    y = np.append(np.arange(k), rng.integers(k, size=n - k))
    X = rng.normal(size=(k, d))[y] + rng.normal(size=(n, d))
    M = rng.choice(np.array([-1, 1], dtype=np.int8), size=(k, L))
    start = time.perf_counter()
    model = AdaBoostMO(M, ROUNDS, n_jobs=2).fit(X, y)
    row = {
        "n": n,
        "d": d,
        "k": k,
        "L": L,
        "rounds": model.n_rounds_,
        "fit s": time.perf_counter() - start,
        "peak RSS GB": resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 2**20,
        "training error": error(model.predict(X[:5000]), y[:5000]),
    }
    print_table([row])
    return [row]


def growth():
    """Exponents of the fit time, on log axes."""
    rng = np.random.default_rng(0)
    few = 16 if QUICK else 1
    sizes = {
        "n": [8000 // few, 16000 // few, 32000 // few],
        "d": [16, 32, 64],
        "L": [32, 64, 128],
        "rounds": [25, 50, 100],
    }
    middle = {"n": 16000 // few, "d": 32, "L": 64, "rounds": 50}

    def seconds(n, d, L, rounds):
        X = rng.integers(32, size=(n, d)).astype(float)
        M = rng.choice(np.array([-1, 1], dtype=np.int8), size=(32, L))
        model = AdaBoostMO(M, rounds)
        return least_cpu(lambda: model.fit(X, np.arange(n) % 32), 3)

    rows = exponents(seconds, sizes, middle)
    print_table(rows)
    return rows


def main() -> None:
    parts = {"rounds": rounds, "labels": labels, "large": large, "growth": growth}
    for name in WORDS or parts:
        print(f"\n{parts[name].__doc__}\n")
        save(f"boosting_{name}", parts[name]())


if __name__ == "__main__":
    main()
