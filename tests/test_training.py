"""The seams that later parts plug into: decoders that learn, codes made from data, learners that fit whole codes."""

from typing import ClassVar

import numpy as np
import pytest
from sklearn.base import BaseEstimator, clone
from sklearn.datasets import load_digits, load_iris
from sklearn.ensemble import RandomForestClassifier
from sklearn.linear_model import RidgeClassifier
from sklearn.model_selection import KFold, PredefinedSplit
from sklearn.svm import SVC
from sklearn.tree import DecisionTreeClassifier

from outputcodes import AdaBoostMO, OutputCodeClassifier
from outputcodes._ground.drawn_code import alone_on_its_side
from outputcodes._ground.folds import folds, folds_of
from outputcodes.codes import Code
from outputcodes.codes._data_driven import HeldOut
from outputcodes.decoders import Decoder, Likelihood
from outputcodes.learners import BoostedStumps, FittedColumns, Learner, as_learner
from outputcodes.training import Problem

X, y = load_iris(return_X_y=True)
ALL_PAIRS = np.array([[1, 1, 0], [-1, 0, 1], [0, -1, -1]], dtype=np.int8)


class Recorder(Decoder):
    """An estimator that stores its training data and returns probabilities."""

    needs: ClassVar = "held-out"

    def __init__(self, cv=3):
        self.cv = cv

    def fit(self, F, y, M, weight=None):
        self.seen_ = F, y, M, weight
        return self

    def _scorer(self, M):
        return lambda F: F @ M.T

    def probabilities(self, F, M):
        e = np.exp(self.scores(F, M))
        return e / e.sum(axis=1, keepdims=True)


def test_held_out_margins_come_from_columns_that_did_not_see_the_row():
    halves = [(np.arange(0, 150, 2), np.arange(1, 150, 2)), (np.arange(1, 150, 2), np.arange(0, 150, 2))]
    model = OutputCodeClassifier(RidgeClassifier(), decoder=Recorder(cv=halves)).fit(X, y)
    F, labels, M, weight = model.decoder_.seen_
    for train, test in halves:
        trained = OutputCodeClassifier(RidgeClassifier()).fit(X[train], y[train])
        assert np.allclose(F[test], trained.margins(X[test]))
    assert np.array_equal(labels, y)
    assert np.array_equal(M, ALL_PAIRS)
    assert weight is None
    # The columns that predict are trained on everything.
    assert np.allclose(model.margins(X), OutputCodeClassifier(RidgeClassifier()).fit(X, y).margins(X))


def test_held_out_margins_leave_out_rows_without_weight():
    weight = np.where(np.arange(150) % 3 == 0, 0.0, 2.0)
    model = OutputCodeClassifier(RidgeClassifier(), decoder=Recorder(), random_state=0).fit(X, y, sample_weight=weight)
    F, labels, _, seen = model.decoder_.seen_
    assert F.shape == (100, 3)
    assert np.array_equal(labels, y[weight > 0])
    assert (seen == 2).all()
    assert np.isfinite(F).all()


@pytest.mark.parametrize("pairwise", [False, True])
@pytest.mark.parametrize("predefined", [False, True])
def test_given_folds_count_the_rows_as_they_were_given(pairwise, predefined):
    weight = np.where(np.arange(150) % 7 < 3, 0.0, 1.0)
    part = np.arange(150) % 5 < 2
    halves = [(np.flatnonzero(~side), np.flatnonzero(side)) for side in (~part, part)]
    estimator, data = (SVC(kernel="precomputed"), X @ X.T) if pairwise else (SVC(kernel="linear"), X)
    decoder = Recorder(PredefinedSplit(part) if predefined else halves)
    F, labels, *_ = OutputCodeClassifier(estimator, decoder=decoder).fit(data, y, sample_weight=weight).decoder_.seen_
    expected = np.empty((150, 3))
    for train, test in halves:
        train = train[weight[train] > 0]
        expected[test] = OutputCodeClassifier(SVC(kernel="linear")).fit(X[train], y[train]).margins(X[test])
    assert np.array_equal(labels, y[weight > 0])
    assert np.allclose(F, expected[weight > 0], atol=1e-6)


