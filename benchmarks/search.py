"""Compare searches that share work with scikit-learn's GridSearchCV on the same folds, and judges by their regret.

    OUTPUTCODES_DATA=... python benchmarks/search.py [part ...] [--quick]

Every part has a results file of its own. All run on one core: our search and scikit-learn's over our estimator three
times in turn, of which the medians count, and other peers once. Besides the seconds, each row has the largest
difference between the mean scores of a candidate, in rows of a thousand, and what the search loses by its choice: the
difference of the peer's scores at the two choices, in the same unit.

- kernel: KernelSVM, 6 γ × 4 C, on 3,000 rows of letter; large: on 16,000, about half an hour.
- mnist: the same grid on 5,000 rows of mnist.
- linear: 20 α of Ridge and 10 C of Logistic; decoders: ten on one training.
- judges: the test error of what leave-one-out and five folds choose on the training rows, minus that of the best.
- defaults: what KernelSVM does on all pairs if no decoder is named, beside SVC, by folds of the training rows.
"""

from __future__ import annotations

import sys
from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np
import pandas as pd
from common import WORDS, interleaved, load, print_table, read, save
from scipy.stats import rankdata
from sklearn.linear_model import LogisticRegression, RidgeClassifier
from sklearn.model_selection import GridSearchCV, RepeatedStratifiedKFold, StratifiedKFold
from sklearn.multiclass import OneVsRestClassifier
from sklearn.svm import SVC

from outputcodes import OutputCodeClassifier
from outputcodes.learners import KernelSVM, LinearSVM, Logistic, Ridge
from outputcodes.selection import GridSearch, space_of

FOLDS = StratifiedKFold(3, shuffle=True, random_state=0)
REPEATED = RepeatedStratifiedKFold(n_splits=3, n_repeats=5, random_state=0)
OWN = "GridSearchCV, our estimator"
TEN = "loss vote hamming linear logistic exponential euclidean dag laplacian inverse-hamming"
PUBLISHED = (
    "dermatology satimage glass segmentation ecoli pendigits yeast vowel soybean thyroid audiology isolet letter "
    "optdigits vehicle wine iris usps anneal shuttle"
)


def sample(name: str, rows: int) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]:
    """Return training rows drawn at random and all test rows, standardised by the former."""
    X, y, train = load(name)
    if train.all():
        train = np.random.default_rng(1).permutation(len(y)) < 2 * len(y) // 3
    drawn = np.random.default_rng(0).permutation(np.flatnonzero(train))[:rows]
    X = X.astype(np.float64)
    mean, spread = X[drawn].mean(axis=0), X[drawn].std(axis=0)
    X = (X - mean) / (255.0 if name == "mnist" else np.where(spread > 0, spread, 1.0))
    return X[drawn], y[drawn], X[~train], y[~train]


def searched(what: str, ours: Any, peers: dict[str, Any], X: np.ndarray, y: np.ndarray) -> list[dict[str, object]]:
    """Run our search and its peers, after a trial on a few rows, which compiles what is to be compiled."""
    few = np.concatenate([np.flatnonzero(y == r)[:12] for r in np.unique(y)])
    for one in (ours, *peers.values()):
        one.fit(X[few], y[few])
    contenders = {name: partial(one.fit, X, y) for name, one in {"ours": ours, **peers}.items()}
    seconds, fitted = interleaved({name: contenders.pop(name) for name in ("ours", OWN)}, repeats=3)
    # Some take minutes, and are several times slower than they may be.
    others = interleaved(contenders, repeats=1)
    seconds, fitted = seconds | others[0], fitted | others[1]
    rows: list[dict[str, object]] = []
    scores, best = fitted["ours"].cv_results_["mean_test_score"], fitted["ours"].best_index_
    for name in peers:
        theirs = fitted[name].cv_results_["mean_test_score"]
        rows.append(
            {
                "search": what,
                "rows": len(y),
                "peer": name,
                "candidates": len(theirs),
                "ours s": seconds["ours"],
                "theirs s": seconds[name],
                "theirs / ours": seconds[name] / seconds["ours"],
                "scores differ by": 1000 * float(np.abs(scores - theirs).max()),
                "choice loses": 1000 * float(theirs.max() - theirs[best]),
            }
        )
    print_table(rows)
    return rows


