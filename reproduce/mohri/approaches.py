"""The approaches of Mohri's lecture side by side: multiclass classifiers and combinations of binary ones."""

from __future__ import annotations

import time
from collections.abc import Callable
from math import fsum
from typing import Any, Literal

import numpy as np
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from outputcodes import DecisionTree, MulticlassSVC, OutputCodeClassifier
from outputcodes.boosting import AdaBoostMH, AdaBoostMR
from outputcodes.learners import BoostedStumps, KernelSVM
from outputcodes.selection import mean_ranks
from reproduce.data import encoder, load_data_set, splits
from reproduce.experiment import Experiment, Findings, Observation, TextTable, Unit
from reproduce.mohri.growth import SOURCE

DATA_SETS = ("pendigits", "satimage", "segmentation", "optdigits", "yeast", "vowel", "vehicle", "ecoli", "glass")
C, ROUNDS = 10.0, 200

CODES = ("one-vs-all", "all-pairs", "dense")

Features = Literal["codes", "unit"]
Make = Callable[[], Any]


def _scaled(model: Any) -> Any:
    return make_pipeline(StandardScaler(), model)


def _combined(learner: Make, code: str) -> Make:
    return lambda: OutputCodeClassifier(learner(), code=code, decoder="loss", random_state=0)


def _svm() -> Any:
    return KernelSVM(C=C)


def _stumps() -> Any:
    return BoostedStumps(n_rounds=ROUNDS)


# The features that each takes, and how it is made.
APPROACHES: dict[str, tuple[Features, Make]] = {
    "multi-class SVM": ("unit", lambda: MulticlassSVC(C=C)),
    "AdaBoost.MH": ("codes", lambda: AdaBoostMH(n_rounds=5 * ROUNDS, random_state=0)),
    "AdaBoost.MR": ("codes", lambda: AdaBoostMR(n_rounds=5 * ROUNDS, random_state=0)),
    "conditional maxent": ("unit", lambda: LogisticRegression(C=C, max_iter=2000)),
    "decision tree": ("codes", lambda: DecisionTree(pruning="cv", random_state=0)),
    **{f"{code}, SVM": ("unit", _combined(_svm, code)) for code in CODES},
    **{f"{code}, boosted stumps": ("codes", _combined(_stumps, code)) for code in CODES},
}


def measure(data_set: str, approach: str, folds: int) -> dict[str, Any]:
    """Return the test error in percent, and the seconds to train and to test."""
    data = load_data_set(data_set)
    how, make = APPROACHES[approach]
    wrong, tested, seconds = 0, 0, np.zeros(2)
    for train, test in splits(data, folds):
        encode = encoder(data, how)
        X, X_test = encode.fit_transform(data.X.iloc[train]), encode.transform(data.X.iloc[test])
        model = _scaled(make()) if how == "unit" else make()
        start = time.perf_counter()
        model.fit(X, data.y[train])
        middle = time.perf_counter()
        wrong += int(np.count_nonzero(model.predict(X_test) != data.y[test]))
        seconds += middle - start, time.perf_counter() - middle
        tested += len(test)
    training, testing = np.round(seconds, 3).tolist()
    return {"error": round(100 * wrong / tested, 3), "tested": tested, "training": training, "testing": testing}


def _units(data_sets: tuple[str, ...], quick: bool, folds: int) -> list[Unit]:
    chosen = [name for name in data_sets if not quick or name in ("vehicle", "glass", "ecoli")]
    return [
        {"data_set": name, "approach": approach, "folds": 2 if quick else folds}
        for name in chosen
        for approach in APPROACHES
    ]


def _present(observations: list[Observation]) -> Findings:
    found = {(r.unit["data_set"], r.unit["approach"]): r.found for r in observations}
    names = [name for name in DATA_SETS if all((name, approach) in found for approach in APPROACHES)]
    if not names:
        return Findings(remarks=["No data set has been measured with all approaches yet."])
    errors = np.array([[found[name, approach]["error"] for approach in APPROACHES] for name in names])
    ranks = mean_ranks(errors) if len(names) > 1 else None
    order = range(len(APPROACHES)) if ranks is None else np.argsort(ranks.mean_ranks, kind="stable")
    rows = []
    for at in order:
        approach = list(APPROACHES)[at]
        training, testing = (fsum(found[name, approach][what] for name in names) for what in ("training", "testing"))
        rank = f"{ranks.mean_ranks[at]:.1f}" if ranks else ""
        cells = [f"**{e:.1f}**" if e == errors[i].min() else f"{e:.1f}" for i, e in enumerate(errors[:, at])]
        rows.append((approach, *cells, rank, f"{training:.1f}", f"{testing:.2f}"))
    header = ("approach", *names, "mean rank", "training s", "testing s")
    remarks = ["Seconds are sums over the data sets, and rough where units ran at the same time (`--jobs` above 1)."]
    if ranks is not None:
        remarks.append(
            f"Mean ranks that differ by {ranks.critical_difference:.1f} are significantly different (Nemenyi, 5 %); "
            f"Friedman's test that none differ: p = {ranks.p_value:.1g}."
        )
    return Findings([TextTable("Test errors in percent, best in bold", header, rows, tuple(remarks))])


APPROACHES_EXPERIMENT = Experiment(
    name="mohri-approaches",
    title="Mohri, the approaches of the lecture on the same data",
    source=SOURCE,
    protocol=f"""
Single multiclass classifiers (multi-class SVMs, AdaBoost.MH and .MR, conditional maxent, decision trees) and
combinations of binary ones (one-vs-all, one-vs-one, error-correcting codes) with one setting for all data sets: C = {C}
and scikit-learn's scale of the Gaussian kernel on standardised features, {5 * ROUNDS} rounds for the boosters,
{ROUNDS} per column of boosted stumps, trees pruned by cross-validation. Official partitions are used, or `folds`
folds (also for segmentation, whose partition has 210 rows for training). The lecture names the approaches and prints no
numbers.
""",
    data_sets=DATA_SETS,
    units=_units,
    measure=measure,
    present=_present,
    options={"folds": 5},
)