def test_no_cv_is_five_folds_as_in_scikit_learn():
    none, five = (
        OutputCodeClassifier(RidgeClassifier(), decoder=Recorder(cv), random_state=0).fit(X, y).decoder_.seen_[0]
        for cv in (None, 5)
    )
    assert np.array_equal(none, five)
    problem = Problem(as_learner(RidgeClassifier()), X, y)
    assert np.array_equal(HeldOut(problem, 3, None).margins(ALL_PAIRS), problem.margins(ALL_PAIRS, 5))


def test_balanced_columns_balance_the_rows_that_they_are_trained_on():
    train = np.r_[0:40, 50:60, 100:125]
    test = np.setdiff1d(np.arange(150), train)
    F = Problem(as_learner(RidgeClassifier()), X, y, balanced=True).margins(ALL_PAIRS, [(train, test), (test, train)])
    for rows, others in ((train, test), (test, train)):
        for s in range(3):
            seen = rows[ALL_PAIRS[y[rows], s] != 0]
            alone = RidgeClassifier(class_weight="balanced").fit(X[seen], ALL_PAIRS[y[seen], s])
            assert np.allclose(F[others, s], alone.decision_function(X[others]))


def test_decoders_are_given_the_weights_of_rows_and_classes_whatever_balances_the_columns():
    weight, classwise = np.linspace(1, 2, 150), np.array([1.0, 5.0, 0.5])
    for column_weight in ("none", "balanced"):
        model = OutputCodeClassifier(RidgeClassifier(), decoder=Recorder(), column_weight=column_weight)
        model.set_params(class_weight=dict(enumerate(classwise))).fit(X, y, sample_weight=weight)
        assert np.allclose(model.decoder_.seen_[3], weight * classwise[y])


def test_a_bootstrap_of_as_many_draws_as_rows_is_no_full_sample():
    drawn = np.random.default_rng(0).integers(150, size=150)
    trained = Problem(as_learner(RidgeClassifier()), X, y).fit(ALL_PAIRS, rows=drawn)
    assert np.allclose(trained.margins(X), OutputCodeClassifier(RidgeClassifier()).fit(X[drawn], y[drawn]).margins(X))


def test_a_fold_that_lacks_a_sign_gives_no_margin():
    few_X, few_y = X[[0, 1, 2, 50, 51, 52, 100]], np.array([0, 0, 0, 1, 1, 1, 2])
    model = OutputCodeClassifier(RidgeClassifier(), decoder=Recorder(cv=2), random_state=0).fit(few_X, few_y)
    F = model.decoder_.seen_[0]
    # Class 2 has one row: the fold that holds it out can train neither (0, 2) nor (1, 2).
    held_out_with_2 = np.isnan(F[:, 1])
    assert held_out_with_2[6]
    assert np.array_equal(np.isnan(F), np.outer(held_out_with_2, [False, True, True]))


def test_probabilities_are_there_when_the_decoder_has_them():
    model = OutputCodeClassifier(RidgeClassifier(), decoder=Recorder()).fit(X, y)
    assert np.allclose(model.predict_proba(X).sum(axis=1), 1)
    assert np.array_equal(model.predict_proba(X).argmax(axis=1), model.predict(X))
    assert not hasattr(model.with_decoder("hinge"), "predict_proba")


def test_with_decoder_takes_held_out_rows_from_the_user():
    model = OutputCodeClassifier(RidgeClassifier()).fit(X[::2], y[::2])
    changed = model.with_decoder(Recorder(), X[1::2], y[1::2], sample_weight=np.arange(75) + 1)
    F, _, _, weight = changed.decoder_.seen_
    assert np.allclose(F, model.margins(X[1::2]))
    assert np.array_equal(weight, np.arange(75) + 1)


class FromData(Code):
    """Puts the class that a one-vs-all column misses most against the rest, next to the others."""

    calls: ClassVar[list] = []

    def _matrix(self, k, rng, problem):
        one_vs_all = (2 * np.eye(k) - 1).astype(np.int8)
        F = problem.margins(one_vs_all, held_out=3)
        again = problem.margins(one_vs_all[:, ::-1], held_out=3)
        assert np.array_equal(F, again[:, ::-1])
        errors = [(np.sign(F[:, j]) != one_vs_all[problem.y[problem.rows], j]).mean() for j in range(k)]
        type(self).calls.append(np.argsort(errors))
        return one_vs_all[:, np.argsort(errors)]


