"""What a user gets for two minutes: our race, FLAML, and what people would use instead, on whole data sets.

    OUTPUTCODES_DATA=<folder> python benchmarks/answers.py [data set or system ...] [--seconds 30] [--quick]
    OUTPUTCODES_DATA=<folder> python benchmarks/answers.py small

"small" is for the small sets and 20newsgroups, with 30 seconds, which are not ranked. Without words, all are run:
with two minutes, with half a minute on six sets, and the small ones. Every data set has its own split, or a fixed
random third for the test, which is used once. Our race and FLAML get the same seconds of wall clock on two cores,
last fit included; the others have their defaults and one thread per core; SVC has a grid of 4 C × 4 gamma by three
folds of at most 5,000 rows, and is calibrated where every class has three rows. Each pair of a data set and a system
is a process and a file in results/answers: what is there is not run again. A peer is stopped after fifteen minutes and
then comes last, as does one that fails. FLAML runs in an environment of its own: the interpreter that FLAML_PYTHON
names; without it, FLAML is left out. answers_over_time.py uses the same files.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import numpy as np

SETS = [
    *("satimage", "segmentation", "pendigits", "yeast", "vowel", "thyroid", "isolet", "letter", "anneal", "optdigits"),
    *("vehicle", "shuttle", "usps", "mnist"),
]
# The first two stop by the clock; one answer of each of the others serves for any number of seconds.
TIMED = ("ours", "FLAML")
SYSTEMS = (*TIMED, "LightGBM", "CatBoost", "ExtraTrees", "HistGradientBoosting", "SVC")
SHORT_SETS = ("satimage", "pendigits", "vowel", "letter", "optdigits", "vehicle")
# Too small for ranks, or a text that most systems can't read.
SMALL_SETS = ("dermatology", "glass", "ecoli", "soybean", "audiology", "wine", "iris", "20newsgroups")
# A name with this at its end is a data set whose given split is ignored.
AT_RANDOM = "-random"
FULL, SHORT = 120.0, 30.0
MNIST_ROWS, LIMIT, THREADS = 10_000, 900, 2
HERE = Path(__file__).resolve().parent
# Kept with the results: all of it takes longer than most people have at once.
FOLDER = (HERE.parent / "build" / "benchmarks" if "--quick" in sys.argv else HERE / "results") / "answers"


def split(name):
    """Return training and test rows: frames, with categories as such, and class numbers."""
    import pandas as pd

    name, at_random = name.removesuffix(AT_RANDOM), name.endswith(AT_RANDOM)
    frame = pd.read_csv(Path(os.environ["OUTPUTCODES_DATA"]) / f"{name}.csv.gz", dtype={"target": str})
    y = np.unique(frame["target"], return_inverse=True)[1]
    X = frame.drop(columns=["split", "target"], errors="ignore")
    for column in X.select_dtypes(["object", "string"]).columns:
        # Most texts occur once.
        if X[column].nunique() < len(X) / 2:
            X[column] = X[column].astype("category")
    rng = np.random.default_rng(0)
    if "split" in frame and not at_random:
        train = (frame["split"] == "train").to_numpy()
    else:
        train = np.ones(len(y), dtype=bool)
        train[rng.permutation(len(y))[: len(y) // 3]] = False
    rows, tested = np.flatnonzero(train), np.flatnonzero(~train)
    if name == "mnist":
        rows = np.sort(rng.choice(rows, MNIST_ROWS, replace=False))
    known = np.isin(y[tested], y[rows])
    tested = tested[known]
    numbers = np.unique(y[rows])
    return X.iloc[rows], np.searchsorted(numbers, y[rows]), X.iloc[tested], np.searchsorted(numbers, y[tested])


def as_numbers(X):
    from outputcodes.selection.race import views

    return views.as_numbers(X, views.kinds_of(X))


def codes(X):
    """Categories as whole numbers."""
    return X.apply(
        lambda column: column.cat.codes.where(column.notna(), np.nan) if column.dtype == "category" else column
    )


def fitted(system, X, y, seconds):
    """Return a function from rows to probabilities, and what else there is to say."""
    from sklearn.pipeline import make_pipeline

    named = list(X.select_dtypes("category").columns)
    if system == "ours":
        from common import code_version

        from outputcodes.selection import Race

        race = Race(seconds, n_jobs=THREADS, random_state=0).fit(X, y)
        about = {"reported": race.loss_, "interval": list(race.interval_), "winner": race.winner_}
        return race.predict_proba, about | {"commit": code_version(Path(__file__))}
    if system == "FLAML":
        from flaml import AutoML

        model = AutoML()
        model.fit(X, y, task="classification", time_budget=seconds, n_jobs=THREADS, seed=0, verbose=0)
        return model.predict_proba, {"winner": [model.best_estimator]}
    if system == "LightGBM":
        from lightgbm import LGBMClassifier

        return LGBMClassifier(n_jobs=THREADS, verbose=-1, random_state=0).fit(X, y).predict_proba, {}
    if system == "CatBoost":
        from catboost import CatBoostClassifier

        def texts(X):
            return X.assign(**{name: X[name].astype(object).where(X[name].notna(), "") for name in named})

        how = {"thread_count": THREADS, "verbose": False, "allow_writing_files": False, "random_state": 0}
        model = CatBoostClassifier(**how, cat_features=named or None).fit(texts(X), y)
        return lambda X: model.predict_proba(texts(X)), {}
    if system == "ExtraTrees":
        from sklearn.ensemble import ExtraTreesClassifier

        model = ExtraTreesClassifier(n_jobs=THREADS, random_state=0).fit(codes(X), y)
        return lambda X: model.predict_proba(codes(X)), {}
    if system == "HistGradientBoosting":
        from sklearn.ensemble import HistGradientBoostingClassifier

        return HistGradientBoostingClassifier(random_state=0).fit(X, y).predict_proba, {}
    from sklearn.calibration import CalibratedClassifierCV
    from sklearn.model_selection import GridSearchCV
    from sklearn.svm import SVC

    plain = make_pipeline(as_numbers(X), SVC(break_ties=True))
    some = np.random.default_rng(0).permutation(len(y))[:5000]
    grid = {"svc__C": [1, 10, 100, 1000], "svc__gamma": [g / X.shape[1] for g in (0.1, 0.3, 1, 3)]}
    search = GridSearchCV(plain, grid, cv=3, n_jobs=THREADS).fit(X.iloc[some], y[some])
    best = search.best_estimator_
    if np.bincount(y).min() < 3:  # too few rows of a class to calibrate: the answer is certain of one class
        best.fit(X, y)
        return lambda X: np.eye(y.max() + 1)[best.predict(X)], {}
    return CalibratedClassifierCV(best, cv=3, n_jobs=THREADS, ensemble=False).fit(X, y).predict_proba, {}


def answer(name, system, seconds):
    """Train, predict and write one answer."""
    X, y, X_test, y_test = split(name)
    start = time.perf_counter()
    predict, more = fitted(system, X, y, seconds)
    taken = time.perf_counter() - start
    P = np.asarray(predict(X_test))
    losses = -np.log(np.maximum(P[np.arange(len(y_test)), y_test], 1e-15))
    missed = P.argmax(axis=1) != y_test
    return {
        "data": name,
        "system": system,
        "seconds": taken,
        "error": float(missed.mean()),
        "log-loss": float(losses.mean()),
        "missed": np.flatnonzero(missed).tolist(),
        "tested": len(y_test),
        "rows": len(y),
        **more,
    }


def path_of(name, system, seconds):
    """Return where an answer is."""
    return FOLDER / (f"{name}-{system}-{seconds:g}.json" if system in TIMED else f"{name}-{system}.json")


def known(name, system, seconds):
    """Return an answer, or None if it is missing."""
    path = path_of(name, system, seconds)
    return json.loads(path.read_text()) if path.exists() else None


def run_all(sets, systems, seconds):
    """Run what is missing, each in a process of its own."""
    FOLDER.mkdir(parents=True, exist_ok=True)
    for name in sets:
        for system in systems:
            path = path_of(name, system, seconds)
            if path.exists():
                continue
            python = os.environ.get("FLAML_PYTHON") if system == "FLAML" else sys.executable
            if python is None:
                print("FLAML_PYTHON is not set: FLAML is left out.", flush=True)
                continue
            command = [python, __file__, "--one", name, system, str(seconds), str(path)]
            try:
                with tempfile.TemporaryDirectory() as folder:  # for what CatBoost writes when FLAML runs it
                    subprocess.run(command, check=True, timeout=LIMIT + 60, cwd=folder)
            except (subprocess.TimeoutExpired, subprocess.CalledProcessError):
                # It comes last here.
                _write(path, {"data": name, "system": system, "seconds": None, "error": None, "log-loss": None})
            found = json.loads(path.read_text())
            shown = {key: found[key] for key in ("seconds", "error", "log-loss")}
            print(name, system, shown, flush=True)


def summary(sets, systems, seconds):
    """Return the table of errors, log-losses and ranks, and where ours is clearly worse than the best peer."""
    from scipy.stats import rankdata

    from outputcodes.selection import mcnemar

    rows, ranks = [], {"error": [], "log-loss": []}
    for name in sets:
        found = {}
        for system in systems:
            if (one := known(name, system, seconds)) is not None:
                found[system] = one
        if "ours" not in found or len(found) < 2:
            continue
        row = {"data": name, "s": found["ours"]["seconds"]}
        for what in ranks:
            values = [np.inf if one[what] is None else one[what] for one in found.values()]
            place = dict(zip(found, rankdata(values), strict=True))
            ranks[what].append(place)
            for system, value in zip(found, values, strict=True):
                shown = 100 * value if what == "error" else value
                row[f"{system} {what}"] = shown if np.isfinite(shown) else "failed"
        peers = {system: one for system, one in found.items() if system != "ours" and one["error"] is not None}
        if not peers or found["ours"]["error"] is None:
            rows.append(row)
            continue
        best = min(peers.values(), key=lambda one: one["error"])
        masks = [np.isin(np.arange(found["ours"]["tested"]), one["missed"]) for one in (found["ours"], best)]
        test = mcnemar(*masks)
        row["best peer"] = best["system"]
        row["p"] = test.p_value
        row["clearly worse"] = bool(test.p_value < 0.01 and test.first_only > test.second_only)
        rows.append(row)
    means = [
        {"system": system, **{f"mean rank by {what}": _mean(places, system) for what, places in ranks.items()}}
        for system in systems
    ]
    return rows, means


def _mean(places, system):
    own = [place[system] for place in places if system in place]
    return float(np.mean(own)) if own else None


def _write(path, data):
    part = Path(f"{path}.part")
    part.write_text(json.dumps(data) + "\n")
    part.replace(path)


def main() -> None:
    if sys.argv[1:2] == ["--one"]:
        _, _, name, system, seconds, path = sys.argv
        _write(Path(path), answer(name, system, float(seconds)))
        return
    from common import QUICK, WORDS

    words, seconds = list(WORDS), None
    if "--seconds" in words:
        at = words.index("--seconds")
        seconds = float(words[at + 1])
        del words[at : at + 2]
    if unknown := [word for word in words if word not in (*SETS, *SMALL_SETS, *SYSTEMS, "small")]:
        sys.exit(f"Unknown: {', '.join(unknown)}. Data sets: {', '.join((*SETS, *SMALL_SETS))}.")
    systems = [name for name in SYSTEMS if name in words] or SYSTEMS
    named = [name for name in (*SETS, *SMALL_SETS) if name in words]
    if QUICK:
        table(["vehicle"], ["vehicle"], ("ours", "ExtraTrees"), 5.0, "answers")
        return
    if seconds in (None, FULL) and "small" not in words:
        table(named or SETS, SETS, systems, FULL, "answers")
    if seconds == SHORT or not words:
        table(named or SHORT_SETS, SHORT_SETS, systems, SHORT, f"answers_{SHORT:g}")
    if "small" in words or not words:
        table(named or SMALL_SETS, SMALL_SETS, systems, SHORT, "answers_small", ranked=False)
    if seconds not in (None, FULL, SHORT):
        table(named or SHORT_SETS, SHORT_SETS, systems, seconds)


def table(sets, all_sets, systems, seconds, file=None, ranked=True) -> None:
    """Run what is missing of some sets, and print and save the table of all sets that are there."""
    from common import print_table, save

    run_all(sets, systems, seconds)
    rows, means = summary(all_sets, SYSTEMS, seconds)
    if not rows:
        return
    print_table(rows)
    if file is not None:
        save(file, rows)
    if ranked:
        print_table(means)
        if file is not None:
            save(f"{file}_ranks", means)


if __name__ == "__main__":
    main()
