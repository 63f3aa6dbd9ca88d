"""One measurement of Passerini, Pontil & Frasconi's figures: a code of kernel SVMs and a γ."""

from __future__ import annotations

from collections import Counter
from functools import lru_cache
from typing import Any, Literal, NamedTuple

import numpy as np
from numpy.typing import NDArray

from outputcodes.classifier import WithProblem
from outputcodes.codes import as_code
from outputcodes.decoders import Likelihood, as_decoder
from outputcodes.learners import KernelSVM
from outputcodes.selection.leave_one_out import judge
from reproduce.data import DataSet, Rows, encoder, load_data_set, splits
from reproduce.passerini.curves import DECODERS

Bias = Literal["free", "folded"]
Targets = Literal["platt", "plain"]


class TrainTest(NamedTuple):
    """Features as numbers in [0, 1] and labels, for training and for testing; and the number of classes."""

    X: NDArray[np.float64]
    y: Rows
    X_test: NDArray[np.float64]
    y_test: Rows
    k: int


def measure_folds(
    data_set: str, code: str, gamma: float, folds: int, bias: Bias = "free", targets: Targets = "platt"
) -> dict[str, Any]:
    """Count the held-out rows that each decoder misclassifies."""
    parts = _folds(data_set, folds)
    wrong: Counter[str] = Counter()
    for part in parts:
        wrong.update(_wrong(_fitted(part, code, gamma, bias, targets), part))
    return {"tested": sum(len(part.y_test) for part in parts), "wrong": dict(wrong)}


def measure_split(
    data_set: str, code: str, gamma: float, rows: int | None = None, bias: Bias = "free", targets: Targets = "platt"
) -> dict[str, Any]:
    """Count the test rows that each decoder misclassifies; add the leave-one-out bound of likelihood decoding."""
    data = load_data_set(data_set)
    part = _part(data, *partition(data_set, data, rows))
    model = _fitted(part, code, gamma, bias, targets)
    # As in the corollary, a tie is no error.
    bound = judge(model, model.problem_, ties_as_errors=False).error
    return {"tested": len(part.y_test), "wrong": _wrong(model, part), "bound": round(bound, 6)}


def partition(data_set: str, data: DataSet, rows: int | None = None) -> tuple[Rows, Rows]:
    """Return the rows for training and for testing; with `rows`, only so many random rows for training."""
    n = len(data.y)
    if data_set == "letter":
        train, test = np.split(np.arange(n), [n * 3 // 4])
    elif data_set == "segmentation" or data.train is None:
        train, test = np.split(np.random.default_rng(0).permutation(n), [n * 2 // 3])
    else:
        train, test = next(splits(data, 2))
    if rows is not None and rows < len(train):
        train = np.random.default_rng(0).choice(train, rows, replace=False)
    return np.sort(train), np.sort(test)


@lru_cache(maxsize=1)
def _folds(data_set: str, folds: int) -> list[TrainTest]:
    # Cached because encoding categories takes as long as training, and the next unit often uses the same data.
    data = load_data_set(data_set)
    return [_part(data, train, test) for train, test in splits(data, folds, official=False)]


def _part(data: DataSet, train: Rows, test: Rows) -> TrainTest:
    numbers = encoder(data, "unit")
    X, X_test = numbers.fit_transform(data.X.iloc[train]), numbers.transform(data.X.iloc[test])
    return TrainTest(X, data.y[train], X_test, data.y[test], data.k)


def _fitted(part: TrainTest, code: str, gamma: float, bias: Bias, targets: Targets) -> WithProblem:
    # By label, so that a class that a fold lacks keeps its row.
    codewords = dict(enumerate(as_code(code).matrix(part.k, random_state=0).tolist()))
    learner = KernelSVM(C=1.0, gamma=gamma, bias=bias)
    model = WithProblem(learner, code=codewords, decoder=Likelihood(targets=targets), random_state=0)
    return model.fit(part.X, part.y)


def _wrong(model: WithProblem, part: TrainTest) -> dict[str, int]:
    M, F = model.code_matrix_, model.margins(part.X_test)
    decoders = {name: model.decoder_ if name == "likelihood" else as_decoder(name) for name in DECODERS}
    return {name: int((decoder.predict(F, M) != part.y_test).sum()) for name, decoder in decoders.items()}
