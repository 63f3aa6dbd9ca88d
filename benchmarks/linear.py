"""Compare Logistic and LinearSVM with scikit-learn's wrappers over LogisticRegression and LinearSVC, on 2 threads.

    OUTPUTCODES_DATA=... python benchmarks/linear.py [--quick]

Both sides train the same columns and must reach the same objective: ours may exceed the peer's by at most 1e-4,
relative. The floor is one gradient of all columns. With dense X this is 4·n·d·L flops in two products. With sparse X,
one pass over the examples reads and writes a row of w for every value, nnz·(12 + 16·L) bytes.
"""

from __future__ import annotations

import resource
import time
from functools import partial
from typing import Any

import numpy as np
import pandas as pd
from common import QUICK, interleaved, print_table, read, save
from joblib import Parallel, delayed
from sklearn.base import clone
from sklearn.feature_extraction.text import TfidfVectorizer
from sklearn.linear_model import LogisticRegression
from sklearn.multiclass import OneVsOneClassifier, OneVsRestClassifier
from sklearn.multiclass import OutputCodeClassifier as PeerOutputCode
from sklearn.svm import LinearSVC

from outputcodes import OutputCodeClassifier
from outputcodes.learners import LinearSVM, Logistic

THREADS = 2
REPEATS = 3


def training_rows(name: str) -> pd.DataFrame:
    frame = read(name)
    # Shuffled, so that every fourth row still covers all classes.
    frame = frame[frame.split == "train"].drop(columns="split").sample(frac=1, random_state=0)
    return frame[:800] if QUICK else frame


def peers_code(k: int, L: int) -> np.ndarray:
    """Return the code that scikit-learn's OutputCodeClassifier(code_size=L/k, random_state=0) draws."""
    return np.where(np.random.RandomState(0).uniform(size=(k, L)) > 0.5, 1, -1).astype(np.int8)


def objectives(coef: np.ndarray, intercept: np.ndarray, X: Any, T: np.ndarray, loss: str) -> np.ndarray:
    """Return the objective at C = 1 of each column; T contains the signs, coef is (d, L)."""
    Z, seen = T * (X @ coef + intercept), T != 0
    if loss == "logistic":
        return 0.5 * (coef**2).sum(axis=0) + (seen * np.logaddexp(0, -Z)).sum(axis=0)
    return 0.5 * ((coef**2).sum(axis=0) + intercept**2) + (seen * np.maximum(1 - Z, 0) ** 2).sum(axis=0)


class Columns:
    """scikit-learn's estimator on the rows of each column, for codes with zeros, which have no wrapper there."""

    def __init__(self, estimator: Any, M: np.ndarray) -> None:
        self.estimator, self.M = estimator, M

    def fit(self, X: Any, y: np.ndarray) -> Columns:
        def fit(column: np.ndarray) -> Any:
            seen = np.flatnonzero(column)
            return clone(self.estimator).fit(X[seen], column[seen])

        self.estimators_ = Parallel(n_jobs=THREADS)(delayed(fit)(column) for column in self.M[y].T)
        return self


def measure(work: str, X: Any, y: np.ndarray, M: np.ndarray, learner: Any, peer: Any, floor: str) -> dict[str, object]:
    ours = OutputCodeClassifier(learner, code=M, decoder="hamming", n_jobs=THREADS)
    ours.fit(X, y)  # compile or load before timing
    contenders = {"ours": lambda: ours.fit(X, y), "scikit-learn": lambda: peer.fit(X, y)}
    seconds, _ = interleaved(contenders, REPEATS)
    T, columns = M[y], ours.columns_.fitted
    mine = objectives(columns.coef, columns.intercept, X, T, learner.loss)
    sign = -1 if isinstance(peer, OneVsOneClassifier) else 1  # there, the second class of a pair is positive
    coef = sign * np.column_stack([e.coef_[0] for e in peer.estimators_])
    bias = sign * np.array([np.ravel(e.intercept_)[0] for e in peer.estimators_])
    theirs = objectives(coef, bias, X, T, learner.loss)
    excess = (mine - theirs) / theirs
    assert excess.max() <= 1e-4, f"{work}: our objective is {excess.max():.1e} above scikit-learn's"
    return {
        "work": work,
        "n": X.shape[0],
        "d": X.shape[1],
        "L": M.shape[1],
        "ours s": seconds["ours"],
        "scikit-learn s": seconds["scikit-learn"],
        "ratio": seconds["scikit-learn"] / seconds["ours"],
        "excess (worst column)": float(excess.max()),
        "floor": floor,
        "iterations": int(columns.certificate.iterations.max()),
        "peak RSS MB": resource.getrusage(resource.RUSAGE_SELF).ru_maxrss // 1024,
    }


def dense_floor(X: np.ndarray, L: int) -> str:
    W = np.ones((X.shape[1], L))
    start = time.perf_counter()
    X.T @ (X @ W)
    return f"{4e-9 * X.size * L:.2g} GFlop, {time.perf_counter() - start:.2g} s per gradient"


