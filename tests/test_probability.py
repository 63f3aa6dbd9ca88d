"""Probabilities inside the classifier: they agree with predictions, and come from margins that were truly held out."""

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.calibration import CalibratedClassifierCV
from sklearn.datasets import load_digits, load_iris
from sklearn.linear_model import LogisticRegression, RidgeClassifier
from sklearn.metrics import get_scorer, log_loss, roc_auc_score
from sklearn.model_selection import cross_val_score
from sklearn.tree import DecisionTreeClassifier
from sklearn.utils.estimator_checks import parametrize_with_checks

from outputcodes import OutputCodeClassifier
from outputcodes._ground.folds import folds
from outputcodes.decoders import DECODERS, Coupling, Likelihood, Softmax
from outputcodes.learners import KernelSVM, LinearSVM, Logistic, Ridge
from outputcodes.training import Problem

X, y = load_iris(return_X_y=True)
KINDS = ("likelihood", "coupling", "softmax")
pytestmark = pytest.mark.filterwarnings("ignore:.*columns of the code have held-out margins that point the wrong way")


@pytest.mark.parametrize("probability", KINDS)
@pytest.mark.parametrize("estimator", ["ridge", "kernel-svm", DecisionTreeClassifier(max_depth=1, random_state=0)])
@pytest.mark.parametrize("code", ["all-pairs", "one-vs-all", "sparse"])
@pytest.mark.parametrize("classes", [2, 3])
def test_predictions_scores_and_probabilities_agree(probability, estimator, code, classes):
    seen = y < classes
    model = OutputCodeClassifier(estimator, code=code, probability=probability, random_state=0).fit(X[seen], y[seen])
    # Trees have few different margins, so that there are many ties; so there are far out, where sigmoids saturate.
    asked = np.vstack([X, 1e4 * (X - X.mean(axis=0)), np.zeros((1, 4))])
    P, D, predicted = model.predict_proba(asked), model.decision_function(asked), model.predict(asked)
    assert np.allclose(P.sum(axis=1), 1)
    assert (P >= 0).all()
    assert np.array_equal(P.argmax(axis=1), predicted)
    assert np.array_equal(D.argmax(axis=1) if classes > 2 else (D > 0).astype(int), predicted)


@pytest.mark.parametrize("name", [name for name in DECODERS if not DECODERS[name]().searches])
def test_softmax_leaves_the_prediction_to_the_decoder(name):
    plain = OutputCodeClassifier("ridge", decoder=name, random_state=0).fit(X, y)
    model = OutputCodeClassifier("ridge", decoder=name, probability="softmax", random_state=0).fit(X, y)
    assert np.array_equal(model.decision_function(X), plain.decision_function(X))
    assert np.array_equal(model.predict(X), plain.predict(X))
    assert isinstance(model.decoder_, Softmax)


def test_a_named_posterior_predicts_in_place_of_the_decoder():
    for name, kind in (("likelihood", Likelihood), ("coupling", Coupling)):
        model = OutputCodeClassifier("ridge", decoder="hamming", probability=name, random_state=0).fit(X, y)
        by_name = OutputCodeClassifier("ridge", decoder=name, random_state=0).fit(X, y)
        assert np.array_equal(model.predict_proba(X), by_name.predict_proba(X))
        own = OutputCodeClassifier("ridge", decoder=kind(cv=5), probability=name).fit(X, y)
        assert own.decoder_.cv == 5


def test_probabilities_are_there_when_they_can_be_answered():
    plain = OutputCodeClassifier("ridge")
    assert not hasattr(plain, "predict_proba")
    assert not hasattr(plain.fit(X, y), "predict_proba")
    for model in (
        OutputCodeClassifier("ridge", decoder="likelihood"),
        OutputCodeClassifier("ridge", probability="softmax"),
    ):
        assert hasattr(model, "predict_proba")
        assert hasattr(model.fit(X, y), "predict_proba")
        changed = model.with_decoder("hinge")
        assert not hasattr(changed, "predict_proba")
        assert np.array_equal(clone(changed).fit(X, y).predict(X), changed.predict(X))
    given = plain.with_decoder("likelihood", X, y)
    by_hand = Likelihood().fit(plain.margins(X), y, plain.code_matrix_)
    assert np.array_equal(given.predict_proba(X), by_hand.probabilities(plain.margins(X), plain.code_matrix_))


