"""coef_, intercept_ and feature_importances_: what the columns know about the features, against scikit-learn's own."""

import numpy as np
import pytest
import scipy.sparse as sp
from sklearn.base import clone
from sklearn.datasets import load_iris, make_classification, make_multilabel_classification
from sklearn.discriminant_analysis import LinearDiscriminantAnalysis
from sklearn.ensemble import RandomForestClassifier
from sklearn.linear_model import LinearRegression, LogisticRegression, PoissonRegressor, RidgeClassifier, SGDClassifier
from sklearn.svm import SVC, LinearSVC
from sklearn.tree import DecisionTreeClassifier

from outputcodes import (
    AdaBoostMH,
    AdaBoostMO,
    AdaBoostMR,
    AdaBoostOC,
    DecisionTree,
    MulticlassSVC,
    OutputCodeClassifier,
    SmoothBoost,
)
from outputcodes.learners import BoostedStumps, ColumnTree, KernelSVM, LinearSVM, Logistic, PerColumn, Ridge
from outputcodes.learners.foreign import linear_terms

X, y = load_iris(return_X_y=True)
OURS = [
    LinearSVM(),
    LinearSVM(fit_intercept=False),
    LinearSVM(intercept_scaling=3.0),
    Logistic(),
    Ridge(),
    KernelSVM(kernel="linear"),
    KernelSVM(kernel="linear", bias="folded"),
]
FOREIGN = [
    LogisticRegression(max_iter=1000),
    LinearSVC(dual=False),
    RidgeClassifier(),
    SGDClassifier(random_state=0),
    SVC(kernel="linear"),
    LinearDiscriminantAnalysis(),
    LinearRegression(),
]


@pytest.mark.parametrize("sparse", [False, True])
@pytest.mark.parametrize("learner", OURS, ids=repr)
def test_margins_of_our_binary_classifiers(learner, sparse):
    rows = y < 2
    data = sp.csr_array(X[rows]) if sparse else X[rows]
    model = clone(learner).fit(data, y[rows])
    assert model.coef_.shape == (1, 4)
    assert model.intercept_.shape == (1,)
    assert np.allclose(X[rows] @ model.coef_[0] + model.intercept_, model.decision_function(data), atol=1e-12)


@pytest.mark.parametrize("code", ["one-vs-all", "all-pairs"])
@pytest.mark.parametrize("learner", [*OURS, *FOREIGN, PerColumn(RidgeClassifier(), scale=3.0)], ids=repr)
def test_margins_of_a_code(learner, code):
    model = OutputCodeClassifier(learner, code=code).fit(X, y)
    assert model.coef_.shape == (3, 4)
    assert np.allclose(X @ model.coef_.T + model.intercept_, model.margins(X), atol=1e-9)


def test_sparse_features_and_one_estimator_per_column():
    data = sp.csr_array(X)
    for learner in ("linear-svm", SVC(kernel="linear"), [LogisticRegression(max_iter=1000), Ridge(), LinearSVM()]):
        model = OutputCodeClassifier(learner, code="one-vs-all", decoder="linear").fit(data, y)
        assert np.allclose(data @ model.coef_.T + model.intercept_, model.margins(data), atol=1e-9)


def test_one_call_for_all_columns_shares_the_weights():
    model = OutputCodeClassifier(LogisticRegression(max_iter=1000), code="one-vs-all", variant="single-call").fit(X, y)
    assert (model.coef_ == model.coef_[0]).all()
    assert np.allclose(X @ model.coef_.T + model.intercept_, model.margins(X))


@pytest.mark.filterwarnings("ignore:.*have only one sign")
def test_constant_columns_have_no_weights():
    rows = y < 2
    matrix = {0: [1, 1], 1: [-1, 1], 2: [1, -1]}
    model = OutputCodeClassifier("ridge", code=matrix).fit(X[rows], y[rows])
    assert (model.coef_[1] == 0).all()
    assert model.intercept_[1] == 1
    assert np.allclose(X @ model.coef_.T + model.intercept_, model.margins(X))


def test_multilabel_columns():
    data, labels = make_multilabel_classification(n_samples=60, n_classes=3, random_state=0)
    model = OutputCodeClassifier("ridge", code="one-vs-all").fit(data, labels)
    assert np.allclose(data @ model.coef_.T + model.intercept_, model.decision_function(data))


def test_the_multiclass_svm_has_no_bias():
    model = MulticlassSVC("linear").fit(X, y)
    assert np.allclose(X @ model.coef_.T + model.intercept_, model.decision_function(X))
    assert not hasattr(MulticlassSVC().fit(X, y), "intercept_")


@pytest.mark.parametrize("learner", [KernelSVM(), SVC(), "stumps", SVC(kernel="precomputed")], ids=repr)
def test_columns_that_are_not_linear(learner):
    precomputed = isinstance(learner, SVC) and learner.kernel == "precomputed"
    model = OutputCodeClassifier(learner).fit(X @ X.T if precomputed else X, y)
    for name in ("coef_", "intercept_"):
        assert not hasattr(model, name)
        with pytest.raises(AttributeError, match=f"OutputCodeClassifier has no {name}: its columns are not linear"):
            getattr(model, name)


def test_a_link_is_not_linear():
    fitted = PoissonRegressor().fit(X, y)
    assert hasattr(fitted, "coef_")
    assert linear_terms(fitted) is None


