"""A learner says which estimators receive X, and their tags and requests decide what the classifier lets through."""

import numpy as np
import pytest
import scipy.sparse as sp
from sklearn.base import BaseEstimator
from sklearn.datasets import load_iris
from sklearn.impute import SimpleImputer
from sklearn.linear_model import LogisticRegression, RidgeClassifier
from sklearn.pipeline import make_pipeline
from sklearn.svm import SVC
from sklearn.tree import DecisionTreeClassifier
from sklearn.utils import get_tags

from outputcodes import OutputCodeClassifier
from outputcodes.learners import LEARNERS, KernelSVM, Learner, PerColumn, SingleCall, as_learner
from outputcodes.learners.foreign import accepted_input
from outputcodes.learners.names import estimators_in

X, y = load_iris(return_X_y=True)
GAPS = np.where(np.arange(600).reshape(150, 4) % 7 == 0, np.nan, X)


class Wrapper(Learner, BaseEstimator):
    """A plug-in around a decision tree, which takes NaN; it declares no tags of its own."""

    loss = "logistic"

    def __init__(self):
        self.inner = PerColumn(DecisionTreeClassifier(max_depth=2))

    @property
    def estimators(self):
        return self.inner.estimators

    def prepare(self, X, like=None):
        return self.inner.prepare(X, like)

    def fit_columns(self, *sample, **options):
        return self.inner.fit_columns(*sample, **options)


@pytest.mark.parametrize("named", [False, True])
def test_a_plug_in_accepts_what_its_estimators_accept(named, monkeypatch):
    monkeypatch.setitem(LEARNERS, "wrapper", Wrapper)
    model = OutputCodeClassifier("wrapper" if named else Wrapper(), random_state=0)
    assert get_tags(model).input_tags.allow_nan
    plain = OutputCodeClassifier(DecisionTreeClassifier(max_depth=2), random_state=0)
    assert np.array_equal(model.fit(GAPS, y).margins(GAPS), plain.fit(GAPS, y).margins(GAPS))


def test_the_estimators_of_learners():
    tree, ridge = DecisionTreeClassifier(), RidgeClassifier()
    assert estimators_in(tree) == [tree]
    assert as_learner([tree, ridge]).estimators == estimators_in(PerColumn([tree, ridge])) == [tree, ridge]
    assert as_learner(tree, "single-call").estimators == estimators_in(SingleCall(PerColumn(tree))) == [tree]
    kernel = KernelSVM()
    assert kernel.estimators == as_learner(kernel).estimators == estimators_in(kernel) == [kernel]
    assert [type(one) for one in estimators_in("kernel-svm")] == [KernelSVM]


def test_what_all_estimators_accept_together():
    tree, svc, linear = DecisionTreeClassifier(), SVC(kernel="precomputed"), LogisticRegression()
    for members in ([tree], [svc], [linear], [tree, linear], [tree, svc], [svc, svc]):
        each = [get_tags(one).input_tags for one in members]
        common = accepted_input(members)
        for name in ("sparse", "allow_nan", "two_d_array", "pairwise"):
            assert getattr(common, name) == all(getattr(tags, name) for tags in each)


def test_single_calls_of_a_learner_take_sparse_data_too():
    learner = SingleCall(PerColumn(LogisticRegression(tol=1e-12, max_iter=10_000)))
    dense, sparse = (OutputCodeClassifier(learner).fit(A, y).margins(A) for A in (X, sp.csr_array(X)))
    assert np.allclose(dense, sparse, atol=1e-5)


def test_missing_values_reach_a_pipeline_in_fit_and_predict():
    model = OutputCodeClassifier(make_pipeline(SimpleImputer(), RidgeClassifier()), code="one-vs-all").fit(GAPS, y)
    imputed = SimpleImputer().fit_transform(GAPS)
    plain = OutputCodeClassifier(RidgeClassifier(), code="one-vs-all").fit(imputed, y)
    assert np.allclose(model.margins(GAPS), plain.margins(imputed))
