"""The columns of a table that matter to a model: how much worse it is on held-out rows when one is shuffled."""

from __future__ import annotations

import time
import warnings
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.inspection import permutation_importance

from outputcodes.selection.metrics import row_losses

# Held-out rows and repetitions that are enough, fewer rows say too little; the columns that are shown.
ENOUGH_ROWS, FEWEST_ROWS, REPEATS, SHOWN = 2000, 50, 5, 30
# Rows whose prediction is timed.
TIMED_ROWS = 100


def permuted_columns(
    model: Any,
    frame: Any,
    y: NDArray[Any],
    *,
    metric: str = "error",
    seconds: float = np.inf,
    seed: int = 0,
) -> dict[str, Any] | None:
    """Return by how much the loss of a model grows on rows that it has not seen, column by column, largest first.

    Parameters
    ----------
    model : a fitted classifier that takes data frames and has probabilities
    frame, y : held-out rows and their labels
    metric : {"error", "log-loss", "balanced"}
    seconds : float
        About how long it may take: fewer rows, or fewer repetitions, take less. None is returned if there is no time
        for fifty rows.

    Examples
    --------
    >>> import pandas as pd
    >>> from sklearn.tree import DecisionTreeClassifier
    >>> frame = pd.DataFrame({"a": [0, 1] * 40, "b": [0] * 80})
    >>> model = DecisionTreeClassifier().fit(frame, frame["a"])
    >>> found = permuted_columns(model, frame, frame["a"].to_numpy())
    >>> [name for name, _, _ in found["columns"]], found["columns"][1][1]
    (['a', 'b'], 0.0)
    """
    some = np.sort(np.random.default_rng(seed).permutation(len(y))[:ENOUGH_ROWS])
    d, loss = frame.shape[1], _Loss(metric)
    each = seconds_per_row(model, frame)
    # One more, as the columns are compared with the rows as they are.
    affordable = len(some) * REPEATS if seconds == np.inf else int(seconds / (each * (d + 1)))
    repeats = int(np.clip(affordable // len(some), 1, REPEATS))
    if affordable < len(some):
        if affordable < min(FEWEST_ROWS, len(some)):
            return None
        some = some[:: -(-len(some) // affordable)]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        found = permutation_importance(
            model, frame.iloc[some], y[some], scoring=loss, n_repeats=repeats, random_state=seed
        )
    # Rounded, so that last bits decide no order.
    order = np.argsort(-np.round(found.importances_mean, 9), kind="stable")[:SHOWN]
    names = [str(name) for name in frame.columns]
    return {
        "rows": len(some),
        "repeats": repeats,
        "features": d,
        "columns": [(names[j], float(found.importances_mean[j]), float(found.importances_std[j])) for j in order],
    }


def seconds_per_row(model: Any, frame: Any) -> float:
    """Return about how long a prediction takes; what the first one compiles or loads does not count."""
    model.predict_proba(frame.iloc[:2])
    start = time.perf_counter()
    model.predict_proba(frame.iloc[:TIMED_ROWS])
    return max(1e-7, (time.perf_counter() - start) / min(TIMED_ROWS, len(frame)))


class _Loss:
    """A scorer: minus the mean loss."""

    def __init__(self, metric: str) -> None:
        self.metric = metric

    def __call__(self, model: Any, X: Any, y: NDArray[Any]) -> float:
        P = model.predict_proba(X)
        return -float(row_losses(self.metric, y, model.classes_[P.argmax(axis=1)], P, model.classes_).mean())
