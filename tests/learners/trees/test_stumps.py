"""BoostedStumps against AdaBoost written out from its definition, against scikit-learn's, and against itself."""

import itertools
import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from oracles import random_code
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.datasets import load_digits, load_iris
from sklearn.ensemble import AdaBoostClassifier

from outputcodes import OutputCodeClassifier
from outputcodes.learners import PerColumn
from outputcodes.learners.trees.stumps import BoostedStumps

HYPOTHESES = ["confidence", "discrete"]


def adaboost(X, s, w, n_rounds, hypotheses, categorical=()):
    """Rounds (feature, threshold, left, right, Z) of one column, candidate by candidate."""
    e0, D, rounds = 1 / max(w.sum(), np.count_nonzero(w)), w / w.sum(), []
    for _ in range(n_rounds):
        candidates = []
        for f in range(X.shape[1]):
            x = X[:, f]
            values = sorted(set(x[~np.isnan(x)]))
            halves = values if f in categorical else [(a + b) / 2 for a, b in itertools.pairwise(values)]
            for threshold in [-math.inf, *halves]:
                there = x == threshold if f in categorical else x <= threshold
                sides = [there & ~np.isnan(x), ~there & ~np.isnan(x)]
                (lp, lm), (rp, rm) = ((D[side & (s > 0)].sum(), D[side & (s < 0)].sum()) for side in sides)
                missing = D[np.isnan(x)].sum()
                if hypotheses == "confidence":
                    left, right = (math.log((p + e0) / (m + e0)) / 2 for p, m in ((lp, lm), (rp, rm)))
                    Z = 2 * math.sqrt(lp * lm) + 2 * math.sqrt(rp * rm) + missing
                    candidates.append((Z, f, threshold, left, right, sides))
                    continue
                for sign, wrong, correct in ((1, lm + rp, lp + rm), (-1, lp + rm, lm + rp)):
                    error = np.clip(wrong / (wrong + correct), 1e-10, 1 - 1e-10) if wrong + correct else 0.5
                    alpha = math.log((1 - error) / error) / 2
                    candidates.append((wrong + missing / 2, f, threshold, sign * alpha, -sign * alpha, sides))
        least = min(candidate[0] for candidate in candidates)
        score, f, threshold, left, right, sides = next(c for c in candidates if c[0] <= least + 1e-9)
        if score >= (1 if hypotheses == "confidence" else 0.5) - 1e-9:
            break
        h = np.select(sides, [left, right], 0.0)
        D = D * np.exp(-s * h)
        rounds.append((f, threshold, left, right, D.sum()))
        D = D / D.sum()
        if score <= 1e-10:
            break
    return rounds


def check_against_adaboost(X, y, M, hypotheses, weight=None, categorical=None, n_rounds=6):
    learner = BoostedStumps(n_rounds, hypotheses, categorical_features=categorical)
    fitted = learner.fit_columns(learner.prepare(X), y, M, weight)
    for j, column in enumerate(M.T):
        w = np.ones(len(y)) if weight is None else weight
        seen = (column[y] != 0) & (w > 0)
        expected = adaboost(X[seen], column[y[seen]], w[seen], n_rounds, hypotheses, categorical or ())
        T = len(expected)
        assert fitted.n_rounds[j] == fitted.certificate.iterations[j] == T
        assert fitted.feature[:T, j].tolist() == [r[0] for r in expected]
        for part, at in ((fitted.threshold, 1), (fitted.left, 2), (fitted.right, 3)):
            assert np.allclose(part[:T, j], [r[at] for r in expected], rtol=1e-9, atol=1e-9)
        assert not fitted.left[T:, j].any()
        assert not fitted.right[T:, j].any()
        assert fitted.certificate.gap[j] == pytest.approx(math.prod(r[4] for r in expected), rel=1e-9)
    return fitted


def problem(seed, n=30, d=3, k=4, L=11, distinct=5, missing=0.0):
    rng = np.random.default_rng(seed)
    X = rng.integers(distinct, size=(n, d)).astype(float) ** 2
    X[rng.random(X.shape) < missing] = np.nan
    y = np.append(np.arange(k), rng.integers(k, size=n - k))
    return X, y, random_code(rng, k, L).astype(np.int8), rng.choice([0.0, 0.5, 1.0, 3.0], size=n)


