"""Every winner has probabilities: of its own predictions, and better than equal ones."""

import numpy as np
import pytest
from sklearn.datasets import load_wine
from sklearn.metrics import log_loss
from sklearn.svm import SVC

from outputcodes.app import persistence, tables
from outputcodes.app.run import SYSTEMS, Source, build, compare_table, cross_validation, finish, make_plan
from outputcodes.app.run.probable import ScoresAsProbabilities, held_out_scores
from outputcodes.selection import Result

pytest.importorskip("skops")


@pytest.fixture(scope="module")
def wine():
    X, y = load_wine(return_X_y=True, as_frame=True)
    table = tables.from_frame(X[["ash", "magnesium", "proline"]], y.map({0: "a", 1: "b", 2: "c"}))
    return Source("wine", table, cross_validation(table.target, 3))


@pytest.mark.parametrize("name", SYSTEMS)
def test_every_system_has_probabilities_of_its_own_predictions(wine, name, tmp_path):
    winner = finish(wine, Result(name, fold_errors=(0.5,)))
    frame, y = wine.table.frame, wine.table.target.to_numpy()
    P = winner.model.predict_proba(frame)
    # XGBoost has probabilities of single precision.
    np.testing.assert_allclose(P.sum(axis=1), 1, rtol=1e-6)
    assert (P >= 0).all()
    predicted = winner.model.predict(frame)
    np.testing.assert_array_equal(winner.model.classes_[P.argmax(axis=1)], predicted)
    # They are those of the system by itself, so that the error in the ranking is this model's.
    alone = build(wine.table.schema, name, rows=len(y)).fit(frame, y)
    np.testing.assert_array_equal(predicted, alone.predict(frame))
    held = winner.held_out
    if not hasattr(alone, "predict_proba"):
        assert log_loss(held.truth, held.probabilities, labels=[0, 1, 2]) < np.log(3)
    persistence.save(winner.model, tmp_path / "model.skops", schema=wine.table.schema)
    again, _ = persistence.load(tmp_path / "model.skops")
    np.testing.assert_array_equal(again.predict_proba(frame), P)


def test_the_ranked_error_is_that_of_the_model_that_is_saved(wine):
    plan = make_plan(178, 3, learners=["svc", "multiclass-svc", "adaboost-mh"])
    for row in compare_table(wine, plan).rows:
        _, test = wine.splits.pairs[0]
        held = finish(wine, row).held_out
        assert len(held.predicted) == len(test)
        assert np.mean(held.predicted != held.truth) == row.fold_errors[0]
        assert np.mean(held.probabilities.argmax(axis=1) != held.truth) == row.fold_errors[0]


def test_scores_are_held_out():
    X, y = load_wine(return_X_y=True)
    model = SVC(break_ties=True)
    D, numbers = held_out_scores(model, X, y + 5, 3, 0)
    np.testing.assert_array_equal(numbers, y)
    # A row's scores do not depend on its own label.
    other = y.copy()
    other[7] = 2
    folds = held_out_scores(model, X, y, 178, 0)[0]
    np.testing.assert_array_equal(held_out_scores(model, X, other, 178, 0)[0][7], folds[7])
    assert D.shape == (178, 3)


def test_a_class_of_one_row_and_two_classes():
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(30, 2)), np.array(["a", "b"] * 14 + ["a", "c"])
    X[y == "b"] += 3
    model = ScoresAsProbabilities(SVC(break_ties=True)).fit(X, y)
    P = model.predict_proba(X)
    assert np.isfinite(P).all()
    np.testing.assert_array_equal(model.classes_[P.argmax(axis=1)], model.predict(X))
    two = ScoresAsProbabilities(SVC()).fit(X[:-1], y[:-1])
    np.testing.assert_array_equal(two.classes_[two.predict_proba(X).argmax(axis=1)], two.predict(X))
