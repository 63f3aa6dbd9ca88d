"""Compare Ridge on all columns at once with scikit-learn's wrappers over RidgeClassifier, on isolet (6,238 × 617).

    OUTPUTCODES_DATA=... python benchmarks/ridge.py [--quick]

Both reach the same margins. The floor is the textbook number of flops: n·d² for the Gram matrices (all classes
together) and d³/3 per set of participating classes. For pairs, solved in the space of their 2m rows, it is 2m²·d for
the kernel block between the two classes, and m³ + m³/3 for its Schur complement and factor.
"""

from __future__ import annotations

import resource

import numpy as np
from common import exponent, interleaved, load, print_table, save
from sklearn.linear_model import RidgeClassifier
from sklearn.multiclass import OneVsOneClassifier
from sklearn.multiclass import OutputCodeClassifier as TheirOutputCode

from outputcodes import OutputCodeClassifier
from outputcodes.learners import Ridge


def compare(code: str, X: np.ndarray, y: np.ndarray) -> dict[str, object]:
    ours = OutputCodeClassifier(Ridge(), code=code, random_state=0, n_jobs=2)
    M = ours.fit(X, y).code_matrix_
    if code == "all-pairs":
        theirs = OneVsOneClassifier(RidgeClassifier(), n_jobs=2)
    else:
        theirs = TheirOutputCode(RidgeClassifier(), code_size=M.shape[1] / len(M), random_state=0, n_jobs=2)
    seconds, models = interleaved({"ours": lambda: ours.fit(X, y), "theirs": lambda: theirs.fit(X, y)}, repeats=3)
    book = M if code == "all-pairs" else models["theirs"].code_book_
    same = OutputCodeClassifier(Ridge(), code=book).fit(X, y).margins(X)
    sign = -1 if code == "all-pairs" else 1  # there, the second class of a pair is positive
    peers = np.column_stack([column.decision_function(X) for column in models["theirs"].estimators_])
    assert np.allclose(same, sign * peers, atol=1e-6)
    (n, d), groups, m = X.shape, len(np.unique(M != 0, axis=1).T), len(X) / len(M)
    floor = groups * (2 * m * m * d + 4 / 3 * m**3) if code == "all-pairs" else n * d * d + groups * d**3 / 3
    return {
        "code": code,
        "columns": M.shape[1],
        "ours s": seconds["ours"],
        "theirs s": seconds["theirs"],
        "theirs / ours": seconds["theirs"] / seconds["ours"],
        "floor GFlop": 1e-9 * floor,
        "our GFlop/s": 1e-9 * floor / seconds["ours"],
        "peak RSS MB": resource.getrusage(resource.RUSAGE_SELF).ru_maxrss // 1024,
    }


def growth(X: np.ndarray, y: np.ndarray) -> list[dict[str, object]]:
    """Measure the exponents of the fit time, beside those of the operation counts."""

    def fit(X: np.ndarray, y: np.ndarray, code: object) -> float:
        model = OutputCodeClassifier(Ridge(), code=code, n_jobs=2)
        return interleaved({"fit": lambda: model.fit(X, y)}, repeats=3)[0]["fit"]

    def signs(length: int) -> np.ndarray:
        return np.random.default_rng(0).choice([-1, 1], size=(26, length))

    rows, classes, lengths = [len(y) // 4, len(y) // 2, len(y)], [7, 13, 26], [48, 192, 768]
    by_n = exponent(rows, [fit(X[:n], y[:n], signs(48)) for n in rows])
    by_k = exponent(classes, [fit(X[y < k], y[y < k], "all-pairs") for k in classes])
    by_length = exponent(lengths, [fit(X, y, signs(L)) for L in lengths])
    return [
        {"grows with": "n", "exponent": by_n, "theory": "1, minus the factorisation"},
        {"grows with": "L", "exponent": by_length, "theory": "near 0, one factorisation"},
        {"grows with": "k (all-pairs)", "exponent": by_k, "theory": "2, one factorisation per pair"},
    ]


def main() -> None:
    X, y, train = load("isolet")
    # Shuffled, so that a quarter of the rows still covers all classes.
    rows = np.random.default_rng(0).permutation(np.flatnonzero(train))
    X, y = X[rows].astype(np.float64), y[rows]
    table = [compare(code, X, y) for code in ("dense", "all-pairs")]
    grown = growth(X, y)
    print_table(table)
    print_table(grown)
    save("ridge", [*table, *grown])


if __name__ == "__main__":
    main()