@pytest.mark.filterwarnings("ignore:.*columns return 0")
@settings(max_examples=40, deadline=None)
@given(seed=st.integers(0, 10**6), hypotheses=st.sampled_from(HYPOTHESES), missing=st.sampled_from([0.0, 0.3]))
def test_each_round_of_each_column_is_adaboosts(seed, hypotheses, missing):
    X, y, M, weight = problem(seed, missing=missing)
    weight[:4] = 1  # every class stays
    check_against_adaboost(X, y, M, hypotheses)
    check_against_adaboost(X, y, M, hypotheses, weight, categorical=[1])


@pytest.mark.parametrize("hypotheses", HYPOTHESES)
def test_continuous_features_and_more_than_256_values(hypotheses):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(300, 2))
    y = (X[:, 0] > rng.normal(size=300)).astype(int)
    check_against_adaboost(X, y, np.array([[-1], [1]], dtype=np.int8), hypotheses)


@pytest.mark.parametrize("hypotheses", HYPOTHESES)
def test_a_feature_without_values_and_a_constant_one(hypotheses):
    X = np.column_stack([np.full(12, np.nan), np.full(12, 3.0), np.arange(12) % 5])
    y = (np.arange(12) % 3 == 0).astype(int)
    check_against_adaboost(X, y, np.array([[-1], [1]], dtype=np.int8), hypotheses)
    check_against_adaboost(X, y, np.array([[-1], [1]], dtype=np.int8), hypotheses, categorical=[0, 1])


@pytest.mark.parametrize("hypotheses", HYPOTHESES)
def test_the_product_of_z_is_the_exponential_loss_and_bounds_the_error(hypotheses):
    X, y = load_iris(return_X_y=True)
    weight = 1.0 + np.arange(150) % 4
    model = OutputCodeClassifier(BoostedStumps(30, hypotheses), code="one-vs-all").fit(X, y, sample_weight=weight)
    z = model.code_matrix_[y] * model.margins(X)
    loss = np.average(np.exp(-z), axis=0, weights=weight)
    certificate = model.columns_.fitted.certificate
    assert np.allclose(certificate.gap, loss, rtol=1e-10)
    assert (np.average(z <= 0, axis=0, weights=weight) <= certificate.gap).all()
    assert certificate.converged.all()


class LeastError(ClassifierMixin, BaseEstimator):
    """The stump of least weighted error, for scikit-learn's boosting: its trees split by impurity instead."""

    def fit(self, X, y, sample_weight):
        self.classes_ = np.unique(y)
        cuts = [(f, (a + b) / 2) for f in range(X.shape[1]) for a, b in itertools.pairwise(np.sort(X[:, f]))]
        errors = {
            (f, c, s): sample_weight[np.where(X[:, f] <= c, s, 1 - s) != y].sum() for f, c in cuts for s in (1, 0)
        }
        self.stump_ = min(errors, key=errors.get)
        return self

    def predict(self, X):
        f, c, left = self.stump_
        return np.where(X[:, f] <= c, left, 1 - left)


def test_discrete_boosting_is_scikit_learns():
    rng = np.random.default_rng(3)
    X = rng.normal(size=(60, 3))
    y = (X @ [1, 2, -1] + rng.normal(size=60) > 0).astype(int)
    theirs = AdaBoostClassifier(LeastError(), n_estimators=20).fit(X, y)
    ours = BoostedStumps(20, "discrete").fit(X, y)
    stumps = [estimator.stump_ for estimator in theirs.estimators_]
    assert ours.columns_.feature[:, 0].tolist() == [f for f, _, _ in stumps]
    assert np.allclose(ours.columns_.threshold[:, 0], [c for _, c, _ in stumps])
    # Their weights are ln((1-ε)/ε) = 2α.
    assert np.allclose(2 * np.abs(ours.columns_.left[:, 0]), theirs.estimator_weights_)
    scale = theirs.estimator_weights_.sum() / 4
    assert np.allclose(ours.decision_function(X), scale * theirs.decision_function(X))


