"""Multilabel: each label is learned and predicted as if it were alone, and all labels form one output code."""

import itertools

import numpy as np
import pandas as pd
import pytest
import scipy.sparse as sp
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.base import clone
from sklearn.calibration import CalibratedClassifierCV
from sklearn.datasets import load_iris, make_multilabel_classification
from sklearn.feature_extraction.text import CountVectorizer
from sklearn.linear_model import LogisticRegression, RidgeClassifier
from sklearn.metrics import accuracy_score, hamming_loss, roc_auc_score
from sklearn.model_selection import GridSearchCV, KFold, cross_val_predict, cross_val_score
from sklearn.multiclass import OneVsRestClassifier
from sklearn.multioutput import MultiOutputClassifier
from sklearn.naive_bayes import GaussianNB, MultinomialNB
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.svm import SVC
from sklearn.tree import DecisionTreeClassifier
from sklearn.utils import estimator_checks, get_tags

from outputcodes import AdaBoostMH, OutputCodeClassifier, diagnostics
from outputcodes._ground.targets import label_sets
from outputcodes.codes import OneVsAll
from outputcodes.decoders import Likelihood, LossBased, Softmax
from outputcodes.decoders.base import EachLabel
from outputcodes.decoders.likelihood import EachLabelLikelihood
from outputcodes.learners import LEARNERS
from outputcodes.losses import LOSSES, as_loss

X, Y = make_multilabel_classification(n_samples=150, n_features=8, n_classes=5, n_labels=2, random_state=0)
X = StandardScaler().fit_transform(X)


def several(estimator=None, **parameters):
    return OutputCodeClassifier(estimator, code="one-vs-all", **parameters)


@pytest.mark.parametrize("estimator", [LogisticRegression(), SVC(), RidgeClassifier()], ids=repr)
def test_foreign_estimators_are_those_of_one_vs_rest(estimator):
    model, peer = several(estimator).fit(X, Y), OneVsRestClassifier(estimator).fit(X, Y)
    # Margins are those of the learner's loss: half the log-odds for logistic regression.
    scale = 2 if isinstance(estimator, LogisticRegression) else 1
    assert np.array_equal(scale * model.decision_function(X), peer.decision_function(X))
    assert np.array_equal(model.predict(X), peer.predict(X))
    assert model.score(X, Y) == peer.score(X, Y)
    assert model.classes_.tolist() == peer.classes_.tolist() == list(range(5))


def test_weighted_probabilities_are_those_of_the_multi_output_classifier():
    weight = np.arange(150) % 4 + 0.5
    model = several(GaussianNB()).fit(X, Y, sample_weight=weight)
    peer = MultiOutputClassifier(GaussianNB()).fit(X, Y, sample_weight=weight)
    P = np.column_stack([p[:, 1] for p in peer.predict_proba(X)])
    assert np.allclose(model.decision_function(X), np.log(P / (1 - P)) / 2)
    assert np.array_equal(model.predict(X), peer.predict(X))


@pytest.mark.parametrize("name", [name for name, make in LEARNERS.items() if not make().joint])
def test_engines_answer_for_each_label_as_for_that_label_alone(name):
    learner = LEARNERS[name]()
    learner.set_params(**learner.exact_parameters)
    F = several(learner, random_state=0).fit(X, Y).decision_function(X)
    for j in range(5):
        assert np.allclose(F[:, j], clone(learner).fit(X, Y[:, j]).decision_function(X), rtol=1e-5, atol=1e-5)


@pytest.mark.parametrize(
    ("estimator", "variant"),
    [
        ("ridge", "multi-call"),
        (LogisticRegression(max_iter=1000), "multi-call"),
        (LogisticRegression(max_iter=1000), "single-call"),
        (DecisionTreeClassifier(max_depth=4, random_state=0), "single-call"),
    ],
    ids=str,
)
def test_sets_of_one_label_are_one_vs_all(estimator, variant):
    features, y = load_iris(return_X_y=True)
    model = several(estimator, variant=variant, random_state=0)
    sets = clone(model).fit(features, np.eye(3, dtype=int)[y])
    assert np.allclose(sets.decision_function(features), model.fit(features, y).margins(features), rtol=1e-9)


def test_labels_have_no_order_and_the_lack_of_one_is_its_negative():
    F, order = several("ridge").fit(X, Y).decision_function(X), [3, 0, 4, 1, 2]
    assert np.allclose(several("ridge").fit(X, Y[:, order]).decision_function(X), F[:, order])
    assert np.allclose(several("ridge").fit(X, 1 - Y).decision_function(X), -F)


@settings(max_examples=40, deadline=None)
@given(seed=st.integers(0, 10**6), loss=st.sampled_from(list(LOSSES)), labels=st.integers(1, 5))
def test_reading_signs_is_decoding_among_all_label_sets(seed, loss, labels):
    F = np.random.default_rng(seed).normal(size=(12, labels))
    cube = np.array(list(itertools.product((-1, 1), repeat=labels)))
    assert np.array_equal(2 * EachLabel().predict(F, cube) - 1, cube[LossBased(loss).predict(F, cube)])


