"""Linear SVMs on tree codes: against the plain path, their definition, and with any number of threads."""

import numpy as np
import pytest
import scipy.sparse as sp
from sklearn.exceptions import ConvergenceWarning

from outputcodes._ground.tree_code import flat, grown
from outputcodes.codes import MatrixCode
from outputcodes.learners import LinearSVM
from outputcodes.training import Problem


def sample(k=12, rows=6, d=60, seed=0):
    """Sparse rows of unit length in which classes share words with their neighbours."""
    rng = np.random.default_rng(seed)
    y = np.repeat(np.arange(k), rows)
    words = np.stack([(3 * y + rng.integers(4, size=len(y))) % d for _ in range(3)]
                     + [rng.integers(d, size=len(y)) for _ in range(3)], axis=1)  # fmt: skip
    X = sp.csr_array((rng.uniform(0.5, 1, words.size), words.ravel(), np.arange(0, words.size + 1, 6)), (len(y), d))
    X.sum_duplicates()
    X = sp.csr_array(X.multiply(1 / np.sqrt(X.multiply(X).sum(axis=1))[:, None]))
    order = rng.permutation(len(y))
    return X[order], y[order]


def thirds(classes, _):
    return None if len(classes) <= 4 else [(part, None) for part in np.array_split(classes, 3)]


X, y = sample()
TREE = grown(12, [(np.arange(12), None)] * 2, thirds)


@pytest.mark.parametrize("loss", ["squared-hinge", "hinge"])
@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("intercept", [True, False])
def test_a_tree_written_out_as_a_matrix_has_the_same_margins(loss, weighted, intercept):
    weight = np.random.default_rng(1).uniform(0.2, 3, len(y)) if weighted else None
    learner = LinearSVM(C=2, loss=loss, tol=1e-5, fit_intercept=intercept, prune=None, negatives="own", max_iter=50_000)
    nodes = Problem(learner, X, y, weight).train(TREE)
    plain = Problem(learner, X, y, weight).train(MatrixCode(TREE.matrix()))
    # A relative gap of 1e-5 leaves coefficients that differ by about its root.
    assert np.abs(nodes.margins(X) - plain.margins(X)).max() < 0.02
    certificate = nodes.columns.fitted.certificate
    assert certificate.converged.all()
    assert certificate.gap.max() <= 1e-5


@pytest.mark.parametrize("loss", ["squared-hinge", "hinge"])
def test_the_certificate_is_an_upper_bound_of_what_is_left(loss):
    learner = LinearSVM(C=1, loss=loss, prune=None, negatives="own", max_iter=3)
    rough = Problem(learner, X, y).train(TREE).columns.fitted
    exact = Problem(LinearSVM(C=1, loss=loss, tol=1e-9), X, y).train(MatrixCode(TREE.matrix())).columns.fitted
    T = TREE.matrix()[y]

    def objectives(coef, intercept):
        short = np.maximum(1 - T * (X @ coef + intercept), 0) * (T != 0)
        return 0.5 * ((coef**2).sum(axis=0) + intercept**2) + (short**2 if loss == "squared-hinge" else short).sum(
            axis=0
        )

    ours, best = (objectives(f.coefficients().T, f.intercepts()) for f in (rough, exact))
    excess = (ours - best) / ours
    gap = rough.certificate.gap
    assert (excess <= gap + 1e-4).all()
    assert gap.max() > 1e-3  # three epochs are not many
    assert rough.certificate.iterations.max() == 3


def test_margins_on_demand_are_the_margins():
    fitted = Problem(LinearSVM(), X, y).train(TREE).columns.fitted
    F = fitted.margins(X)
    rows, first, count = np.array([0, 0, 5, 60]), np.array([3, 0, 4, 10]), np.array([2, 3, 1, 5])
    expected = np.concatenate([F[r, a : a + c] for r, a, c in zip(rows, first, count, strict=True)])
    assert np.allclose(fitted.on_demand(X).of(rows, first, count), expected, atol=1e-5)
    assert np.allclose(fitted.on_demand(X.toarray()).of(rows, first, count), expected, atol=1e-5)


def test_prune_drops_what_it_says_and_reports_it():
    whole = Problem(LinearSVM(prune=None), X, y).train(TREE).columns.fitted
    pruned = Problem(LinearSVM(prune=0.1), X, y).train(TREE).columns.fitted
    W, dense = whole.weights.toarray(), X.toarray()
    scale = np.sqrt((dense**2).sum(axis=0) / np.maximum((dense != 0).sum(axis=0), 1))
    first_level = slice(0, TREE.first[2])  # below, matched negatives depend on what was dropped
    expected = np.where(np.abs(W) * scale[:, None] < 0.1, 0, W)[:, first_level]
    assert np.allclose(pruned.weights.toarray()[:, first_level], expected, atol=1e-6)
    assert pruned.pruned.left == pruned.weights.nnz
    assert pruned.pruned.dropped + pruned.pruned.left == pytest.approx(whole.weights.nnz, rel=0.05)
    assert whole.pruned.dropped == 0
    assert pruned.pruned.rows == len(y)


