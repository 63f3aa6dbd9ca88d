"""Compare BoostedStumps with scikit-learn's AdaBoost, LightGBM and XGBoost, one model per column, 200 stumps each.

    OUTPUTCODES_DATA=<folder> python benchmarks/stumps.py [--quick]

All use two cores: ours and scikit-learn with n_jobs=2, the others as two models at a time with one thread each. Fitting
and predicting are timed separately, for all of them. The data have at most 101 distinct values per feature, so all see
the same thresholds. Discrete stumps must reach scikit-learn's exponential loss; the others minimise another loss, so
the table compares test errors. The floor is n·d·L·T additions into histograms of float64, eight per instruction, and
per round L·n weights read twice and written once; it is printed as the rate that was reached.
"""

from __future__ import annotations

import os
import resource
import subprocess
import sys
import tempfile
from functools import partial

import numpy as np
from common import QUICK, exponent, interleaved, load, print_table, save
from peers import fit_columns, margins, stump_models
from sklearn.ensemble import AdaBoostClassifier
from sklearn.multiclass import OneVsRestClassifier
from sklearn.multiclass import OutputCodeClassifier as ScikitOutputCode
from sklearn.tree import DecisionTreeClassifier

from outputcodes import OutputCodeClassifier
from outputcodes.codes import as_code
from outputcodes.learners import BoostedStumps

ROUNDS = 20 if QUICK else 200
REPEATS = 5
DATA = ("pendigits", "letter")
CODES = ("one-vs-all", "dense")


def split(name):
    X, y, train = load(name)
    X = X.astype(float)
    return X[train], y[train], X[~train], y[~train]


def ours(X, y, M, hypotheses):
    return OutputCodeClassifier(BoostedStumps(ROUNDS, hypotheses), code=M, n_jobs=2).fit(X, y)


def scikit_learn(X, y, code, L):
    stumps = AdaBoostClassifier(DecisionTreeClassifier(max_depth=1), n_estimators=ROUNDS)
    if code == "one-vs-all":
        return OneVsRestClassifier(stumps, n_jobs=2).fit(X, y)
    k = len(np.unique(y))
    return ScikitOutputCode(stumps, code_size=(L + 0.5) / k, random_state=0, n_jobs=2).fit(X, y)


def exponential_loss(F, y, M):
    return float(np.exp(-M[y] * F).mean())


def measure(name, code):
    X, y, X_test, y_test = split(name)
    M = as_code(code).draw(y.max() + 1, random_state=0).matrix()
    n, d, L = *X.shape, M.shape[1]
    BoostedStumps(1).fit(X, y > 0)  # compile before timing
    others = stump_models(ROUNDS)
    fits = {kind: partial(ours, X, y, M, kind) for kind in ("discrete", "confidence")}
    fits |= {who: partial(fit_columns, make, X, y, M) for who, make in others.items()}
    seconds, fitted = interleaved(fits, REPEATS)
    slow, peers = interleaved({"scikit-learn": lambda: scikit_learn(X, y, code, L)}, repeats=1)
    seconds |= slow
    if code == "one-vs-all":
        # Their output is 4F / (sum of weights).
        models = peers["scikit-learn"].estimators_
        theirs = np.column_stack([m.decision_function(X) * m.estimator_weights_.sum() / 4 for m in models])
        assert exponential_loss(fitted["discrete"].margins(X), y, M) <= 1.01 * exponential_loss(theirs, y, M)
    decoder = fitted["confidence"].with_decoder("logistic").decoder_

    def decoded(who):
        return decoder.predict(margins(fitted[who], X_test), M)

    predicts = {"ours": lambda: fitted["confidence"].predict(X_test)}
    predicts |= {who: partial(decoded, who) for who in others}
    predicting, predicted = interleaved(predicts, REPEATS)
    slow, answers = interleaved({"scikit-learn": lambda: peers["scikit-learn"].predict(X_test)}, repeats=1)
    predicting, predicted = predicting | slow, predicted | answers
    row = {
        "data": name,
        "code": code,
        "n": n,
        "L": L,
        **{f"{who} fit s": s for who, s in seconds.items()},
        "scikit-learn / ours": seconds["scikit-learn"] / seconds["discrete"],
    }
    if others:
        best_peer = min(seconds[who] for who in others)
        row["faster of LightGBM, XGBoost / ours"] = best_peer / seconds["confidence"]
    return row | {
        "G additions/s": 1e-9 * n * d * L * ROUNDS / seconds["confidence"],
        "weights GB/s": 24e-9 * n * L * ROUNDS / seconds["confidence"],
        **{f"{who} predict s": s for who, s in predicting.items()},
        **{f"{who} test error": float((answer != y_test).mean()) for who, answer in predicted.items()},
        "peak RSS MB": resource.getrusage(resource.RUSAGE_SELF).ru_maxrss // 1024,
    }


def growth():
    """Measure the exponents of the fit time in n and in L, by least squares on log axes."""
    X, y, _, _ = split("letter")
    rng = np.random.default_rng(0)
    M = np.where(rng.random((26, 128)) < 0.5, -1, 1).astype(np.int8)
    M[:2] = [[1], [-1]]  # both signs in every column, whatever the rows

    def seconds(n, L):
        learner = BoostedStumps(50)
        rows = np.append(np.flatnonzero(y < 2)[:2], np.arange(n - 2))
        contender = {"ours": lambda: learner.fit_columns(learner.prepare(X[rows]), y[rows], M[:, :L], n_jobs=2)}
        return interleaved(contender, repeats=3)[0]["ours"]

    sizes, widths = [len(y) // 8, len(y) // 4, len(y) // 2, len(y)], [16, 32, 64, 128]
    return {
        "exponent of n": exponent(sizes, [seconds(n, 48) for n in sizes]),
        "exponent of L": exponent(widths, [seconds(len(y) // 2, L) for L in widths]),
    }


def first_use():
    """Measure the seconds of a first fit in a new process without imports: with compilation, then from the cache."""
    script = (
        "import time, numpy as np, sklearn.utils.estimator_checks\n"
        "from outputcodes import OutputCodeClassifier\n"
        "start = time.perf_counter()\n"
        "from outputcodes.learners import BoostedStumps\n"
        "X = np.arange(60.0).reshape(20, 3)\n"
        "BoostedStumps(3).fit(X, np.arange(20) % 7 > 2)\n"
        "print(time.perf_counter() - start)"
    )
    with tempfile.TemporaryDirectory() as cache:
        runs = [
            subprocess.run(
                [sys.executable, "-c", script],
                env=os.environ | {"NUMBA_CACHE_DIR": cache},
                capture_output=True,
                text=True,
                check=True,
            )
            for _ in range(2)
        ]
    compiling, cached = (float(run.stdout) for run in runs)
    return {"first use s": compiling, "later process s": cached}


def main() -> None:
    table = [measure(name, code) for name in DATA for code in CODES]
    grown, compiling = growth(), first_use()
    for rows in (table, [grown], [compiling]):
        print_table(rows)
    save("stumps", [*table, grown, compiling])


if __name__ == "__main__":
    main()
