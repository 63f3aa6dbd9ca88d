"""Features up to the largest float: predicted with margins cut at ±1e9, refused in training by row and column."""

import warnings
from fractions import Fraction

import numpy as np
import pandas as pd
import pytest
import scipy.sparse as sp
from sklearn.datasets import load_iris
from sklearn.linear_model import LogisticRegression
from sklearn.tree import DecisionTreeClassifier

from outputcodes import AdaBoostMH, AdaBoostMO, AdaBoostMR, AdaBoostOC, DecisionTree, MulticlassSVC, SmoothBoost
from outputcodes import OutputCodeClassifier as Classifier
from outputcodes._ground.sizes import linear_scores
from outputcodes.learners import LEARNERS, ColumnTree, KernelSVM, LinearSVM, Ridge, SharedLearner
from outputcodes.learners.linear.hessian import solved

X, y = load_iris(return_X_y=True)
LARGEST = np.finfo(float).max
KINDS = [pytest.param(np.asarray, id="dense"), pytest.param(sp.csr_array, id="sparse")]
PRODUCTS = [name for name, make in LEARNERS.items() if getattr(make, "multiplies_features", False)]
KERNELS = [KernelSVM(kernel=kernel, max_iter=1000) for kernel in ("rbf", "linear", "poly", "sigmoid")]
WITHOUT_PRODUCTS = [
    *(Classifier(name) for name in LEARNERS if name not in PRODUCTS),
    *(booster(n_rounds=5, random_state=0) for booster in (AdaBoostMH, AdaBoostMO, AdaBoostMR, AdaBoostOC, SmoothBoost)),
    DecisionTree(),
    DecisionTree(("axis", "oblique", "sphere")),
]


def with_huge(value):
    changed = X.copy()
    changed[3, 1], changed[77, 2] = value, -value
    return changed


def test_which_learners_multiply():
    assert set(PRODUCTS) == {"kernel-svm", "linear-svm", "logistic", "ridge"}
    assert not ColumnTree.multiplies_features
    assert not SharedLearner.multiplies_features


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("value", [1e150, 1e300, LARGEST])
@pytest.mark.parametrize("learner", [*PRODUCTS, *KERNELS, LinearSVM(loss="hinge")], ids=repr)
@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
def test_huge_rows_are_predicted_and_leave_the_others_alone(learner, value, kind):
    model = Classifier(learner).fit(kind(X), y)
    plain, F = model.margins(kind(X)), model.margins(kind(with_huge(value)))
    assert np.isfinite(F).all()
    assert np.abs(F).max() <= 1e9
    others = np.delete(np.arange(150), [3, 77])
    assert np.allclose(F[others], plain[others], rtol=1e-12, atol=1e-12)
    assert set(model.predict(kind(with_huge(value)))) <= {0, 1, 2}
    assert np.isfinite(model.decision_function(kind(with_huge(value)))).all()


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("learner", ["linear-svm", "logistic", "ridge", KernelSVM(kernel="linear")], ids=repr)
def test_the_margins_of_linear_columns_are_cut(learner, kind):
    model = Classifier(learner).fit(kind(X), y)
    F = model.margins(kind(with_huge(1e300)))
    assert np.array_equal(F[3], 1e9 * np.sign(model.coef_[:, 1]))
    assert np.array_equal(F[77], -1e9 * np.sign(model.coef_[:, 2]))
    # As those of any other estimator are.
    foreign = Classifier(LogisticRegression(max_iter=1000)).fit(X, y)
    assert np.array_equal(foreign.margins(with_huge(1e300))[3], 1e9 * np.sign(foreign.coef_[:, 1]))


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("probability", ["likelihood", "coupling", "softmax"])
def test_probabilities_of_huge_rows(probability, kind):
    model = Classifier("ridge", probability=probability).fit(kind(X), y)
    P = model.predict_proba(kind(with_huge(LARGEST)))
    assert np.allclose(P.sum(axis=1), 1)
    assert np.array_equal(model.classes_[P.argmax(axis=1)], model.predict(kind(with_huge(LARGEST))))


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize(
    "model", [*map(Classifier, [*PRODUCTS, *KERNELS]), MulticlassSVC(), MulticlassSVC("linear")], ids=repr
)
def test_training_refuses_by_row_and_column(model, kind):
    message = r"X\[3, 1\]=1e\+200 is too large: products of features beyond ±1e\+100 overflow. Scale the features"
    with pytest.raises(ValueError, match=message):
        model.fit(kind(with_huge(1e200)), y)


@pytest.mark.parametrize("kind", KINDS)
def test_rows_are_counted_as_the_user_counts_them(kind):
    data, weight = with_huge(1e200), np.ones(150)
    weight[:50] = 0  # with them goes row 3
    for model, labels in ((Classifier("ridge"), y), (Ridge(), y == 1)):
        with pytest.raises(ValueError, match=r"X\[77, 2\]=-1e\+200 is too large"):
            model.fit(kind(data), labels, sample_weight=weight)


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("size", [1e50, 1e99])
@pytest.mark.parametrize("learner", [*PRODUCTS, LinearSVM(loss="hinge")], ids=repr)
@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
def test_large_features_overflow_nowhere(learner, size, kind):
    for data in (X / 8 * size, with_huge(size)):
        assert np.isfinite(Classifier(learner).fit(kind(data), y).margins(kind(data))).all()


