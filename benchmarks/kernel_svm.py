"""Compare KernelSVM with scikit-learn's wrappers of LIBSVM on letter: same columns, stopping rule and objective.

    OUTPUTCODES_DATA=... python benchmarks/kernel_svm.py [rows] [--quick]

Features are scaled to [0, 1]; rbf with γ = 16, C = 10, tol = 1e-3, two jobs. `rows` limits the 16,000 training rows;
most of the time is the peers', whose cache of 200 MB is too small here, so they also run with 1,000 MB. Growth in n is
also measured for one-vs-all. `path` is a step from γ to 1.5 γ and from C to 2 C on the first rows of MNIST: from
scratch, with the distances of the first preparation, and with its solution as a warm start as well. The floor is what
no solver avoids: each kernel value between support vectors and training rows once, and one product with the
coefficients of all columns, which is the certificate itself; 2·n·S·(d + L) flops and n·S exponentials. `difference` is
the relative difference of the dual objectives, or that of the decision values for all-pairs.
"""

from __future__ import annotations

import os
import resource
import subprocess
import sys
import tempfile
from typing import Any

import numpy as np
from common import QUICK, WORDS, exponent, interleaved, load, print_table, save
from sklearn.multiclass import OneVsRestClassifier
from sklearn.multiclass import OutputCodeClassifier as SklearnOutputCode
from sklearn.svm import SVC

from outputcodes import OutputCodeClassifier
from outputcodes.learners import KernelSVM

PARAMS: dict[str, Any] = {"C": 10.0, "gamma": 16.0, "tol": 1e-3}
JOBS = 2
COLUMNS = 48
REPEATS = 1  # one run of the peer takes minutes


def letter() -> tuple[np.ndarray, ...]:
    X, y, train = load("letter")
    low, high = X[train].min(axis=0), X[train].max(axis=0)
    X = (X - low) / (high - low)
    return X[train], y[train], X[~train], y[~train]


def ours(code: Any) -> OutputCodeClassifier:
    decoder = "vote" if isinstance(code, str) and code == "all-pairs" else "loss"
    return OutputCodeClassifier(KernelSVM(**PARAMS), code=code, decoder=decoder, n_jobs=JOBS, random_state=0)


def dense_code(k: int, L: int) -> np.ndarray:
    """Return the code that scikit-learn's OutputCodeClassifier draws with random_state=0."""
    return np.where(np.random.RandomState(0).uniform(size=(k, L)) > 0.5, 1, -1).astype(np.int8)


def dual_objective(K: np.ndarray, beta: np.ndarray) -> float:
    return float(np.abs(beta).sum() - beta @ K @ beta / 2)


def same_objective(model: OutputCodeClassifier, peers: list[SVC], X: np.ndarray, y: np.ndarray) -> float:
    """Return the largest relative difference between our dual objectives and LIBSVM's, over some columns."""
    fitted, worst = model.columns_.fitted, 0.0
    assert fitted.certificate.converged.all()
    labels = np.searchsorted(model.classes_, y)
    for j, peer in enumerate(peers):
        # LIBSVM numbers rows within those of its column.
        seen = np.flatnonzero(model.code_matrix_[labels, j])
        alpha = fitted.beta(np.arange(len(y)))[j]
        values = []
        for rows, beta in ((np.flatnonzero(alpha), alpha[alpha != 0]), (seen[peer.support_], peer.dual_coef_[0])):
            values.append(dual_objective(fitted.kernel.block(*[fitted.kernel.features(X[rows])] * 2), beta))
        worst = max(worst, abs(values[0] - values[1]) / abs(values[1]))
    return worst


def measure(name: str, code: Any, peer: Any, data: tuple[np.ndarray, ...]) -> dict[str, object]:
    X, y, X_new, y_new = data
    fit, models = interleaved({"ours": lambda: ours(code).fit(X, y), "peer": lambda: peer.fit(X, y)}, REPEATS)
    model = models["ours"]
    if hasattr(peer, "code_book_"):
        assert np.array_equal(peer.code_book_, code)
    predict, answers = interleaved({"ours": lambda: model.predict(X_new), "peer": lambda: peer.predict(X_new)}, REPEATS)
    if isinstance(peer, SVC):  # its pairs are not separate estimators with an objective, so compare decision values
        difference = float(np.abs(model.margins(X_new) - peer.decision_function(X_new)).max())
        assert difference < 100 * PARAMS["tol"], difference
    else:
        difference = same_objective(model, peer.estimators_[:3], X, y)
        assert difference < (1e-2 if QUICK else 1e-4), difference
    lowest = interleaved({"floor": lambda: model.columns_.fitted.margins(X)}, repeats=3)[0]["floor"]
    S, L = len(model.columns_.fitted.support), model.code_matrix_.shape[1]
    return {
        "code": name,
        "n": len(X),
        "L": L,
        "fit s": fit["ours"],
        "scikit-learn fit s": fit["peer"],
        "fit ratio": fit["peer"] / fit["ours"],
        "predict s": predict["ours"],
        "scikit-learn predict s": predict["peer"],
        "predict ratio": predict["peer"] / predict["ours"],
        "floor s": lowest,
        "floor GFlop": 2e-9 * len(X) * S * (X.shape[1] + L),
        "fit / floor": fit["ours"] / lowest,
        "difference": difference,
        "accuracy": float((answers["ours"] == y_new).mean()),
        "scikit-learn accuracy": float((answers["peer"] == y_new).mean()),
        "peak RSS MB": resource.getrusage(resource.RUSAGE_SELF).ru_maxrss // 1024,
    }


