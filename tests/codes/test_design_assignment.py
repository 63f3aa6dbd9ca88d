"""Which class gets which row: against all k! assignments, by the criterion written out, and under symmetries."""

import itertools

import numpy as np
import pytest
from scipy import sparse
from sklearn.datasets import load_digits
from sklearn.linear_model import RidgeClassifier
from sklearn.svm import SVC

from outputcodes import OutputCodeClassifier
from outputcodes.codes import Dense, OneVsAll, Sparse, row_distances
from outputcodes.codes.assignment import Assigned, assign, centroid_similarity, confusion_similarity
from outputcodes.learners import as_learner
from outputcodes.training import Problem

BOTH = pytest.mark.parametrize("similar", ["near", "distant"])


def symmetric(k, seed):
    S = np.random.default_rng(seed).normal(size=(k, k))
    return S + S.T


def criterion(M, similarity, rows):
    distance = row_distances(M)
    return sum(similarity[a, b] * distance[rows[a], rows[b]] for a, b in itertools.combinations(range(len(M)), 2))


@BOTH
@pytest.mark.parametrize("k", [3, 5, 6, 7])
def test_few_classes_get_the_best_assignment_of_all(k, similar):
    M, S = Sparse(length=9).draw(k, k).matrix(), symmetric(k, k)
    values = [criterion(M, S, rows) for rows in itertools.permutations(range(k))]
    best = min(values) if similar == "near" else max(values)
    rows = assign(M, S, similar)
    assert sorted(rows) == list(range(k))
    assert criterion(M, S, rows) == pytest.approx(best)


@BOTH
@pytest.mark.parametrize("k", [8, 13, 26])
def test_many_classes_get_a_local_optimum_no_worse_than_the_identity(k, similar):
    M, S = Dense(length=15, n_candidates=10).draw(k, k).matrix(), symmetric(k, k)
    sign = 1 if similar == "near" else -1
    rows = assign(M, S, similar)
    assert sorted(rows) == list(range(k))
    value = sign * criterion(M, S, rows)
    assert value <= sign * criterion(M, S, np.arange(k)) + 1e-9
    for a, b in itertools.combinations(range(k), 2):
        exchanged = rows.copy()
        exchanged[[a, b]] = rows[[b, a]]
        assert sign * criterion(M, S, exchanged) >= value - 1e-9


@pytest.mark.parametrize("k", [6, 10])
def test_the_identity_is_kept_where_nothing_is_better(k):
    M = OneVsAll().draw(k).matrix()  # all rows are equally far apart
    assert assign(M, symmetric(k, 0)).tolist() == list(range(k))
    assert assign(Dense(length=9, n_candidates=9).draw(k, 0).matrix(), np.ones((k, k))).tolist() == list(range(k))


@pytest.mark.parametrize("k", [6, 10])
def test_a_factor_a_constant_and_the_diagonal_do_not_matter(k):
    M, S = Dense(length=12, n_candidates=10).draw(k, 1).matrix(), symmetric(k, 1)
    value = criterion(M, S, assign(M, S))
    assert criterion(M, S, assign(M, 3 * S + 7 + 5 * np.eye(k))) == pytest.approx(value)
    assert np.array_equal(assign(M, S, "near"), assign(M, -S, "distant"))


def test_wrong_similarities():
    M = OneVsAll().draw(3).matrix()
    for wrong in (np.zeros((2, 2)), np.full((3, 3), np.nan), np.arange(9).reshape(3, 3)):
        with pytest.raises(ValueError, match=r"similarity must be a symmetric \(3, 3\) array"):
            assign(M, wrong)
    with pytest.raises(ValueError, match="similar must be 'near' or 'distant', got 'far'"):
        assign(M, np.zeros((3, 3)), "far")
    with pytest.raises(ValueError, match="similarity must be 'confusions', 'centroids' or an array, got 'means'"):
        Assigned(similarity="means").draw(2).matrix()
    with pytest.raises(ValueError, match="confusion must be a square array"):
        confusion_similarity(np.ones((2, 3)))