def test_probabilities_are_the_marginals_of_the_likelihood_of_all_label_sets():
    F, cube = several("ridge").fit(X, Y).decision_function(X), np.array(list(itertools.product((-1, 1), repeat=5)))
    numbers = Y @ 2 ** np.arange(4, -1, -1)
    assert np.array_equal(cube[numbers], 2 * Y - 1)
    joint, single = Likelihood().fit(F, numbers, cube), EachLabelLikelihood().fit(F, numbers, cube)
    assert np.allclose(joint.probabilities(F, cube) @ (cube > 0), single.probabilities(F, cube))
    assert np.array_equal(cube[joint.predict(F, cube)] > 0, single.predict(F, cube))


def test_probabilities_are_calibrated_as_by_scikit_learn():
    folds = list(KFold(3, shuffle=True, random_state=0).split(X))
    model = several(SVC(), decoder=Likelihood(cv=folds)).fit(X, Y)
    P = model.predict_proba(X)
    for j in range(5):
        peer = CalibratedClassifierCV(SVC(), cv=folds, ensemble=False).fit(X, Y[:, j])
        assert np.allclose(P[:, j], peer.predict_proba(X)[:, 1], atol=2e-4)
    assert np.array_equal(model.predict(X), P > 0.5)
    assert np.allclose(model.decision_function(X), np.log(P / (1 - P)))
    named = several(SVC(), probability="likelihood", random_state=0).fit(X, Y)
    assert np.array_equal(named.predict(X), named.predict_proba(X) > 0.5)
    assert not hasattr(several(SVC()).fit(X, Y), "predict_proba")


@pytest.mark.parametrize("model", [several("stumps"), several("logistic"), several("kernel-svm"), AdaBoostMH(20)])
def test_the_hamming_loss_is_the_mean_error_of_the_columns_and_below_their_mean_loss(model):
    model = clone(model).fit(X, Y)
    numbers = label_sets(Y)[1]
    assert np.array_equal(model.code_matrix_[numbers], 2 * Y - 1)
    F, loss = model.margins(X), hamming_loss(Y, model.predict(X))
    assert loss == pytest.approx(diagnostics.column_errors(F, numbers, model.code_matrix_).mean())
    of_margins = as_loss(model.margin_loss_)
    assert loss <= of_margins((2 * Y - 1) * F).mean() / of_margins(np.zeros(1))[0]


@pytest.mark.parametrize("model", [several("ridge"), several(LogisticRegression()), AdaBoostMH(10)], ids=repr)
def test_kinds_of_indicators(model):
    expected = clone(model).fit(X, Y).predict(X)
    assert expected.dtype == Y.dtype
    for kind in (Y.tolist(), Y.astype(bool), Y.astype(float), 2 * Y - 1, pd.DataFrame(Y)):
        other = clone(model).fit(X, kind)
        assert np.array_equal(other.predict(X), expected)
        assert other.score(X, kind) == accuracy_score(Y, expected)
    for sparse in (sp.csr_matrix, sp.csr_array, sp.csc_array):
        predicted = (fitted := clone(model).fit(X, sparse(Y))).predict(X)
        assert isinstance(predicted, sp.sparray if sparse is not sp.csr_matrix else sp.spmatrix)
        assert np.array_equal(predicted.toarray(), expected)
        assert fitted.score(X, sparse(Y)) == accuracy_score(Y, expected)
    # The same classifier, fitted again to one label per row.
    assert fitted.fit(X, Y[:, 0]).predict(X).ndim == 1


def test_kinds_of_features():
    expected = several(LogisticRegression()).fit(X, Y).decision_function(X)
    assert np.allclose(several(LogisticRegression()).fit(sp.csr_array(X), Y).decision_function(X), expected, atol=1e-4)
    kernel = several(SVC(kernel="precomputed")).fit(X @ X.T, Y)
    assert np.allclose(kernel.decision_function(X @ X.T), several(SVC(kernel="linear")).fit(X, Y).margins(X), atol=1e-6)
    texts = ["red blue", "blue", "red red", "green blue", "green", "red green"]
    colours = np.array([[word in text for word in ("red", "blue", "green")] for text in texts]).astype(int)
    assert np.array_equal(
        several(make_pipeline(CountVectorizer(), MultinomialNB())).fit(texts, colours).predict(texts), colours
    )


@pytest.mark.parametrize("model", [several("ridge"), several(RidgeClassifier(), column_weight="balanced")], ids=repr)
def test_weights_count_rows(model):
    weight = np.random.default_rng(0).integers(0, 4, size=len(Y))
    weighted = clone(model).fit(X, Y, sample_weight=weight).decision_function(X)
    assert np.allclose(
        weighted, clone(model).fit(np.repeat(X, weight, axis=0), np.repeat(Y, weight, axis=0)).margins(X)
    )
    spoiled_X, spoiled_Y, zeroed = X.copy(), Y.copy(), np.ones(len(Y))
    zeroed[::5], spoiled_X[::5], spoiled_Y[::5] = 0, 1e6, 1
    left_out = clone(model).fit(spoiled_X, spoiled_Y, sample_weight=zeroed)
    clean = clone(model).fit(X[zeroed > 0], Y[zeroed > 0])
    assert np.array_equal(left_out.margins(X), clean.margins(X))
    assert np.array_equal(left_out.code_matrix_, clean.code_matrix_)


