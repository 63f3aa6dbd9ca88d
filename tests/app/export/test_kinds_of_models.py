"""Boosters, direct classifiers, kinds of labels, missing values, categories: the ONNX form returns the same."""

import numpy as np
import pytest
from scipy.sparse import csr_array
from sklearn.datasets import load_iris, make_multilabel_classification
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import GridSearchCV

import outputcodes
from outputcodes import DecisionTree, GradientBoost, MulticlassSVC, OutputCodeClassifier, to_onnx
from outputcodes.app.run import SYSTEMS
from outputcodes.decoders import Continuous
from outputcodes.direct import NearestCentroids
from outputcodes.learners import KernelSVM
from outputcodes.selection import BoundSearch
from outputcodes.selection.renumbered import Renumbered

BOOSTERS = [name for name in outputcodes.boosting.__all__ if hasattr(outputcodes, name)]
QUESTIONS = [("axis",), ("axis", "oblique"), ("axis", "sphere"), ("axis", "oblique", "sphere")]


def with_gaps(k=3, categories=0):
    """Numbers with missing values; of the first features categories."""
    rng = np.random.default_rng(0)
    y = np.arange(150) % k
    X = rng.standard_normal((150, 5)) + rng.standard_normal((k, 5))[y]
    X[:, :categories] = np.clip(np.round(3 * X[:, :categories]), -5, 5)
    X[rng.random(X.shape) < 0.1] = np.nan
    return X, y


@pytest.mark.parametrize("name", BOOSTERS)
@pytest.mark.parametrize("categorical", [[], [0, 1]])
def test_boosters(agree, name, categorical):
    X, y = with_gaps(categories=2)
    booster = getattr(outputcodes.boosting, name)
    model = booster(n_rounds=7, categorical_features=categorical, random_state=0).fit(X[:100], y[:100])
    # New categories too.
    X[100, :2], X[101, :2] = 77.0, -3.5
    agree(model, X)


@pytest.mark.parametrize("learner", ["boosted-trees", "stumps", "tree"])
def test_missing_values_and_categories(agree, learner):
    X, y = with_gaps(categories=2)
    model = OutputCodeClassifier(learner, random_state=0).set_params(estimator__categorical_features=[0, 1])
    X[100, :2], X[101, :2] = 77.0, -3.5
    agree(model.fit(X[:100], y[:100]), X)


@pytest.mark.parametrize(
    "questions", [("axis",), ("axis", "oblique"), ("axis", "sphere"), ("axis", "oblique", "sphere")]
)
def test_decision_trees(agree, questions):
    X, y = with_gaps(categories=1)
    model = DecisionTree(questions, categorical_features=[0], min_region=5).fit(X[:100], y[:100])
    asked = {"axis": 0, "oblique": 2, "sphere": 3}
    assert {asked[one] for one in questions} <= set(model.tree_.nodes.kind)
    agree(model, X)


@pytest.mark.parametrize("kernel", ["rbf", "poly", "linear", "sigmoid"])
@pytest.mark.parametrize("degree", [3, 2.5])
def test_kernels(agree, kernel, degree):
    X, y = load_iris(return_X_y=True)
    how = {"kernel": kernel, "gamma": 0.1, "coef0": 0.5, "C": 0.1, "degree": degree}
    agree(OutputCodeClassifier(KernelSVM(**how)).fit(X, y), X)
    if kernel != "sigmoid":  # it is indefinite here, which MulticlassSVC refuses
        agree(MulticlassSVC(**how).fit(X, y), X)


def test_nearest_centroids(agree):
    X, y = load_iris(return_X_y=True)
    agree(NearestCentroids().fit(X, y), X)
    agree(NearestCentroids().fit(csr_array(X), y), X)


def test_precomputed_kernels(agree):
    X, y = load_iris(return_X_y=True)
    gram = X @ X.T
    for make in (MulticlassSVC, lambda **how: OutputCodeClassifier(KernelSVM(**how))):
        agree(make(kernel="precomputed", C=0.01).fit(gram, y), gram)


@pytest.mark.parametrize(
    "labels",
    [["setosa", "versicolor", "virginica"], [1.0, 2.0, -1.0], [10, 20, 30], [False, True, True]],
    ids=["text", "numbers", "whole numbers", "booleans"],
)
def test_labels_of_every_type(agree, labels):
    X, y = load_iris(return_X_y=True)
    named = np.array(labels)[y]
    found = agree(OutputCodeClassifier("ridge", probability="softmax").fit(X, named), X)
    assert found["label"].dtype.kind == ("O" if named.dtype.kind == "U" else named.dtype.kind)


@pytest.mark.parametrize(
    "model",
    [
        OutputCodeClassifier("ridge", code="one-vs-all"),
        OutputCodeClassifier("ridge", code="one-vs-all", probability="likelihood"),
        GradientBoost(n_rounds=5, random_state=0),
        outputcodes.AdaBoostMH(n_rounds=5),
    ],
    ids=["ridge", "likelihood", "gradient-boost", "adaboost-mh"],
)
def test_multilabel(agree, model):
    X, Y = make_multilabel_classification(n_classes=4, random_state=0)
    agree(model.fit(X, Y), X)


def test_constant_columns_and_classes_without_rows(agree):
    X, y = load_iris(return_X_y=True)
    code = {0: [1, 1, 1], 1: [-1, 1, 1], 2: [-1, 1, -1], 3: [-1, -1, -1]}
    with pytest.warns(UserWarning, match="columns of the code have only one sign"):
        model = OutputCodeClassifier("ridge", code=code).fit(X, y)
    agree(model, X)


def test_foreign_linear_columns_and_single_call(agree):
    X, y = load_iris(return_X_y=True)
    for variant in ("multi-call", "single-call"):
        agree(OutputCodeClassifier(LogisticRegression(max_iter=1000), variant=variant, code="dense").fit(X, y), X)


@pytest.mark.parametrize("kernel", ["rbf", "poly"])
def test_continuous_codes_with_kernels(agree, kernel):
    X, y = load_iris(return_X_y=True)
    agree(OutputCodeClassifier("ridge", code="dense", decoder=Continuous(kernel=kernel), random_state=0).fit(X, y), X)


def test_searches_export_their_best(agree):
    X, y = load_iris(return_X_y=True)
    search = BoundSearch(OutputCodeClassifier(KernelSVM(bias="folded")), {"estimator__gamma": [0.1, 1.0]}).fit(X, y)
    agree(search.best_estimator_, X)
    assert to_onnx(search) == to_onnx(search.best_estimator_)
    found = GridSearchCV(OutputCodeClassifier("ridge"), {"estimator__alpha": [0.1, 1.0]}).fit(X, y)
    assert to_onnx(found) == to_onnx(found.best_estimator_)


def test_all_our_systems_have_a_converter():
    from outputcodes.app.export.classifiers import CLASSIFIERS

    ours = {type(make()) for make in SYSTEMS.values() if type(make()).__module__.startswith("outputcodes.")}
    # It holds a booster of another library, which is refused.
    ours -= {Renumbered}
    public = {getattr(outputcodes, name) for name in outputcodes.__all__}
    assert ours | {one for one in public if isinstance(one, type)} <= set(CLASSIFIERS)
