"""Examples with other packages do what they promise: the coverage is reached, classes are balanced, names are kept."""

import sys
from pathlib import Path

import numpy as np
import pytest
from sklearn.datasets import load_digits, load_wine

sys.path.append(str(Path(__file__).parents[1] / "examples" / "neighbours"))


def test_prediction_sets_cover_what_they_promise():
    pytest.importorskip("mapie")
    import prediction_sets

    for load in (load_wine, load_digits):
        X, y = load(return_X_y=True)
        seeds = 8
        coverage, size, _ = prediction_sets.measure(X[:600], y[:600], seeds=seeds)
        # Over the choice of the conformal rows the coverage is at least 90 %, and at most 1/(n + 1) more; the rest is
        # chance of few test rows and few seeds.
        n = round(0.3 * min(600, len(y)))
        slack = 3 * np.sqrt(0.9 * 0.1 * 2 / (n * seeds))
        assert 0.9 - slack <= coverage <= 0.9 + 1 / (n + 1) + slack
        assert 0.8 < size < len(np.unique(y))


def test_resampling_in_a_pipeline():
    pytest.importorskip("imblearn")
    import resampling

    errors = resampling.balanced_errors()
    assert errors["resampled"] < errors["as they are"]
    assert errors["weighted"] == pytest.approx(errors["resampled"], abs=0.03)


def test_importances_of_named_features():
    pytest.importorskip("polars")
    import importances

    found = importances.importances()
    assert found["proline"] > abs(found["noise"])
    assert max(found, key=found.get) != "noise"


def test_a_search_by_optuna():
    pytest.importorskip("optuna")
    import tuning

    study = tuning.search(6)
    assert len(study.trials) == 6
    assert study.best_value == min(trial.value for trial in study.trials)
    again = tuning.error(study.best_trial)
    assert again == pytest.approx(study.best_value)
