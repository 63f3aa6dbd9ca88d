"""A model file may name the one function that scikit-learn's boosting stores, and no other."""

from functools import partial

import numpy as np
import pytest
from sklearn.ensemble import HistGradientBoostingClassifier
from sklearn.preprocessing import FunctionTransformer

from outputcodes.app import persistence

pytest.importorskip("skops")


def test_boosting_with_categories_is_read_back(tmp_path):
    X, y = np.arange(40.0)[:, None] % 4, np.arange(40) % 4 > 1
    model = HistGradientBoostingClassifier(categorical_features=[0], max_iter=2).fit(X, y)
    persistence.save(model, tmp_path / "m.skops")
    np.testing.assert_array_equal(persistence.load(tmp_path / "m.skops")[0].predict(X), model.predict(X))


@pytest.mark.parametrize("function", [partial(eval, "1"), partial(np.load, allow_pickle=True)])
def test_a_partial_of_another_function_is_refused(tmp_path, function):
    persistence.save(FunctionTransformer(function), tmp_path / "m.skops")
    with pytest.raises(persistence.UntrustedTypesError, match="Nothing was loaded"):
        persistence.load(tmp_path / "m.skops")
