"""Compare GradientBoost with LightGBM, XGBoost, CatBoost and chimeraboost.

    OUTPUTCODES_DATA=<folder> python benchmarks/boosted_trees.py [part ...] [--quick]

The parts are tables, peers, growth, cost, mnist and many. Ours has its defaults, and early stopping is part of its
time; the peers have theirs, LightGBM and XGBoost with 100 rounds. All have the same threads (in `tables` one and two,
in `growth` one, else two) and are run in turn. Errors and log-losses are those of the test rows; they and the seconds
are means of three seeds, of one for what takes long; only fitting is timed. The floor of a round is n·d additions of
vectors of 32 bytes into histograms for each level of the tree, and n·k·(m + 3) operations for probabilities and
sketches of m columns.
"""

from __future__ import annotations

import os
import pickle
import resource
import subprocess
import sys
import tempfile
import time
from functools import partial

import numpy as np
from catboost import CatBoostClassifier
from chimeraboost import ChimeraBoostClassifier
from common import QUICK, WORDS, exponents, interleaved, load, print_table, save
from lightgbm import LGBMClassifier
from lightgbm.callback import EarlyStopException
from made_tables import boxes, traits
from sklearn.metrics import log_loss
from xgboost import XGBClassifier
from xgboost.callback import TrainingCallback

from outputcodes import GradientBoost

SEEDS = range(1 if QUICK else 3)
ROUNDS = 5 if QUICK else 100
# A peer with many classes is stopped after so many seconds.
LIMIT = 5 if QUICK else 600
# What should be reached: test error %, log-loss, times the speed of LightGBM.
TARGETS = {
    "letter": (2.7, 0.085, 3),
    "pendigits": (3.3, 0.15, 1.5),
    "optdigits": (3.3, 0.13, 1.5),
    "satimage": (None, 0.25, 1.5),
    "isolet": (4.6, None, 20),
}
# Fewer rounds, longer steps, larger trees: for those who want an answer of LightGBM's quality at once.
SHORT = {"n_rounds": 80, "learning_rate": 0.3, "max_leaves": 160, "validation_fraction": None}
# For tables whose classes are many small boxes; chosen on training rows.
DEEP = {"max_leaves": 1600, "max_features": 1.0}


def split(name):
    X, y, train = load(name)
    X = X.astype(np.float64)
    return X[train], y[train], X[~train], y[~train]


def compile_first():
    X, y = np.random.default_rng(0).normal(size=(200, 4)), np.arange(200) % 7
    GradientBoost(3, n_jobs=2, random_state=0).fit(X, y).predict_proba(X)


def lightgbm(n_jobs=2, **parameters):
    return LGBMClassifier(n_estimators=ROUNDS, n_jobs=n_jobs, verbose=-1, **parameters)


def xgboost(**parameters):
    return XGBClassifier(n_estimators=ROUNDS, tree_method="hist", n_jobs=2, **parameters)


def scored(model, X, y):
    """Return test error % and log-loss."""
    P = model.predict_proba(X)
    return 100 * float(np.mean(P.argmax(axis=1) != y)), float(log_loss(y, P, labels=np.arange(P.shape[1])))


def compared(name, makers, once=()):
    """Return the mean seconds, errors, log-losses and rounds of models, with three seeds in turn, or `once`."""
    X, y, X_test, y_test = split(name)
    found = {who: [] for who in makers}
    for seed in SEEDS:
        for who, make in makers.items():
            if seed and who in once:
                continue
            seconds, model = timed_fit(make(random_state=seed), X, y)
            found[who].append((seconds, *scored(model, X_test, y_test), getattr(model, "n_rounds_", ROUNDS)))
    means = {who: np.mean(numbers, axis=0).tolist() for who, numbers in found.items()}
    return [{who: numbers[place] for who, numbers in means.items()} for place in range(4)]


