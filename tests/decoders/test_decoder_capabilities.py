"""What a decoder declares decides what the classifier does with it: decoders of plug-ins are treated like our own."""

import warnings

import numpy as np
import pytest
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.datasets import load_iris
from sklearn.linear_model import RidgeClassifier
from sklearn.utils import get_tags

from outputcodes import OutputCodeClassifier
from outputcodes.decoders import DECODERS, Decoder, LossBased, Softmax, as_decoder
from outputcodes.decoders.base import EachLabel

X, y = load_iris(return_X_y=True)
Y = np.column_stack([y == 0, y != 2, X[:, 0] > 6]).astype(int)


class SignOnly(ClassifierMixin, BaseEstimator):
    def fit(self, X, y):
        self.classes_ = np.unique(y)
        self.cut_ = X[:, 2].mean()
        return self

    def predict(self, X):
        return self.classes_[(X[:, 2] > self.cut_).astype(int)]


class Inner(Decoder):
    """The largest inner product of margins and row."""

    def _scorer(self, M):
        return lambda F: F @ M.T


class InnerOfSizes(Inner):
    reads_sizes = True


class InnerOfClasses(Inner):
    def for_labels(self):
        return None


class Above(EachLabel):
    """Labels whose margin is above a threshold."""

    def scores(self, F, M):
        return np.asarray(F) - 0.25


class InnerAbove(Inner):
    def for_labels(self):
        return Above()


@pytest.mark.parametrize("make", [Inner, InnerOfSizes])
@pytest.mark.parametrize("named", [False, True])
def test_a_plug_in_that_reads_sizes_is_warned_about_margins_of_signs(make, named, monkeypatch):
    monkeypatch.setitem(DECODERS, "inner", make)
    model = OutputCodeClassifier(SignOnly(), decoder="inner" if named else make())
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        model.fit(X, y)
    assert any("its margins are ±1" in str(one.message) for one in caught) == make.reads_sizes


def test_the_losses_but_hamming_read_sizes():
    assert [LossBased(loss).reads_sizes for loss in (None, "hinge", "hamming")] == [True, True, False]
    assert Softmax("hinge").reads_sizes
    assert not Softmax("hamming").reads_sizes
    assert not as_decoder("vote").reads_sizes


@pytest.mark.parametrize("make", [Inner, InnerAbove, InnerOfClasses])
@pytest.mark.parametrize("named", [False, True])
def test_a_plug_in_says_how_labels_are_decoded(make, named, monkeypatch):
    monkeypatch.setitem(DECODERS, "inner", make)
    model = OutputCodeClassifier(RidgeClassifier(), code="one-vs-all", decoder="inner" if named else make())
    threshold = {Inner: 0.0, InnerAbove: 0.25, InnerOfClasses: None}[make]
    assert get_tags(model).classifier_tags.multi_label == (threshold is not None)
    if threshold is not None:
        assert np.array_equal(model.fit(X, Y).predict(X), (model.margins(X) > threshold).astype(int))
    else:
        with pytest.raises(ValueError, match=r"^y is multilabel, and each label has its own probability: use"):
            model.fit(X, Y)
