"""The parameter `class_weight`, as scikit-learn understands it, for classes that may have no rows."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.utils.class_weight import compute_class_weight

from outputcodes._ground.validation import LARGEST_WEIGHT
from outputcodes._ground.words import listed

Array = NDArray[np.float64]


def class_weights(given: Any, classes: NDArray[Any], y: NDArray[np.intp], weight: Array | None) -> Array | None:
    """Return the factor of each class, 1 for one without rows; None for 1 each.

    >>> class_weights("balanced", np.array(["a", "b"]), np.array([0, 0, 0, 1]), None)
    array([0.66666667, 2.        ])
    """
    if given is None:
        return None
    balanced = isinstance(given, str) and given == "balanced"
    if not balanced and not isinstance(given, Mapping):
        raise ValueError(f"class_weight={given!r} must be 'balanced', a mapping from label to weight, or None.")
    present = np.unique(y)
    weights, labels = np.ones(len(classes)), classes[present]
    if balanced:
        # They may be huge: times the weights of their rows, they are at most the sum of all weights.
        with np.errstate(over="ignore"):
            weights[present] = compute_class_weight("balanced", classes=labels, y=classes[y], sample_weight=weight)
        if not np.isfinite(weights).all():
            raise ValueError(
                "class_weight='balanced' divides by the sums of sample_weight of the classes, and one of them is near "
                "0: scale sample_weight up."
            )
        return weights
    found = _of_labels(given, labels.tolist())
    try:
        weights[present] = found
    except (TypeError, ValueError) as error:
        raise ValueError(f"class_weight={given!r} must hold positive numbers only.") from error
    if not ((weights >= 1 / LARGEST_WEIGHT) & (weights <= LARGEST_WEIGHT)).all():
        limits = f"from {1 / LARGEST_WEIGHT:g} to {LARGEST_WEIGHT:g}"
        raise ValueError(f"class_weight={given!r} must hold positive numbers only, {limits}.")
    return weights


def _of_labels(given: Mapping[Any, float], labels: list[Any]) -> list[Any]:
    """Return the weight of each label, 1 where none is given.

    scikit-learn's function takes "1" for 1, and does not find its weight.
    """
    known = set(labels)
    unknown = [label for label in given if label not in known]
    if unknown and not all(label in given for label in labels):
        raise ValueError(
            f"class_weight has weights for {listed(map(repr, unknown))}, which no row that counts has as its label; "
            f"the labels are {listed(map(repr, labels))}. Correct them, or leave them out."
        )
    return [given.get(label, 1.0) for label in labels]
