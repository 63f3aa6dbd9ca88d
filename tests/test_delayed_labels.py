"""Labels and weights that Dask computes later, and classifiers that read no Dask collections."""

import numpy as np
import pandas as pd
import pytest
import scipy.sparse as sp
from sklearn.datasets import load_iris

from outputcodes import DecisionTree, GradientBoost, MulticlassSVC, OutputCodeClassifier
from outputcodes.boosting import AdaBoostMH
from outputcodes.direct import NearestCentroids

da = pytest.importorskip("dask.array", reason="needs the extra dask")
dd = pytest.importorskip("dask.dataframe", reason="needs the extra dask")
delayed = pytest.importorskip("dask").delayed
pytestmark = pytest.mark.filterwarnings("ignore")

X, y = load_iris(return_X_y=True)
NAMES = np.array(["setosa", "versicolor", "virginica"])[y]
WEIGHT = np.random.default_rng(0).uniform(0.5, 2, 150)
LABELS = {
    "parts": [delayed(NAMES[:70]), delayed(NAMES[70:70]), delayed(NAMES[70:])],
    "series": [delayed(pd.Series(NAMES[:70])), delayed(pd.Series(NAMES[70:]))],
    "whole": delayed(NAMES),
    "one by one": [delayed(name) for name in NAMES],
}


@pytest.mark.parametrize("given", LABELS)
@pytest.mark.parametrize("name", ["ridge", "GradientBoost", "AdaBoostMH", "DecisionTree"])
def test_delayed_labels_and_weights_are_those_of_an_array(name, given):
    def made():
        return {
            "ridge": OutputCodeClassifier("ridge", code="one-vs-all"),
            "GradientBoost": GradientBoost(2, random_state=0),
            "AdaBoostMH": AdaBoostMH(3),
            "DecisionTree": DecisionTree(),
        }[name]

    weights = [delayed(WEIGHT[:30]), delayed(WEIGHT[30:])]
    late, now = made().fit(X, LABELS[given], sample_weight=weights), made().fit(X, NAMES, sample_weight=WEIGHT)
    assert np.array_equal(late.classes_, now.classes_)
    scores = "predict_proba" if name == "DecisionTree" else "decision_function"
    assert np.array_equal(getattr(late, scores)(X), getattr(now, scores)(X))


def test_streams_scores_and_several_labels():
    model = OutputCodeClassifier("ridge", code="one-vs-all")
    late = model.partial_fit(X, LABELS["parts"])
    assert late.score(X, LABELS["parts"]) == late.score(X, NAMES)
    Y = np.column_stack([y == 0, y > 0]).astype(int)
    now = OutputCodeClassifier("ridge", code="one-vs-all").fit(X, Y)
    for parts in ([delayed(Y[:9]), delayed(Y[9:])], [delayed(sp.csr_array(Y[:9])), delayed(sp.csr_array(Y[9:]))]):
        many = OutputCodeClassifier("ridge", code="one-vs-all").fit(X, parts)
        assert np.array_equal(many.decision_function(X), now.decision_function(X))


def test_delayed_tables_with_delayed_labels(client):
    tables = [delayed(X[:70]), delayed(X[70:])]
    late = OutputCodeClassifier("ridge", code="one-vs-all").fit(tables, [delayed(NAMES[:70]), delayed(NAMES[70:])])
    now = OutputCodeClassifier("ridge", code="one-vs-all").fit(tables, NAMES)
    assert np.array_equal(late.margins(X), now.margins(X))
    # Outputs of delayed tables are arrays; those of the workers are lazy if the model is called there.
    assert np.array_equal(late.predict(tables), late.predict(X))
    with pytest.raises(ValueError, match=r"y has 70 labels but X has 150 rows; give one label per row"):
        OutputCodeClassifier("ridge").fit(tables, [delayed(NAMES[:70])])


@pytest.mark.parametrize("model", [MulticlassSVC(), DecisionTree(), NearestCentroids()], ids=lambda m: type(m).__name__)
def test_classifiers_that_need_one_table_refuse_collections_by_name(model):
    name = type(model).__name__
    frame = dd.from_pandas(pd.DataFrame(X, columns=list("abcd")), npartitions=2)
    for given, kind in (
        (da.from_array(X, chunks=(50, 4)), "a Dask Array"),
        (frame, "a Dask DataFrame"),
        (delayed(X), "a delayed table"),
        ([delayed(X[:50]), delayed(X[50:])], "a list of delayed tables"),
    ):
        with pytest.raises(ValueError, match=rf"^X is {kind}, which {name} does not read: give one table"):
            model.fit(given, y)
    fitted = model.fit(X, y)
    with pytest.raises(ValueError, match=rf"^X is a Dask Array, which {name} does not read: give one table"):
        fitted.predict(da.from_array(X, chunks=(50, 4)))