def test_before_fit():
    for name in ("coef_", "intercept_", "feature_importances_"):
        for model in (OutputCodeClassifier(), Ridge(), AdaBoostMO()):
            with pytest.raises(AttributeError, match="not fitted yet"):
                getattr(model, name)


def test_importances_of_a_tree_are_those_of_scikit_learn():
    data, labels = make_classification(200, 6, n_informative=4, n_classes=3, random_state=0)
    for criterion in ("gini", "entropy"):
        ours = DecisionTree(criterion=criterion, max_depth=3).fit(data, labels)
        theirs = DecisionTreeClassifier(criterion=criterion, max_depth=3, random_state=0).fit(data, labels)
        assert np.allclose(ours.feature_importances_, theirs.feature_importances_)
    binary = ColumnTree("gini", max_depth=2, bins="exact").fit(data, labels > 0)
    theirs = DecisionTreeClassifier(max_depth=2, random_state=0).fit(data, labels > 0)
    assert np.allclose(binary.feature_importances_, theirs.feature_importances_)


def test_importances_of_discrete_stumps_are_the_shares_of_their_coefficients():
    data, labels = make_classification(200, 6, n_informative=4, random_state=0)
    model = BoostedStumps(10, "discrete").fit(data, labels)
    # AdaBoost replayed: the coefficient of each round from the errors of its stump under the weights of that round.
    weight, sign, before, total = np.full(200, 1 / 200), 2 * labels - 1, 0.0, np.zeros(6)
    for feature, after in zip(model.columns_.feature[:, 0], model.columns_.staged_margins(data), strict=True):
        error = weight[np.sign(after[:, 0] - before) != sign].sum()
        alpha = np.log((1 - error) / error) / 2
        total[feature] += alpha
        weight *= np.exp(-sign * (after[:, 0] - before))
        weight /= weight.sum()
        before = after[:, 0]
    assert np.allclose(model.feature_importances_, total / total.sum())


def test_importances_of_trees_over_a_code():
    model = OutputCodeClassifier(ColumnTree(max_depth=2), code="one-vs-all").fit(X, y)
    assert model.feature_importances_.sum() == pytest.approx(1)
    # The decreases of the loss add up over the columns, in proportion to what each column gains.
    alone = [ColumnTree(max_depth=2).fit(X, y == c) for c in range(3)]
    gains = []
    for tree in alone:
        nodes, weights = tree.columns_.nodes, tree.columns_.weights
        W = weights.sum(axis=1, keepdims=True)
        cost = -(weights * np.log(np.maximum(weights, 1e-300) / W)).sum(axis=1)
        inner = np.flatnonzero(nodes.kind >= 0)
        gain = cost[inner] - cost[nodes.left[inner]] - cost[nodes.left[inner] + 1]
        gains.append(np.bincount(nodes.feature[inner], gain, minlength=4))
    assert np.allclose(model.feature_importances_, np.sum(gains, axis=0) / np.sum(gains))


@pytest.mark.parametrize("booster", [AdaBoostMO, AdaBoostMH, AdaBoostMR, AdaBoostOC, SmoothBoost])
def test_boosters_know_which_features_decide(booster):
    noise = np.random.default_rng(0).normal(size=(150, 1))
    model = booster(n_rounds=20, random_state=0).fit(np.hstack([X, np.zeros((150, 1)), noise]), y)
    shares = model.feature_importances_
    assert shares.sum() == pytest.approx(1)
    assert shares[4] == 0
    assert shares[2:4].sum() > shares[5]
    # A feature that no stump asks about may be anything.
    unused = np.flatnonzero(shares == 0)
    changed = np.hstack([X, np.zeros((150, 1)), noise])
    changed[:, unused] = 7.0
    assert np.array_equal(model.margins(changed), model.margins(np.hstack([X, np.zeros((150, 1)), noise])))


@pytest.mark.parametrize("booster", [AdaBoostMH, AdaBoostOC])
def test_boosters_weigh_the_importances_of_their_estimators(booster):
    model = booster(n_rounds=4, estimator=DecisionTreeClassifier(max_depth=2), random_state=0).fit(X, y)
    kept = model.columns_.rounds
    total = np.sum([one.coefficient * one.hypothesis.estimator.feature_importances_[:4] for one in kept], axis=0)
    assert np.allclose(model.feature_importances_, total / total.sum())
    linear = booster(n_rounds=4, estimator=LogisticRegression(max_iter=1000), random_state=0).fit(X, y)
    assert not hasattr(linear, "feature_importances_")


def test_importances_of_other_estimators_are_averaged():
    model = OutputCodeClassifier(RandomForestClassifier(5, random_state=0), code="one-vs-all").fit(X, y)
    own = [forest.feature_importances_ for forest in model.columns_.fitted.estimators]
    assert np.allclose(model.feature_importances_, np.mean(own, axis=0))


def test_no_importances():
    for model in (OutputCodeClassifier("ridge").fit(X, y), Ridge().fit(X, y > 0)):
        with pytest.raises(AttributeError, match="has no feature_importances_: its columns are not trees or stumps"):
            _ = model.feature_importances_
    with pytest.raises(AttributeError, match="questions are about several features"):
        _ = DecisionTree(("axis", "sphere")).fit(X, y).feature_importances_
