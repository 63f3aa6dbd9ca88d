"""Compare `predict_proba` of our kernel SVMs, of scikit-learn's calibrated SVC and of multinomial logistic regression.

    OUTPUTCODES_DATA=... python benchmarks/calibration.py [most training rows, 3000] [--quick]

Features are scaled to [0, 1]; both sides use rbf with C = 10 and γ = "scale", and all-pairs as in SVC unless marked
dense. Log-loss is in nats (p clipped at 1e-15); Brier = Σ (P − y)²; reliability error = mean |confidence − accuracy| of
predictions over 15 bins of equal size. Smaller is better for all of them. The time ratio is the time of `fit` with
likelihood, cross-fitted in three folds, divided by that of the same SVM without probabilities. The script writes the
data of the table and a reliability diagram, `results/calibration.svg`.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from common import RESULTS, WORDS, interleaved, load, print_table, save
from sklearn.calibration import CalibratedClassifierCV
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import log_loss
from sklearn.model_selection import StratifiedShuffleSplit, train_test_split
from sklearn.svm import SVC

from outputcodes import OutputCodeClassifier
from outputcodes.learners import KernelSVM

DATA = ("vehicle", "yeast", "segmentation", "satimage", "pendigits", "letter")
BINS = 15


def split(name: str, most: int) -> tuple[np.ndarray, ...]:
    X, y, train = load(name)
    X = X.astype(float)
    if train.all():
        train = np.zeros(len(y), dtype=bool)
        train[next(StratifiedShuffleSplit(1, test_size=1 / 3, random_state=0).split(X, y))[0]] = True
    low, high = X[train].min(axis=0), X[train].max(axis=0)
    X = (X - low) / np.where(high > low, high - low, 1.0)
    rows = np.flatnonzero(train)
    if len(rows) > most:
        rows = train_test_split(rows, train_size=most, stratify=y[rows], random_state=0)[0]
    return X[rows], y[rows], X[~train], y[~train]


def ours(probability: str | None, code: str = "all-pairs") -> OutputCodeClassifier:
    learner = KernelSVM(C=10.0)
    return OutputCodeClassifier(learner, code=code, probability=probability, n_jobs=1, random_state=0)


def contenders() -> dict[str, Any]:
    return {
        "likelihood": ours("likelihood"),
        "coupling": ours("coupling"),
        "softmax": ours("softmax"),
        "likelihood, dense": ours("likelihood", "dense"),
        "coupling, dense": ours("coupling", "dense"),
        "SVC calibrated": CalibratedClassifierCV(SVC(C=10.0), ensemble=False, cv=3),
        "logistic regression": LogisticRegression(C=10.0, max_iter=5000),
    }


def reliability(P: np.ndarray, y: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return mean confidence and accuracy of the predictions, in bins of equal size."""
    order = np.argsort(P.max(axis=1), kind="stable")
    right = P.argmax(axis=1) == y
    parts = np.array_split(order, BINS)
    return np.array([P[b].max(axis=1).mean() for b in parts]), np.array([right[b].mean() for b in parts])


def quality(P: np.ndarray, y: np.ndarray) -> dict[str, float]:
    sure, right = reliability(P, y)
    return {
        "error %": 100 * float((P.argmax(axis=1) != y).mean()),
        "log-loss": float(log_loss(y, np.clip(P, 1e-15, 1), labels=np.arange(P.shape[1]))),
        "Brier": float(np.square(P - np.eye(P.shape[1])[y]).sum(axis=1).mean()),
        "reliability error": float(np.abs(sure - right).mean()),
    }


def times(X: np.ndarray, y: np.ndarray) -> dict[str, float]:
    """Return the time of `fit` with likelihood divided by that of the plain fit, for three codes."""
    answer = {}
    for code in ("one-vs-all", "all-pairs", "dense"):
        runs = {kind: lambda kind=kind, code=code: ours(kind, code).fit(X, y) for kind in (None, "likelihood")}
        seconds, _ = interleaved(runs, repeats=max(5, 20_000 // len(y)))
        answer[f"time ratio {code}"] = seconds["likelihood"] / seconds[None]
    return answer


def draw(pooled: dict[str, list[tuple[np.ndarray, np.ndarray]]]) -> None:
    import matplotlib

    matplotlib.use("Agg")
    import matplotlib.pyplot as plt

    figure, axes = plt.subplots(2, 4, figsize=(11, 5.8), sharex=True, sharey=True, layout="constrained")
    *panels, last = axes.flat
    for axis, (name, curves) in zip(panels, pooled.items(), strict=True):
        axis.plot([0, 1], [0, 1], color="0.7", linewidth=1)
        for data, (sure, right) in zip(DATA, curves, strict=True):
            axis.plot(sure, right, marker="o", markersize=3, linewidth=1, label=data)
        axis.set(title=name, xlim=(0, 1.02), ylim=(0, 1.02))
    last.axis("off")
    last.legend(*panels[0].get_legend_handles_labels(), loc="center")
    figure.supxlabel("confidence")
    figure.supylabel("accuracy")
    RESULTS.mkdir(exist_ok=True, parents=True)
    figure.savefig(RESULTS / "calibration.svg")


def main() -> None:
    most = int(WORDS[0]) if WORDS else 3000
    table, ratios = [], []
    pooled: dict[str, list[Any]] = {name: [] for name in contenders()}
    for data in DATA:
        X, y, X_new, y_new = split(data, most)
        for name, model in contenders().items():
            P = model.fit(X, y).predict_proba(X_new)
            assert np.array_equal(model.classes_, np.arange(P.shape[1]))
            pooled[name].append(reliability(P, y_new))
            table.append({"data": data, "rows": len(y), "classes": P.shape[1], "method": name, **quality(P, y_new)})
        ratios.append({"data": data, "rows": len(y), "classes": P.shape[1], **times(X, y)})
    print_table(table)
    print_table(ratios)
    draw(pooled)
    save("calibration", table + ratios)


if __name__ == "__main__":
    main()
