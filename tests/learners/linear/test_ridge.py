"""Ridge: the shared path, scikit-learn, brute force and n retrainings all say the same."""

import numpy as np
import pytest
import scipy.sparse as sp
from numpy.testing import assert_allclose
from sklearn import linear_model
from sklearn.datasets import load_digits, load_iris

from outputcodes import OutputCodeClassifier
from outputcodes.learners import PerColumn, Ridge
from outputcodes.learners.linear import ridge_systems

X, y = load_digits(return_X_y=True)
X, y = X[:300] / 16, y[:300]
WIDE = np.hstack([X, np.random.default_rng(0).normal(size=(300, 400))])  # more features than rows
CODES = ["one-vs-all", "all-pairs", "dense", "sparse"]
M = np.array([[1, -1, 0], [-1, 1, 1], [0, -1, -1]], dtype=np.int8)


def theirs(data):
    solver = {"solver": "sparse_cg", "tol": 1e-12} if sp.issparse(data) else {"solver": "cholesky"}
    return linear_model.RidgeClassifier(0.5, **solver)


@pytest.mark.parametrize("code", CODES)
@pytest.mark.parametrize("wide", [False, True])
@pytest.mark.parametrize("kind", [np.asarray, sp.csr_array])
def test_the_shared_path_is_the_path_per_column_and_scikit_learns(code, wide, kind):
    data, weight = kind(WIDE if wide else X), np.linspace(0, 2, 300)
    shared, alone, peer = (
        OutputCodeClassifier(estimator, code=code, random_state=0).fit(data, y, sample_weight=weight).margins(data)
        for estimator in (Ridge(0.5), PerColumn(Ridge(0.5)), theirs(data))
    )
    assert np.allclose(shared, alone, atol=1e-9)
    assert np.allclose(shared, peer, atol=1e-4 if sp.issparse(data) else 1e-9)


def test_far_from_the_origin_no_digits_are_lost():
    iris, labels = load_iris(return_X_y=True)
    model = OutputCodeClassifier(Ridge(), code="sparse", random_state=0)
    near, far = (model.fit(iris + s, labels).margins(iris + s) for s in (0, 1e6))
    assert np.allclose(near, far, atol=1e-7)


@pytest.mark.parametrize("data", [X, WIDE], ids=["tall", "wide"])
def test_without_a_penalty_it_is_least_squares_of_least_norm(data):
    # Digits have constant features, so the tall system is singular too.
    fitted = OutputCodeClassifier(Ridge(0), code="all-pairs").fit(data, y).columns_.fitted
    seen = (y == 0) | (y == 1)
    direct = linear_model.LinearRegression().fit(data[seen], np.where(y[seen] == 0, 1, -1))
    assert np.allclose(fitted.margins(data)[:, 0], direct.predict(data), atol=1e-6)
    assert np.allclose(fitted.coef[:, 0], direct.coef_, atol=1e-6)


@pytest.mark.parametrize("data", [X[:60], WIDE[:60], sp.csr_array(WIDE[:60])], ids=["tall", "wide", "wide sparse"])
@pytest.mark.parametrize("weighted", [False, True])
def test_leave_one_out_margins_are_those_of_n_retrainings(data, weighted):
    labels = y[:60] % 3
    weight = np.linspace(0.5, 2, 60) if weighted else None
    column_weight = np.array([[1, 2, 0], [1, 1, 3], [0, 1, 1.0]]) if weighted else None
    learner = Ridge(0.3)
    prepared = learner.prepare(data)
    closed = learner.leave_one_out_margins(prepared, labels, M, weight, column_weight)
    for i in range(0, 60, 7):
        rest = np.delete(np.arange(60), i)
        retrained = learner.fit_columns(prepared, labels, M, weight, column_weight, rows=rest)
        assert np.allclose(closed[i], retrained.margins(prepared, np.array([i]))[0], atol=1e-8)
    some = np.arange(0, 60, 2)
    part = learner.leave_one_out_margins(prepared, labels, M, weight, column_weight, rows=some)
    w = None if weight is None else weight[some]
    alone = learner.leave_one_out_margins(learner.prepare(data[some]), labels[some], M, w, column_weight)
    assert np.allclose(part, alone, atol=1e-8)