@pytest.mark.parametrize("hypotheses", HYPOTHESES)
@pytest.mark.parametrize("code", ["one-vs-all", "all-pairs", "dense", "sparse"])
def test_all_columns_at_once_equal_one_column_at_a_time(code, hypotheses):
    X, y = load_digits(n_class=6, return_X_y=True)
    X = np.where(X == 3, np.nan, X)
    weight = 0.5 + np.arange(len(y)) % 3
    learner = BoostedStumps(10, hypotheses, categorical_features=[20, 21])
    shared, one_by_one = (
        OutputCodeClassifier(estimator, code=code, random_state=0).fit(X[::2], y[::2], sample_weight=weight[::2])
        for estimator in (learner, PerColumn(learner))
    )
    assert np.allclose(shared.margins(X), one_by_one.margins(X), rtol=1e-10, atol=1e-10)


def test_quantile_bins_agree_with_single_columns_on_training_rows():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(600, 3))
    y = np.digitize(X[:, 0] + X[:, 1] ** 2, [0, 1])
    # Without zeros in the code, every column has the same rows and so the same quantiles.
    shared, one_by_one = (
        OutputCodeClassifier(estimator, code="one-vs-all").fit(X, y)
        for estimator in (BoostedStumps(20, bins=32), PerColumn(BoostedStumps(20, bins=32)))
    )
    assert np.allclose(shared.margins(X), one_by_one.margins(X))
    assert len(np.unique(shared.columns_.fitted.threshold)) <= 3 * 32 + 1


def test_weights_below_one_are_no_fewer_examples():
    X, y, M, _ = problem(5)
    learner = BoostedStumps(6)
    data = learner.prepare(X)
    tiny = learner.fit_columns(data, y, M, np.full(len(y), 1e-6))
    assert np.allclose(tiny.left, learner.fit_columns(data, y, M).left, rtol=1e-9)


@pytest.mark.parametrize("hypotheses", HYPOTHESES)
def test_weights_are_repetitions(hypotheses):
    X, y, M, _ = problem(5, n=60)
    counts = np.arange(60) % 3
    counts[:4] = 2
    learner = BoostedStumps(8, hypotheses)
    weighted = learner.fit_columns(learner.prepare(X), y, M, counts.astype(float))
    again = np.repeat(np.arange(60), counts)
    repeated = learner.fit_columns(learner.prepare(X[again]), y[again], M)
    assert np.array_equal(weighted.feature, repeated.feature)
    assert np.array_equal(weighted.threshold, repeated.threshold)
    assert np.allclose(weighted.margins(X), repeated.margins(X), rtol=1e-10)


@pytest.mark.parametrize("bins", ["exact", 256])
def test_some_rows_of_prepared_data_equal_training_on_them(bins):
    X, y, M, weight = problem(6, n=80)
    weight[:4] = 1
    column_weight = np.random.default_rng(0).choice([0.5, 2.0], size=M.shape)
    rows = np.append(np.arange(4), np.arange(5, 80, 2))
    learner = BoostedStumps(8, bins=bins)
    data = learner.prepare(X)
    some = learner.fit_columns(data, y, M, weight, column_weight, rows=rows)
    alone = learner.fit_columns(learner.prepare(X[rows]), y[rows], M, weight[rows], column_weight)
    assert np.array_equal(some.threshold, alone.threshold)
    assert np.array_equal(some.left, alone.left)
    assert np.array_equal(some.margins(data, rows), alone.margins(X[rows]))


def test_column_weight_multiplies_the_examples_of_a_class():
    X, y, M, weight = problem(7, n=80)
    weight[:4] = 1
    column_weight = np.random.default_rng(0).choice([0.5, 2.0], size=M.shape)
    learner = BoostedStumps(8)
    data = learner.prepare(X)
    together = learner.fit_columns(data, y, M, weight, column_weight)
    for j in range(M.shape[1]):
        alone = learner.fit_columns(data, y, M[:, [j]], weight * column_weight[y, j])
        assert np.allclose(together.margins(data)[:, [j]], alone.margins(data))