def tables():
    """Ours and LightGBM, both with their defaults."""
    compile_first()
    rows = []
    work = [(name, threads) for name in TARGETS for threads in (1, 2) if (name, threads) != ("isolet", 1)]
    for name, threads in work:
        error, loss, speed = TARGETS[name]
        makers = {
            "ours": partial(GradientBoost, n_jobs=threads),
            "short": partial(GradientBoost, **SHORT, n_jobs=threads),
            "LightGBM": partial(lightgbm, n_jobs=threads),
        }
        seconds, errors, losses, rounds = compared(name, makers, once=["LightGBM"] if name == "isolet" else [])
        rows.append(
            {
                "data": name,
                "threads": threads,
                **{f"{who} s": s for who, s in seconds.items()},
                "LightGBM / ours": seconds["LightGBM"] / seconds["ours"],
                "wanted": speed,
                "LightGBM / short": seconds["LightGBM"] / seconds["short"],
                **{f"{who} error %": e for who, e in errors.items()},
                "wanted %": error,
                **{f"{who} log-loss": e for who, e in losses.items()},
                "wanted log-loss": loss,
                "rounds": rounds["ours"],
            }
        )
    print_table(rows)
    return rows


def peers():
    """The other libraries that grow one tree for all classes."""
    compile_first()
    rows = []
    for name in list(TARGETS)[:4]:
        makers = {
            "ours": partial(GradientBoost, n_jobs=2),
            "XGBoost, multi_output_tree": partial(xgboost, multi_strategy="multi_output_tree"),
            "chimeraboost": partial(ChimeraBoostClassifier, thread_count=2),
            "CatBoost": partial(CatBoostClassifier, thread_count=2, verbose=False, allow_writing_files=False),
        }
        seconds, errors, losses, _ = compared(name, makers, once=list(makers)[1:])
        rows += [
            {"data": name, "library": who, "fit s": seconds[who], "error %": errors[who], "log-loss": losses[who]}
            for who in makers
        ]
    print_table(rows)
    return rows


def mnist():
    """All of MNIST."""
    compile_first()
    makers = {"ours": partial(GradientBoost, n_jobs=2), "LightGBM": lightgbm, "XGBoost": xgboost}
    seconds, errors, losses, _ = compared("mnist", makers, once=["LightGBM", "XGBoost"])
    rows = [{"library": who, "fit s": seconds[who], "error %": errors[who], "log-loss": losses[who]} for who in makers]
    print_table(rows)
    return rows


class Deadline(TrainingCallback):
    """Stops XGBoost, and by its method `stop` LightGBM, when the time is over; counts rounds."""

    def __init__(self):
        self.start, self.rounds = time.perf_counter(), 0

    def after_iteration(self, model, epoch, evals_log):
        self.rounds = epoch + 1
        return time.perf_counter() - self.start > LIMIT

    def stop(self, env):
        if self.after_iteration(env.model, env.iteration, None):
            raise EarlyStopException(env.iteration, [("", "", 0.0, False)])


def many():
    """Many classes: seconds of ours until the error of a peer that had at most ten minutes."""
    compile_first()
    n, n_test, d = (2000, 500, 10) if QUICK else (50_000, 10_000, 50)
    few, more = (20, 40) if QUICK else (355, 1000)
    everyone = {"LightGBM": lightgbm, "XGBoost": xgboost}
    rows = []
    for draw, k, ours, peers in (
        (traits, few, {}, everyone),
        (traits, more, {}, everyone),
        (boxes, few, {}, {"XGBoost": xgboost}),
        (boxes, few, DEEP, {}),
    ):
        X, y = draw(k, n + n_test, d)
        work = X[:n], y[:n], X[n:], y[n:]
        rows.append({"table": draw.__name__, "k": k, "settings": str(ours or "defaults"), **beside(work, ours, peers)})
        print_table(rows[-1:])
    return rows


def beside(work, parameters, peers):
    """Return time and error of ours and of the peers, and when ours had the error of each."""
    X, y, X_test, y_test = work
    ours = partial(GradientBoost, **parameters, n_jobs=2, random_state=0)
    seconds, model = timed_fit(ours(), X, y)
    stages = [float(np.mean(stage != y_test)) for stage in model.staged_predict(X_test)]
    row = {"ours s": seconds, "rounds": model.n_rounds_, "ours error %": 100 * stages[-1]}
    row["s per round"] = seconds / model.n_rounds_
    for who, make in peers.items():
        deadline = Deadline()
        # LightGBM would take an object with XGBoost's methods for one that is called before each round.
        words = {"callbacks": [deadline.stop if who == "LightGBM" else deadline]}
        peer = make() if who == "LightGBM" else make(**words)
        row[f"{who} s"], peer = timed_fit(peer, X, y, **(words if who == "LightGBM" else {}))
        error = float(np.mean(peer.predict(X_test) != y_test))
        row |= {f"{who} rounds": deadline.rounds, f"{who} error %": 100 * error}
        needed = next((t + 1 for t, e in enumerate(stages) if e <= error), None)
        if needed is not None:
            row[f"ours s to {who}'s error"], short = timed_fit(ours(needed, validation_fraction=None), X, y)
            row[f"ours error % then, {who}"] = 100 * float(np.mean(short.predict(X_test) != y_test))
            row[f"{who} / ours"] = row[f"{who} s"] / row[f"ours s to {who}'s error"]
    return row


