"""`compare` is what a user would get by cross-validating each classifier alone."""

import numpy as np
import pytest
from sklearn.datasets import load_iris
from sklearn.linear_model import RidgeClassifier
from sklearn.model_selection import StratifiedKFold, cross_val_score

from outputcodes import OutputCodeClassifier
from outputcodes.codes import Dense
from outputcodes.decoders import LossBased
from outputcodes.selection import compare

X, y = load_iris(return_X_y=True)


def test_errors_are_those_of_cross_validation():
    folds = StratifiedKFold(4, shuffle=True, random_state=0)
    rows = compare(
        X,
        y,
        RidgeClassifier(),
        codes=["one-vs-all", "all-pairs", Dense(), {2: [1, 1], 0: [-1, 1], 1: [-1, -1]}],
        decoders=["hamming", "loss", "vote", "accuracy-weighted", LossBased("hinge", zeros="ignore")],
        cv=4,
    )
    # "vote" serves only all-pairs.
    assert len(rows) == 4 * 4 + 1
    assert [row.error for row in rows] == sorted(row.error for row in rows)
    named = {
        "given": [[-1, 1], [-1, -1], [1, 1]],
        "Dense()": Dense(),
        "LossBased(loss='hinge', zeros='ignore')": LossBased("hinge", zeros="ignore"),
    }
    for row in rows:
        alone = OutputCodeClassifier(
            RidgeClassifier(),
            code=named.get(row.code, row.code),
            decoder=named.get(row.decoder, row.decoder),
            random_state=0,
        )
        scores = cross_val_score(alone, X, y, cv=folds)
        assert row.fold_errors == pytest.approx(tuple(1 - scores))
        assert row.error == pytest.approx(1 - scores.mean())
        assert row.spread == pytest.approx(scores.std(ddof=1))


def test_one_code_for_all_folds_even_if_one_lacks_a_class():
    order = np.argsort(y, kind="stable")
    parts = [(order[50:], order[:50]), (order[:100], order[100:])]
    seen = []
    with pytest.warns(UserWarning, match="answer a constant"):
        rows = compare(
            X,
            y,
            RidgeClassifier(),
            codes=["one-vs-all"],
            decoders=["linear"],
            cv=parts,
            watch=lambda code, done, total: seen.append((code, done, total)),
        )
    assert rows[0].columns == 3
    assert rows[0].fold_errors[0] == 1  # a class never seen in training is never right
    assert seen == [("one-vs-all", 1, 2), ("one-vs-all", 2, 2)]