def test_rows_weights_and_column_weights():
    rng = np.random.default_rng(1)
    labels, rows = y % 3, np.sort(rng.choice(300, 150, replace=False))
    weight, column_weight = rng.random(300), rng.random((3, 3))
    learner = Ridge(0.1)
    fitted = learner.fit_columns(learner.prepare(X), labels, M, weight, column_weight, rows=rows)
    for j in range(3):
        seen = rows[M[labels[rows], j] != 0]
        w = weight[seen] * column_weight[labels[seen], j]
        direct = linear_model.Ridge(0.1, solver="cholesky").fit(X[seen], M[labels[seen], j], sample_weight=w)
        assert np.allclose(fitted.margins(X)[:, j], direct.predict(X), atol=1e-9)


@pytest.mark.parametrize("code", CODES)
@pytest.mark.parametrize("limit", [1 << 27, 0], ids=["shared Gram matrices", "a Gram matrix per group"])
def test_the_same_bits_for_any_number_of_threads(code, limit, monkeypatch):
    monkeypatch.setattr("outputcodes.learners.linear.ridge_systems.MOST_GRAM_VALUES", limit)
    answers = [
        OutputCodeClassifier(Ridge(), code=code, random_state=0, n_jobs=n).fit(X, y).columns_.fitted for n in (1, 2, 3)
    ]
    for other in answers[1:]:
        assert np.array_equal(answers[0].coef, other.coef)
        assert np.array_equal(answers[0].intercept, other.intercept)
    monkeypatch.undo()
    default = OutputCodeClassifier(Ridge(), code=code, random_state=0).fit(X, y).columns_.fitted
    assert np.allclose(answers[0].coef, default.coef, atol=1e-10)


@pytest.mark.parametrize("kind", [np.asarray, sp.csr_array])
def test_pairs_in_the_space_of_their_rows_are_those_in_the_space_of_the_features(kind, monkeypatch):
    rng = np.random.default_rng(2)
    all_pairs = OutputCodeClassifier(code="all-pairs").fit(X, y).code_matrix_
    book = np.hstack([all_pairs, -all_pairs[:, :3], rng.choice([-1, 1], size=(10, 2))]).astype(np.int8)
    weight, column_weight = rng.integers(0, 3, 300).astype(float), rng.choice([0.5, 2.0], size=book.shape)
    learner, asked = Ridge(0.2), []
    data = learner.prepare(kind(WIDE))
    by_rows = learner.fit_columns(data, y, book, weight, column_weight)
    monkeypatch.setattr(ridge_systems, "pays", lambda *sizes: asked.append(sizes) or False)
    other = learner.fit_columns(data, y, book, weight, column_weight)
    assert len(asked) >= all_pairs.shape[1]  # so pairs went by their rows before
    assert np.allclose(by_rows.coef, other.coef, atol=1e-9)
    assert np.allclose(by_rows.intercept, other.intercept, atol=1e-9)
    assert by_rows.certificate.gap.max() < 1e-10


def test_a_bootstrap_sample_counts_its_repetitions():
    rows = np.random.default_rng(3).integers(0, 300, 300)
    data = Ridge().prepare(X)
    part = Ridge().fit_columns(data, y % 3, M, rows=rows)
    weighted = Ridge().fit_columns(data, y % 3, M, np.bincount(rows, minlength=300).astype(float))
    assert np.allclose(part.margins(X), weighted.margins(X), atol=1e-9)


def test_a_row_whose_target_the_others_leave_open_has_no_margin():
    margins = Ridge(0).leave_one_out_margins(Ridge().prepare(WIDE[:20]), y[:20] % 3, M)
    seen = M[y[:20] % 3] != 0
    assert (margins[seen] == 0).all()
    assert np.isfinite(margins).all()


def test_the_certificate_is_the_residual_of_the_normal_equations():
    fitted = OutputCodeClassifier(Ridge(2.0), code="one-vs-all").fit(X, y).columns_.fitted
    assert fitted.certificate.converged.all()
    assert fitted.certificate.gap.max() < 1e-12
    centred, targets = X - X.mean(axis=0), np.where(y[:, None] == np.arange(10), 1.0, -1.0)
    gradient = centred.T @ (centred @ fitted.coef - (targets - targets.mean(axis=0))) + 2.0 * fitted.coef
    assert np.abs(gradient).max() < 1e-9