def test_scikit_learns_calibrators_and_scorers_work_on_top():
    model = OutputCodeClassifier("ridge", code="one-vs-all", probability="likelihood", random_state=0)
    for method in ("sigmoid", "isotonic"):
        P = CalibratedClassifierCV(model, method=method, cv=3).fit(X, y).predict_proba(X)
        assert np.allclose(P.sum(axis=1), 1)
    losses = cross_val_score(model, X, y, scoring="neg_log_loss", cv=3)
    assert (losses > -np.log(3)).all()  # better than knowing nothing


# Where the margins come from.


@pytest.mark.parametrize("weighted", [False, True])
def test_sigmoids_are_fitted_on_margins_of_columns_that_did_not_see_the_row(weighted):
    weight = np.linspace(0.5, 2, 150) if weighted else None
    model = OutputCodeClassifier(RidgeClassifier(), probability="likelihood", random_state=3)
    model.fit(X, y, sample_weight=weight)
    F, M = np.empty((150, 3)), model.code_matrix_
    for train, test in folds(y, 3, seed=3):
        for s in range(3):
            seen = train[M[y[train], s] != 0]
            w = None if weight is None else weight[seen]
            F[test, s] = RidgeClassifier().fit(X[seen], M[y[seen], s], w).decision_function(X[test])
    by_hand = Likelihood().fit(F, y, M, weight)
    assert np.allclose(model.decoder_.slope_, by_hand.slope_)
    assert np.allclose(model.decoder_.offset_, by_hand.offset_)


@pytest.mark.parametrize("code", ["all-pairs", "one-vs-all"])
@pytest.mark.parametrize("learner", [KernelSVM(tol=1e-9), Logistic(tol=1e-12), LinearSVM(tol=1e-12)])
def test_learners_that_start_their_folds_from_the_whole_end_where_they_would(learner, code):
    assert learner.warm_starts
    Xd, yd = load_digits(n_class=4, return_X_y=True)
    Xd = Xd[:250] / 16
    yd = yd[:250]
    model = OutputCodeClassifier(learner, code=code, probability="likelihood", random_state=0).fit(Xd, yd)
    problem = Problem(learner, Xd, yd)
    cold = Likelihood().fit(problem.margins(model.code_matrix_, 3), yd, model.code_matrix_)
    assert np.allclose(model.decoder_.slope_, cold.slope_, rtol=1e-5)
    assert np.allclose(model.decoder_.offset_, cold.offset_, rtol=1e-5, atol=1e-6)


def test_ridge_gives_its_leave_one_out_margins_in_place_of_folds():
    few = np.r_[0:8, 50:57, 100:101]
    Xf, yf = X[few], y[few]
    M = np.array([[1, 1, 0], [-1, 0, 1], [0, -1, -1]], dtype=np.int8)
    weight = np.linspace(1, 3, 16)
    for balanced in (False, True):
        problem = Problem(Ridge(), Xf, yf, weight, balanced=balanced)
        F = problem.train(M).held_out_margins(3)
        # Class 2 has one row: without it, two columns can't be trained.
        assert np.array_equal(np.isnan(F), np.outer(yf == 2, [False, True, True]))
        if balanced:
            continue
        for i in range(16):
            rest = np.delete(np.arange(16), i)
            alone = Problem(Ridge(), Xf, yf, weight).fit(M, rows=rest).margins(Xf[[i]])[0]
            known = ~np.isnan(F[i])
            assert np.allclose(F[i, known], alone[known])
    # A splitter is taken at its word.
    halves = [(np.arange(0, 16, 2), np.arange(1, 16, 2)), (np.arange(1, 16, 2), np.arange(0, 16, 2))]
    problem = Problem(Ridge(), Xf, yf)
    F = problem.train(M[:, :1]).held_out_margins(halves)
    for train, test in halves:
        assert np.allclose(F[test], Problem(Ridge(), Xf, yf).fit(M[:, :1], rows=train).margins(Xf[test]))