class CountingLearner(Learner, BaseEstimator):
    """A learner that fits whole codes by least squares on class means, and counts what it was asked."""

    loss = "squared"

    def __init__(self, log):
        self.log = log

    def __sklearn_clone__(self):
        return self

    def prepare(self, X, like=None):
        self.log.append("prepare")
        return np.column_stack([X, np.ones(len(X))])

    def fit_columns(self, data, y, M, weight=None, column_weight=None, *, rows=None, init=None, n_jobs=None, seed=0):
        M, rows = np.asarray(M), np.arange(len(data)) if rows is None else rows
        self.log.append(M.shape[1])
        self.started_from = [*getattr(self, "started_from", []), init]
        W = np.column_stack(
            [np.linalg.lstsq(data[rows] * (t != 0)[:, None], t, rcond=None)[0] for t in M[y[rows]].T.astype(float)]
        )
        return Solved(W)


class Solved(FittedColumns):
    def __init__(self, W):
        self.W = W

    def margins(self, X, rows=None):
        if X.shape[1] < len(self.W):
            X = np.column_stack([X, np.ones(len(X))])
        return (X if rows is None else X[rows]) @ self.W


def test_a_learner_that_fits_whole_codes_prepares_once_for_folds_codes_and_the_final_fit():
    log = []
    model = OutputCodeClassifier(CountingLearner(log), code=FromData(), decoder=Recorder(cv=3), random_state=0)
    model.fit(X, y)
    # One preparation; three folds for the code; three for the decoder remember the columns already trained; one fit.
    assert log == ["prepare", 3, 3, 3, 3]
    assert model.code_matrix_.tolist() == (2 * np.eye(3, dtype=int) - 1)[:, FromData.calls[-1]].tolist()
    by_hand = np.linalg.lstsq(np.column_stack([X, np.ones(150)]), model.code_matrix_[y].astype(float), rcond=None)[0]
    assert np.allclose(model.margins(X), np.column_stack([X, np.ones(150)]) @ by_hand)
    with pytest.raises(ValueError, match="does not support variant='single-call'"):
        OutputCodeClassifier(CountingLearner([]), variant="single-call").fit(X, y)


@pytest.mark.parametrize("warm_starts", [False, True])
def test_folds_start_from_the_whole_where_the_learner_asks_for_it(warm_starts):
    learner = CountingLearner([])
    learner.warm_starts = warm_starts
    problem = Problem(learner, X, y)
    whole = problem.train(ALL_PAIRS)
    whole.held_out_margins(3)
    assert learner.started_from == [None] + 3 * [whole.columns.fitted if warm_starts else None]


def test_per_column_honours_rows_and_column_weights():
    learner = as_learner(RidgeClassifier())
    data = learner.prepare(X)
    rows = np.arange(0, 150, 2)
    column_weight = np.array([[1.0, 3, 0], [2, 0, 1], [0, 1, 1]])
    weight = np.linspace(1, 2, 150)
    fitted = learner.fit_columns(data, y, ALL_PAIRS, weight, column_weight, rows=rows)
    for j in range(3):
        seen = [i for i in rows if ALL_PAIRS[y[i], j] != 0]
        w = [weight[i] * column_weight[y[i], j] for i in seen]
        direct = RidgeClassifier().fit(X[seen], ALL_PAIRS[y[seen], j], sample_weight=w)
        assert np.allclose(fitted.margins(X)[:, j], direct.decision_function(X))
        assert np.allclose(fitted.margins(data, rows[:5])[:, j], direct.decision_function(X[rows[:5]]))


def test_a_problem_remembers_training_margins_too():
    log = []
    problem = Problem(CountingLearner(log), X, y)
    first = problem.margins(ALL_PAIRS[:, :2])
    both = problem.margins(ALL_PAIRS)
    assert np.array_equal(both[:, :2], first)
    assert log == ["prepare", 2, 1]