@pytest.mark.parametrize("alpha", [-1, np.inf, np.nan, "1"])
def test_bad_penalties(alpha):
    with pytest.raises(ValueError, match="alpha="):
        Ridge(alpha).fit(X, y > 4)


def test_bad_data():
    bad = X.copy()
    bad[3, 3] = np.nan
    for model in (Ridge(), OutputCodeClassifier(Ridge())):
        with pytest.raises(ValueError, match="NaN"):
            model.fit(bad, y > 4)
    with pytest.raises(ValueError, match="Only binary classification"):
        Ridge().fit(X, y)


def test_by_name():
    assert np.array_equal(
        OutputCodeClassifier("ridge").fit(X, y).margins(X), OutputCodeClassifier(Ridge()).fit(X, y).margins(X)
    )


def test_a_class_without_rows_changes_nothing():
    X, y = np.random.default_rng(0).normal(size=(40, 3)), np.arange(40) % 3
    M = np.array([[1, 1, 1], [-1, 1, 0], [0, -1, -1], [1, 0, 1]], dtype=np.int8)
    learner = Ridge()
    data = learner.prepare(X)
    with_it, without = (learner.fit_columns(data, y, code).margins(X) for code in (M, M[:3]))
    np.testing.assert_allclose(with_it, without, rtol=1e-10, atol=1e-12)


@pytest.mark.parametrize("weighted", [False, True])
def test_parts_that_are_foreseen_leave_the_columns_as_they_are(weighted):
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(60, 5)), rng.permutation(np.repeat(np.arange(3), 20))
    weight = rng.random(60) + 0.5 if weighted else None
    M = np.array([[1, -1, -1], [-1, 1, -1], [-1, -1, 1]], dtype=np.int8)
    parts = np.split(rng.permutation(60), 3)
    learner = Ridge(alpha=0.3)
    told, plain = learner.prepare(X), learner.prepare(X)
    learner.foresee(told, parts, y)
    # Unions of parts, all rows, and rows that are no union of parts.
    for rows in (np.concatenate(parts[:2]), np.concatenate(parts[1:]), np.arange(60), np.arange(50)):
        found, wanted = (learner.fit_columns(data, y, M, weight, rows=rows) for data in (told, plain))
        assert_allclose(found.coef, wanted.coef, rtol=1e-9, atol=1e-12)
        assert_allclose(found.intercept, wanted.intercept, rtol=1e-9, atol=1e-12)
    # Other weights are other sums.
    other = rng.random(60) + 0.5
    found, wanted = (learner.fit_columns(data, y, M, other, rows=np.concatenate(parts[:2])) for data in (told, plain))
    assert_allclose(found.coef, wanted.coef, rtol=1e-9, atol=1e-12)


def test_a_part_of_huge_rows_leaves_no_rounding_in_the_others():
    rng = np.random.default_rng(1)
    X, y = rng.normal(size=(40, 3)), np.tile([0, 1], 20)
    X[:20] *= 1e9
    X[10:20] = -X[:10]
    learner, M = Ridge(alpha=1e-3), np.array([[1], [-1]], dtype=np.int8)
    data = learner.prepare(X)
    learner.foresee(data, [np.arange(20), np.arange(20, 40)], y)
    learner.fit_columns(data, y, M)
    found = learner.fit_columns(data, y, M, rows=np.arange(20, 40))
    alone = learner.fit_columns(learner.prepare(X), y, M, rows=np.arange(20, 40))
    assert_allclose(found.coef, alone.coef, rtol=1e-9)


def test_a_penalty_too_small_for_eigenvectors_is_solved_as_if_it_were_alone():
    X_odd = X * np.where(np.arange(X.shape[1]) == 20, 1e5, 1.0)
    code = np.where(np.eye(10), 1, -1).astype(np.int8)
    data = Ridge().prepare(X_odd)
    for alpha in (10.0, 1.0, 1e-1, 1e-6):
        found = Ridge(alpha=alpha).fit_columns(data, y, code).margins(X_odd)
        alone = Ridge(alpha=alpha).fit_columns(Ridge().prepare(X_odd), y, code).margins(X_odd)
        assert_allclose(found, alone, atol=1e-6)
