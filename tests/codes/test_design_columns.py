"""The optimal column for a classifier, and codes designed with it: against exhaustive search and recomputation."""

import itertools
from fractions import Fraction

import numpy as np
import pytest
from sklearn.datasets import load_digits, load_wine
from sklearn.preprocessing import scale

from outputcodes.codes import check_code
from outputcodes.codes._data_driven import HeldOut
from outputcodes.codes.column_rule import column_success, first_column
from outputcodes.codes.designed import Designed, settle
from outputcodes.learners import as_learner
from outputcodes.losses import as_loss
from outputcodes.training import Problem


def digits(rows=400):
    X, y = load_digits(return_X_y=True)
    return X[:rows] / 16, y[:rows]


def success(column, h, y, weight):
    """The expected success, word for word: draw a class evenly among those with the entry h(x)."""
    total = Fraction(0)
    for answer, label, w in zip(h, y, weight, strict=True):
        side = [r for r, entry in enumerate(column) if entry == answer]
        if label in side:
            total += Fraction(int(w), len(side))
    return total / sum(int(w) for w in weight)


def exhaustive(h, y, k, weight):
    """The best column with both signs; ties to fewer +1, then to +1 on lower classes."""
    best = None
    for p in range(1, k):
        for positive in itertools.combinations(range(k), p):
            column = [1 if r in positive else -1 for r in range(k)]
            xi = success(column, h, y, weight)
            if best is None or xi > best[1]:
                best = column, xi
    return best


@pytest.mark.parametrize("k", [2, 3, 4, 5, 6])
def test_first_column_is_the_best_of_all(k):
    rng = np.random.default_rng(k)
    for _ in range(12):
        n = int(rng.integers(1, 25))
        h, y = rng.choice([-1, 1], n), rng.integers(k, size=n)
        column, xi = first_column(h, y, k)
        wanted, best = exhaustive(h, y, k, np.ones(n))
        assert column.dtype == np.int8
        assert column.tolist() == wanted
        assert xi == pytest.approx(float(best), abs=1e-12)
        assert best >= Fraction(1, k)  # what a constant column has
        # Negating the predictions negates the optimum.
        assert first_column(-h, y, k)[1] == pytest.approx(xi, abs=1e-12)


def test_first_column_with_weights_is_that_of_repeated_rows():
    rng = np.random.default_rng(0)
    for _ in range(20):
        h, y, weight = rng.choice([-1, 1], 15), rng.integers(5, size=15), rng.integers(0, 4, size=15)
        weight[0] = 1
        column, xi = first_column(h, y, 5, weight)
        repeated, same = first_column(np.repeat(h, weight), np.repeat(y, weight), 5)
        assert np.array_equal(column, repeated)
        assert xi == pytest.approx(same, abs=1e-12)
        assert column_success(column, h, y, weight / weight.sum()) == pytest.approx(xi, abs=1e-12)
        assert xi == pytest.approx(float(exhaustive(h, y, 5, weight)[1]), abs=1e-12)


def test_first_column_of_a_constant_classifier_is_the_most_frequent_class():
    y = np.repeat([0, 1, 2, 3], [2, 5, 3, 1])
    for sign in (1, -1):
        column, xi = first_column(np.full(11, sign), y, 4)
        assert xi == pytest.approx(5 / 11)
        assert np.flatnonzero(column == sign).tolist() == [1]


@pytest.mark.parametrize("h", [[0, 1, 1], [1, -1], [0.5, 1, -1], [[1, 1, 1]]])
def test_first_column_refuses_other_answers(h):
    with pytest.raises(ValueError, match="h must be -1 or \\+1 for each of the 3 labels"):
        first_column(h, [0, 1, 2], 3)


def decoded(F, M, y, weight, loss):
    """Held-out error by loss-based decoding in plain loops, equal sums sharing the row evenly."""
    right = 0.0
    for f, label, w in zip(F, y, weight, strict=True):
        paid = [float(sum(loss(np.array([m * x]))[0] for m, x in zip(row, f, strict=True))) for row in M]
        cheapest = [r for r, cost in enumerate(paid) if cost == min(paid)]
        right += w * (label in cheapest) / len(cheapest)
    return 1 - right / weight.sum()