def test_a_class_with_one_example_has_its_warning_and_its_probability():
    few = np.r_[0:30, 50:80, 100:101]
    with pytest.warns(UserWarning, match="2 of 3 columns .* no held-out margins of both signs"):
        model = OutputCodeClassifier(RidgeClassifier(), probability="likelihood", random_state=0).fit(X[few], y[few])
    assert model.predict_proba(X).shape == (150, 3)
    softmax = OutputCodeClassifier(RidgeClassifier(), probability="softmax", random_state=0).fit(X[few], y[few])
    assert np.allclose(softmax.predict_proba(X).sum(axis=1), 1)


@pytest.mark.filterwarnings("ignore:.*return a constant", "ignore:.*no held-out margins of both signs")
def test_columns_that_are_constant_on_the_sample_do_no_harm():
    rows = {0: [1, -1, -1, 1], 1: [-1, 1, -1, 1], 2: [-1, -1, 1, -1]}
    for probability in KINDS:
        model = OutputCodeClassifier(code=rows, probability=probability, random_state=0).fit(X[:100], y[:100])
        P = model.predict_proba(X[:100])
        assert np.array_equal(P.argmax(axis=1), model.predict(X[:100]))
        assert np.array_equal(model.predict(X[:100]), y[:100])


# Weights of classes and of the sides of columns.


@pytest.mark.parametrize("code", ["all-pairs", "one-vs-all", "dense"])
def test_class_weights_are_sample_weights(code):
    given = {0: 1.0, 1: 5.0, 2: 0.5}
    model = OutputCodeClassifier(RidgeClassifier(), code=code, class_weight=given, probability="likelihood")
    by_class = model.set_params(random_state=0).fit(X, y)
    by_row = clone(model).set_params(class_weight=None).fit(X, y, sample_weight=np.array([1, 5, 0.5])[y])
    assert np.allclose(by_class.margins(X), by_row.margins(X))
    assert np.allclose(by_class.predict_proba(X), by_row.predict_proba(X))


def test_class_weights_count_when_another_decoder_learns():
    given, weight = np.array([1.0, 5.0, 0.5]), np.linspace(1, 2, 150)
    model = OutputCodeClassifier(RidgeClassifier(), class_weight=dict(enumerate(given))).fit(X, y)
    F, M = model.margins(X), model.code_matrix_
    for own in (None, weight):
        by_hand = Likelihood().fit(F, y, M, given[y] if own is None else own * given[y])
        changed = model.with_decoder("likelihood", X, y, sample_weight=own)
        assert np.allclose(changed.predict_proba(X), by_hand.probabilities(F, M))
    fitted = clone(model).set_params(decoder="accuracy-weighted").fit(X, y)
    changed = model.with_decoder("accuracy-weighted", X, y)
    assert np.allclose(changed.decoder_.accuracy_, fitted.decoder_.accuracy_)


def test_balanced_class_weights_are_scikit_learns():
    keep = np.r_[0:50, 50:70, 100:110]
    ours = OutputCodeClassifier(RidgeClassifier(), code=[[1], [-1]], class_weight="balanced")
    two = keep[y[keep] < 2]
    theirs = RidgeClassifier(class_weight="balanced").fit(X[two], y[two] == 0)
    assert np.allclose(ours.fit(X[two], y[two]).margins(X)[:, 0], theirs.decision_function(X))


@pytest.mark.parametrize("labels", [["0", "1", "2"], ["01", "2-4", "2"], [True, False, False]])
def test_labels_that_look_like_other_numbers_have_their_own_weights(labels):
    """scikit-learn's function takes "1" for 1."""
    names = np.array(labels)[y]
    given = dict(zip(labels, [1.0, 5.0, 5.0], strict=True))
    model = OutputCodeClassifier(RidgeClassifier(), class_weight=given).fit(X, names)
    by_row = OutputCodeClassifier(RidgeClassifier()).fit(X, names, sample_weight=np.array([1.0, 5.0, 5.0])[y])
    np.testing.assert_allclose(model.margins(X), by_row.margins(X), rtol=1e-9)