def test_equal_columns_with_estimators_of_their_own_stay_apart():
    M = np.hstack([ALL_PAIRS, ALL_PAIRS])
    estimators = [RidgeClassifier(alpha=a) for a in (1, 1, 1, 100, 100, 100)]
    F = OutputCodeClassifier(estimators, code=M, decoder=Recorder(), random_state=0).fit(X, y).decoder_.seen_[0]
    assert not np.allclose(F[:, :3], F[:, 3:])


def test_columns_of_a_single_call_are_remembered_with_their_companions():
    learner = as_learner(DecisionTreeClassifier(max_depth=4, random_state=0), "single-call")
    # The first two columns are equal: even so, each has its place in the call.
    M = np.column_stack([ALL_PAIRS[:, 0], ALL_PAIRS])
    used = Problem(learner, X, y)
    for held_out in (None, 3):
        for known in (M[:, :2], M[:, 2:], M[:, ::-1]):
            used.margins(known, held_out)
        assert np.array_equal(used.margins(M, held_out), Problem(learner, X, y).margins(M, held_out))
    assert np.array_equal(used.margins(M), Problem(learner, X, y).fit(M).margins(X))


def test_margins_of_one_split_stay_where_another_has_none():
    M = (2 * np.eye(3) - 1).astype(np.int8)
    learner, thirds = as_learner("kernel-svm"), np.arange(150) % 3
    three = [(np.flatnonzero(thirds != f), np.flatnonzero(thirds == f)) for f in range(3)]
    # A fourth split, trained without the last class, has no margins of its column.
    without = (np.flatnonzero((y != 2) & (thirds != 0)), np.flatnonzero(thirds == 0))
    F = Problem(learner, X, y).margins(M, three)
    again = Problem(learner, X, y).margins(M, [*three, without])
    assert np.array_equal(again[:, 2], F[:, 2])
    assert not np.array_equal(again[:, 0], F[:, 0])


@pytest.mark.parametrize("learner", ["ridge", "kernel-svm"])
@pytest.mark.parametrize("cv", [1, 0, True, 151])
def test_a_number_of_folds_that_is_none_is_refused(learner, cv):
    message = "in 151 folds, but there are only 150 rows" if cv == 151 else f"cv={cv} must be at least 2"
    with pytest.raises(ValueError, match=message):
        OutputCodeClassifier(learner, decoder=Likelihood(cv=cv)).fit(X, y)


def test_who_is_alone_on_its_side():
    rng = np.random.default_rng(0)
    M = rng.choice([-1, 0, 1], size=(5, 12)).astype(np.int8)
    labels = np.array([0, 1, 1, 2, 3, 4, 4])
    alone = set(zip(*alone_on_its_side(M, labels), strict=True))
    for i, s in np.ndindex(7, 12):
        sign = M[labels[i], s]
        assert ((i, s) in alone) == (sign != 0 and [M[label, s] for label in labels].count(sign) == 1)


@pytest.mark.parametrize("cv", [2, 3, 10])
def test_folds_are_a_partition_stratified_by_class_for_rare_classes_too(cv):
    labels = np.repeat([0, 1, 2, 3], [50, 20, 3, 1])
    parts = folds(labels, cv, seed=0)
    assert sorted(np.concatenate([test for _, test in parts])) == list(range(74))
    for train, test in parts:
        assert sorted([*train, *test]) == list(range(74))
        for c, size in enumerate([50, 20, 3, 1]):
            assert abs((labels[test] == c).sum() - size / cv) < 1
    assert all(np.array_equal(a[1], b[1]) for a, b in zip(parts, folds(labels, cv, seed=0), strict=True))


def test_columns_keep_their_seeds_and_estimators_whatever_was_trained_before():
    M = np.hstack([ALL_PAIRS, -ALL_PAIRS])
    for estimator in (RandomForestClassifier(5), [RandomForestClassifier(n) for n in (1, 2, 3, 4, 5, 6)]):
        learner = as_learner(estimator)
        fresh = Problem(learner, X, y, seed=1).margins(M, held_out=3)
        used = Problem(learner, X, y, seed=1)
        changed = M.copy()
        changed[:, 2] = [1, -1, -1]
        used.margins(changed, held_out=np.int64(3))
        assert np.array_equal(used.margins(M, held_out=3), fresh)


