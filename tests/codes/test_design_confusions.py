"""Codes extended where they confuse classes, and what holds for every code that is made from data."""

import pickle

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.datasets import load_digits
from sklearn.naive_bayes import GaussianNB

from outputcodes import OutputCodeClassifier
from outputcodes.codes import OneVsAll, check_code
from outputcodes.codes._data_driven import HeldOut
from outputcodes.codes.assignment import Assigned
from outputcodes.codes.confusion_guided import ConfusionGuided, growing_columns
from outputcodes.codes.designed import Designed
from outputcodes.codes.trees import DiscriminantTree, Forest
from outputcodes.learners import as_learner
from outputcodes.training import Problem

X, y = load_digits(return_X_y=True)
X, y = X[:300] / 16, y[:300]
MADE_FROM_DATA = [Designed(), DiscriminantTree(), DiscriminantTree("margins"), Forest(), ConfusionGuided(), Assigned()]
FROM_DATA = pytest.mark.parametrize("code", MADE_FROM_DATA, ids=str)


def problem(X=X, y=y, weight=None, learner="ridge", **options):
    return Problem(as_learner(learner), X, y, weight, **options)


def test_every_added_column_parts_a_most_confused_pair_and_lowers_the_held_out_error():
    M = ConfusionGuided(n_pairs=2).draw(10, 0, problem()).matrix()
    base = OneVsAll().draw(10).matrix()
    assert np.array_equal(M[:, :10], base)
    assert M.shape[1] > 11
    held_out = HeldOut(problem(), 10, 3)
    for L in range(10, M.shape[1]):
        total = held_out.total(M[:, :L])
        assert held_out.error(held_out.total(M[:, : L + 1])) < held_out.error(total)
        confusion = held_out.confusion(total)
        between = np.triu(confusion + confusion.T, 1)
        a, b = np.nonzero(between >= np.sort(between, axis=None)[-2])
        assert (M[a, L] * M[b, L] == -1).any()
    # It ends where none of the pairs tried gives a better code, or at the number of columns asked for.
    assert M.shape[1] < 20
    assert ConfusionGuided(n_pairs=2, max_columns=1).draw(10, 0, problem()).matrix().tolist() == M[:, :11].tolist()
    assert np.array_equal(ConfusionGuided(max_columns=0).draw(10, 0, problem()).matrix(), base)


def test_a_code_without_confusions_is_left_alone():
    labels = np.arange(60) % 4
    M = ConfusionGuided(OneVsAll()).draw(4, 0, problem(np.eye(4)[labels], labels)).matrix()
    assert np.array_equal(M, OneVsAll().draw(4).matrix())


def test_any_code_can_be_extended():
    tree = DiscriminantTree().draw(10, 0, problem()).matrix()
    for code in (DiscriminantTree(), "decoc", tree):
        M = ConfusionGuided(code).draw(10, 0, problem(learner="logistic")).matrix()
        assert np.array_equal(M[:, :9], tree)
        check_code(M, strict=True)


@pytest.mark.parametrize("k", [3, 4, 7, 12])
def test_growing_columns_oppose_the_pair(k):
    between = np.random.default_rng(k).random((k, k))
    between += between.T
    np.fill_diagonal(between, 0)
    columns = growing_columns(1, 2, between)
    sizes = [np.count_nonzero(column) for column in columns]
    assert sizes[0] == 2
    assert max(sizes) == k
    assert all(column[1] == -1 and column[2] == 1 for column in columns)
    order = np.argsort(-(between[1] + between[2]))
    for column, size in zip(columns, sizes, strict=True):
        assert set(np.flatnonzero(column)) == {1, 2} | set([r for r in order if r not in (1, 2)][: size - 2])


@FROM_DATA
def test_codes_from_data_ask_for_data(code):
    with pytest.raises(ValueError, match=f"{type(code).__name__} is made from data: use it in a classifier"):
        code.draw(5).matrix()
    with pytest.raises(ValueError, match="n_classes must be an integer of at least 2, got 1"):
        code.draw(1).matrix()
    assert code.draw(2).matrix().tolist() == [[-1], [1]]


@FROM_DATA
def test_codes_from_data_are_codes_the_same_for_the_same_seed(code):
    M = check_code(code.draw(10, 0, problem()).matrix(), strict=True)
    assert M.dtype == np.int8
    assert M.flags.c_contiguous
    for copy in (clone(code), pickle.loads(pickle.dumps(code))):
        assert np.array_equal(copy.draw(10, np.int64(0), problem(n_jobs=2)).matrix(), M)
    assert repr(clone(code)) == repr(code)
    model = OutputCodeClassifier("ridge", code=code, random_state=0).fit(X, y.astype(str))
    assert np.array_equal(model.code_matrix_, M)


@FROM_DATA
def test_rows_that_do_not_count_are_not_seen(code):
    rows = np.flatnonzero(np.arange(300) % 4)
    spoiled, labels = X.copy(), y.copy()
    spoiled[::4], labels[::4] = 99, -1
    seen = code.draw(10, 0, problem(spoiled, labels, rows=rows)).matrix()
    assert np.array_equal(seen, code.draw(10, 0, problem(X[rows], y[rows])).matrix())


@FROM_DATA
def test_weights_count_up_to_a_factor(code):
    weight = np.where(y < 5, 1.0, 8.0)
    learner = GaussianNB()  # knows no regularisation, so that a factor of all weights does not matter to it either
    M = code.draw(10, 0, problem(weight=weight, learner=learner)).matrix()
    assert np.array_equal(M, code.draw(10, 0, problem(weight=4 * weight, learner=learner)).matrix())


@FROM_DATA
def test_classes_with_one_row(code):
    rare = np.concatenate([np.flatnonzero(y < 8), [np.flatnonzero(y == 8)[0], np.flatnonzero(y == 9)[0]]])
    check_code(code.draw(10, 0, problem(X[rare], y[rare], learner="logistic")).matrix(), strict=True)


@pytest.mark.parametrize("wrong", [{"max_columns": -1}, {"n_pairs": 0}])
def test_wrong_parameters(wrong):
    with pytest.raises(ValueError, match=next(iter(wrong))):
        ConfusionGuided(**wrong).draw(2).matrix()