@pytest.mark.parametrize("name", ["ridge", "logistic"])
def test_held_out_error_and_confusions_are_those_of_plain_loops(name):
    X, y = digits(120)
    weight = np.linspace(1, 3, len(y))
    problem = Problem(as_learner(name), X, y, weight)
    M = np.random.default_rng(0).choice([-1, 0, 1], size=(10, 6)).astype(np.int8)
    M[3] = M[5]  # equal rows share
    held_out = HeldOut(problem, 10, 3)
    total, loss = held_out.total(M), as_loss(problem.learner.loss)
    F = Problem(as_learner(name), X, y, weight).margins(M, 3)
    assert held_out.error(total) == pytest.approx(decoded(F, M, y, weight, loss), abs=1e-12)
    confusion = held_out.confusion(total)
    assert confusion.sum() == pytest.approx(1)
    assert np.trace(confusion) == pytest.approx(1 - held_out.error(total))
    assert np.allclose(confusion.sum(axis=1), np.bincount(y, weight) / weight.sum())


def test_the_error_of_one_column_is_one_minus_xi():
    X, y = digits(200)
    problem = Problem(as_learner("ridge"), X, y)
    held_out = HeldOut(problem, 10, 3)
    column = np.where(np.arange(10) < 4, 1, -1).astype(np.int8)
    h = np.where(held_out.margins(column[:, None])[:, 0] >= 0, 1, -1)
    xi = column_success(column, h, y, held_out.weight)
    assert held_out.error(held_out.total(column[:, None])) == pytest.approx(1 - xi, abs=1e-12)


def test_xi_rises_in_every_alternation_and_is_true():
    X, y = digits()
    held_out = HeldOut(Problem(as_learner("ridge"), X[:, 20:28], y), 10, 3)
    rng = np.random.default_rng(1)
    start = [np.where(rng.permutation(10) < 5, 1, -1).astype(np.int8) for _ in range(6)]
    found = settle(held_out, start)
    assert any(len(one.successes) > 1 for one in found)
    fresh = HeldOut(Problem(as_learner("ridge"), X[:, 20:28], y), 10, 3)
    for one in found:
        assert all(np.diff(one.successes) > 0)
        f = fresh.margins(one.column[:, None])[:, 0]
        assert np.allclose(f, one.margins)
        xi = float(success(one.column, np.where(f >= 0, 1, -1), y, np.ones(len(y))))
        assert one.successes[-1] == pytest.approx(xi)


@pytest.mark.parametrize(("name", "seed"), [("ridge", 0), ("logistic", 3)])
def test_designed_stops_where_the_held_out_error_is_smallest(name, seed):
    X, y = digits(150)
    X = X[:, 16:40]
    design = Designed(patience=3).trace(10, seed, Problem(as_learner(name), X, y))
    M = check_code(design.matrix, strict=True)
    assert np.array_equal(M, Designed(patience=3).draw(10, seed, Problem(as_learner(name), X, y)).matrix())
    fresh = Problem(as_learner(name), X, y)
    F, loss = fresh.margins(M, 3), as_loss(fresh.learner.loss)
    for L in (1, 2, M.shape[1]):
        assert design.errors[L - 1] == pytest.approx(decoded(F[:, :L], M[:, :L], y, np.ones(len(y)), loss), abs=1e-9)
    distinct = [len(np.unique(M[:, :L], axis=0)) == 10 for L in range(1, M.shape[1] + 1)]
    first = distinct.index(True)
    best = M.shape[1] - 1
    assert all(error > design.errors[best] for error in design.errors[first:best])
    assert all(error >= design.errors[best] - 1e-11 for error in design.errors[best + 1 :])
    assert len(design.errors) - M.shape[1] <= 3
    assert all(np.diff(xi).min(initial=1) > 0 for xi in design.successes)


def test_designed_keeps_rows_distinct_where_the_length_is_too_short_or_nothing_can_be_learned():
    X, y = digits(150)
    short = Designed(max_length=1).draw(10, 0, Problem(as_learner("ridge"), X, y)).matrix()
    assert len(np.unique(check_code(short, strict=True), axis=0)) == 10
    noise = Problem(as_learner("ridge"), np.zeros((150, 2)), y)
    check_code(Designed(n_candidates=1).draw(10, 0, noise).matrix(), strict=True)


def test_designed_ends_by_itself_where_there_are_few_columns():
    X, y = load_wine(return_X_y=True)
    M = Designed(patience=50).draw(3, 0, Problem(as_learner("ridge"), scale(X), y)).matrix()
    assert 2 <= M.shape[1] <= 3
    check_code(M, strict=True)


@pytest.mark.parametrize("wrong", [{"max_length": 0}, {"n_candidates": 0}, {"patience": 1.5}])
def test_wrong_parameters(wrong):
    with pytest.raises(ValueError, match=f"{next(iter(wrong))} must be an integer of at least 1"):
        Designed(**wrong).draw(2).matrix()
