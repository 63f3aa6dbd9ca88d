"""Compare decision trees with scikit-learn on letter, 48 columns with its OutputCodeClassifier, and ten data sets.

    OUTPUTCODES_DATA=<folder> python benchmarks/trees.py [growing] [columns] [unpruned] [pruned] [growth] [--quick]

Axis trees must fit the training data as well as scikit-learn's. The columns, trained on scikit-learn's own code, must
have the same training errors up to ties (0.2 %). The floor is the number of values that must be read, n·d per level,
weighted by the training examples that reach it; it is printed as the rate that was reached.
"""

from __future__ import annotations

import resource
import time

import numpy as np
from common import QUICK, WORDS, exponent, interleaved, load, print_table, save
from sklearn.model_selection import StratifiedKFold
from sklearn.multiclass import OutputCodeClassifier as TheirOutputCode
from sklearn.preprocessing import StandardScaler
from sklearn.tree import DecisionTreeClassifier

from outputcodes import DecisionTree, OutputCodeClassifier
from outputcodes.learners import ColumnTree

QUESTIONS = {
    "axis": ("axis",),
    "oblique": ("axis", "oblique"),
    "sphere": ("axis", "sphere"),
    "all": ("axis", "oblique", "sphere"),
}
# Soybean has categories and missing values; data sets without a test part are cross-validated.
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
if QUICK:
    DATA = ("glass", "soybean", "vowel")


def peak() -> int:
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss // 1024


def error(model, X, y) -> float:
    return float((model.predict(X) != y).mean())


def letter():
    X, y, train = load("letter")
    return X[train].astype(float), y[train], X[~train].astype(float), y[~train]


def growing() -> list[dict[str, object]]:
    """One axis tree on letter. scikit-learn breaks ties at random, so its error is that of 10 seeds."""
    X, y, X_test, y_test = letter()
    table = []
    for criterion in ("gini", "entropy"):
        ours, theirs = (tree(criterion=criterion) for tree in (DecisionTree, DecisionTreeClassifier))
        seconds, _ = interleaved({"ours": lambda o=ours: o.fit(X, y), "theirs": lambda t=theirs: t.fit(X, y)}, 7)
        assert error(ours, X, y) == error(theirs, X, y)
        peers = [error(theirs.set_params(random_state=seed).fit(X, y), X_test, y_test) for seed in range(10)]
        depth = float(ours.tree_.depths[ours.apply(X)].mean())
        table.append(
            {
                "criterion": criterion,
                "ours s": seconds["ours"],
                "scikit-learn s": seconds["theirs"],
                "ours / scikit-learn": seconds["ours"] / seconds["theirs"],
                "leaves": ours.n_leaves_,
                "scikit-learn leaves": int(theirs.get_n_leaves()),
                "test error %": 100 * error(ours, X_test, y_test),
                "scikit-learn %": f"{100 * np.mean(peers):.2f} ± {100 * np.std(peers):.2f}",
                "M values/s": 1e-6 * X.size * depth / seconds["ours"],
                "peak RSS MB": peak(),
            }
        )
    return table


def columns() -> list[dict[str, object]]:
    """48 columns of scikit-learn's own random code for letter, with trees of the same depth on two cores."""
    X, y, X_test, y_test = letter()
    k, L = int(y.max()) + 1, 48
    table = []
    for depth in (8, 12, None):
        tree = DecisionTreeClassifier(criterion="entropy", max_depth=depth)
        theirs = TheirOutputCode(tree, code_size=(L + 0.5) / k, random_state=0, n_jobs=2)
        book = np.where(theirs.fit(X, y).code_book_ > 0, 1, -1).astype(np.int8)
        ours = OutputCodeClassifier(ColumnTree(max_depth=depth), code=book, n_jobs=2)
        ours.fit(X, y)
        seconds, _ = interleaved({"ours": lambda o=ours: o.fit(X, y), "theirs": lambda t=theirs: t.fit(X, y)}, 3)
        signs = np.where(np.column_stack([column.predict(X) for column in theirs.estimators_]) > 0, 1, -1)
        wrong = [float((answers != book[y]).mean()) for answers in (np.where(ours.margins(X) > 0, 1, -1), signs)]
        assert abs(wrong[0] - wrong[1]) < (0.02 if QUICK else 0.002)
        predicting, _ = interleaved({"predict": lambda o=ours: o.predict(X_test)}, repeats=3)
        table.append(
            {
                "depth": depth,
                "L": book.shape[1],
                "ours s": seconds["ours"],
                "scikit-learn s": seconds["theirs"],
                "scikit-learn / ours": seconds["theirs"] / seconds["ours"],
                "training error of columns": wrong[0],
                "scikit-learn's": wrong[1],
                "test error %": 100 * error(ours, X_test, y_test),
                "scikit-learn %": 100 * error(theirs, X_test, y_test),
                "predict s": predicting["predict"],
                "peak RSS MB": peak(),
            }
        )
    return table