def growth(X: np.ndarray, y: np.ndarray) -> list[dict[str, object]]:
    """Measure fit time over n, L and k on log axes; the first fit compiles."""
    labels, learner = np.searchsorted(np.unique(y), y), KernelSVM(**PARAMS)

    def seconds(n: int, L: int, k: int) -> float:
        keep = np.flatnonzero(labels < k)[:n]
        M = dense_code(k, L) if L else 2 * np.eye(k, dtype=np.int8) - 1
        if L:
            M[0], M[1] = 1, -1  # both signs in every column, even with few classes
        run = {"fit": lambda: learner.fit_columns(learner.prepare(X[keep]), labels[keep], M, n_jobs=JOBS)}
        return interleaved(run, repeats=3)[0]["fit"]

    seconds(500, 12, 26)
    # A trial has too few rows for an eighth of them to cover both signs.
    parts = (2, 1) if QUICK else (8, 4, 2, 1)
    few = len(X) // (2 if QUICK else 4)
    grid = {
        "n": [(len(X) // part, COLUMNS, 26) for part in parts],
        "L": [(few, L, 26) for L in (12, 24, 48)],
        "k": [(few // 2, COLUMNS, k) for k in (6, 12, 24)],
        "n, one-vs-all": [(len(X) // part, 0, 26) for part in parts],
    }
    curves = []
    for name, sizes in grid.items():
        times = [seconds(*size) for size in sizes]
        along = [size["nLk".index(name[0])] for size in sizes]
        shown = ", ".join(f"{t:.2g}" for t in times)
        curves.append({"growth in": name, "sizes": str(along), "seconds": shown, "exponent": exponent(along, times)})
    return curves


def path() -> list[dict[str, object]]:
    """Measure one step along a path of parameters, with and without reuse of the step before."""
    X, y, _ = load("mnist")
    X, y = X[:6000] / 255, y[:6000]
    M = 2 * np.eye(10, dtype=np.int8) - 1
    near, far = KernelSVM(C=10, gamma=0.02), KernelSVM(C=20, gamma=0.03)
    before = near.prepare(X)
    start = near.fit_columns(before, y, M, n_jobs=JOBS)

    def step(like: Any, init: Any) -> Any:
        return far.fit_columns(far.prepare(X, like=like), y, M, init=init, n_jobs=JOBS)

    runs = {
        "from scratch": lambda: step(None, None),
        "shared distances": lambda: step(before, None),
        "shared distances and warm start": lambda: step(before, start),
    }
    times, fitted = interleaved(runs, repeats=3)
    steps = {name: int(columns.certificate.iterations.sum()) for name, columns in fitted.items()}
    return [{"path": name, "fit s": times[name], "steps": steps[name]} for name in runs]


def first_use() -> dict[str, object]:
    """Measure the CPU seconds of a first fit with either bias: before compilation, and in the next process."""
    script = (
        "import time; from sklearn.datasets import load_digits; from outputcodes.learners import KernelSVM\n"
        "X, y = load_digits(return_X_y=True); start = time.process_time()\n"
        "for bias in ('free', 'folded'): KernelSVM(gamma=1e-3, bias=bias).fit(X, y > 4)\n"
        "print(time.process_time() - start)"
    )
    with tempfile.TemporaryDirectory() as folder:
        environment = os.environ | {"NUMBA_CACHE_DIR": folder}
        command = [sys.executable, "-c", script]
        once, again = (float(subprocess.check_output(command, env=environment)) for _ in range(2))
    return {"first use s": once, "later process s": again}


def main() -> None:
    X, y, X_new, y_new = letter()
    n = int(WORDS[0]) if WORDS else len(X)
    data = X[:n], y[:n], X_new, y_new
    svc = SVC(decision_function_shape="ovo", **PARAMS)
    curves = growth(*data[:2])
    size = (COLUMNS + 0.5) / 26
    by_codes = SklearnOutputCode(svc, code_size=size, n_jobs=JOBS, random_state=0)
    large_cache = SVC(cache_size=1000, **PARAMS)
    roomy = SklearnOutputCode(large_cache, code_size=size, n_jobs=JOBS, random_state=0)
    table = [
        measure("dense", dense_code(26, COLUMNS), by_codes, data),
        measure("dense, peer with five times its cache", dense_code(26, COLUMNS), roomy, data),
        measure("one-vs-all", "one-vs-all", OneVsRestClassifier(svc, n_jobs=JOBS), data),
        measure(
            "one-vs-all, peer with five times its cache",
            "one-vs-all",
            OneVsRestClassifier(large_cache, n_jobs=JOBS),
            data,
        ),
        measure("all-pairs", "all-pairs", svc, data),
    ]
    steps, compiling = path(), first_use()
    for rows in (table, curves, steps, [compiling]):
        print_table(rows)
    save("kernel_svm", [*table, *curves, *steps, compiling])


if __name__ == "__main__":
    main()
