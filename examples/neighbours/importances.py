"""Permutation importance, set_output and polars: features keep their names from a frame to the importances.

pip install polars
python examples/neighbours/importances.py
"""

from __future__ import annotations

import numpy as np
import polars as pl
from sklearn.datasets import load_wine
from sklearn.inspection import permutation_importance
from sklearn.model_selection import train_test_split
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from outputcodes import OutputCodeClassifier


def importances() -> dict[str, float]:
    """Return the mean loss of accuracy when a feature of the wines, or one that means nothing, is shuffled."""
    bunch = load_wine()
    rng = np.random.default_rng(0)
    columns = dict(zip(bunch.feature_names, bunch.data.T, strict=True)) | {"noise": rng.standard_normal(178)}
    frame = pl.DataFrame(columns)
    X_train, X_test, y_train, y_test = train_test_split(frame, bunch.target, stratify=bunch.target, random_state=0)
    scaled = StandardScaler().set_output(transform="polars")
    model = make_pipeline(scaled, OutputCodeClassifier("linear-svm")).fit(X_train, y_train)
    # The classifier has seen a polars frame, with names.
    assert list(model[-1].feature_names_in_) == frame.columns
    # scikit-learn shuffles columns of pandas frames; the model takes these too, by the same names.
    found = permutation_importance(model, X_test.to_pandas(), y_test, n_repeats=10, random_state=0)
    return dict(zip(frame.columns, found.importances_mean.tolist(), strict=True))


def main() -> None:
    for name, value in sorted(importances().items(), key=lambda item: -item[1]):
        print(f"{name:<30} {value:6.3f}  {'█' * round(200 * max(value, 0))}")


if __name__ == "__main__":
    main()
