"""Parameters by name: nested parameters, jobs, and documentation that lists every name."""

import inspect
import re

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.datasets import load_iris
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import GridSearchCV

import outputcodes
from outputcodes import OutputCodeClassifier, learners
from outputcodes.codes import CODES, Dense
from outputcodes.decoders import DECODERS, LossBased
from outputcodes.learners import LEARNERS, KernelSVM, LinearSVM

X, y = load_iris(return_X_y=True)


def test_a_nested_parameter_puts_the_learner_in_the_place_of_its_name():
    for given, expected in (("kernel-svm", KernelSVM(C=10)), (None, LinearSVM(C=10)), (LinearSVM(), LinearSVM(C=10))):
        model = OutputCodeClassifier(given)
        assert model.estimator is given
        assert model.set_params(estimator__C=10) is model
        assert repr(model.estimator) == repr(expected)
        assert repr(clone(model).fit(X, y).estimator) == repr(expected)


def test_a_new_name_and_its_parameter_may_come_together():
    model = OutputCodeClassifier("ridge").set_params(estimator="kernel-svm", estimator__C=10, code="one-vs-all")
    assert repr(model.estimator) == repr(KernelSVM(C=10))
    assert model.code == "one-vs-all"


def test_the_default_of_a_single_call_is_another_learner():
    model = OutputCodeClassifier().set_params(variant="single-call", estimator__C=10)
    assert repr(model.estimator) == repr(LogisticRegression(C=10, max_iter=1000))


def test_codes_and_decoders_by_name_have_parameters_too():
    model = OutputCodeClassifier("ridge", code="dense", decoder="hinge", random_state=0)
    model.set_params(code__length=7, decoder__zeros="ignore")
    assert repr(model.code) == repr(Dense(length=7))
    assert repr(model.decoder) == repr(LossBased("hinge", zeros="ignore"))


def test_unknown_parameters_are_listed():
    with pytest.raises(
        ValueError, match=r"Invalid parameter 'c' for estimator KernelSVM\(\). Valid parameters are: \['C'"
    ):
        OutputCodeClassifier("kernel-svm").set_params(estimator__c=10)
    with pytest.raises(ValueError, match=r"Invalid parameter 'estimatr' for estimator OutputCodeClassifier"):
        OutputCodeClassifier("kernel-svm").set_params(estimatr__C=10)
    with pytest.raises(ValueError, match="estimator='kernel' is unknown; did you mean 'kernel-svm'"):
        OutputCodeClassifier("kernel").set_params(estimator__C=10)


@pytest.mark.parametrize("given", ["kernel-svm", None])
def test_grid_search_over_the_parameters_of_a_name(given):
    named = GridSearchCV(OutputCodeClassifier(given), {"estimator__C": [0.001, 10]}, cv=3).fit(X, y)
    learner = KernelSVM() if given else LinearSVM()
    by_hand = GridSearchCV(OutputCodeClassifier(learner), {"estimator__C": [0.001, 10]}, cv=3).fit(X, y)
    assert np.array_equal(named.cv_results_["mean_test_score"], by_hand.cv_results_["mean_test_score"])
    assert len(set(named.cv_results_["mean_test_score"])) == 2
    assert named.best_params_ == by_hand.best_params_


@pytest.mark.parametrize("parameter", ["estimator", "code", "decoder"])
def test_the_docstring_lists_every_name(parameter):
    text = inspect.getdoc(OutputCodeClassifier)
    text = re.search(rf"^{parameter} : (.*?)^\w+ :", text, re.MULTILINE | re.DOTALL)[1]
    table = {"estimator": LEARNERS, "code": CODES, "decoder": DECODERS}[parameter]
    assert [name for name in table if f'"{name}"' not in text] == []


def with_jobs():
    public = [getattr(outputcodes, name) for name in outputcodes.__all__] + [
        getattr(learners, n) for n in learners.__all__
    ]
    classes = {one for one in public if isinstance(one, type) and hasattr(one, "fit") and hasattr(one, "get_params")}
    return [one for one in sorted(classes, key=repr) if "n_jobs" in one._get_param_names()]


@pytest.mark.parametrize("kind", with_jobs())
@pytest.mark.parametrize("n_jobs", ["a", 1.5, 0, True, [2]])
def test_a_number_of_jobs(kind, n_jobs):
    message = re.escape(f"n_jobs={n_jobs!r} must be None or an integer other than 0; -1 uses all processors.")
    with pytest.raises(ValueError, match=message):
        kind(n_jobs=n_jobs).fit(X[:100], y[:100])
