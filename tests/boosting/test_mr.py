"""AdaBoost.MR against its definition over triples, and its bounds on ranking."""

import itertools

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.datasets import load_digits, load_iris, make_multilabel_classification
from sklearn.tree import DecisionTreeClassifier

from boosting_oracles import margins, small_problem, triples_rounds
from outputcodes.boosting.mr import AdaBoostMR
from outputcodes.bounds import training_error
from outputcodes.learners.trees.stumps import hold_out


def check_rounds(model, expected, X, k, categorical=()):
    assert model.n_rounds_ == len(expected)
    if not expected:
        return
    assert model.columns_.feature[:, 0].tolist() == [one["feature"] for one in expected]
    assert model.columns_.threshold[:, 0].tolist() == [one["threshold"] for one in expected]
    for name, b in (("better", 1), ("worse", -1), ("equal", 0)):
        assert np.allclose(model.history_[name], [one["W"][b] for one in expected], rtol=1e-8, atol=1e-10)
    assert np.allclose(model.history_["Z"], [one["Z"] for one in expected], rtol=1e-8)
    F = margins(X, expected, k, categorical)
    assert np.allclose(model.margins(X), F, rtol=1e-7, atol=1e-8)


@pytest.mark.filterwarnings("ignore:.*kept no round")
@settings(max_examples=40, deadline=None)
@given(
    seed=st.integers(0, 10**6),
    missing=st.sampled_from([0.0, 0.3]),
    several=st.booleans(),
    rate=st.sampled_from([1.0, 0.4]),
)
def test_each_round_is_the_definitions(seed, missing, several, rate):
    X, y, weight, rng = small_problem(seed, missing=missing, k=4)
    Y = np.where(rng.random((len(y), 4)) < 0.4, 1, -1) if several else 2 * np.eye(4, dtype=int)[y] - 1
    Y[:4] = 2 * np.eye(4, dtype=int) - 1  # not only rows without triples
    model = AdaBoostMR(5, categorical_features=[0], learning_rate=rate)
    model.fit(X, (Y > 0).astype(int) if several else y, weight)
    seen = weight > 0
    check_rounds(model, triples_rounds(X[seen], Y[seen], weight[seen], 5, (0,), rate), X[seen], 4, (0,))


def test_more_labels_than_lanes():
    X, y, _, _ = small_problem(2, n=30, k=11)
    model = AdaBoostMR(3).fit(X, y)
    check_rounds(model, triples_rounds(X, 2 * np.eye(11, dtype=int)[y] - 1, np.ones(30), 3), X, 11)


def rank_loss(F, Y):
    """The mean over rows of the share of (wrong, right) pairs that F does not put in order."""
    shares = []
    for f, row in zip(F, Y, strict=True):
        wrong, right = np.flatnonzero(row == 0), np.flatnonzero(row)
        if len(wrong) and len(right):
            shares.append(np.mean([f[l1] <= f[l0] for l0, l1 in itertools.product(wrong, right)]))
    return np.mean(shares)


def test_rank_loss_is_at_most_the_product_of_z():
    X, Y = make_multilabel_classification(n_samples=120, n_classes=5, random_state=1)
    model = AdaBoostMR(30).fit(X, Y)
    for F, bound in zip(model.staged_decision_function(X), np.cumprod(model.history_["Z"]), strict=True):
        assert rank_loss(F, Y) <= bound + 1e-12


def test_error_is_at_most_k_minus_one_products_of_z():
    X, y = load_digits(return_X_y=True)
    model = AdaBoostMR(60).fit(X, y)
    bounds = 9 * np.cumprod(model.history_["Z"])
    for D, bound in zip(model.staged_decision_function(X), bounds, strict=True):
        assert training_error(D, y) <= bound
    F = model.margins(X)
    assert np.array_equal(model.predict(X), F.argmax(axis=1))


def test_foreign_trees_keep_the_identity_of_z():
    X, y = load_iris(return_X_y=True)
    weight = 1.0 + np.arange(150) % 3
    tree = DecisionTreeClassifier(max_depth=2, min_samples_leaf=5)
    model = AdaBoostMR(8, estimator=tree, random_state=0).fit(X, y, weight)
    F = model.margins(X)
    loss = [np.mean([np.exp((F[i, r] - F[i, y[i]]) / 2) for r in range(3) if r != y[i]]) for i in range(150)]
    assert np.average(loss, weights=weight) == pytest.approx(model.history_["Z"].prod(), rel=1e-9)


def test_the_same_bits_for_any_number_of_threads():
    X, y = load_digits(return_X_y=True)
    X, y = np.tile(X, (5, 1)), np.tile(y, 5)  # several blocks of rows
    one, two = (AdaBoostMR(6, n_jobs=n).fit(X, y) for n in (1, 2))
    assert np.array_equal(one.margins(X), two.margins(X))


def test_rows_with_all_labels_or_none_have_no_say():
    X, Y = make_multilabel_classification(n_samples=60, n_classes=3, random_state=0)
    plain = (Y.sum(axis=1) > 0) & (Y.sum(axis=1) < 3)
    assert 0 < plain.sum() < 60
    every, some = AdaBoostMR(5, bins="exact").fit(X, Y), AdaBoostMR(5, bins="exact").fit(X[plain], Y[plain])
    assert np.array_equal(every.history_["Z"], some.history_["Z"])
    with pytest.warns(UserWarning, match="kept no round"):
        model = AdaBoostMR(5).fit(X[:4], np.ones((4, 2), dtype=int))
    assert model.predict(X).all()  # what all rows had
    assert not any(map(len, model.history_.values()))


def test_without_error_the_round_is_the_last():
    assert AdaBoostMR(10).fit([[0.0], [1.0], [2.0], [3.0]], [0, 0, 1, 1]).n_rounds_ == 1


def test_of_several_labels_a_share_of_all_rows_is_held_out_and_ranked():
    rng = np.random.default_rng(0)
    Y = np.array(list(itertools.product([0, 1], repeat=6)))  # no two rows have the same labels
    X = Y @ rng.normal(size=(6, 4)) + rng.normal(size=(64, 4))
    model = AdaBoostMR(60, bins="exact", validation_fraction=0.3, n_iter_no_change=4, random_state=2).fit(X, Y)
    train, held = hold_out(np.arange(64), np.zeros(64, dtype=int), 0.3, 2)
    losses = []
    for F in AdaBoostMR(60, bins="exact").fit(X[train], Y[train]).staged_decision_function(X[held]):
        rows = []
        for f, row in zip(F, Y[held], strict=True):
            if 0 < row.sum() < 6:
                triples = itertools.product(f[row == 0], f[row == 1])
                rows.append(np.mean([np.exp((wrong - right) / 2) for wrong, right in triples]))
        losses.append(np.mean(rows))
        if len(losses) - 1 - np.argmin(losses) >= 4:
            break
    assert model.n_rounds_ == np.argmin(losses) + 1
