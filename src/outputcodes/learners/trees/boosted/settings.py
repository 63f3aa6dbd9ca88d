"""The parameters that all boosted trees share, and their check."""

from __future__ import annotations

from dataclasses import dataclass
from numbers import Real
from typing import Any

import numpy as np

LEAST = {"n_rounds": 1, "max_leaves": 2, "min_rows": 1, "n_iter_no_change": 1}


@dataclass(frozen=True)
class Settings:
    """How the rounds go; see `outputcodes.boosting.GradientBoost` for the meaning of each."""

    n_rounds: int
    learning_rate: float
    max_leaves: int
    max_depth: int
    min_rows: int
    l2: float
    max_features: float
    patience: int
    watch_error: bool


def checked_settings(estimator: Any, l2: float) -> Settings:
    """Return the settings of an estimator, whose `l2` may be "auto", or raise ValueError."""
    for name, least in LEAST.items():
        if not is_whole(value := getattr(estimator, name), least):
            raise ValueError(f"{name}={value!r} must be an integer of at least {least}.")
    depth, fraction = estimator.max_depth, estimator.validation_fraction
    if depth is not None and not is_whole(depth, 1):
        raise ValueError(f"max_depth={depth!r} must be None or an integer of at least 1.")
    for name in ("learning_rate", "max_features"):
        value = getattr(estimator, name)
        if not (isinstance(value, Real) and 0 < float(value) <= 1):
            raise ValueError(f"{name}={value!r} must be a number above 0, and at most 1.")
    if not is_whole(estimator.max_bins, 2) or estimator.max_bins > 255:
        raise ValueError(f"max_bins={estimator.max_bins!r} must be an integer from 2 to 255.")
    automatic = isinstance(estimator.l2, str) and estimator.l2 == "auto"
    if not automatic and not (isinstance(estimator.l2, Real) and 0 < float(estimator.l2) < np.inf):
        raise ValueError(f"l2={estimator.l2!r} must be 'auto' or a positive number.")
    if estimator.monitor not in ("loss", "error"):
        raise ValueError(f"monitor={estimator.monitor!r} must be 'loss' or 'error'.")
    if fraction is not None and not (isinstance(fraction, Real) and 0 < float(fraction) < 1):
        raise ValueError(f"validation_fraction={fraction!r} must be None or a number between 0 and 1.")
    return Settings(
        n_rounds=int(estimator.n_rounds),
        learning_rate=float(estimator.learning_rate),
        max_leaves=int(estimator.max_leaves),
        max_depth=np.iinfo(np.int64).max if depth is None else int(depth),
        min_rows=int(estimator.min_rows),
        l2=l2 if automatic else float(estimator.l2),
        max_features=float(estimator.max_features),
        patience=int(estimator.n_iter_no_change),
        watch_error=estimator.monitor == "error",
    )


def is_whole(value: Any, least: int) -> bool:
    """Return whether a value is an integer of at least `least`; True and False are none."""
    return isinstance(value, int | np.integer) and not isinstance(value, bool) and int(value) >= least
