"""Sample weights mean what they say, by name and by routing."""

import numpy as np
import pytest
import sklearn
from sklearn.datasets import load_digits, load_iris
from sklearn.linear_model import LogisticRegression, RidgeClassifier
from sklearn.model_selection import GridSearchCV, cross_validate
from sklearn.neighbors import KNeighborsClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import FunctionTransformer
from sklearn.svm import SVC

from outputcodes import OutputCodeClassifier
from outputcodes.codes import Assigned, Dense
from outputcodes.learners import PerColumn

X, y = load_iris(return_X_y=True)
weight = np.random.default_rng(0).integers(0, 4, size=len(y))
X_repeated, y_repeated = np.repeat(X, weight, axis=0), np.repeat(y, weight)


@pytest.mark.parametrize("variant", ["multi-call", "single-call"])
@pytest.mark.parametrize("code", ["all-pairs", "dense", "one-vs-all"])
@pytest.mark.parametrize("decoder", ["loss", "accuracy-weighted"])
def test_a_weight_of_three_is_a_row_given_three_times(variant, code, decoder):
    model = OutputCodeClassifier(RidgeClassifier(), code=code, decoder=decoder, variant=variant, random_state=0)
    weighted = model.fit(X, y, sample_weight=weight).decision_function(X)
    assert np.allclose(weighted, model.fit(X_repeated, y_repeated).decision_function(X))


def test_rows_without_weight_may_be_anything():
    spoiled_X, spoiled_y, zeroed = X.copy(), y.copy(), np.ones(len(y))
    zeroed[::5] = 0
    spoiled_X[::5], spoiled_y[::5] = 1e6, 99
    # Even an estimator that takes no weights can leave rows out.
    for estimator in (RidgeClassifier(), KNeighborsClassifier()):
        model = OutputCodeClassifier(estimator).fit(spoiled_X, spoiled_y, sample_weight=zeroed)
        clean = OutputCodeClassifier(estimator).fit(X[zeroed > 0], y[zeroed > 0])
        assert model.classes_.tolist() == [0, 1, 2]
        assert np.array_equal(model.margins(X), clean.margins(X))


@pytest.mark.parametrize("code", ["ecoc-one", "designed", "decoc", "forest", Assigned(Dense(8))])
def test_codes_made_from_data_mind_weights_of_classes_as_those_of_rows(code):
    Xd, yd = load_digits(n_class=6, return_X_y=True)
    Xd, yd = Xd[:300] / 16, yd[:300]
    weights = np.array([1, 1, 20, 1, 20, 0.1])
    by_class, by_row, without = (
        OutputCodeClassifier("ridge", code=code, class_weight=classwise, random_state=0).fit(Xd, yd, own).code_matrix_
        for classwise, own in ((dict(enumerate(weights)), None), (None, weights[yd]), (None, None))
    )
    assert np.array_equal(by_class, by_row)
    assert not np.array_equal(by_row, without)


@pytest.mark.parametrize(
    "wrap", [make_pipeline, lambda e: GridSearchCV(e, {}, cv=3), lambda e: make_pipeline(GridSearchCV(e, {}))]
)
def test_weights_reach_estimators_inside_pipelines_and_searches(wrap):
    plain = OutputCodeClassifier(RidgeClassifier()).fit(X, y, sample_weight=weight)
    wrapped = OutputCodeClassifier(wrap(RidgeClassifier())).fit(X, y, sample_weight=weight)
    assert np.allclose(plain.margins(X), wrapped.margins(X))


def test_fit_parameters_are_passed_on_and_cut_to_the_rows_of_a_column():
    pipeline = make_pipeline(FunctionTransformer(), LogisticRegression(tol=1e-10))
    by_name = OutputCodeClassifier(pipeline).fit(X, y, logisticregression__sample_weight=weight)
    direct = OutputCodeClassifier(LogisticRegression(tol=1e-10)).fit(X, y, sample_weight=weight)
    assert np.allclose(by_name.margins(X), direct.margins(X), atol=1e-6)


@pytest.fixture
def routing():
    with sklearn.config_context(enable_metadata_routing=True):
        yield


@pytest.mark.usefixtures("routing")
class TestRouting:
    def test_by_name_without_any_request(self):
        model = OutputCodeClassifier(RidgeClassifier()).fit(X, y, sample_weight=weight)
        with sklearn.config_context(enable_metadata_routing=False):
            plain = OutputCodeClassifier(RidgeClassifier()).fit(X, y, sample_weight=weight)
        assert np.allclose(model.margins(X), plain.margins(X))

    def test_through_cross_validation(self):
        scores = {}
        for asked in (True, False):
            model = OutputCodeClassifier(SVC().set_fit_request(sample_weight=asked), code="one-vs-all")
            model.set_fit_request(sample_weight=asked).set_score_request(sample_weight=False)
            scores[asked] = cross_validate(
                model, X, y, cv=3, params={"sample_weight": (y == 1) + 0.01} if asked else {}, return_estimator=True
            )["estimator"][0].margins(X)
        assert not np.allclose(scores[True], scores[False])

    def test_under_another_name(self):
        inner = RidgeClassifier().set_fit_request(sample_weight="importance")
        model = OutputCodeClassifier(inner).fit(X, y, importance=weight + 1)
        plain = OutputCodeClassifier(RidgeClassifier()).fit(X, y, sample_weight=weight + 1)
        assert np.allclose(model.margins(X), plain.margins(X))

    def test_an_estimator_that_refuses_weights_gets_none(self):
        refusing = OutputCodeClassifier(RidgeClassifier().set_fit_request(sample_weight=False))
        refusing.fit(X, y, sample_weight=weight + 1)
        assert np.allclose(refusing.margins(X), OutputCodeClassifier(RidgeClassifier()).fit(X, y).margins(X))

    def test_through_the_adapter(self):
        inner = PerColumn(RidgeClassifier().set_fit_request(sample_weight="importance"))
        model = OutputCodeClassifier(inner).fit(X, y, importance=weight + 1)
        plain = OutputCodeClassifier(RidgeClassifier()).fit(X, y, sample_weight=weight + 1)
        assert np.allclose(model.margins(X), plain.margins(X))

    def test_what_nobody_asked_for_is_refused(self):
        with pytest.raises(TypeError, match="unexpected"):
            OutputCodeClassifier(RidgeClassifier()).fit(X, y, colour=weight)
