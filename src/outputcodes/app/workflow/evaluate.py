"""One cell of a plan on one split: trained once, its margins read by every decoder that can."""

from __future__ import annotations

import base64
import pickle
import time
import warnings
from contextlib import suppress
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.exceptions import ConvergenceWarning

from outputcodes.app.tables import Table
from outputcodes.app.workflow.models import build, is_ours
from outputcodes.app.workflow.plan import Cell
from outputcodes.codes import as_code
from outputcodes.decoders import Softmax

METRICS = ("error", "log-loss", "balanced")
Result = dict[str, Any]
Rows = NDArray[np.intp]
# What has been trained in this process, its compiled code being loaded: learners and codes.
_WARM: set[tuple[str, str]] = set()
FEW_CLASSES, FEW_ROWS = 3, 8


def evaluate(
    cell: Cell,
    table: Table,
    train: Rows,
    test: Rows,
    *,
    metric: str = "error",
    seed: int = 0,
    n_jobs: int | None = None,
    keep_losses: bool = False,
) -> Result:
    """Train a cell on some rows and test it on others.

    Returns
    -------
    dict
        Plain data: "columns", "fit_seconds", "size_bytes", and in "decoders" the "error" and "predict_seconds" of
        each; a system has one, named "". Where it could not be trained, "failed" says why. "unconverged" tells whether
        some solver stopped early. With `keep_losses` each decoder also has its "losses" on the test rows, of which its
        error is the mean: `unpacked` reads them.
    """
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        try:
            result = _evaluate(cell, table, train, test, metric, seed, n_jobs, keep_losses)
        except Exception as reason:  # of dozens of systems one that breaks, however it does, must not end the others
            said = " ".join(str(reason).split())
            expected = said and isinstance(reason, ValueError | ImportError | MemoryError)
            result = {"failed": said if expected else f"{type(reason).__name__}: {said}".removesuffix(": ")}
    return {**result, "unconverged": any(issubclass(one.category, ConvergenceWarning) for one in caught)}


def warm_up(cell: Cell, table: Table, train: Rows, *, metric: str = "error", seed: int = 0, **_: Any) -> None:
    """Train a cell of ours on a few of its rows, unless this process has: compiling is no part of its time."""
    key = (cell.learner, cell.code)
    if key in _WARM or not is_ours(cell.learner):
        return
    _WARM.add(key)
    y = table.target.to_numpy()[train]
    classes, counts = np.unique(y, return_counts=True)
    largest = classes[np.argsort(-counts, kind="stable")[:FEW_CLASSES]]
    few = train[np.concatenate([np.flatnonzero(y == label)[:FEW_ROWS] for label in largest])]
    with warnings.catch_warnings(), suppress(Exception):  # what fails here is told when it fails on all rows
        warnings.simplefilter("ignore")
        _evaluate(cell, table, few, few, metric, seed, None, False, rows=len(train))


