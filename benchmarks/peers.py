"""LightGBM and XGBoost with one model of stumps per column, two columns at a time; fitting and predicting are separate.

A quick trial leaves out a package that is not installed; a run whose results are kept needs both.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from common import QUICK
from joblib import Parallel, delayed

try:
    from lightgbm import LGBMClassifier
except ImportError:
    LGBMClassifier = None
try:
    from xgboost import XGBClassifier
except ImportError:
    XGBClassifier = None

# Ours gets the same number.
BINS = 255
Make = Callable[[], Any]


def stump_models(rounds: int) -> dict[str, Make]:
    """Return what makes a model of so many stumps, by the name of the package."""
    makers: dict[str, Make] = {}
    if LGBMClassifier is not None:
        bins = {"max_bin": BINS, "min_data_in_bin": 1, "min_child_samples": 1}
        makers["LightGBM"] = lambda: LGBMClassifier(n_estimators=rounds, num_leaves=2, n_jobs=1, verbose=-1, **bins)
    if XGBClassifier is not None:
        makers["XGBoost"] = lambda: XGBClassifier(
            n_estimators=rounds, max_depth=1, max_bin=BINS, tree_method="hist", n_jobs=1
        )
    if missing := {"LightGBM", "XGBoost"} - makers.keys():
        message = f"not installed: {' and '.join(sorted(missing))}; run pip install '.[bench]'."
        if not QUICK:
            raise SystemExit(f"This benchmark compares with packages that are {message}")
        print(f"Left out, as {message}")
    return makers


def fit_columns(make: Make, X: np.ndarray, y: np.ndarray, M: np.ndarray) -> list[Any]:
    """Fit a model to each column."""
    targets = [(column[y] > 0).astype(int) for column in M.T]
    fitted: list[Any] = Parallel(n_jobs=2, prefer="threads")(delayed(make().fit)(X, target) for target in targets)
    return fitted


def margins(models: list[Any], X: np.ndarray) -> np.ndarray:
    """Return half the log-odds of each column."""
    columns = Parallel(n_jobs=2, prefer="threads")(delayed(_log_odds)(model, X) for model in models)
    return np.column_stack(columns) / 2


def _log_odds(model: Any, X: np.ndarray) -> np.ndarray:
    if LGBMClassifier is not None and isinstance(model, LGBMClassifier):
        return model.booster_.predict(X, raw_score=True)
    return model.predict(X, output_margin=True)