@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("code", ["all-pairs", "one-vs-all", "sparse"])
def test_balanced_columns_are_balanced_estimators(code, weighted):
    keep = np.r_[0:50, 50:75, 100:140]
    weight = np.linspace(1, 2, len(keep)) if weighted else None
    M = OutputCodeClassifier(Ridge(), code=code, random_state=0).fit(X, y).code_matrix_
    margins = []
    for learner in (Ridge(), RidgeClassifier()):
        model = OutputCodeClassifier(learner, code=M, column_weight="balanced").fit(X[keep], y[keep], weight)
        margins.append(model.margins(X))
    assert np.allclose(*margins)
    for s in range(M.shape[1]):
        seen = keep[M[y[keep], s] != 0]
        w = np.ones(len(seen)) if weight is None else weight[M[y[keep], s] != 0]
        sign = M[y[seen], s]
        w = w * np.where(sign > 0, 1 / w[sign > 0].sum(), 1 / w[sign < 0].sum()) * w.sum() / 2
        assert np.allclose(RidgeClassifier().fit(X[seen], sign, w).decision_function(X), margins[0][:, s])


def test_balanced_columns_are_scikit_learns_own_balance():
    keep = np.r_[0:50, 50:75, 100:140]
    ours = OutputCodeClassifier(LogisticRegression(tol=1e-10), code="one-vs-all", column_weight="balanced")
    theirs = OutputCodeClassifier(LogisticRegression(tol=1e-10, class_weight="balanced"), code="one-vs-all")
    assert np.allclose(ours.fit(X[keep], y[keep]).margins(X), theirs.fit(X[keep], y[keep]).margins(X), atol=1e-6)


def test_bad_weights_are_refused():
    for parameters, message in (
        ({"class_weight": {0: 0.0}}, "positive numbers"),
        ({"class_weight": "even"}, "class_weight"),
        ({"column_weight": "even"}, "column_weight='even' must be"),
        ({"probability": "platt"}, "probability='platt' must be"),
    ):
        with pytest.raises(ValueError, match=message):
            OutputCodeClassifier(RidgeClassifier(), **parameters).fit(X, y)


FOLDS = "a row given twice may be in two folds, a row of weight 2 is in one"


@parametrize_with_checks(
    [OutputCodeClassifier(RidgeClassifier(), probability=kind, code="one-vs-all") for kind in KINDS]
    + [OutputCodeClassifier("kernel-svm", probability="coupling", class_weight="balanced", column_weight="balanced")],
    expected_failed_checks=lambda _: dict.fromkeys(
        ("check_sample_weight_equivalence_on_dense_data", "check_sample_weight_equivalence_on_sparse_data"), FOLDS
    ),
)
@pytest.mark.filterwarnings("ignore:.*columns of the code have", "ignore:.*equal probabilities")
def test_scikit_learn_checks(estimator, check):
    check(estimator)


@pytest.mark.parametrize("scoring", ["neg_log_loss", "roc_auc_ovr", "roc_auc"])
def test_scorers_of_scikit_learn(scoring):
    X, y = load_iris(return_X_y=True)
    y = y == 1 if scoring == "roc_auc" else y
    model = OutputCodeClassifier("ridge", probability="likelihood")
    assert model.predict_proba.__name__ == "predict_proba"
    # A decision_function would come first for the area under the curve.
    model = model.fit(X, y)
    P = model.predict_proba(X)
    expected = {
        "neg_log_loss": lambda: -log_loss(y, P),
        "roc_auc_ovr": lambda: roc_auc_score(y, P, multi_class="ovr"),
        "roc_auc": lambda: roc_auc_score(y, model.decision_function(X)),
    }[scoring]()
    assert get_scorer(scoring)(model, X, y) == pytest.approx(expected)
