"""The parameters that all boosted trees share, and their check."""

from __future__ import annotations

from dataclasses import dataclass
from numbers import Real
from typing import Any

import numpy as np

from outputcodes._histograms.growth import as_limit

LEAST = {"n_rounds": 1, "max_leaves": 2, "min_rows": 1, "n_iter_no_change": 1}
# Rows per leaf of the automatic number of leaves, and its bounds.
ROWS_PER_LEAF, FEWEST_LEAVES, MOST_LEAVES = 200, 16, 100


@dataclass(frozen=True)
class Settings:
    """How the rounds go; see `outputcodes.boosting.GradientBoost` for the meaning of each."""

    n_rounds: int
    learning_rate: float
    max_leaves: int
    max_depth: int
    min_rows: int
    l2: float
    max_features: float | None  # None is `usual_share`, once it is known which features vary
    patience: int
    watch_error: bool


def checked_settings(estimator: Any, l2: float, n: int = 1) -> Settings:
    """Return the settings of an estimator for n rows, or raise ValueError.

    Its `l2`, `max_leaves` and `max_features` may be "auto"; `l2` is then the given number.
    """
    for name, least in LEAST.items():
        value = getattr(estimator, name)
        if not is_whole(value, least) and not (name == "max_leaves" and _is_auto(value)):
            allowed = "'auto' or an integer" if name == "max_leaves" else "an integer"
            raise ValueError(f"{name}={value!r} must be {allowed} of at least {least}.")
    depth, fraction = estimator.max_depth, estimator.validation_fraction
    if depth is not None and not is_whole(depth, 1):
        raise ValueError(f"max_depth={depth!r} must be None or an integer of at least 1.")
    for name in ("learning_rate", "max_features"):
        value = getattr(estimator, name)
        automatic = name == "max_features" and _is_auto(value)
        if not automatic and not (isinstance(value, Real) and 0 < float(value) <= 1):
            allowed = "'auto' or a number" if name == "max_features" else "a number"
            raise ValueError(f"{name}={value!r} must be {allowed} above 0, and at most 1.")
    if not is_whole(estimator.max_bins, 2) or estimator.max_bins > 255:
        raise ValueError(f"max_bins={estimator.max_bins!r} must be an integer from 2 to 255.")
    if not _is_auto(estimator.l2) and not (isinstance(estimator.l2, Real) and 0 < float(estimator.l2) < np.inf):
        raise ValueError(f"l2={estimator.l2!r} must be 'auto' or a positive number.")
    if estimator.monitor not in ("loss", "error"):
        raise ValueError(f"monitor={estimator.monitor!r} must be 'loss' or 'error'.")
    if fraction is not None and not (isinstance(fraction, Real) and 0 < float(fraction) < 1):
        raise ValueError(f"validation_fraction={fraction!r} must be None or a number between 0 and 1.")
    return Settings(
        n_rounds=int(estimator.n_rounds),
        learning_rate=float(estimator.learning_rate),
        # With one row per leaf, nothing is left to part.
        max_leaves=usual_leaves(n) if _is_auto(estimator.max_leaves) else min(int(estimator.max_leaves), max(n, 2)),
        max_depth=as_limit(depth),
        min_rows=as_limit(estimator.min_rows),
        l2=l2 if _is_auto(estimator.l2) else float(estimator.l2),
        max_features=None if _is_auto(estimator.max_features) else float(estimator.max_features),
        patience=int(estimator.n_iter_no_change),
        watch_error=estimator.monitor == "error",
    )


def usual_leaves(n: int) -> int:
    """Return how many leaves a tree on n rows has, by default: large trees overfit small tables.

    >>> usual_leaves(1000), usual_leaves(7500), usual_leaves(10**6)
    (16, 37, 100)
    """
    return min(max(n // ROWS_PER_LEAF, FEWEST_LEAVES), MOST_LEAVES)


def usual_share(d: int) -> float:
    """Return the share of d features that a tree may ask about by default.

    Trees that don't see all features differ more, and are faster: half of the features, but at least 16 and at most the
    larger of 64 and d^⅔.

    >>> [round(d * usual_share(d)) for d in (10, 20, 64, 617)]
    [10, 16, 32, 72]
    """
    most = max(64.0, float(d ** (2 / 3)))
    return float(min(1.0, max(16.0, min(d / 2, most)) / d))


def _is_auto(value: Any) -> bool:
    return isinstance(value, str) and value == "auto"


def is_whole(value: Any, least: int) -> bool:
    """Return whether a value is an integer of at least `least`; True and False are none."""
    return isinstance(value, int | np.integer) and not isinstance(value, bool) and int(value) >= least
