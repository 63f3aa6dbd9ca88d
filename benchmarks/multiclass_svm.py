"""Compare MulticlassSVC with LIBLINEAR's Crammer–Singer solver and, with a kernel, with SVC's pairs.

    OUTPUTCODES_DATA=... python benchmarks/multiclass_svm.py [rows] [--quick]

Linear: time until the objective is within 1e-3 of the optimum, relative, each side with the loosest tolerance of a
common ladder that reaches it. The optimum is the dual value of a much tighter fit of ours. The floor is one product of
X with the weight vectors, which is the certificate itself. Kernel: letter on [0, 1], rbf with γ = 16, C = 10, default
tolerances; `rows` limits the 16,000 training rows. The floor is each kernel value between support patterns and training
rows once, and one product with the coefficients.
"""

from __future__ import annotations

import resource
import time
import warnings
from typing import Any

import numpy as np
from common import QUICK, WORDS, exponent, interleaved, load, print_table, read, save
from sklearn.exceptions import ConvergenceWarning
from sklearn.feature_extraction.text import TfidfVectorizer
from sklearn.svm import SVC, LinearSVC

from outputcodes import MulticlassSVC

GAP = 1e-3
LADDER = [2.0**-e for e in range(14)]
COSTS = (0.01, 0.1, 1.0)
REPEATS = 3
KERNEL: dict[str, Any] = {"C": 10.0, "gamma": 16.0}
JOBS = 2


def scaled(name: str) -> tuple[np.ndarray, ...]:
    """Return training and test rows with features scaled to [0, 1] on the training rows."""
    X, y, train = load(name)
    low, high = X[train].min(axis=0), X[train].max(axis=0)
    X = np.ascontiguousarray((X - low) / (high - low))
    return X[train], y[train], X[~train], y[~train]


def newsgroups() -> tuple[Any, np.ndarray]:
    frame = read("20newsgroups")
    frame = frame[frame.split == "train"]
    if QUICK:
        frame = frame.sample(400, random_state=0)
    return TfidfVectorizer().fit_transform(frame.text), np.unique(frame.target, return_inverse=True)[1]


def objective(W: np.ndarray, X: Any, y: np.ndarray, C: float) -> float:
    F, rows = np.asarray(X @ W.T), np.arange(len(y))
    own = F[rows, y].copy()
    F += 1
    F[rows, y] -= 1
    return float(0.5 * (W**2).sum() + C * (F.max(axis=1) - own).sum())


def loosest(make: Any, X: Any, y: np.ndarray, C: float, optimum: float) -> tuple[Any, float]:
    """Return the estimator with the first tolerance of the ladder that reaches the gap, and its gap."""
    for tol in LADDER:
        estimator = make(tol).fit(X, y)
        gap = 1 - optimum / objective(estimator.coef_, X, y, C)
        if gap <= GAP:
            return estimator, gap
    raise AssertionError(f"no tolerance of the ladder reaches a gap of {GAP}; the last one is {gap:.1e}")


def linear(name: str, X: Any, y: np.ndarray, C: float) -> dict[str, object]:
    tight = MulticlassSVC("linear", C=C, tol=2e-3).fit(X, y)
    optimum = tight.objective_ - tight.dual_gap_
    assert QUICK or tight.dual_gap_ < 0.1 * GAP * optimum, "the reference is not tight enough"
    ours, our_gap = loosest(lambda tol: MulticlassSVC("linear", C=C, tol=tol), X, y, C, optimum)
    peer, peer_gap = loosest(
        lambda tol: LinearSVC(
            multi_class="crammer_singer", fit_intercept=False, C=C, tol=tol, max_iter=1_000_000, random_state=0
        ),
        X,
        y,
        C,
        optimum,
    )
    seconds, _ = interleaved({"ours": lambda: ours.fit(X, y), "LIBLINEAR": lambda: peer.fit(X, y)}, REPEATS)
    start = time.perf_counter()
    X @ ours.coef_.T
    floor = time.perf_counter() - start
    return {
        "data": name,
        "C": C,
        "n": X.shape[0],
        "d": X.shape[1],
        "ours s": seconds["ours"],
        "LIBLINEAR s": seconds["LIBLINEAR"],
        "ratio": seconds["LIBLINEAR"] / seconds["ours"],
        "gap ours": our_gap,
        "gap LIBLINEAR": peer_gap,
        "tol ours": ours.tol,
        "tol LIBLINEAR": peer.tol,
        "epochs ours": ours.n_iter_,
        "epochs LIBLINEAR": int(peer.n_iter_),
        "floor s": floor,
        "peak RSS MB": resource.getrusage(resource.RUSAGE_SELF).ru_maxrss // 1024,
    }


def kernel(data: tuple[np.ndarray, ...], n: int) -> list[dict[str, object]]:
    X, y, X_new, y_new = data
    ours, peer = MulticlassSVC(**KERNEL, n_jobs=JOBS), SVC(**KERNEL)
    ours.fit(X[:500], y[:500])  # compile or load before timing
    contenders = {"ours": lambda: ours.fit(X[:n], y[:n]), "SVC": lambda: peer.fit(X[:n], y[:n])}
    fit, _ = interleaved(contenders, repeats=1)
    predict, answers = interleaved({"ours": lambda: ours.predict(X_new), "SVC": lambda: peer.predict(X_new)}, repeats=1)
    errors = {name: float((answer != y_new).mean()) for name, answer in answers.items()}
    floor = interleaved({"floor": lambda: ours.predict(X[:n])}, repeats=1)[0]["floor"]
    row = {
        "data": "letter, rbf",
        "n": n,
        "ours s": fit["ours"],
        "SVC s": fit["SVC"],
        "ours / SVC": fit["ours"] / fit["SVC"],
        "test error ours": errors["ours"],
        "test error SVC": errors["SVC"],
        "predict s": predict["ours"],
        "SVC predict s": predict["SVC"],
        "relative gap": ours.dual_gap_ / ours.objective_,
        "support patterns": len(ours.support_),
        "floor s": floor,
        "peak RSS MB": resource.getrusage(resource.RUSAGE_SELF).ru_maxrss // 1024,
    }
    sizes = [n // 8, n // 4, n // 2, n]
    times = [interleaved({"fit": lambda m=m: ours.fit(X[:m], y[:m])}, repeats=1)[0]["fit"] for m in sizes[:-1]]
    row["growth in n, exponent"] = exponent(sizes, [*times, fit["ours"]])
    return [row]


def main() -> None:
    warnings.simplefilter("error", ConvergenceWarning)
    letter = scaled("letter")
    sets = {"letter": letter[:2], "pendigits": scaled("pendigits")[:2], "20newsgroups": newsgroups()}
    table = [linear(name, X, y, C) for name, (X, y) in sets.items() for C in COSTS]
    print_table(table)
    ratios = [float(row["ratio"]) for row in table]  # type: ignore[arg-type]
    print(f"\ngeometric mean {np.exp(np.mean(np.log(ratios))):.3g}, smallest {min(ratios):.3g}\n")
    with_kernel = kernel(letter, int(WORDS[0]) if WORDS else len(letter[0]))
    print_table(with_kernel)
    save("multiclass_svm", [*table, *with_kernel])


if __name__ == "__main__":
    main()
