"""The margin of a foreign estimator is the f of its loss: right scale, right loss, whatever wraps it."""

import numpy as np
import pytest
from scipy.optimize import minimize_scalar
from sklearn import ensemble, linear_model, svm
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.datasets import load_iris, make_classification
from sklearn.discriminant_analysis import LinearDiscriminantAnalysis, QuadraticDiscriminantAnalysis
from sklearn.model_selection import GridSearchCV
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.tree import DecisionTreeClassifier

from outputcodes import OutputCodeClassifier
from outputcodes.learners import PerColumn, as_learner
from outputcodes.learners.foreign import DECISION_FUNCTIONS, reading_of
from outputcodes.losses import as_loss

X, y = make_classification(300, n_features=5, n_informative=4, n_redundant=0, flip_y=0.2, random_state=0)
signs = 2 * y - 1


def margins(estimator):
    model = OutputCodeClassifier(estimator, random_state=0).fit(X, y)
    return model.margins(X)[:, 0], model.margin_loss_


@pytest.mark.parametrize(
    "estimator",
    [
        linear_model.LogisticRegression(C=np.inf, tol=1e-10, max_iter=1000),
        linear_model.LinearRegression(),
        linear_model.RidgeClassifier(alpha=1e-9),
        linear_model.SGDClassifier(
            loss="log_loss", alpha=1e-9, max_iter=20000, tol=1e-9, eta0=0.02, learning_rate="adaptive"
        ),
        svm.LinearSVC(C=1e4, intercept_scaling=1e3, tol=1e-9, max_iter=10**6),
        svm.SVC(kernel="linear", C=1e3),
    ],
    ids=repr,
)
@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
def test_no_other_scale_of_an_unregularised_linear_margin_has_less_loss(estimator):
    # A family closed under scaling: its loss-minimiser can't be improved by scaling, unless it was read wrongly.
    f, name = margins(estimator)
    loss = as_loss(name)
    best = minimize_scalar(lambda c: loss(c * signs * f).mean(), bounds=(0.05, 5), method="bounded")
    assert best.x == pytest.approx(1, abs=0.05)


def test_adaboost_margin_is_the_weighted_sum_of_its_stumps():
    estimator = ensemble.AdaBoostClassifier(n_estimators=20)
    f, name = margins(estimator)
    fitted = OutputCodeClassifier(estimator, random_state=0).fit(X, y).columns_.fitted.estimators[0]
    # scikit-learn's weights are ln((1-e)/e) = 2 alpha.
    F = sum(w / 2 * (2 * h.predict(X) - 1) for w, h in zip(fitted.estimator_weights_, fitted.estimators_, strict=True))
    assert np.allclose(f, F)
    assert name == "exponential"


@pytest.mark.parametrize(
    ("estimator", "loss"),
    [
        (linear_model.LogisticRegression(), "logistic"),
        (LinearDiscriminantAnalysis(), "logistic"),
        (QuadraticDiscriminantAnalysis(), "logistic"),
        (ensemble.GradientBoostingClassifier(n_estimators=5), "logistic"),
        (ensemble.GradientBoostingClassifier(n_estimators=5, loss="exponential"), "exponential"),
        (ensemble.HistGradientBoostingClassifier(max_iter=5), "logistic"),
        (linear_model.SGDClassifier(loss="log_loss"), "logistic"),
        (DecisionTreeClassifier(max_depth=2), "logistic"),
        (make_pipeline(StandardScaler(), linear_model.LogisticRegression()), "logistic"),
        (GridSearchCV(linear_model.LogisticRegression(), {"C": [1, 2]}), "logistic"),
    ],
    ids=lambda v: v if isinstance(v, str) else type(v).__name__,
)
def test_margins_are_half_the_log_odds_of_the_estimators_own_probabilities(estimator, loss):
    f, name = margins(estimator)
    fitted = OutputCodeClassifier(estimator, random_state=0).fit(X, y).columns_.fitted.estimators[0]
    p = np.clip(fitted.predict_proba(X)[:, 1], 1e-12, 1 - 1e-12)
    assert np.allclose(f, np.log(p / (1 - p)) / 2, atol=1e-6)
    assert name == loss


def test_logistic_regression_decoded_by_its_loss_is_likelihood_decoding():
    # Sigmoids with A = -2, B = 0 on codes without zeros: argmax of the product of the columns' own probabilities.
    X, y = load_iris(return_X_y=True)
    model = OutputCodeClassifier(linear_model.LogisticRegression(max_iter=1000), code="one-vs-all").fit(X, y)
    p = np.column_stack([fitted.predict_proba(X)[:, 1] for fitted in model.columns_.fitted.estimators])
    likelihood = np.stack([np.where(row > 0, p, 1 - p).prod(axis=1) for row in model.code_matrix_], axis=1)
    assert np.allclose(model.decision_function(X), np.log(likelihood), atol=1e-8)


def test_every_known_name_is_a_classifier_of_scikit_learn():
    from sklearn.utils import all_estimators

    existing = {name for name, _ in all_estimators(type_filter="classifier")}
    # PassiveAggressiveClassifier leaves scikit-learn in 1.10.
    assert set(DECISION_FUNCTIONS) - existing <= {"PassiveAggressiveClassifier"}


def test_subclasses_are_known_and_strangers_are_read_as_they_are():
    class Mine(linear_model.LogisticRegression):
        pass

    class Stranger(ClassifierMixin, BaseEstimator):
        def decision_function(self, X):
            return X

    assert reading_of(Mine()) == ("logistic", 0.5)
    assert reading_of(Stranger()) == ("hinge", 1.0)
    assert reading_of(svm.SVR()).loss == "squared"


def test_loss_and_scale_can_be_given():
    given = PerColumn(linear_model.LogisticRegression(), margin_loss="exponential", scale=3.0)
    f, name = margins(given)
    plain, _ = margins(linear_model.LogisticRegression())
    assert name == "exponential"
    assert np.allclose(f, 6 * plain)
    assert as_learner(given).loss == "exponential"


def test_infinite_answers_become_large_and_nan_is_refused():
    class Sure(ClassifierMixin, BaseEstimator):
        def __init__(self, answer=np.inf):
            self.answer = answer

        def fit(self, X, y):
            self.classes_ = np.unique(y)
            return self

        def decision_function(self, X):
            return np.full(len(X), self.answer)

    f, _ = margins(Sure())
    assert (f == 1e9).all()
    with pytest.raises(ValueError, match="returned NaN for row 0"):
        margins(Sure(np.nan))
