"""Every learner of the table: all columns at once is each column alone, and it is a classifier of its own."""

import numpy as np
import pytest
import scipy.sparse as sp
from sklearn.base import clone
from sklearn.datasets import load_digits
from sklearn.utils.estimator_checks import parametrize_with_checks

from outputcodes import OutputCodeClassifier
from outputcodes.learners import LEARNERS, BoostedTrees, PerColumn

X, y = load_digits(return_X_y=True)
X, y = X[:250] / 16, y[:250]
everyone = pytest.mark.parametrize("name", LEARNERS)
# Boosted trees are grown for all columns together.
apart = pytest.mark.parametrize("name", [name for name, make in LEARNERS.items() if not make().joint])
codes = pytest.mark.parametrize("code", ["one-vs-all", "all-pairs", "dense", "sparse"])


def tight(name):
    """The learner as exact as it can be, so that two ways to one optimum end in one place; and how near that is."""
    learner = LEARNERS[name]()
    learner.set_params(**learner.exact_parameters)
    if "gamma" in learner.get_params():
        learner.set_params(gamma=0.1)  # "scale" is the variance of all rows, whatever their weight
    # Iterative solvers stop at a tolerance of the objective, which leaves about its root in the margins.
    return learner, 1e-5 if learner.exact_parameters else 1e-9


def allowed(engine):
    reason = "features are cut into bins of rows, and gradients are rounded"
    return {"check_sample_weight_equivalence_on_dense_data": reason} if isinstance(engine, BoostedTrees) else {}


@parametrize_with_checks([tight(name)[0] for name in LEARNERS], expected_failed_checks=allowed)
def test_scikit_learn_checks(estimator, check):
    check(estimator)


@apart
@codes
@pytest.mark.parametrize("kind", [np.asarray, sp.csr_array])
def test_the_shared_path_is_the_path_per_column(name, code, kind):
    learner, atol = tight(name)
    if kind is sp.csr_array and not learner.takes_sparse:
        with pytest.raises((TypeError, ValueError), match=r"[Ss]parse"):
            OutputCodeClassifier(learner, code=code).fit(kind(X), y)
        return
    shared, alone = (
        OutputCodeClassifier(estimator, code=code, random_state=0).fit(kind(X), y, sample_weight=1 + y % 3)
        for estimator in (learner, PerColumn(learner))
    )
    assert np.allclose(shared.margins(kind(X)), alone.margins(kind(X)), atol=atol)
    assert shared.margin_loss_ == learner.loss


@everyone
@codes
def test_the_same_bits_for_any_number_of_threads(name, code):
    learner, _ = tight(name)
    one, two, three = (
        OutputCodeClassifier(clone(learner), code=code, random_state=0, n_jobs=n).fit(X, y).margins(X)
        for n in (1, 2, 3)
    )
    assert np.array_equal(one, two)
    assert np.array_equal(one, three)


@everyone
def test_a_subset_of_prepared_rows_is_a_sample_of_its_own(name):
    learner, atol = tight(name)
    M = np.array([[1, 1], [-1, 0], [0, -1], *[[1, -1]] * 7], dtype=np.int8)
    rows = np.arange(0, 250, 2)
    prepared = learner.prepare(X)
    part = learner.fit_columns(prepared, y, M, rows=rows)
    alone = learner.fit_columns(learner.prepare(X[rows]), y[rows], M)
    assert np.allclose(part.margins(X), alone.margins(X), atol=atol)
    assert np.allclose(part.margins(prepared, rows[:7]), part.margins(X[rows[:7]]), atol=1e-8)


@everyone
def test_weights_of_columns_multiply_those_of_rows(name):
    learner, atol = tight(name)
    M = np.array([[1], [-1]], dtype=np.int8)
    labels, weight = (y > 4).astype(np.intp), 1.0 + y % 2
    prepared = learner.prepare(X)
    split = learner.fit_columns(prepared, labels, M, weight, np.array([[2.0], [0.5]]))
    joined = learner.fit_columns(prepared, labels, M, weight * np.where(labels, 0.5, 2.0))
    assert np.allclose(split.margins(X), joined.margins(X), atol=atol)


@everyone
def test_a_warm_start_ends_in_the_same_place(name):
    learner, atol = tight(name)
    M = np.array([[1], [-1]], dtype=np.int8)
    labels = (y > 4).astype(np.intp)
    prepared = learner.prepare(X)
    cold = learner.fit_columns(prepared, labels, M)
    warm = learner.fit_columns(prepared, labels, M, init=cold)
    assert np.allclose(cold.margins(X), warm.margins(X), atol=atol)
