"""Which decoder reads the margins of Gaussian kernel machines best: the published experiment on five small data sets.

    OUTPUTCODES_DATA=... python benchmarks/likelihood_decoding.py [folds]

After Figure 2 of Passerini, Pontil & Frasconi: numbers scaled to [0, 1], categories (and missing ones) one-hot, C = 1,
a free bias, 11 values of γ, three codes, four decoders, test error by 20 folds there, by 10 here unless given. All
decoders read the margins of the same machines; likelihood decoding is calibrated on margins held out within the
training rows. A cell is a data set, a code and a γ. The paper prints curves and no numbers; it claims that likelihood
decoding is best for most γ and least sensitive to γ, and that Hamming decoding is poor for one-vs-all.
"""

from __future__ import annotations

import json
import os
import sys
import time
import warnings
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from common import print_table, save
from sklearn.compose import make_column_transformer
from sklearn.impute import SimpleImputer
from sklearn.model_selection import StratifiedKFold
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import MinMaxScaler, OneHotEncoder

from outputcodes import OutputCodeClassifier
from outputcodes.codes import as_code
from outputcodes.learners import KernelSVM
from outputcodes.selection import mean_ranks

SETS = ("anneal", "ecoli", "glass", "soybean", "yeast")
CODES = ("one-vs-all", "all-pairs", "bch")
DECODERS = ("hamming", "linear", "hinge", "likelihood")
GAMMAS = [2.0**power for power in range(-6, 5)]


def read(name: str) -> tuple[pd.DataFrame, np.ndarray, Any]:
    """The features, the labels, and how features become numbers."""
    folder = os.environ.get("OUTPUTCODES_DATA")
    if not folder:
        raise SystemExit("Set OUTPUTCODES_DATA to the directory of the data sets to run this benchmark.")
    index = json.loads((Path(folder) / "index.json").read_text())
    categorical = next(entry["categorical"] for entry in index["datasets"] if entry["name"] == name)
    frame = pd.read_csv(Path(folder) / f"{name}.csv.gz", dtype=dict.fromkeys([*categorical, "target"], str))
    X = frame.drop(columns=["split", "target"], errors="ignore")
    X[categorical] = X[categorical].fillna("missing")
    numbers = [column for column in X if column not in categorical]
    encode = make_column_transformer(
        (OneHotEncoder(handle_unknown="ignore", sparse_output=False), categorical),
        (make_pipeline(SimpleImputer(), MinMaxScaler()), numbers),
    )
    return X, np.unique(frame["target"], return_inverse=True)[1], encode


def errors(name: str, n_folds: int) -> np.ndarray:
    """(codes, γ, decoders): the share of rows that are misclassified when held out."""
    X, y, encode = read(name)
    classes = np.unique(y)
    wrong = np.zeros((len(CODES), len(GAMMAS), len(DECODERS)))
    for train, test in StratifiedKFold(n_folds, shuffle=True, random_state=0).split(X, y):
        X_train, X_test = encode.fit_transform(X.iloc[train]), encode.transform(X.iloc[test])
        for c, code in enumerate(CODES):
            # By label, so that a class that a fold lacks keeps its row.
            M = as_code(code).matrix(len(classes), random_state=0)
            rows = dict(zip(classes.tolist(), M.tolist(), strict=True))
            for g, gamma in enumerate(GAMMAS):
                model = OutputCodeClassifier(
                    KernelSVM(C=1.0, gamma=gamma), code=rows, decoder="likelihood", n_jobs=2, random_state=0
                ).fit(X_train, y[train])
                F = model.margins(X_test)
                for d, decoder in enumerate(DECODERS):
                    reader = model if decoder == "likelihood" else model.with_decoder(decoder)
                    predicted = model.classes_[reader.decoder_.predict(F, M)]
                    wrong[c, g, d] += np.count_nonzero(predicted != y[test])
    return wrong / len(y)


def summary(name: str, code: str, table: np.ndarray) -> dict[str, object]:
    """One code on one data set: for each decoder the least error, the mean over γ, and in how many cells it is best."""
    best = table <= table.min(axis=1, keepdims=True)
    row: dict[str, object] = {"data": name, "code": code}
    for d, decoder in enumerate(DECODERS):
        row |= {f"{decoder}: least %": 100 * table[:, d].min(), f"{decoder}: mean %": 100 * table[:, d].mean()}
    return row | {f"{decoder}: best or tied": int(best[:, d].sum()) for d, decoder in enumerate(DECODERS)}


def main() -> None:
    n_folds = int(sys.argv[1]) if len(sys.argv) > 1 else 10
    # Rare classes: folds with few rows of them, columns without a side, sigmoids without enough to learn from.
    warnings.simplefilter("ignore", UserWarning)
    start = time.perf_counter()
    measured = {name: errors(name, n_folds) for name in SETS}
    print_table([summary(name, code, measured[name][c]) for name in SETS for c, code in enumerate(CODES)])
    cells = np.concatenate([table.reshape(-1, len(DECODERS)) for table in measured.values()])
    by_code = np.stack(list(measured.values()))
    ranking = mean_ranks(by_code.mean(axis=2).reshape(-1, len(DECODERS)))
    overall = []
    for d, decoder in enumerate(DECODERS):
        best = cells[:, d] <= cells.min(axis=1)
        overall.append(
            {
                "decoder": decoder,
                "share of cells best or tied": float(best.mean()),
                "mean excess over the best of the cell %": float(100 * (cells[:, d] - cells.min(axis=1)).mean()),
                "mean spread over γ (worst − best) %": float(100 * np.ptp(by_code[..., d], axis=2).mean()),
                "mean rank": float(ranking.mean_ranks[d]),
                **{
                    f"best or tied, {code}": float((by_code[:, c, :, d] <= by_code[:, c].min(axis=-1)).mean())
                    for c, code in enumerate(CODES)
                },
            }
        )
    print_table(overall)
    print(f"critical difference of mean ranks: {ranking.critical_difference:.2f}; Friedman p = {ranking.p_value:.2g}")
    print(f"{len(cells)} cells, {n_folds} folds, {time.perf_counter() - start:.0f} s")
    curves = [
        {"data": name, "code": code, "decoder": decoder, "gamma": GAMMAS, "error": measured[name][c, :, d].tolist()}
        for name in SETS
        for c, code in enumerate(CODES)
        for d, decoder in enumerate(DECODERS)
    ]
    save("likelihood_decoding", [*overall, *curves])


if __name__ == "__main__":
    main()
