"""`partial_fit` in 100 batches, one pass, against one `fit`: also with ten classes that come late.

python benchmarks/streams.py [data ...] [--quick]
"""

from __future__ import annotations

import time
from typing import Any

import numpy as np
from common import QUICK, WORDS, load, print_table, read, save

from outputcodes import OutputCodeClassifier

STREAMS = ("letter", "isolet", "20newsgroups")
# The batches are drawn so many times.
ORDERS = 3


def sample(name: str) -> tuple[Any, np.ndarray, Any, np.ndarray]:
    """Return training and test rows, with features of variance 1, or texts as tf-idf."""
    if name != "20newsgroups":
        X, y, train = load(name)
        X = X.astype(np.float64)
        X = (X - X[train].mean(axis=0)) / (X[train].std(axis=0) + 1e-12)
        return X[train], y[train], X[~train], y[~train]
    from sklearn.feature_extraction.text import TfidfVectorizer

    frame = read(name)
    frame = frame[:: 10 if QUICK else 1]
    train, y = frame["split"].to_numpy() == "train", np.unique(frame["target"], return_inverse=True)[1]
    texts = frame.drop(columns=["split", "target"]).iloc[:, 0].fillna("")
    words = TfidfVectorizer(sublinear_tf=True, min_df=2).fit(texts[train])
    return words.transform(texts[train]), y[train], words.transform(texts[~train]), y[~train]


def in_order(y: np.ndarray, late: int, rng: np.random.Generator) -> np.ndarray:
    """Return rows in a random order in which some classes come in the second half only."""
    place = rng.random(len(y))
    coming = np.isin(y, rng.permutation(np.unique(y))[:late])
    return np.argsort(np.where(coming, 0.5 + place / 2, place), kind="stable")


def main() -> None:
    table = []
    for name in WORDS or STREAMS:
        X, y, X_test, y_test = sample(name)
        for learner in ("ridge", "logistic", "linear-svm"):
            if name == "20newsgroups" and learner == "ridge":
                continue  # its running sums are a matrix of all words
            whole = OutputCodeClassifier(learner, code="one-vs-all", random_state=0).fit(X, y)
            error = 100 * float(np.mean(whole.predict(X_test) != y_test))
            for late in (0, 10):
                errors, start = [], time.perf_counter()
                for seed in range(1 if QUICK else ORDERS):
                    order = in_order(y, late, np.random.default_rng(seed))
                    model = OutputCodeClassifier(learner, code="one-vs-all", random_state=0)
                    for rows in np.array_split(order, 100):
                        model.partial_fit(X[rows], y[rows])
                    errors.append(100 * float(np.mean(model.predict(X_test) != y_test)))
                table.append(
                    {
                        "data": name,
                        "learner": learner,
                        "late classes": late,
                        "fit, error %": error,
                        "100 batches, error %": float(np.mean(errors)),
                        "difference, points": float(np.mean(errors)) - error,
                        "smallest": min(errors) - error,
                        "largest": max(errors) - error,
                        "stream s": (time.perf_counter() - start) / len(errors),
                    }
                )
                print_table(table[-1:])
    print_table(table)
    save("streams", table)


if __name__ == "__main__":
    main()