def kernel_grids(X: np.ndarray) -> tuple[dict[str, list[float]], dict[str, list[float]]]:
    unit = 1 / (X.shape[1] * X.var())
    gamma, C = [unit * factor for factor in (1 / 4, 1 / 2, 1, 2, 4, 8)], [1.0, 4.0, 16.0, 64.0]
    return {"estimator__gamma": gamma, "estimator__C": C}, {"gamma": gamma, "C": C}


def kernel(name: str, n: int) -> list[dict[str, object]]:
    X, y, _, _ = sample(name, n)
    nested, plain = kernel_grids(X)
    one, pairs = (OutputCodeClassifier(KernelSVM(), code=code) for code in ("one-vs-all", "all-pairs"))
    peers = {OWN: GridSearchCV(one, nested, cv=FOLDS)}
    if name == "letter":
        peers["OneVsRestClassifier(SVC)"] = GridSearchCV(OneVsRestClassifier(SVC()), nested, cv=FOLDS)
    table = searched(f"KernelSVM, one-vs-all, {name}", GridSearch(one, nested, cv=FOLDS), peers, X, y)
    peers = {OWN: GridSearchCV(pairs, nested, cv=FOLDS)}
    if name == "letter":
        # With break_ties, SVC breaks ties between votes by margins too.
        peers["SVC"] = GridSearchCV(SVC(break_ties=True), plain, cv=FOLDS)
    return table + searched(f"KernelSVM, all pairs, votes, {name}", GridSearch(pairs, nested, cv=FOLDS), peers, X, y)


def linear() -> list[dict[str, object]]:
    X, y, _, _ = sample("mnist", 20_000)
    five = StratifiedKFold(5, shuffle=True, random_state=0)
    alpha, C = {"alpha": np.logspace(-3, 4, 20)}, {"C": np.logspace(-3, 1.5, 10)}
    # At the default tolerances of Logistic, a few rows of a thousand depend on where an iteration stops.
    tol = 1e-5
    ridge, logistic = (OutputCodeClassifier(one, code="one-vs-all") for one in (Ridge(), Logistic(tol=tol)))
    table = searched(
        "Ridge, 20 α, mnist",
        GridSearch(ridge, {"estimator__alpha": alpha["alpha"]}, cv=five),
        {
            OWN: GridSearchCV(ridge, {"estimator__alpha": alpha["alpha"]}, cv=five),
            "RidgeClassifier": GridSearchCV(RidgeClassifier(), alpha, cv=five),
        },
        X,
        y,
    )
    X, y, _, _ = sample("optdigits", 1_500)
    theirs = OneVsRestClassifier(LogisticRegression(tol=tol, max_iter=1000))
    return table + searched(
        "Logistic, 10 C, optdigits",
        GridSearch(logistic, {"estimator__C": C["C"]}, cv=FOLDS),
        {
            OWN: GridSearchCV(logistic, {"estimator__C": C["C"]}, cv=FOLDS),
            "OneVsRestClassifier(LogisticRegression)": GridSearchCV(theirs, {"estimator__C": C["C"]}, cv=FOLDS),
        },
        X,
        y,
    )


def decoders() -> list[dict[str, object]]:
    X, y, _, _ = sample("letter", 10_000)
    model = OutputCodeClassifier(LinearSVM())
    grid = {"decoder": TEN.split()}
    # The training on all rows is the same for both: of five folds it is a smaller part.
    peers = {OWN: GridSearchCV(model, grid, cv=5)}
    return searched("ten decoders, LinearSVM, letter", GridSearch(model, grid, cv=5), peers, X, y)