def test_a_system_that_rounding_made_singular_has_its_shortest_solution():
    # 1 + 2⁶⁰⁰ is 2⁶⁰⁰: the unit matrix is gone. With other numbers, which BLAS notices depends on the last digit.
    A, b = np.full((2, 2), 2.0**600), np.full(2, 2.0**600)
    with pytest.raises(np.linalg.LinAlgError):
        np.linalg.solve(np.eye(2) + A, b)
    np.testing.assert_allclose(solved(np.eye(2) + A, b), [0.5, 0.5])


@pytest.mark.parametrize("model", WITHOUT_PRODUCTS, ids=repr)
def test_questions_about_features_need_no_products(model):
    data = with_huge(LARGEST)
    assert (model.fit(data, y).predict(data) == y).mean() > 0.9


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("value", [1e300, LARGEST])
def test_trees_in_single_precision_predict_huge_rows(kind, value):
    tree = DecisionTreeClassifier(max_depth=3, random_state=0)
    for model in (Classifier(tree), Classifier(tree, variant="single-call"), AdaBoostMO(n_rounds=3, estimator=tree)):
        model.fit(kind(X), y)
        # A threshold can't tell these from the largest number of single precision.
        assert np.array_equal(model.margins(kind(with_huge(value))), model.margins(kind(with_huge(3e38))))


def test_frames_keep_their_names_when_they_are_cut():
    names = ["a", "b", "c", "d"]
    model = Classifier(DecisionTreeClassifier(max_depth=3, random_state=0)).fit(pd.DataFrame(X, columns=names), y)
    huge, large = (pd.DataFrame(with_huge(value), columns=names) for value in (1e300, 3e38))
    assert np.array_equal(model.margins(huge), model.margins(large))


def test_other_refusals_are_passed_on():
    model = Classifier(DecisionTreeClassifier(random_state=0)).fit(X, y)
    with pytest.raises(ValueError, match="infinity"):
        model.predict(np.where(X == X[0, 0], np.inf, X))
    with pytest.raises(ValueError, match="3 features"):
        model.predict(with_huge(1e300)[:, :3])


@pytest.mark.parametrize("kind", KINDS)
def test_binary_and_multiclass_svms_alone(kind):
    two = y < 2
    learner = Ridge().fit(kind(X[two]), y[two])
    assert learner.decision_function(kind(with_huge(1e300)[two]))[3] == 1e9 * np.sign(learner.coef_[0, 1])
    linear = MulticlassSVC("linear").fit(kind(X), y)
    D = linear.decision_function(kind(with_huge(LARGEST)))
    assert np.isfinite(D).all()
    assert D[3].argmax() == linear.coef_[:, 1].argmax()
    assert np.isfinite(MulticlassSVC().fit(kind(X), y).decision_function(kind(with_huge(LARGEST)))).all()


def test_a_kernel_that_overflows_names_a_feature():
    model = Classifier(KernelSVM(kernel="poly", degree=9)).fit(X, y)
    with pytest.raises(ValueError, match=r"kernel values are not finite; .* The largest feature is X\[77, 2\]."):
        model.predict(np.where(with_huge(LARGEST) == LARGEST, 1.0, with_huge(LARGEST)))


def test_scores_of_huge_rows_against_exact_fractions():
    rng = np.random.default_rng(0)
    rows = rng.normal(size=(50, 3)) * 10.0 ** rng.integers(-5, 308, size=(50, 3))
    weights, intercept = rng.normal(size=(3, 4)) * 1e3, rng.normal(size=4)
    fits = list(zip(weights.T.tolist(), intercept.tolist(), strict=True))
    exact = [
        [sum(Fraction(a) * Fraction(w) for a, w in zip(row, column, strict=True)) + Fraction(b) for column, b in fits]
        for row in rows.tolist()
    ]
    for kind in (np.asarray, sp.csr_array):
        scores = linear_scores(kind(rows), weights, intercept)
        for found, true in zip(scores, exact, strict=True):
            # Equal up to a common factor, which is 1 unless the row overflows.
            factor = max(1.0, float(max(map(abs, true)) / Fraction(1e300)))
            assert np.allclose(found, [float(value / Fraction(factor)) for value in true], rtol=1e-9)


@pytest.mark.parametrize("model", [Classifier(), Classifier("stumps"), LinearSVM()], ids=repr)
def test_infinite_numbers_of_both_signs_are_refused_without_a_warning_from_below(model):
    # 1e200 in single precision.
    X, y = np.ones((6, 2), np.float32), np.array([0, 1] * 3)
    X[0], X[1] = np.inf, -np.inf
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        with pytest.raises(ValueError, match="infinity"):
            model.fit(X, y)