def _evaluate(
    cell: Cell,
    table: Table,
    train: Rows,
    test: Rows,
    metric: str,
    seed: int,
    n_jobs: int | None,
    keep_losses: bool,
    rows: int | None = None,
) -> Result:
    y = table.target.to_numpy()
    classes = np.array(table.schema.classes)
    given = (table.schema, cell.learner, cell.code or None)
    model = build(*given, rows=rows or len(train), seed=seed, n_jobs=n_jobs)
    X, X_test = (table.frame.iloc[rows] for rows in (train, test))
    start = time.perf_counter()
    X, X_test = model[:-1].fit_transform(X), model[:-1].transform(X_test)
    final = model[-1]
    if cell.code:
        trained = final.set_params(code=_all_rows(cell.code, classes, seed), decoder="hamming").train(X, y[train])
    else:
        final.fit(X, y[train])
    fitted = time.perf_counter()
    result: Result = {"columns": None, "fit_seconds": fitted - start, "decoders": {}}

    def told(predicted: NDArray[Any], P: Any, seconds: float) -> Result:
        losses = row_losses(metric, y[test], predicted, P, final.classes_)
        kept = {"losses": packed(losses)} if keep_losses else {}
        return {"error": float(losses.mean()), "predict_seconds": seconds, **kept}

    if not cell.code:
        P = final.predict_proba(X_test) if metric == "log-loss" else None
        predicted = final.classes_[P.argmax(axis=1)] if P is not None else final.predict(X_test)
        result["decoders"][""] = told(predicted, P, time.perf_counter() - fitted)
        return {**result, "size_bytes": size(final)}
    F, M = final.margins(X_test), final.code_matrix_
    asked = time.perf_counter() - fitted
    result["columns"] = M.shape[1]
    for name in cell.decoders:
        if trained.objection(name) is not None:
            continue
        decoder = trained.decoder(name)
        if metric == "log-loss" and not decoder.has_probabilities:
            decoder = trained.fit_decoder(Softmax(decoder))
        start = time.perf_counter()
        P = decoder.probabilities(F, M) if metric == "log-loss" else None
        predicted = final.classes_[decoder.predict(F, M)]
        seconds = asked + time.perf_counter() - start
        result["decoders"][name] = told(predicted, P, seconds)
    return {**result, "size_bytes": size(final)}


def _all_rows(code: str, classes: NDArray[Any], seed: int) -> Any:
    """The code's rows by label, the same in every fold, also for classes that a fold lacks; a learned one as it is."""
    resolved = as_code(code)
    if resolved.needs_problem:
        return code
    return dict(zip(classes.tolist(), resolved.draw(len(classes), random_state=seed).matrix().tolist(), strict=True))


def row_losses(metric: str, y: NDArray[Any], predicted: NDArray[Any], P: Any, known: NDArray[Any]) -> NDArray[Any]:
    """What each row adds to the error, which is their mean: booleans, or numbers.

    >>> y, predicted = np.array(["a", "a", "b"]), np.array(["a", "b", "a"])
    >>> row_losses("error", y, predicted, None, y), row_losses("balanced", y, predicted, None, y)
    (array([False,  True,  True]), array([0.  , 0.75, 1.5 ]))
    """
    missed: NDArray[Any] = y != predicted
    if metric == "error":
        return missed
    if metric == "balanced":
        classes, numbers, counts = np.unique(y, return_inverse=True, return_counts=True)
        weighted: NDArray[Any] = missed * (len(y) / (len(classes) * counts[numbers]))
        return weighted
    # A class that training lacked has probability 0.
    places = np.searchsorted(known, y).clip(max=len(known) - 1)
    p = np.where(known[places] == y, P[np.arange(len(y)), places], 0.0)
    if not np.isfinite(p).all():
        raise ValueError("probabilities are not finite.")
    losses: NDArray[Any] = -np.log(np.maximum(p, np.finfo(np.float64).eps))
    return losses


def packed(losses: NDArray[Any]) -> str:
    """Booleans as text, six to a letter; numbers in single precision.

    >>> packed(np.array([True, False, False]))
    'gA=='
    """
    content = np.packbits(losses) if losses.dtype == bool else losses.astype("<f4")
    return base64.b64encode(content.tobytes()).decode()


def unpacked(text: str, n: int) -> NDArray[Any]:
    """The n losses of `packed`.

    >>> unpacked("gA==", 3)
    array([ True, False, False])
    """
    content = base64.b64decode(text)
    if len(content) == 4 * n:
        return np.frombuffer(content, dtype="<f4").astype(np.float64)
    return np.unpackbits(np.frombuffer(content, dtype=np.uint8), count=n).astype(bool)


def size(model: Any) -> int:
    """The bytes of a fitted model's arrays.

    >>> import numpy as np
    >>> size({"coef": np.zeros(10), "name": "x"})
    80
    """
    buffers: list[pickle.PickleBuffer] = []
    pickle.dumps(model, protocol=5, buffer_callback=buffers.append)
    return sum(buffer.raw().nbytes for buffer in buffers)