def test_balanced_columns_are_labels_weighed_by_scikit_learn():
    balanced = several(SVC(tol=1e-6), column_weight="balanced").fit(X, Y)
    peer = OneVsRestClassifier(SVC(tol=1e-6, class_weight="balanced")).fit(X, Y)
    assert np.allclose(balanced.decision_function(X), peer.decision_function(X), atol=1e-4)


@pytest.mark.parametrize("name", LEARNERS)
def test_any_number_of_jobs_gives_the_same_bits(name):
    one, two = (several(name, probability="likelihood", n_jobs=n, random_state=0).fit(X, Y) for n in (1, 2))
    assert np.array_equal(one.predict_proba(X), two.predict_proba(X))


def test_labels_that_all_rows_have_or_none():
    constant = Y.copy()
    constant[:, 1], constant[:, 3] = 1, 0
    with pytest.warns(UserWarning, match="2 of 5 labels are the same in all rows .*: 1, 3"):
        model = several("ridge", probability="likelihood").fit(X, constant)
    assert np.array_equal(model.margins(X)[:, [1, 3]], np.tile([1.0, -1.0], (150, 1)))
    assert np.array_equal(model.predict(X)[:, [1, 3]], constant[:, [1, 3]])
    assert np.allclose(model.predict_proba(X)[:, [1, 3]], [151 / 152, 1 / 152])
    others = several("ridge", probability="likelihood").fit(X, Y).predict_proba(X)
    assert np.allclose(model.predict_proba(X)[:, [0, 2, 4]], others[:, [0, 2, 4]], atol=1e-9)
    nothing = np.zeros_like(Y)
    with pytest.warns(UserWarning, match="5 of 5"):
        model = several(SVC(), probability="likelihood").fit(X, nothing)
    assert np.array_equal(model.predict(X), nothing)
    assert np.allclose(model.predict_proba(X), 1 / 152)


def test_searches_and_cross_validation():
    search = GridSearchCV(several(make_pipeline(StandardScaler(), SVC())), {"estimator__svc__C": [0.01, 1.0]}, cv=3)
    search.fit(X, Y)
    peer = GridSearchCV(OneVsRestClassifier(SVC()), {"estimator__C": [0.01, 1.0]}, cv=3).fit(X, Y)
    assert search.best_params_["estimator__svc__C"] == peer.best_params_["estimator__C"]
    D = cross_val_predict(several(SVC()), X, Y, cv=3, method="decision_function")
    assert np.array_equal(D, cross_val_predict(OneVsRestClassifier(SVC()), X, Y, cv=3, method="decision_function"))
    scores = cross_val_score(several(SVC()), X, Y, cv=3, scoring="roc_auc")
    splits = KFold(3).split(X)
    assert scores == pytest.approx([roc_auc_score(Y[test], D[test]) for _, test in splits])


@pytest.mark.parametrize(
    ("parameters", "labels", "message"),
    [
        ({"code": "all-pairs"}, Y, "y is multilabel, with a column for each label: use code='one-vs-all'"),
        ({"code": 2 * np.eye(5) - 1}, Y, "use code='one-vs-all'"),
        ({"class_weight": "balanced"}, Y, "use column_weight='balanced'"),
        ({"probability": "softmax"}, Y, "use probability='likelihood'"),
        ({"decoder": "coupling"}, Y, "use probability='likelihood'"),
        ({"decoder": Softmax()}, Y, "use probability='likelihood'"),
        ({}, Y + 4, "not an indicator matrix"),
        ({}, Y[:-1], "y has .* labels but X has .* rows; give one label per row"),
        ({}, np.where(Y, np.nan, 0), "NaN"),
        ({}, Y * np.arange(5), "1d array"),
    ],
)
def test_what_is_refused(parameters, labels, message):
    model = OutputCodeClassifier(**({"code": OneVsAll()} | parameters))
    assert get_tags(model).classifier_tags.multi_label == (not parameters)
    with pytest.raises(ValueError, match=message):
        model.fit(X, labels)


def test_there_is_nothing_to_decode():
    with pytest.raises(ValueError, match="its decoder can't be changed"):
        several().fit(X, Y).with_decoder("hamming")


@pytest.mark.filterwarnings("ignore:.*held-out margins that point the wrong way")
@pytest.mark.parametrize(
    "model", [several("ridge", probability="likelihood"), several("stumps"), AdaBoostMH(5)], ids=repr
)
@pytest.mark.parametrize(
    "check",
    [
        estimator_checks.check_classifiers_multilabel_representation_invariance,
        estimator_checks.check_classifiers_multilabel_output_format_predict,
        estimator_checks.check_classifiers_multilabel_output_format_predict_proba,
        estimator_checks.check_classifiers_multilabel_output_format_decision_function,
    ],
)
def test_scikit_learn_checks(model, check):
    check(type(model).__name__, model)