def test_confusion_similarity_by_hand():
    counts = np.array([[6, 2, 0], [1, 3, 0], [0, 0, 0]])
    S = confusion_similarity(counts)
    assert S[0, 1] == S[1, 0] == (2 / 8 + 1 / 4) / 2
    assert S[2].tolist() == [0, 0, 0]


def test_centroid_similarity_by_hand_with_weights_scales_and_sparse_x():
    rng = np.random.default_rng(0)
    X, y, weight = rng.normal(size=(30, 4)), np.arange(30) % 5, rng.integers(1, 4, size=30)
    S = centroid_similarity(X, y, 5, weight)
    R, z = np.repeat(X, weight, axis=0), np.repeat(y, weight)
    means = np.array([R[z == r].mean(axis=0) for r in range(5)]) / R.std(axis=0)
    squared = np.array([[((a - b) ** 2).sum() for b in means] for a in means])
    wanted = np.exp(-squared / squared[np.triu_indices(5, 1)].mean()) - np.eye(5)
    assert np.allclose(S, wanted)
    assert np.allclose(S, centroid_similarity(X * [1, 10, 0.1, 5] + 3, y, 5, weight))
    assert np.allclose(S, centroid_similarity(sparse.csr_matrix(X), y, 5, weight))
    with pytest.raises(ValueError, match="no row of class 5"):
        centroid_similarity(X, y, 6)


@pytest.mark.parametrize("similarity", ["centroids", "confusions"])
def test_assigned_is_the_code_with_its_rows_dealt(similarity):
    X, y = load_digits(return_X_y=True)
    X, y = X[:300], y[:300]
    model = OutputCodeClassifier(RidgeClassifier(), code=Assigned(Dense(length=12), similarity), random_state=4)
    M = model.fit(X, y).code_matrix_
    plain = Dense(length=12).draw(10, 4).matrix()
    if similarity == "centroids":
        S = centroid_similarity(X, y, 10)
    else:
        F = Problem(as_learner(RidgeClassifier()), X, y, seed=4).margins(OneVsAll().draw(10).matrix(), 3)
        confusion = np.zeros((10, 10))
        np.add.at(confusion, (y, F.argmax(axis=1)), 1)  # of one-vs-all, any loss takes the largest margin
        S = confusion_similarity(confusion)
    assert np.array_equal(M, plain[assign(plain, S)])
    own = OutputCodeClassifier(RidgeClassifier(), code=Assigned(Dense(length=12), S), random_state=4).fit(X, y)
    assert np.array_equal(own.code_matrix_, M)


def test_kernels_and_missing_values_take_confusions():
    X, y = load_digits(return_X_y=True)
    X, y = X[:200] / 16, y[:200]
    code = Assigned(Dense(length=12), "confusions")
    kernel = OutputCodeClassifier(SVC(kernel="precomputed"), code=code, random_state=0).fit(X @ X.T, y)
    linear = OutputCodeClassifier(SVC(kernel="linear"), code=code, random_state=0).fit(X, y)
    assert np.array_equal(kernel.code_matrix_, linear.code_matrix_)
    X[0, 0] = np.nan
    with pytest.raises(ValueError, match=r"'centroids' does not support this X; use 'confusions': .*NaN"):
        Assigned().draw(10, 0, Problem(as_learner("stumps"), X, y)).matrix()


def test_far_from_the_origin_means_are_as_similar():
    rng = np.random.default_rng(0)
    y = np.repeat(np.arange(4), 10)
    X = rng.normal(size=(4, 3))[y] + 0.1 * rng.normal(size=(40, 3))
    np.testing.assert_allclose(centroid_similarity(X + 1e8, y, 4), centroid_similarity(X, y, 4), atol=1e-4)


def test_a_similarity_of_ones_own_needs_no_data():
    M, alike = Dense(length=8).draw(6, random_state=0).matrix(), np.add.outer(np.arange(6.0), np.arange(6.0))
    assigned = Assigned(M, similarity=alike).draw(6).matrix()
    np.testing.assert_array_equal(assigned, M[assign(M, alike)])