def sparse_floor(X: Any, L: int) -> str:
    return f"{1e-9 * X.nnz * (12 + 16 * L):.2g} GB per epoch"


def pairs(k: int) -> np.ndarray:
    """Return all pairs of classes, the first one positive."""
    first, second = np.triu_indices(k, 1)
    M = np.zeros((k, len(first)), dtype=np.int8)
    M[first, np.arange(len(first))], M[second, np.arange(len(first))] = 1, -1
    return M


def exponents(work: str, X: Any, y: np.ndarray, M: np.ndarray, learner: Any) -> list[dict[str, object]]:
    """Return the slope of log seconds over log n, log L and log k, from a quarter of the size to all of it."""

    def seconds(step: int, L: int) -> float:
        def fit() -> Any:
            return learner.fit_columns(learner.prepare(X[::step]), y[::step], M[:, :L], n_jobs=THREADS)

        return interleaved({"ours": fit}, REPEATS)[0]["ours"]

    def seconds_of_classes(share: int) -> float:
        k = len(M) // share
        seen, all_pairs = np.flatnonzero(y < k), pairs(k)

        def fit() -> Any:
            return learner.fit_columns(learner.prepare(X[seen]), y[seen], all_pairs, n_jobs=THREADS)

        return interleaved({"ours": fit}, REPEATS)[0]["ours"]

    L, rows = M.shape[1], []
    axes = {
        "n": [seconds(s, L) for s in (4, 2, 1)],
        "L": [seconds(1, L // s) for s in (4, 2, 1)],
        "k (all pairs)": [seconds_of_classes(s) for s in (4, 2, 1)],
    }
    for axis, times in axes.items():
        slope = np.polyfit(np.log([1, 2, 4]), np.log(times), 1)[0]
        shown = ", ".join(f"{t:.2g}" for t in times)
        rows.append({"work": work, "against": axis, "seconds at ¼, ½, 1": shown, "exponent": float(slope)})
    return rows


def main() -> None:
    isolet, news = training_rows("isolet"), training_rows("20newsgroups")
    letters, sound = np.unique(isolet.pop("target"), return_inverse=True)[1], isolet.to_numpy(dtype=np.float64)
    topics = np.unique(news.pop("target"), return_inverse=True)[1]
    words = TfidfVectorizer().fit_transform(news.text)
    dense26, dense20, ova = peers_code(26, 48), peers_code(20, 44), (2 * np.eye(20) - 1).astype(np.int8)

    def coded(estimator: Any, M: np.ndarray) -> PeerOutputCode:
        # Slightly larger, because scikit-learn rounds k·code_size down.
        return PeerOutputCode(estimator, code_size=(M.shape[1] + 0.5) / len(M), random_state=0, n_jobs=THREADS)

    half = np.random.default_rng(0).choice(np.array([-1, 0, 0, 1], dtype=np.int8), size=(26, 48))
    svm, log, svc, regression = LinearSVM(), Logistic(), LinearSVC(), LogisticRegression(max_iter=1000)
    pairs26, pairs20 = pairs(26), pairs(20)

    def each(wrapper: Any, estimator: Any) -> Any:
        return wrapper(estimator, n_jobs=THREADS)

    ovr, ovo = OneVsRestClassifier, OneVsOneClassifier
    dense, spread = partial(dense_floor, sound), partial(sparse_floor, words)
    table = [
        measure("Logistic, isolet, dense", sound, letters, dense26, log, coded(regression, dense26), dense(48)),
        measure("Logistic, isolet, all-pairs", sound, letters, pairs26, log, each(ovo, regression), dense(25)),
        measure("LinearSVM, isolet, dense", sound, letters, dense26, svm, coded(svc, dense26), dense(48)),
        measure("LinearSVM, isolet, half zeros", sound, letters, half, svm, Columns(svc, half), dense(24)),
        measure("LinearSVM, isolet, all-pairs", sound, letters, pairs26, svm, each(ovo, svc), dense(25)),
        measure("LinearSVM, 20newsgroups, one-vs-all", words, topics, ova, svm, each(ovr, svc), spread(20)),
        measure("LinearSVM, 20newsgroups, dense", words, topics, dense20, svm, coded(svc, dense20), spread(44)),
        measure("LinearSVM, 20newsgroups, all-pairs", words, topics, pairs20, svm, each(ovo, svc), spread(19)),
        measure("Logistic, 20newsgroups, one-vs-all", words, topics, ova, log, each(ovr, regression), spread(20)),
        measure("Logistic, 20newsgroups, all-pairs", words, topics, pairs20, log, each(ovo, regression), spread(19)),
    ]
    print_table(table)
    growth = exponents("Logistic, isolet", sound, letters, dense26, log)
    growth += exponents("LinearSVM, isolet", sound, letters, dense26, svm)
    growth += exponents("LinearSVM, 20newsgroups", words, topics, dense20, svm)
    growth += exponents("Logistic, 20newsgroups", words, topics, dense20, log)
    print()
    print_table(growth)
    save("linear", [*table, *growth])


if __name__ == "__main__":
    main()
