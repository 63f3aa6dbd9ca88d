"""Compare the test errors of codes learned from data and of a plain dense code.

    OUTPUTCODES_DATA=... python benchmarks/designed_codes.py [data set ...] [--quick]

Every number is a mean over three seeds. Data sets without a test part are split 70:30 again for each seed. "dense" has
ceil(10 log2 k) columns and the decoder that was best on the test rows, which favours it. The others use the learner's
loss, and codes with zeros ignore the zeros. "short" is a dense code of k columns; the assigned codes and the continuous
one are based on it. Time is the CPU time of `fit`, including the design.
"""

from __future__ import annotations

import time

import numpy as np
from common import QUICK, WORDS, load, print_table, save
from sklearn.preprocessing import StandardScaler

from outputcodes import OutputCodeClassifier
from outputcodes.codes import Assigned, ConfusionGuided, Dense, Designed, DiscriminantTree, Forest
from outputcodes.decoders import Continuous, LossBased
from outputcodes.learners import KernelSVM

DATA = ["glass", "ecoli", "dermatology", "vehicle", "yeast", "vowel", "segmentation"]
DATA += ["satimage", "optdigits", "pendigits"]
LEARNERS = {"logistic": "logistic", "kernel SVM": KernelSVM(C=10)}
PLAIN_DECODERS = ["loss", "hamming", "linear", "hinge", "exponential", "euclidean", "inverse-hamming", "laplacian"]
SEEDS = range(1 if QUICK else 3)
if QUICK:
    DATA = ["glass", "vehicle"]


def contenders(k: int) -> dict[str, tuple[object, object]]:
    """Return {name: (code, decoder)}."""
    short, no_zeros = Dense(length=k), LossBased(zeros="ignore")
    return {
        "dense": ("dense", "loss"),
        "one-vs-all": ("one-vs-all", "loss"),
        "Designed": (Designed(), "loss"),
        "DECOC": (DiscriminantTree(), no_zeros),
        "forest": (Forest(), no_zeros),
        "ECOC-ONE": (ConfusionGuided(), no_zeros),
        "short": (short, "loss"),
        "short, near": (Assigned(short), "loss"),
        "short, distant": (Assigned(short, similar="distant"), "loss"),
        "short, continuous": (short, Continuous()),
        "short, continuous, held-out": (short, Continuous(margins="held-out")),
        "short, continuous, rbf": (short, Continuous(kernel="rbf")),
    }


def sample(name: str, seed: int) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]:
    """Return training and test rows, standardised, with missing values set to the mean."""
    X, y, train = load(name)
    if train.all():
        train = np.zeros(len(y), dtype=bool)
        rng = np.random.default_rng(seed)
        for r in np.unique(y):
            rows = rng.permutation(np.flatnonzero(y == r))
            train[rows[: max(1, round(0.7 * len(rows)))]] = True
    scaler = StandardScaler().fit(X[train].astype(np.float64))
    X = np.nan_to_num(scaler.transform(X.astype(np.float64)))
    return X[train], y[train], X[~train], y[~train]


def measure(name: str, learner: str) -> list[dict[str, object]]:
    results: dict[str, list[tuple[float, float, int]]] = {}
    for seed in SEEDS:
        X, y, X_test, y_test = sample(name, seed)
        for label, (code, decoder) in contenders(len(np.unique(y))).items():
            start = time.process_time()
            model = OutputCodeClassifier(LEARNERS[learner], code=code, decoder=decoder, random_state=seed).fit(X, y)
            seconds = time.process_time() - start
            models = [model] if label != "dense" else [model.with_decoder(one) for one in PLAIN_DECODERS]
            error = min(1 - one.score(X_test, y_test) for one in models)
            results.setdefault(label, []).append((100 * error, seconds, model.code_matrix_.shape[1]))
    k = len(np.unique(y))
    return [
        {"data": name, "learner": learner, "k": k, "code": label, "error %": error, "cpu s": seconds, "L": length}
        for label, runs in results.items()
        for error, seconds, length in [np.mean(runs, axis=0).tolist()]
    ]


def side_by_side(rows: list[dict[str, object]]) -> list[dict[str, object]]:
    """Return one line per data set: error %, with columns and seconds in brackets; then how often each beats dense."""
    names = list(dict.fromkeys(row["data"] for row in rows))
    labels = list(dict.fromkeys(row["code"] for row in rows))
    cell = {(row["data"], row["code"]): row for row in rows}
    table = []
    for name in names:
        line: dict[str, object] = {"data": name, "k": cell[name, "dense"]["k"]}
        for label in labels:
            one = cell[name, label]
            line[label] = f"{one['error %']:.1f} ({one['L']:.0f}, {one['cpu s']:.2f})"
        table.append(line)
    last: dict[str, object] = {"data": "better than dense", "k": ""}
    for label in labels:
        wins = sum(cell[name, label]["error %"] < cell[name, "dense"]["error %"] for name in names)
        last[label] = f"{wins} of {len(names)}"
    return [*table, last]


def main() -> None:
    rows = []
    for learner in LEARNERS:
        some = [row for name in WORDS or DATA for row in measure(name, learner)]
        print(f"\n{learner}\n")
        print_table(side_by_side(some))
        rows += some
    save("designed_codes", rows)


if __name__ == "__main__":
    main()
