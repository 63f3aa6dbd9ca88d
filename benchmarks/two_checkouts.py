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

REPEATS = 7
TASKS = {
    "ridge, dense code": "OutputCodeClassifier('ridge', code='dense', random_state=0)",
    "logistic, dense code": "OutputCodeClassifier('logistic', code='dense', random_state=0)",
    "linear SVM, all-pairs": "OutputCodeClassifier('linear-svm', code='all-pairs')",
    "kernel SVM, dense code": "OutputCodeClassifier(KernelSVM(10, gamma=16), code='dense', random_state=0)",
    "kernel SVM, all-pairs": "OutputCodeClassifier(KernelSVM(10, gamma=16), code='all-pairs')",
    "kernel SVM, one-vs-all": "OutputCodeClassifier(KernelSVM(10, gamma=16), code='one-vs-all')",
    "kernel SVM, folded bias": "OutputCodeClassifier(KernelSVM(10, gamma=16, bias='folded'), code='one-vs-all')",
    "likelihood, all-pairs": "OutputCodeClassifier(KernelSVM(10, gamma=16), probability='likelihood')",
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


def work(data: str) -> None:
    """Fit and predict one task per line of the standard input; write CPU seconds and the predictions' sum."""
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
    loaded = np.load(data)
    for name in map(str.strip, sys.stdin):
        model = eval(TASKS[name])  # the names above
        start = time.process_time()
        predicted = model.fit(loaded["X"], loaded["y"]).predict(loaded["X_test"])
        seconds = time.process_time() - start
        print(json.dumps([seconds, float(np.mean(predicted != loaded["y_test"]))]), flush=True)


def main(other: str) -> None:
    """Run both checkouts in turn and save the ratios."""
    from common import commit_of, load, print_table, save

    X, y, train = load("letter")
    X = (X - X.min(axis=0)) / np.ptp(X, axis=0)
    some, test = np.flatnonzero(train)[:2500], np.flatnonzero(~train)
    checkouts = {"other": other, "this": str(Path(__file__).parents[1] / "src")}
    rows = []
    with tempfile.TemporaryDirectory() as folder:
        data = f"{folder}/letter.npz"
        np.savez(data, X=X[some], y=y[some], X_test=X[test], y_test=y[test])
        workers = {}
        for name, path in checkouts.items():
            own = {"PYTHONPATH": path, "OMP_NUM_THREADS": "1", "OPENBLAS_NUM_THREADS": "1"}
            workers[name] = subprocess.Popen(
                [sys.executable, __file__, "--work", data],
                env={**os.environ, **own},
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                text=True,
            )

        def run(worker: subprocess.Popen[str], task: str) -> list[float]:
            assert worker.stdin is not None
            assert worker.stdout is not None
            worker.stdin.write(task + "\n")
            worker.stdin.flush()
            answer: list[float] = json.loads(worker.stdout.readline())
            return answer

        for task in TASKS:
            seconds: dict[str, list[float]] = {name: [] for name in workers}
            error = {name: run(worker, task)[1] for name, worker in workers.items()}  # compiles, and is not timed
            for _ in range(REPEATS):
                for name, worker in workers.items():
                    seconds[name].append(run(worker, task)[0])
            median = {name: statistics.median(times) for name, times in seconds.items()}
            rows.append(
                {
                    "task": task,
                    "other s": median["other"],
                    "this s": median["this"],
                    "this / other": median["this"] / median["other"],
                    "error other %": 100 * error["other"],
                    "error this %": 100 * error["this"],
                    "repeats": REPEATS,
                }
            )
            print(rows[-1], flush=True)
        for worker in workers.values():
            worker.kill()
    commits = {f"{name} checkout": commit_of(Path(path)) for name, path in checkouts.items()}
    save("two_checkouts", [*rows, commits])
    print_table(rows)


if __name__ == "__main__":
    if sys.argv[1:2] == ["--work"]:
        work(sys.argv[2])
    elif len(sys.argv) == 2:
        main(sys.argv[1])
    else:
        print(__doc__)
