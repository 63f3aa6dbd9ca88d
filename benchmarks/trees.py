"""Decision trees: growing against scikit-learn on letter, 48 columns against its OutputCodeClassifier, ten data sets.

    OUTPUTCODES_DATA=... python benchmarks/trees.py

Axis trees must fit the training data as scikit-learn's do; the columns, trained on scikit-learn's own code, must have
its training errors up to ties (0.2 %). The floor is the values that must be looked at, n·d for every level, weighed by
the training examples that reach it; it is printed as the rate that was reached.
"""

from __future__ import annotations

import resource
import time

import numpy as np
from common import exponent, interleaved, load, print_table, save
from sklearn.model_selection import StratifiedKFold
from sklearn.multiclass import OutputCodeClassifier as TheirOutputCode
from sklearn.preprocessing import StandardScaler
from sklearn.tree import DecisionTreeClassifier

from outputcodes import OutputCodeClassifier
from outputcodes.learners.tree import Tree
from outputcodes.trees.decision_tree import DecisionTree

QUESTIONS = {
    "axis": ("axis",),
    "oblique": ("axis", "oblique"),
    "sphere": ("axis", "sphere"),
    "all": ("axis", "oblique", "sphere"),
}
# Soybean has categories and missing values; those without a test part of their own are cross-validated.
DATA = (
    "glass",
    "letter",
    "optdigits",
    "pendigits",
    "satimage",
    "segmentation",
    "soybean",
    "vehicle",
    "vowel",
    "yeast",
)


def peak() -> int:
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss // 1024


def error(model, X, y) -> float:
    return float((model.predict(X) != y).mean())


def growing(criterion, X, y, X_test, y_test) -> dict[str, object]:
    ours, theirs = DecisionTree(criterion=criterion), DecisionTreeClassifier(criterion=criterion, random_state=0)
    seconds, models = interleaved({"ours": lambda: ours.fit(X, y), "theirs": lambda: theirs.fit(X, y)}, repeats=7)
    assert error(ours, X, y) == error(theirs, X, y)
    depth = float(ours.tree_.depths[ours.apply(X)].mean())
    return {
        "criterion": criterion,
        "ours s": seconds["ours"],
        "scikit-learn s": seconds["theirs"],
        "ours / scikit-learn": seconds["ours"] / seconds["theirs"],
        "leaves": ours.n_leaves_,
        "scikit-learn leaves": theirs.get_n_leaves(),
        "test error": error(models["ours"], X_test, y_test),
        "scikit-learn test error": error(models["theirs"], X_test, y_test),
        "M values/s": 1e-6 * X.size * depth / seconds["ours"],
        "peak RSS MB": peak(),
    }


def columns(depth, X, y, X_test, y_test) -> dict[str, object]:
    k, L = int(y.max()) + 1, 48
    tree = DecisionTreeClassifier(criterion="entropy", max_depth=depth)
    theirs = TheirOutputCode(tree, code_size=(L + 0.5) / k, random_state=0, n_jobs=2)
    book = np.where(theirs.fit(X, y).code_book_ > 0, 1, -1).astype(np.int8)
    ours = OutputCodeClassifier(Tree(max_depth=depth), code=book, n_jobs=2)
    ours.fit(X, y)
    seconds, _ = interleaved({"ours": lambda: ours.fit(X, y), "theirs": lambda: theirs.fit(X, y)}, repeats=3)
    signs = np.where(np.column_stack([column.predict(X) for column in theirs.estimators_]) > 0, 1, -1)
    wrong = [float((answers != book[y]).mean()) for answers in (np.where(ours.margins(X) > 0, 1, -1), signs)]
    assert abs(wrong[0] - wrong[1]) < 0.002
    predicting, _ = interleaved({"predict": lambda: ours.predict(X_test)}, repeats=3)
    return {
        "depth": depth,
        "L": book.shape[1],
        "ours s": seconds["ours"],
        "scikit-learn s": seconds["theirs"],
        "scikit-learn / ours": seconds["theirs"] / seconds["ours"],
        "training error of columns": wrong[0],
        "scikit-learn's": wrong[1],
        "test error": error(ours, X_test, y_test),
        "scikit-learn test error": error(theirs, X_test, y_test),
        "predict s": predicting["predict"],
        "peak RSS MB": peak(),
    }


def parts(name):
    """Training and test parts, standardised by the training part: spheres need one scale."""
    X, y, train = load(name)
    X = X.astype(float)
    if train.all():
        splits = list(StratifiedKFold(5, shuffle=True, random_state=0).split(X, y))
    else:
        splits = [(np.flatnonzero(train), np.flatnonzero(~train))]
    for inside, outside in splits:
        scale = StandardScaler().fit(X[inside]) if name != "soybean" else None
        Z = X if scale is None else scale.transform(X)
        yield Z[inside], y[inside], Z[outside], y[outside]


def on_data(name, pruning) -> dict[str, object]:
    row: dict[str, object] = {"data": name, "pruning": pruning}
    for kind, questions in QUESTIONS.items():
        wrong, leaves, seconds = [], [], 0.0
        for X, y, X_test, y_test in parts(name):
            categorical = np.arange(X.shape[1]) if name == "soybean" else None
            model = DecisionTree(questions, pruning=pruning, categorical_features=categorical, n_jobs=2)
            start = time.perf_counter()
            model.fit(X, y)
            seconds += time.perf_counter() - start
            wrong.append(error(model, X_test, y_test))
            leaves.append(model.n_leaves_)
        row |= {f"{kind} %": 100 * float(np.mean(wrong)), "leaves " + kind: int(np.mean(leaves)), "s " + kind: seconds}
    return row


def growth(X, y) -> dict[str, object]:
    M = np.where(np.random.default_rng(0).random((26, 96)) < 0.5, -1, 1).astype(np.int8)
    M[:2] = [[1], [-1]]  # both signs in every column, whatever the rows
    learner = Tree(max_depth=12)

    def seconds(work, repeats=3) -> float:
        return interleaved({"work": work}, repeats)[0]["work"]

    def fit(n, L) -> float:
        rows = np.append(np.flatnonzero(y < 2)[:2], np.arange(n - 2))
        return seconds(lambda: learner.fit_columns(learner.prepare(X[rows]), y[rows], M[:, :L], n_jobs=2))

    sizes, lengths = [2000, 4000, 8000, 16000], [12, 24, 48, 96]
    row: dict[str, object] = {}
    for kind, repeats in (("axis", 3), ("oblique", 1), ("sphere", 1)):
        tree = DecisionTree(QUESTIONS[kind])
        times = [seconds(lambda n=n, tree=tree: tree.fit(X[:n], y[:n]), repeats) for n in sizes]
        row[f"n, {kind}"] = exponent(sizes, times)
    row["n, columns"] = exponent(sizes, [fit(n, 48) for n in sizes])
    row["L, columns"] = exponent(lengths, [fit(8000, L) for L in lengths])
    return row


def main() -> None:
    X, y, train = load("letter")
    letter = X[train].astype(float), y[train], X[~train].astype(float), y[~train]
    DecisionTree(("axis", "oblique", "sphere"), pruning="cv").fit(letter[0][:200], letter[1][:200])  # compiled
    tables = [
        [growing(criterion, *letter) for criterion in ("gini", "entropy")],
        [columns(depth, *letter) for depth in (8, 12, None)],
        [on_data(name, pruning) for pruning in (None, "cv") for name in DATA],
        [growth(*letter[:2])],
    ]
    for table in tables:
        print_table(table)
        print()
    save("trees", [row for table in tables for row in table])


if __name__ == "__main__":
    main()
