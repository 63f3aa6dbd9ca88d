"""Working sets of single columns, and the return to shared ones where support vectors crowd them."""

import numpy as np
import pytest
from sklearn.datasets import load_digits
from sklearn.exceptions import ConvergenceWarning
from sklearn.metrics.pairwise import rbf_kernel
from sklearn.svm import SVC

from outputcodes._kernel_machines import parameters
from outputcodes._kernel_machines.working_sets import WorkingSets
from outputcodes.learners.kernel import small
from outputcodes.learners.kernel.kernel_svm import KernelSVM
from outputcodes.learners.kernel.own_sets import OwnSets

X, y = load_digits(return_X_y=True)
X, y = X[:900] / 16, y[:900]
OVA = 2 * np.eye(10, dtype=np.int8) - 1


@pytest.fixture
def calls(monkeypatch):
    """The kinds of rounds that are run: "own" or "shared"."""
    found = []

    def noted(kind, method):
        def wrapper(*args):
            found.append(kind)
            return method(*args)

        return wrapper

    monkeypatch.setattr(small, "SMALL", 0)
    monkeypatch.setattr(OwnSets, "size", 320)
    monkeypatch.setattr(OwnSets, "_each", noted("own", OwnSets._each))
    monkeypatch.setattr(WorkingSets, "_round", noted("shared", WorkingSets._round))
    return found


@pytest.mark.parametrize("exact_rows", [0, 1000], ids=["float32", "float64"])
@pytest.mark.parametrize(("gamma", "kinds"), [(0.02, {"own"}), (1.0, {"own", "shared"})])
def test_columns_with_few_support_vectors_have_their_own_sets(gamma, kinds, exact_rows, calls, monkeypatch):
    monkeypatch.setattr(parameters, "EXACT_ROWS", exact_rows)
    learner = KernelSVM(C=5, gamma=gamma, tol=1e-4)
    fitted = learner.fit_columns(learner.prepare(X), y, OVA)
    assert set(calls) == kinds
    assert calls.count("own") > 1 or "shared" in kinds
    assert fitted.certificate.converged.all()
    for j, f in enumerate(fitted.margins(X).T):
        svc = SVC(C=5, gamma=gamma, tol=1e-5).fit(X, OVA[y, j])
        assert np.allclose(f, svc.decision_function(X), atol=2e-3)


@pytest.mark.parametrize("bias", ["free", "folded", "none"])
@pytest.mark.parametrize(("kernel", "kind"), [("rbf", "own"), ("precomputed", "shared")])
def test_all_biases_weights_and_numbers_of_threads(bias, kernel, kind, calls, monkeypatch):
    weight = np.where(np.arange(len(y)) % 7 == 0, 0.0, 1 + y % 3)
    K = rbf_kernel(X, gamma=0.02)
    K.flags.writeable = False
    learner, given = KernelSVM(5, kernel, gamma=0.02, tol=1e-4, bias=bias), X if kernel == "rbf" else K
    one, two = (learner.fit_columns(learner.prepare(given), y, OVA, weight, n_jobs=n_jobs) for n_jobs in (1, 2))
    assert set(calls) == {kind}
    assert np.array_equal(one.margins(given), two.margins(given))
    # By the solver of small Gram matrices.
    monkeypatch.setattr(small, "SMALL", len(y))
    whole = learner.fit_columns(learner.prepare(given), y, OVA, weight)
    assert np.allclose(one.margins(given), whole.margins(given), atol=2e-3)


def test_own_sets_end_at_the_maximum_number_of_steps(calls):
    learner = KernelSVM(C=5, gamma=0.02, max_iter=300)
    with pytest.warns(ConvergenceWarning, match="columns did not converge"):
        fitted = learner.fit_columns(learner.prepare(X), y, OVA)
    certificate = fitted.certificate
    assert set(calls) == {"own"}
    assert np.array_equal(certificate.converged, certificate.gap <= 1e-3)
    assert (certificate.iterations[~certificate.converged] >= 300).all()


def test_a_solution_for_another_cost_shows_at_once_that_sets_would_be_crowded(calls):
    many = KernelSVM(C=5, gamma=1.0, tol=1e-4)
    data = many.prepare(X)
    fitted = many.fit_columns(data, y, OVA)
    calls.clear()
    KernelSVM(C=0.9, gamma=1.0, tol=1e-4).fit_columns(data, y, OVA, init=fitted)
    assert set(calls) == {"shared"}


def test_rows_sorted_by_class_are_not_chosen_class_by_class(monkeypatch):
    """All rows of a side are equal before the first round: a set of the first classes alone would be of little use."""
    first, each = [], OwnSets._each

    def noted(self, sets):
        first.append(first[0] if first else [self.rows[rows] for rows in sets])
        return each(self, sets)

    monkeypatch.setattr(small, "SMALL", 0)
    monkeypatch.setattr(OwnSets, "size", 320)
    monkeypatch.setattr(OwnSets, "_each", noted)
    order = np.argsort(y, kind="stable")
    learner = KernelSVM(C=5, gamma=0.02)
    learner.fit_columns(learner.prepare(X[order]), y[order], OVA)
    assert len(first[0]) == 10
    for rows in first[0]:
        assert len(rows) < len(y) / 2
        assert set(y[order][rows]) == set(y)
