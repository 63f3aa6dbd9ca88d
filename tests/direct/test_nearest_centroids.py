"""NearestCentroids: brute force over all means, dense or sparse, with weights as repetitions."""

import numpy as np
import pytest
import scipy.sparse as sp
from sklearn.datasets import load_digits

from outputcodes.direct import NearestCentroids

X, y = load_digits(return_X_y=True)


@pytest.mark.parametrize("kind", [np.asarray, sp.csr_array], ids=["dense", "sparse"])
def test_the_nearest_mean_by_brute_force(kind):
    model = NearestCentroids().fit(kind(X[:900]), y[:900])
    means = np.stack([X[:900][y[:900] == r].mean(axis=0) for r in range(10)])
    distance = ((X[900:, None] - means) ** 2).sum(axis=2)
    assert np.array_equal(model.predict(kind(X[900:])), distance.argmin(axis=1))
    D = model.decision_function(kind(X[900:]))
    assert np.allclose(D - D[:, :1], -(distance - distance[:, :1]) / 2)


@pytest.mark.parametrize("kind", [np.asarray, sp.csr_array], ids=["dense", "sparse"])
def test_a_weight_is_a_row_given_so_many_times(kind):
    times = np.random.default_rng(0).integers(0, 3, len(y))
    weighted = NearestCentroids().fit(kind(X), y, times)
    repeated = NearestCentroids().fit(kind(np.repeat(X, times, axis=0)), np.repeat(y, times))
    assert np.allclose(weighted.decision_function(kind(X)), repeated.decision_function(kind(X)))


@pytest.mark.parametrize("kind", [np.asarray, sp.csr_array], ids=["dense", "sparse"])
def test_the_best_classes_are_those_of_the_scores(kind, monkeypatch):
    names = np.array([f"digit {r}" for r in range(10)])
    model = NearestCentroids().fit(kind(X), names[y])
    monkeypatch.setattr("outputcodes._ground.blocks.BLOCK_VALUES", 640)  # several blocks of rows
    D = model.decision_function(kind(X))
    order = np.argsort(-D, axis=1, kind="stable")
    for n in (1, 3, 10):
        top = model.predict_topk(kind(X), n)
        assert np.array_equal(top.labels, names[order[:, :n]])
        assert np.allclose(top.scores, np.take_along_axis(D, order[:, :n], axis=1))
        assert np.array_equal(top.labels[:, 0], model.predict(kind(X)))
        assert top.probabilities is None
    for n in (0, 11, 2.0, True):
        with pytest.raises(ValueError, match=f"n={n!r} must be an integer from 1 to the number of classes, 10"):
            model.predict_topk(kind(X), n)
    assert not hasattr(model, "predict_proba")


def test_means_of_sparse_rows_are_sparse_and_dense_rows_can_be_predicted():
    model = NearestCentroids().fit(sp.csr_array(X), y)
    assert sp.issparse(model.centroids_)
    assert np.array_equal(model.predict(X), model.predict(sp.csr_array(X)))


def test_far_from_the_origin_no_digits_are_lost():
    near, far = (NearestCentroids().fit(X + s, y).predict(X + s) for s in (0, 1e7))
    assert np.mean(near == far) > 0.999
