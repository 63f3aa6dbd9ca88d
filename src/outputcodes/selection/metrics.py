"""The metrics that a comparison can rank by: each is the mean of a loss over the test rows."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

METRICS = ("error", "log-loss", "balanced")


def check_metric(metric: str) -> None:
    """Refuse a metric that is unknown."""
    if metric not in METRICS:
        raise ValueError(f"metric={metric!r} must be one of {', '.join(METRICS)}.")


def row_losses(metric: str, y: NDArray[Any], predicted: NDArray[Any], P: Any, known: NDArray[Any]) -> NDArray[Any]:
    """Return the loss of each row: booleans, which rows are missed, or numbers.

    Parameters
    ----------
    metric : {"error", "balanced", "log-loss"}
    y, predicted : arrays of n labels
    P : array of shape (n, len(known))
        Probabilities, for the log-loss alone.
    known : array of labels
        The classes that the classifier knows, in sorted order.

    Examples
    --------
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
