"""Two checkouts of the library in turn on the same work: `python benchmarks/two_checkouts.py OTHER/src`.

Each checkout runs in its own process. Every task is repeated in turn, and the medians of CPU time are compared, beside
the test errors of both. A ratio above 1 means that this checkout is slower than the other.
"""

from __future__ import annotations

import json
import os
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import numpy as np

# A task of a tenth of a second takes up to a third longer in one process than in another, by where its arrays lie.
PROCESSES, REPEATS = 3, 3
# Rows of a data set that a task trains on; all test rows are predicted. Scaled to [0, 1].
SMALL, LARGE, WIDE = ("letter", 2500), ("letter", 16000), ("isolet", 6238)
TASKS = {
    "ridge, dense code": "OutputCodeClassifier('ridge', code='dense', random_state=0)",
    "logistic, dense code": "OutputCodeClassifier('logistic', code='dense', random_state=0)",
    "linear SVM, all-pairs": "OutputCodeClassifier('linear-svm', code='all-pairs')",
    "kernel SVM, dense code": "OutputCodeClassifier(KernelSVM(10, gamma=16), code='dense', random_state=0)",
    "kernel SVM, all-pairs": "OutputCodeClassifier(KernelSVM(10, gamma=16), code='all-pairs')",
    "kernel SVM, one-vs-all": "OutputCodeClassifier(KernelSVM(10, gamma=16), code='one-vs-all')",
    "kernel SVM, folded bias": "OutputCodeClassifier(KernelSVM(10, gamma=16, bias='folded'), code='one-vs-all')",
    "likelihood, all-pairs": "OutputCodeClassifier(KernelSVM(10, gamma=16), probability='likelihood', random_state=0)",
    "stumps, one-vs-all": "OutputCodeClassifier('stumps', code='one-vs-all')",
    "stumps, all-pairs": "OutputCodeClassifier('stumps', code='all-pairs')",
    "tree, dense code": "OutputCodeClassifier('tree', code='dense', random_state=0)",
    "designed code": "OutputCodeClassifier('ridge', code='designed', random_state=0)",
    "multiclass SVM, kernel": "MulticlassSVC(C=10, gamma=16)",
    "multiclass SVM, linear": "MulticlassSVC('linear', max_iter=300)",
    "AdaBoost.MO": "AdaBoostMO(n_rounds=300)",
    "AdaBoost.MH": "AdaBoostMH(n_rounds=300)",
    "AdaBoost.MR": "AdaBoostMR(n_rounds=300)",
    "AdaBoost.OC": "AdaBoostOC(n_rounds=300, random_state=0)",
    "SmoothBoost": "SmoothBoost(n_rounds=100, random_state=0)",
    "decision tree": "DecisionTree()",
    "bound search": "BoundSearch(OutputCodeClassifier(KernelSVM(10, bias='folded'), code='one-vs-all'), "
    "{'estimator__gamma': [1, 2, 4, 8, 16]})",
}
LARGE_TASKS = {
    "stumps, one-vs-all": (LARGE, TASKS["stumps, one-vs-all"]),
    "tree, dense code": (LARGE, TASKS["tree, dense code"]),
    "decision tree": (LARGE, TASKS["decision tree"]),
    "AdaBoost.MO": (LARGE, TASKS["AdaBoost.MO"]),
    "AdaBoost.MR": (LARGE, TASKS["AdaBoost.MR"]),
    "kernel SVM, all-pairs": (LARGE, TASKS["kernel SVM, all-pairs"]),
    "ridge, dense code": (WIDE, TASKS["ridge, dense code"]),
    "logistic, dense code": (WIDE, TASKS["logistic, dense code"]),
    "linear SVM, all-pairs": (WIDE, TASKS["linear SVM, all-pairs"]),
    "kernel SVM, one-vs-all": (WIDE, "OutputCodeClassifier(KernelSVM(10, gamma=0.02), code='one-vs-all')"),
    "multiclass SVM, kernel": (WIDE, "MulticlassSVC(C=10, gamma=0.02)"),
}
WORK = {f"{task}, {SMALL[1]} rows of {SMALL[0]}": (SMALL, model) for task, model in TASKS.items()} | {
    f"{task}, {rows[1]} rows of {rows[0]}": (rows, model) for task, (rows, model) in LARGE_TASKS.items()
}


