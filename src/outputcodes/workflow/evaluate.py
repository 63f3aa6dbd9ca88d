"""One cell of a plan on one split: trained once, its margins read by every decoder that can."""

from __future__ import annotations

import pickle
import time
import warnings
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.exceptions import ConvergenceWarning
from sklearn.metrics import balanced_accuracy_score, log_loss

from outputcodes.classifier import WithProblem
from outputcodes.codes import as_code
from outputcodes.decoders import Decoder, Softmax, as_decoder
from outputcodes.decoding import decoder_for
from outputcodes.tables import Table
from outputcodes.workflow.models import build
from outputcodes.workflow.plan import Cell

METRICS = ("error", "log-loss", "balanced")
Result = dict[str, Any]
Rows = NDArray[np.intp]


def evaluate(
    cell: Cell,
    table: Table,
    train: Rows,
    test: Rows,
    *,
    metric: str = "error",
    seed: int = 0,
    n_jobs: int | None = None,
) -> Result:
    """Train a cell on some rows and test it on others.

    Returns
    -------
    dict
        Plain data: "columns", "fit_seconds", "size_bytes", and in "decoders" the "error" and "predict_seconds" of
        each; a system has one, named "". Where it could not be trained, "failed" says why. "unconverged" tells whether
        some solver stopped early.
    """
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        try:
            result = _evaluate(cell, table, train, test, metric, seed, n_jobs)
        except (ValueError, ImportError, MemoryError) as reason:
            result = {"failed": " ".join(str(reason).split()) or type(reason).__name__}
    return {**result, "unconverged": any(issubclass(one.category, ConvergenceWarning) for one in caught)}


def _evaluate(cell: Cell, table: Table, train: Rows, test: Rows, metric: str, seed: int, n_jobs: int | None) -> Result:
    y = table.target.to_numpy()
    classes = np.array(table.schema.classes)
    given = (table.schema, cell.learner, cell.code or None)
    model = build(*given, rows=len(train), seed=seed, n_jobs=n_jobs)
    X, X_test = (table.frame.iloc[rows] for rows in (train, test))
    start = time.perf_counter()
    X, X_test = model[:-1].fit_transform(X), model[:-1].transform(X_test)
    final = model[-1]
    if cell.code:
        final = _Kept(**final.get_params(deep=False)).set_params(
            code=_all_rows(cell.code, classes, seed), decoder="hamming"
        )
    final.fit(X, y[train])
    fitted = time.perf_counter()
    result: Result = {"columns": None, "fit_seconds": fitted - start, "decoders": {}}
    if not cell.code:
        P = final.predict_proba(X_test) if metric == "log-loss" else None
        predicted = final.classes_[P.argmax(axis=1)] if P is not None else final.predict(X_test)
        error = _error(metric, y[test], predicted, P, final.classes_, classes)
        result["decoders"][""] = {"error": error, "predict_seconds": time.perf_counter() - fitted}
        return {**result, "size_bytes": size(final)}
    F, M = final.margins(X_test), final.code_matrix_
    asked = time.perf_counter() - fitted
    result["columns"] = M.shape[1]
    for name in cell.decoders:
        if as_decoder(name).for_loss(final.margin_loss_).objection(M) is not None:
            continue
        decoder = final.fitted(name, probabilities=metric == "log-loss")
        start = time.perf_counter()
        P = decoder.probabilities(F, M) if metric == "log-loss" else None
        predicted = final.classes_[decoder.predict(F, M)]
        seconds = asked + time.perf_counter() - start
        error = _error(metric, y[test], predicted, P, final.classes_, classes)
        result["decoders"][name] = {"error": error, "predict_seconds": seconds}
    del final.problem_
    return {**result, "size_bytes": size(final)}


class _Kept(WithProblem):
    """A classifier whose columns are read by one decoder after another."""

    def fitted(self, name: str, *, probabilities: bool) -> Decoder:
        """A decoder for the trained columns; one without probabilities gets those of a softmax if they are needed."""
        decoder = self._fit_decoder(decoder_for(name, self.margin_loss_, self.code_matrix_), self.problem_)
        if probabilities and not hasattr(decoder, "probabilities"):
            return self._fit_decoder(Softmax(decoder), self.problem_)
        return decoder


def _all_rows(code: str, classes: NDArray[Any], seed: int) -> Any:
    """The code's rows by label, the same in every fold, also for classes that a fold lacks; a learned one as it is."""
    resolved = as_code(code)
    if getattr(resolved, "needs_problem", False):
        return code
    return dict(zip(classes.tolist(), resolved.matrix(len(classes), random_state=seed).tolist(), strict=True))


def _error(
    metric: str, y: NDArray[Any], predicted: NDArray[Any], P: Any, known: NDArray[Any], classes: NDArray[Any]
) -> float:
    if metric == "error":
        return float(np.mean(y != predicted))
    if metric == "balanced":
        return float(1 - balanced_accuracy_score(y, predicted))
    # A class that training lacked has probability 0.
    full = np.zeros((len(y), len(classes)))
    full[:, np.searchsorted(classes, known)] = P
    return float(log_loss(np.searchsorted(classes, y), full, labels=np.arange(len(classes))))


def size(model: Any) -> int:
    """The bytes of a fitted model's arrays.

    >>> import numpy as np
    >>> size({"coef": np.zeros(10), "name": "x"})
    80
    """
    buffers: list[pickle.PickleBuffer] = []
    pickle.dumps(model, protocol=5, buffer_callback=buffers.append)
    return sum(buffer.raw().nbytes for buffer in buffers)
