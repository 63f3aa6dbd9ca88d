"""Held-out and leave-one-out margins of a code that is never written down are those of its matrix."""

import numpy as np
import pytest
from sklearn.base import BaseEstimator
from sklearn.datasets import load_iris

from outputcodes._ground.drawn_code import ColumnBlock, DrawnCode
from outputcodes.learners import FittedColumns, Learner
from outputcodes.training import Problem

X, y = load_iris(return_X_y=True)
# The third class has one example, alone on its side of the second column; the fourth has none.
SOME = np.r_[0:20, 50:70, 100]
X, y = X[SOME], y[SOME]


class Neighbours(DrawnCode):
    """Each class against the next one."""

    def __init__(self, k, columns=None):
        self.columns = np.arange(k - 1) if columns is None else columns
        self.shape = k, len(self.columns)

    def rows(self, classes):
        a = np.asarray(classes)[:, None]
        return ((a == self.columns).astype(np.int8) - (a == self.columns + 1)).astype(np.int8)

    def blocks(self):
        for place, s in enumerate(self.columns):
            yield ColumnBlock(np.array([place]), np.array([s, s + 1]), np.array([[1], [-1]], dtype=np.int8))

    def take(self, columns):
        return Neighbours(self.shape[0], self.columns[columns])

    def matrix(self):
        pytest.fail("the code was written down")


class Means(Learner, BaseEstimator):
    """The difference of class means, read by blocks of columns."""

    loss = "squared"
    leave_one_out = "exact"

    def prepare(self, X, like=None):
        return X

    def fit_columns(self, data, y, M, weight=None, column_weight=None, *, rows=None, init=None, n_jobs=None, seed=0):
        rows = np.arange(len(y)) if rows is None else rows
        W = np.zeros((data.shape[1], M.shape[1]))
        for block in M.blocks():
            means = np.array([data[rows][y[rows] == r].mean(axis=0) for r in block.classes])
            W[:, block.columns] = means.T @ block.entries
        return Weights(W)

    def leave_one_out_margins(self, data, y, M, weight=None, column_weight=None, *, rows=None, n_jobs=None):
        F = np.zeros((len(rows), M.shape[1]))
        for i in range(len(rows)):
            others = np.delete(rows, i)
            live = np.flatnonzero(np.logical_and(*M.signs(np.unique(y[others]))))
            F[i, live] = self.fit_columns(data, y, M.take(live), rows=others).margins(data, rows[[i]])
        return F


class Weights(FittedColumns):
    def __init__(self, W):
        self.W = W

    def margins(self, X, rows=None):
        return (X if rows is None else X[rows]) @ self.W


@pytest.mark.parametrize("held_out", [None, 2, [(np.arange(0, 41, 2), np.arange(1, 41, 2))]])
def test_margins_of_a_code_in_parts(held_out):
    parts, problem = Neighbours(4), Problem(Means(), X, y)
    F = problem.margins(parts, held_out)
    assert np.array_equal(F, Problem(Means(), X, y).margins(parts.rows(np.arange(4)), held_out), equal_nan=True)
    assert np.array_equal(F, problem.margins(parts, held_out), equal_nan=True)
    if held_out is None:
        means = [X[y == r].mean(axis=0) for r in range(3)]
        assert np.allclose(F[:, :2], np.column_stack([X @ (means[0] - means[1]), X @ (means[1] - means[2])]))
        assert (F[:, 2] == 1).all()


def test_leave_one_out_margins_of_a_code_in_parts():
    parts = Neighbours(4)
    F = Problem(Means(), X, y).leave_one_out_margins(parts)
    written = Problem(Means(), X, y).leave_one_out_margins(parts.rows(np.arange(4)))
    assert np.array_equal(F, written, equal_nan=True)
    assert np.isnan(F[:, 2]).all()
    assert np.flatnonzero(np.isnan(F[:, 1])).tolist() == [40]
    for i in (0, 25):
        means = [X[(y == r) & (np.arange(41) != i)].mean(axis=0) for r in (0, 1)]
        assert np.isclose(F[i, 0], X[i] @ (means[0] - means[1]))
    trained = Problem(Means(), X, y).train(parts)
    assert np.array_equal(trained.held_out_margins()[:, :2], F[:, :2], equal_nan=True)
    assert (trained.held_out_margins()[:, 2] == 1).all()
