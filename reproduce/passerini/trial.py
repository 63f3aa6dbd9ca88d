"""One measurement of Passerini, Pontil & Frasconi's figures: a code of kernel SVMs and a γ."""

from __future__ import annotations

from collections import Counter
from functools import lru_cache
from typing import Any, Literal, NamedTuple

import numpy as np
from numpy.typing import NDArray

from outputcodes import OutputCodeClassifier
from outputcodes.codes import as_code
from outputcodes.decoders import Decoder, Likelihood
from outputcodes.learners import KernelSVM
from outputcodes.selection.leave_one_out import judge
from outputcodes.training import TrainedCode
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
        wrong.update(_wrong(*_trained(part, code, gamma, bias, targets), part))
    return {"tested": sum(len(part.y_test) for part in parts), "wrong": dict(wrong)}


def measure_split(
    data_set: str, code: str, gamma: float, rows: int | None = None, bias: Bias = "free", targets: Targets = "platt"
) -> dict[str, Any]:
    """Count the test rows that each decoder misclassifies; add the leave-one-out bound of likelihood decoding."""
    data = load_data_set(data_set)
    part = _part(data, *partition(data_set, data, rows))
    trained, likelihood = _trained(part, code, gamma, bias, targets)
    # As in the corollary, a tie is no error.
    bound = judge(trained, likelihood, ties_as_errors=False).error
    return {"tested": len(part.y_test), "wrong": _wrong(trained, likelihood, part), "bound": round(bound, 6)}


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


def _trained(part: TrainTest, code: str, gamma: float, bias: Bias, targets: Targets) -> tuple[TrainedCode, Decoder]:
    """Return the trained code and its likelihood decoder."""
    # By label, so that a class that a fold lacks keeps its row.
    codewords = dict(enumerate(as_code(code).draw(part.k, random_state=0).matrix().tolist()))
    learner = KernelSVM(C=1.0, gamma=gamma, bias=bias)
    model = OutputCodeClassifier(learner, code=codewords, decoder=Likelihood(targets=targets), random_state=0)
    trained = model.train(part.X, part.y)
    return trained, model.decoder_


def _wrong(trained: TrainedCode, likelihood: Decoder, part: TrainTest) -> dict[str, int]:
    F = trained.margins(part.X_test)
    decoders = {name: likelihood if name == "likelihood" else trained.decoder(name) for name in DECODERS}
    return {name: int((decoder.predict(F, trained.code) != part.y_test).sum()) for name, decoder in decoders.items()}