def splits_of(name):
    """Yield training and test parts, standardised on the training part because spheres need one scale."""
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
    row: dict[str, object] = {"data": name}
    for kind, questions in QUESTIONS.items():
        wrong, leaves, seconds = [], [], 0.0
        for X, y, X_test, y_test in splits_of(name):
            categorical = np.arange(X.shape[1]) if name == "soybean" else None
            model = DecisionTree(questions, pruning=pruning, categorical_features=categorical, n_jobs=2)
            start = time.perf_counter()
            model.fit(X, y)
            seconds += time.perf_counter() - start
            wrong.append(error(model, X_test, y_test))
            leaves.append(model.n_leaves_)
        row |= {f"{kind} %": 100 * float(np.mean(wrong)), "leaves " + kind: int(np.mean(leaves)), "s " + kind: seconds}
    return row


def unpruned() -> list[dict[str, object]]:
    """Test errors of unpruned trees, with the leaves and the seconds of `fit` (five fits where cross-validated)."""
    return [on_data(name, None) for name in DATA]


def pruned() -> list[dict[str, object]]:
    """The same for pruned trees, with the cost per leaf chosen by 5 folds of the training part."""
    return [on_data(name, "cv") for name in DATA]


def growth() -> list[dict[str, object]]:
    """Exponents of the time on letter, in the number of examples n and of columns L."""
    X, y, *_ = letter()
    M = np.where(np.random.default_rng(0).random((26, 96)) < 0.5, -1, 1).astype(np.int8)
    M[:2] = [[1], [-1]]  # both signs in every column, whatever the rows
    learner = ColumnTree(max_depth=12)

    def seconds(work, repeats=3) -> float:
        return interleaved({"work": work}, repeats)[0]["work"]

    def fit(n, L) -> float:
        rows = np.append(np.flatnonzero(y < 2)[:2], np.arange(n - 2))
        return seconds(lambda: learner.fit_columns(learner.prepare(X[rows]), y[rows], M[:, :L], n_jobs=2))

    sizes, lengths = [len(y) // 8, len(y) // 4, len(y) // 2, len(y)], [12, 24, 48, 96]
    row: dict[str, object] = {}
    for kind, repeats in (("axis", 3), ("oblique", 1), ("sphere", 1)):
        tree = DecisionTree(QUESTIONS[kind])
        times = [seconds(lambda n=n, tree=tree: tree.fit(X[:n], y[:n]), repeats) for n in sizes]
        row[f"n, {kind}"] = exponent(sizes, times)
    row["n, columns"] = exponent(sizes, [fit(n, 48) for n in sizes])
    row["L, columns"] = exponent(lengths, [fit(len(y) // 2, L) for L in lengths])
    return [row]


def main() -> None:
    X, y, *_ = letter()
    DecisionTree(QUESTIONS["all"], pruning="cv").fit(X[:200], y[:200])  # compile
    DecisionTree(categorical_features=[0]).fit(X[:200], y[:200])
    parts = {part.__name__: part for part in (growing, columns, unpruned, pruned, growth)}
    for name in WORDS or parts:
        print(f"\n{parts[name].__doc__}\n")
        table = parts[name]()
        print_table(table)
        save(f"trees_{name}", table)


if __name__ == "__main__":
    main()