def timed_fit(model, X, y, **words):
    start = time.perf_counter()
    model.fit(X, y, **words)
    return time.perf_counter() - start, model


def cost():
    """Predicting beside LightGBM, first use, and memory with 1,000 classes."""
    compile_first()
    X, y, X_test, _ = split("letter")
    ours, theirs = GradientBoost(n_jobs=2, random_state=0).fit(X, y), lightgbm().fit(X, y)
    predicting, _ = interleaved(
        {"ours": lambda: ours.predict(X_test), "LightGBM": lambda: theirs.predict(X_test)}, repeats=5
    )
    row = {f"{who} µs per row": 1e6 * s / len(X_test) for who, s in predicting.items()} | first_use()
    n, k, rounds = (2000, 40, 20) if QUICK else (50_000, 1000, 300)
    X, y = traits(k, n, 50)
    model = GradientBoost(rounds, validation_fraction=None, n_jobs=2, random_state=0).fit(X, y)
    row["model MB"] = len(pickle.dumps(model)) / 2**20
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    many_rows = np.concatenate([X] * 2)
    start = time.perf_counter()
    model.predict(many_rows)
    row["µs per row with 1,000 classes"] = 1e6 * (time.perf_counter() - start) / len(many_rows)
    row["peak MB of predicting more than training"] = (
        resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before
    ) / 1024
    print_table([row])
    return [row]


def first_use():
    """Median seconds of a first fit and predict in a new process, with compilation, then from the cache."""
    script = (
        "import time, numpy as np, sklearn.utils.estimator_checks\n"
        "start = time.perf_counter()\n"
        "from outputcodes import GradientBoost\n"
        "X = np.arange(180.0).reshape(60, 3)\n"
        "GradientBoost(3).fit(X, np.arange(60) % 7).predict(X)\n"
        "print(time.perf_counter() - start)"
    )
    pairs = []
    for _ in range(1 if QUICK else 5):
        with tempfile.TemporaryDirectory() as cache:
            command, own = [sys.executable, "-c", script], os.environ | {"NUMBA_CACHE_DIR": cache}
            runs = [subprocess.run(command, env=own, capture_output=True, text=True, check=True) for _ in range(2)]
        pairs.append([float(run.stdout) for run in runs])
    compiling, cached = np.median(pairs, axis=0)
    return {"first use s": float(compiling), "later process s": float(cached)}


def growth():
    """Exponents of the fit time, on log axes."""
    compile_first()
    few = 16 if QUICK else 1
    sizes = {
        "n": [16000 // few, 32000 // few, 64000 // few],
        "d": [16, 32, 64],
        "k": [32, 64, 128],
        "rounds": [25, 50, 100],
    }
    middle = {"n": 32000 // few, "d": 32, "k": 64, "rounds": 50}

    def seconds(n, d, k, rounds):
        X, y = traits(k, n, d)
        model = GradientBoost(rounds, validation_fraction=None, n_jobs=1, random_state=0)
        return interleaved({"ours": lambda: model.fit(X, y)}, repeats=3)[0]["ours"]

    rows = exponents(seconds, sizes, middle)
    print_table(rows)
    return rows


def main() -> None:
    parts = {"tables": tables, "peers": peers, "growth": growth, "cost": cost, "mnist": mnist, "many": many}
    for name in WORDS or parts:
        print(f"\n{parts[name].__doc__}\n")
        save(f"boosted_trees_{name}", parts[name]())


if __name__ == "__main__":
    main()
