"""The search of `fit --tune`, beside scikit-learn's on the same folds."""

import numpy as np
import pandas as pd
import pytest
from sklearn.model_selection import GridSearchCV

from outputcodes.app.run.fitting import fit_file
from outputcodes.app.run.sources import open_table
from outputcodes.app.run.splits import cross_validation
from outputcodes.app.run.systems import build


@pytest.mark.parametrize(("given", "weight"), [(None, (1, 1)), ("balanced", (1 / 9, 1)), ({"b": 20.0}, (1, 20))])
def test_the_error_is_weighted_as_the_classes_are(tmp_path, given, weight):
    rng = np.random.default_rng(3)
    label = np.where(np.arange(200) % 10 == 0, "b", "a")
    frame = pd.DataFrame(rng.normal(size=(200, 3)), columns=list("xyz"))
    frame["x"] += label == "b"
    path = tmp_path / "rare.csv"
    frame.assign(label=label).to_csv(path, index=False)
    _, summary = fit_file(str(path), tmp_path / "m.skops", learner="logistic", class_weight=given, tune=True)

    def score(model, X, y):
        return np.average(model.predict(X) == y, weights=np.where(y == "b", weight[1], weight[0]))

    table = open_table(str(path))
    grid = {"classifier__estimator__C": [10.0**e for e in range(-2, 3)]}
    folds = cross_validation(label, 5, 0, None).pairs
    peer = GridSearchCV(build(table.schema, "logistic", class_weight=given), grid, scoring=score, cv=folds, refit=False)
    peer.fit(table.frame, label)
    found = grid["classifier__estimator__C"].index(summary["tuned"]["parameters"]["C"])
    scores = peer.cv_results_["mean_test_score"]
    # A search along a path may differ in a few rows of the common class.
    assert summary["tuned"]["error"] == pytest.approx(1 - scores[found], abs=0.005)
    assert scores[found] == pytest.approx(scores.max(), abs=0.005)