def work(folder: str) -> None:
    """Fit and predict one task per line of the standard input; write CPU seconds and the error."""
    import warnings

    from outputcodes import (  # noqa: F401
        AdaBoostMH,
        AdaBoostMO,
        AdaBoostMR,
        AdaBoostOC,
        DecisionTree,
        MulticlassSVC,
        OutputCodeClassifier,
        SmoothBoost,
    )
    from outputcodes.learners import KernelSVM  # noqa: F401
    from outputcodes.selection import BoundSearch  # noqa: F401

    warnings.simplefilter("ignore")
    for name in map(str.strip, sys.stdin):
        (data, rows), text = WORK[name]
        loaded = dict(np.load(f"{folder}/{data}_{rows}.npz"))
        model = eval(text)  # the names above
        start = time.process_time()
        predicted = model.fit(loaded["X"], loaded["y"]).predict(loaded["X_test"])
        seconds = time.process_time() - start
        print(json.dumps([seconds, float(np.mean(predicted != loaded["y_test"]))]), flush=True)


def main(other: str) -> None:
    """Run both checkouts in turn and save the ratios."""
    from common import commit_of, load, print_table, save

    checkouts = {"other": other, "this": str(Path(__file__).parents[1] / "src")}
    seconds: dict[str, dict[str, list[float]]] = {task: {name: [] for name in checkouts} for task in WORK}
    error: dict[str, dict[str, float]] = {task: {} for task in WORK}
    with tempfile.TemporaryDirectory() as folder:
        for data, size in (SMALL, LARGE, WIDE):
            X, y, train = load(data)
            X = (X - X.min(axis=0)) / np.ptp(X, axis=0)
            some, test = np.flatnonzero(train)[:size], np.flatnonzero(~train)
            np.savez(f"{folder}/{data}_{size}.npz", X=X[some], y=y[some], X_test=X[test], y_test=y[test])
        for _ in range(PROCESSES):
            workers = {name: start_worker(path, folder) for name, path in checkouts.items()}
            for task in WORK:
                for repeat in range(REPEATS + 1):
                    for name, worker in workers.items():
                        taken, error[task][name] = run(worker, task)
                        if repeat > 0:  # the first compiles
                            seconds[task][name].append(taken)
            for worker in workers.values():
                worker.kill()
    rows = []
    for task in WORK:
        median = {name: statistics.median(times) for name, times in seconds[task].items()}
        rows.append(
            {
                "task": task,
                "other s": median["other"],
                "this s": median["this"],
                "this / other": median["this"] / median["other"],
                "error other %": 100 * error[task]["other"],
                "error this %": 100 * error[task]["this"],
                "repeats": PROCESSES * REPEATS,
            }
        )
    commits = {f"{name} checkout": commit_of(Path(path)) for name, path in checkouts.items()}
    save("two_checkouts", [*rows, commits])
    print_table(rows)


def start_worker(source: str, folder: str) -> subprocess.Popen[str]:
    """Return a process that runs tasks with the library in `source`."""
    own = {"PYTHONPATH": source, "OMP_NUM_THREADS": "1", "OPENBLAS_NUM_THREADS": "1"}
    return subprocess.Popen(
        [sys.executable, __file__, "--work", folder],
        env={**os.environ, **own},
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    )


def run(worker: subprocess.Popen[str], task: str) -> list[float]:
    """Return CPU seconds and error of a task."""
    assert worker.stdin is not None
    assert worker.stdout is not None
    worker.stdin.write(task + "\n")
    worker.stdin.flush()
    answer: list[float] = json.loads(worker.stdout.readline())
    return answer


if __name__ == "__main__":
    if sys.argv[1:2] == ["--work"]:
        work(sys.argv[2])
    elif len(sys.argv) == 2:
        main(sys.argv[1])
    else:
        print(__doc__)
