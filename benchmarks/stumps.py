"""Compare BoostedStumps with scikit-learn's AdaBoost, LightGBM and XGBoost, one model per column, 200 stumps each.

    OUTPUTCODES_DATA=<folder> python benchmarks/stumps.py

All use two cores: ours and scikit-learn with n_jobs=2, the others as two models at a time with one thread each. The
data have at most 101 distinct values per feature, so all see the same thresholds. Discrete stumps must reach
scikit-learn's exponential loss; the others minimise another loss, so the table compares test errors. The floor is
n·d·L·T additions into histograms of float64, eight per instruction, and per round L·n weights read twice and written
once; it is printed as the rate that was reached.
"""

from __future__ import annotations

import os
import resource
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import numpy as np
import pandas as pd
from common import interleaved, print_table, save
from joblib import Parallel, delayed
from sklearn.ensemble import AdaBoostClassifier
from sklearn.multiclass import OneVsRestClassifier
from sklearn.multiclass import OutputCodeClassifier as ScikitOutputCode
from sklearn.tree import DecisionTreeClassifier

from outputcodes import OutputCodeClassifier
from outputcodes.codes import as_code
from outputcodes.learners import BoostedStumps

ROUNDS = 200
DATA = ("pendigits", "letter")
CODES = ("one-vs-all", "dense")


def load(name):
    frame = pd.read_csv(Path(os.environ["OUTPUTCODES_DATA"]) / f"{name}.csv.gz")
    train = (frame["split"] == "train").to_numpy()
    X = frame.drop(columns=["split", "target"]).to_numpy(dtype=float)
    y = np.unique(frame["target"].astype(str), return_inverse=True)[1]
    return X[train], y[train], X[~train], y[~train]


def lightgbm_margins(X, y, M, X_test):
    from lightgbm import LGBMClassifier

    bins = {"max_bin": 255, "min_data_in_bin": 1, "min_child_samples": 1}

    def margins(target):
        model = LGBMClassifier(n_estimators=ROUNDS, num_leaves=2, n_jobs=1, verbose=-1, **bins)
        return model.fit(X, target).booster_.predict(X_test, raw_score=True)

    return column_by_column(margins, y, M)


def xgboost_margins(X, y, M, X_test):
    from xgboost import XGBClassifier

    def margins(target):
        model = XGBClassifier(n_estimators=ROUNDS, max_depth=1, max_bin=255, tree_method="hist", n_jobs=1)
        return model.fit(X, target).predict(X_test, output_margin=True)

    return column_by_column(margins, y, M)


def column_by_column(margins, y, M):
    """Return half the log-odds of each column, computed two columns at a time."""
    columns = Parallel(n_jobs=2, prefer="threads")(delayed(margins)((column[y] > 0).astype(int)) for column in M.T)
    return np.column_stack(columns) / 2


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
    X, y, X_test, y_test = load(name)
    M = as_code(code).draw(y.max() + 1, random_state=0).matrix()
    n, d, L = *X.shape, M.shape[1]
    BoostedStumps(1).fit(X, y > 0)  # compile before timing
    seconds, answers = interleaved(
        {
            "discrete": lambda: ours(X, y, M, "discrete"),
            "confidence": lambda: ours(X, y, M, "confidence"),
            "LightGBM": lambda: lightgbm_margins(X, y, M, X_test),
            "XGBoost": lambda: xgboost_margins(X, y, M, X_test),
        },
        repeats=5,
    )
    slow, peers = interleaved({"scikit-learn": lambda: scikit_learn(X, y, code, L)}, repeats=1)
    seconds |= slow
    if code == "one-vs-all":
        # Their output is 4F / (sum of weights).
        fitted = peers["scikit-learn"].estimators_
        theirs = np.column_stack([m.decision_function(X) * m.estimator_weights_.sum() / 4 for m in fitted])
        assert exponential_loss(answers["discrete"].margins(X), y, M) <= 1.01 * exponential_loss(theirs, y, M)
    decoder = answers["confidence"].with_decoder("logistic").decoder_

    def error(predicted):
        return float((predicted != y_test).mean())

    confident = answers["confidence"].predict(X_test)
    predicting, _ = interleaved({"predict": lambda: answers["confidence"].predict(X_test)}, repeats=5)
    best_peer = min(seconds["LightGBM"], seconds["XGBoost"])
    return {
        "data": name,
        "code": code,
        "n": n,
        "L": L,
        **{f"{who} s": s for who, s in seconds.items()},
        "scikit-learn / ours": seconds["scikit-learn"] / seconds["discrete"],
        "faster of LightGBM, XGBoost / ours": best_peer / seconds["confidence"],
        "G additions/s": 1e-9 * n * d * L * ROUNDS / seconds["confidence"],
        "weights GB/s": 24e-9 * n * L * ROUNDS / seconds["confidence"],
        "predict s": predicting["predict"],
        "test error ours": error(confident),
        "LightGBM": error(decoder.predict(answers["LightGBM"], M)),
        "XGBoost": error(decoder.predict(answers["XGBoost"], M)),
        "scikit-learn": error(peers["scikit-learn"].predict(X_test)),
        "peak RSS MB": resource.getrusage(resource.RUSAGE_SELF).ru_maxrss // 1024,
    }


def growth():
    """Measure the exponents of the fit time in n and in L, by least squares on log axes."""
    X, y, _, _ = load("letter")
    rng = np.random.default_rng(0)
    M = np.where(rng.random((26, 128)) < 0.5, -1, 1).astype(np.int8)
    M[:2] = [[1], [-1]]  # both signs in every column, whatever the rows

    def seconds(n, L):
        learner = BoostedStumps(50)
        rows = np.append(np.flatnonzero(y < 2)[:2], np.arange(n - 2))
        contender = {"ours": lambda: learner.fit_columns(learner.prepare(X[rows]), y[rows], M[:, :L], n_jobs=2)}
        return interleaved(contender, repeats=3)[0]["ours"]

    sizes, widths = [2000, 4000, 8000, 16000], [16, 32, 64, 128]
    in_n = np.polyfit(np.log(sizes), np.log([seconds(n, 48) for n in sizes]), 1)[0]
    in_L = np.polyfit(np.log(widths), np.log([seconds(8000, L) for L in widths]), 1)[0]
    print(f"\nfit time grows as n^{in_n:.2f} and L^{in_L:.2f}")
    return {"exponent of n": float(in_n), "exponent of L": float(in_L)}


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
    print(f"first use {compiling:.2f} s, later processes {cached:.2f} s")
    return {"first use s": compiling, "later process s": cached}


def main() -> None:
    if "OUTPUTCODES_DATA" not in os.environ:
        sys.exit("Set OUTPUTCODES_DATA to the directory of the data sets (letter.csv.gz, pendigits.csv.gz).")
    start = time.perf_counter()
    table = [measure(name, code) for name in DATA for code in CODES]
    print_table(table)
    save("stumps", [*table, growth(), first_use()])
    print(f"{time.perf_counter() - start:.0f} s in total")


if __name__ == "__main__":
    main()