def test_dropped_weights_change_choices_and_are_counted():
    whole, pruned = (
        Problem(LinearSVM(prune=prune, negatives="own"), X, y).train(flat(12)).columns.fitted for prune in (None, 0.3)
    )
    before, after = whole.margins(X).argmax(axis=1), pruned.margins(X).argmax(axis=1)
    assert pruned.pruned.changed == np.count_nonzero(before != after) > 0


def test_prune_on_the_plain_path_gives_sparse_columns_too():
    M = TREE.matrix()
    plain = Problem(LinearSVM(), X, y).train(MatrixCode(M)).columns.fitted
    pruned = Problem(LinearSVM(prune=0.1), X, y).train(MatrixCode(M)).columns.fitted
    dense = X.toarray()
    scale = np.sqrt((dense**2).sum(axis=0) / np.maximum((dense != 0).sum(axis=0), 1))
    kept = np.where(np.abs(plain.coef) * scale[:, None] < 0.1, 0, plain.coef)
    assert np.allclose(pruned.weights.toarray(), kept, atol=1e-6)
    signs = (X @ plain.coef + plain.intercept > 0) != (X @ kept + plain.intercept > 0)
    assert pruned.pruned.changed == np.count_nonzero(signs.any(axis=1))


def test_matched_negatives_lower_the_margins_of_confused_rows_below_a_wrong_child():
    own = Problem(LinearSVM(C=1, negatives="own", prune=None), X, y).train(TREE).columns.fitted
    matched = Problem(LinearSVM(C=1, prune=None), X, y).train(TREE).columns.fitted
    F, G, M = own.margins(X), matched.margins(X), TREE.matrix()
    top = slice(0, TREE.first[2])
    assert np.array_equal(F[:, top], G[:, top])
    seen = 0
    for c in range(TREE.first[2]):
        node = TREE.child[c]
        confused = (F[:, c] >= -0.5) & (M[y, c] == -1)
        if node >= 0 and confused.any():
            columns = slice(TREE.first[node], TREE.first[node + 1])
            assert G[confused, columns].mean() < F[confused, columns].mean()
            seen += np.count_nonzero(confused)
    assert seen > 5


@pytest.mark.parametrize("code", [TREE, flat(12)], ids=["trees", "one-vs-all"])
def test_the_same_bits_with_any_number_of_threads(code, monkeypatch):
    monkeypatch.setattr("outputcodes.learners.linear.node_descent.VALUES_PER_BATCH", 50)
    monkeypatch.setattr("outputcodes.learners.linear.node_descent.WIDEST_TILE", 5)
    fits = [Problem(LinearSVM(), X, y, n_jobs=jobs, seed=3).train(code).columns.fitted for jobs in (1, 2, 4)]
    for other in fits[1:]:
        assert np.array_equal(fits[0].weights.toarray(), other.weights.toarray())
        assert np.array_equal(fits[0].intercept, other.intercept)
        assert np.array_equal(fits[0].certificate.gap, other.certificate.gap)


def test_single_precision_is_kept_and_gives_the_same_columns():
    single = sp.csr_array(X, dtype=np.float32)
    double = sp.csr_array(single, dtype=np.float64)
    assert LinearSVM().prepare(single).X.dtype == np.float32
    a, b = (Problem(LinearSVM(), data, y).train(TREE).margins(double) for data in (single, double))
    assert np.array_equal(a, b)
    # The plain path computes in double precision all the same.
    M = MatrixCode(TREE.matrix())
    a, b = (Problem(LinearSVM(), data, y).train(M).margins(double) for data in (single, double))
    assert np.allclose(a, b, atol=1e-10)


def test_columns_that_lack_a_sign_on_a_fold_are_trained_as_all_negative():
    rows = np.flatnonzero(y != 3)
    trained = Problem(LinearSVM(), X, y).fit(TREE, rows)
    assert trained.live.all()
    own = TREE.above[0, 3]
    assert trained.margins(X)[:, own].max() < 0


def test_a_tolerance_that_is_missed_is_a_warning_and_eight_epochs_are_none():
    with pytest.warns(ConvergenceWarning, match="did not converge"):
        Problem(LinearSVM(C=100, tol=1e-6, max_iter=2), X, y).train(TREE)
    assert Problem(LinearSVM(C=100), X, y).train(TREE).columns.fitted.certificate.iterations.max() == 8


@pytest.mark.parametrize(
    ("parameters", "message"),
    [
        ({"prune": -1}, "prune=-1 must be a finite number greater than 0"),
        ({"negatives": "all"}, "negatives='all' must be 'matched' or 'own'"),
        ({"tol": 0}, "tol=0 must be a finite number greater than 0"),
    ],
)
def test_bad_parameters_are_named(parameters, message):
    with pytest.raises(ValueError, match=message):
        Problem(LinearSVM(**parameters), X, y).train(TREE)