def judges() -> list[dict[str, object]]:
    """Return the test error of the candidate that a judge chooses, minus that of the best candidate."""
    rows: list[dict[str, object]] = []
    for name in ("satimage", "pendigits", "vowel", "optdigits", "segmentation", "usps"):
        X, y, X_test, y_test = sample(name, 1500)
        for kind, learner in (("ridge", Ridge()), ("kernel-svm", KernelSVM(bias="folded"))):
            model = OutputCodeClassifier(learner, code="one-vs-all")
            grid = space_of(model, X).grid(20)
            every = GridSearchCV(
                model, grid, cv=[(np.arange(len(y)), np.arange(len(y), len(y) + len(y_test)))], refit=False
            )
            every.fit(np.vstack([X, X_test]), np.concatenate([y, y_test]))
            errors = 100 * (1 - every.cv_results_["mean_test_score"])
            searches = {
                "leave-one-out": GridSearch(model, grid, judge="leave-one-out", refit=False),
                "5 folds": GridSearch(model, grid, cv=5, refit=False),
            }
            contenders = {one: partial(search.fit, X, y) for one, search in searches.items()}
            seconds, fitted = interleaved(contenders, repeats=1)
            row: dict[str, object] = {"data set": name, "learner": kind, "best": float(errors.min())}
            row["kind"] = str(fitted["leave-one-out"].cv_results_["loo_kind"][0])
            for one, search in fitted.items():
                row[f"regret, {one}"] = float(errors[search.best_index_] - errors.min())
                row[f"s, {one}"] = seconds[one]
            rows.append(row)
    print_table(rows)
    return rows


def defaults() -> list[dict[str, object]]:
    """Return errors by folds of the training rows, and mean ranks in the last row.

    Votes are tied in a row of a hundred: five divisions into folds, as one says nothing about how ties are broken.
    """
    rows: list[dict[str, object]] = []
    for name in PUBLISHED.split():
        frame = read(name)
        kept = np.flatnonzero(frame["split"] == "train") if "split" in frame else np.arange(len(frame))
        kept = np.random.default_rng(0).permutation(kept)[:2500]
        y = np.unique(frame["target"].iloc[kept], return_inverse=True)[1]
        common = np.bincount(y)[y] >= 3
        frame, y = frame.iloc[kept[common]], y[common]
        X = pd.get_dummies(frame.drop(columns=["split", "target"], errors="ignore")).to_numpy(np.float64)
        spread = np.nanstd(X, axis=0)
        X = np.nan_to_num((X - np.nanmean(X, axis=0)) / np.where(spread > 0, spread, 1.0))
        model = OutputCodeClassifier("kernel-svm")
        ours = GridSearch(model, {"decoder": [None, "loss", "auto"]}, cv=REPEATED, refit=False).fit(X, y)
        theirs = GridSearchCV(SVC(), {}, cv=REPEATED, refit=False).fit(X, y)
        errors = 100 * (1 - np.append(ours.cv_results_["mean_test_score"], theirs.cv_results_["mean_test_score"]))
        names = ("our default", "loss", "auto", "SVC")
        rows.append({"data set": name} | dict(zip(names, errors.tolist(), strict=True)))
    ranks = np.mean([rankdata([round(float(str(row[c])), 9) for c in names]) for row in rows], axis=0)
    rows.append({"data set": "mean rank"} | dict(zip(names, ranks.tolist(), strict=True)))
    print_table(rows)
    return rows


PARTS: dict[str, Callable[[], list[dict[str, object]]]] = {
    "kernel": lambda: kernel("letter", 3_000),
    "large": lambda: kernel("letter", 16_000),
    "mnist": lambda: kernel("mnist", 5_000),
    "linear": linear,
    "decoders": decoders,
    "judges": judges,
    "defaults": defaults,
}


def main() -> None:
    if unknown := [word for word in WORDS if word not in PARTS]:
        sys.exit(f"Unknown: {', '.join(unknown)}. The parts are {', '.join(PARTS)}.")
    for name, part in PARTS.items():
        if not WORDS or name in WORDS:
            save(f"search_{name}", part())


if __name__ == "__main__":
    main()
