"""Systems that know categories are told which features have them."""

import numpy as np
import pandas as pd
from sklearn.ensemble import HistGradientBoostingClassifier
from sklearn.preprocessing import OrdinalEncoder

from outputcodes.app import tables
from outputcodes.app.run import Source, build, compare_table, make_plan, official


def coloured():
    """Classes by the parity of a letter's place: as ordered numbers letters hardly tell, as categories they do."""
    rng = np.random.default_rng(0)
    letters = rng.integers(0, 26, size=400)
    frame = pd.DataFrame({"letter": [chr(97 + letter) for letter in letters], "noise": rng.normal(size=400)})
    return tables.from_frame(frame, pd.Series(np.where(letters % 2, "odd", "even")))


def test_gradient_boosting_is_told_the_categories():
    table = coloured()
    source = Source("letters", table, official(["train"] * 300 + ["test"] * 100))
    (row,) = compare_table(source, make_plan(400, 2, learners=["hist-gradient-boosting"])).rows
    X = np.column_stack([table.frame["noise"], OrdinalEncoder().fit_transform(table.frame[["letter"]])])
    told = HistGradientBoostingClassifier(categorical_features=[1], random_state=0).fit(X[:300], table.target[:300])
    assert row.error == np.mean(told.predict(X[300:]) != table.target[300:])
    untold = HistGradientBoostingClassifier(random_state=0).fit(X[:300], table.target[:300])
    assert row.error < np.mean(untold.predict(X[300:]) != table.target[300:])


def test_a_column_of_more_categories_than_bins_stays_a_number():
    frame = pd.DataFrame({"few": ["a", "b"] * 300, "many": [f"c{i % 300:03d}" for i in range(600)]})
    table = tables.from_frame(frame, pd.Series(["x", "y", "z"] * 200))
    model = build(table.schema, "hist-gradient-boosting", rows=600)
    assert model[-1].categorical_features == [0]
    assert len(model.fit(table.frame, table.target).predict(table.frame)) == 600