def test_constant_columns_do_not_move_the_seeds_of_the_others():
    M = np.array([[1, 1, 1], [1, -1, -1], [1, 1, -1]], dtype=np.int8)
    fitted = Problem(as_learner(RandomForestClassifier(3)), X, y, seed=1).fit(M).fitted
    alone = Problem(as_learner(RandomForestClassifier(3)), X, y, seed=1).fit(M[:, [1, 1, 2]]).fitted
    assert np.array_equal(fitted.margins(X), alone.margins(X)[:, 1:])


def test_folds_of_a_splitter_and_of_nonsense():
    for (train, test), (a, b) in zip(folds_of(KFold(4), y, np.arange(150)), KFold(4).split(X), strict=True):
        assert np.array_equal(train, a)
        assert np.array_equal(test, b)
    for bad, message in ((1, "cv=1 must be at least 2"), (151, "in 151 folds, but there are only 150 rows")):
        with pytest.raises(ValueError, match=message):
            folds(y, bad, seed=0)


def test_precomputed_kernels_are_cut_for_held_out_margins():
    Xd, yd = load_digits(return_X_y=True)
    Xd, yd = Xd[:200] / 16, yd[:200]
    kernel, linear = (
        OutputCodeClassifier(SVC(kernel=k), decoder=Recorder(cv=3), random_state=0).fit(data, yd).decoder_.seen_[0]
        for k, data in (("precomputed", Xd @ Xd.T), ("linear", Xd))
    )
    assert np.allclose(kernel, linear, atol=1e-6)


def test_a_trained_code_starts_the_next_one_only_where_the_result_stays_the_same():
    rough = OutputCodeClassifier(BoostedStumps(10, bins=4), code="one-vs-all").train(X, y)
    after = OutputCodeClassifier(BoostedStumps(10), code="one-vs-all").train(X, y, like=rough)
    alone = OutputCodeClassifier(BoostedStumps(10), code="one-vs-all").train(X, y)
    assert np.array_equal(after.margins(X), alone.margins(X))
    # What another kind of learner prepared is not used.
    other = OutputCodeClassifier("kernel-svm", code="one-vs-all").train(X, y, like=alone)
    assert np.array_equal(other.margins(X), OutputCodeClassifier("kernel-svm", code="one-vs-all").fit(X, y).margins(X))


def test_fit_parameters_may_have_any_name():
    class Liked(RidgeClassifier):
        def fit(self, X, y, like=None):
            self.liked_ = like
            return super().fit(X, y)

    model = OutputCodeClassifier(Liked()).fit(X, y, like=3)
    assert [one.liked_ for one in model.columns_.fitted.estimators] == [3, 3, 3]


class RowsByLabel(Decoder):
    """Indexes the code by the labels, as only a matrix allows."""

    needs: ClassVar = "train"

    def fit(self, F, y, M, weight=None):
        self.agreement_ = np.mean(F * M[y], axis=0)
        return self

    def scores(self, F, M):
        return F @ (M * self.agreement_).T

    def predict(self, F, M):
        return self.scores(F, M).argmax(axis=1)


def test_decoders_receive_a_matrix_unless_they_read_drawn_codes():
    for model in (OutputCodeClassifier(RidgeClassifier()), AdaBoostMO("all-pairs", n_rounds=5)):
        other = model.fit(X, y).with_decoder(RowsByLabel(), X, y)
        fitted = clone(model).set_params(decoder=RowsByLabel()).fit(X, y)
        assert np.array_equal(other.predict(X), fitted.predict(X))
        assert np.array_equal(fitted.predict(X), fitted.decision_function(X).argmax(axis=1))


def test_an_unknown_decoder_is_a_mistake_and_no_objection():
    trained = OutputCodeClassifier(RidgeClassifier(), code="one-vs-all").train(X, y)
    assert "all-pairs" in trained.objection("vote")
    assert trained.objection("hamming") is None
    with pytest.raises(ValueError, match="did you mean 'vote'"):
        trained.objection("votes")
