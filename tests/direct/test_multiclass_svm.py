"""MulticlassSVC against a general QP solver, LIBLINEAR, the binary machine, and itself told otherwise."""

import pickle

import cvxpy as cp
import numpy as np
import pytest
from scipy import sparse
from sklearn.datasets import load_digits, load_iris, make_classification
from sklearn.exceptions import ConvergenceWarning
from sklearn.metrics.pairwise import linear_kernel, polynomial_kernel, rbf_kernel
from sklearn.svm import SVC, LinearSVC

from outputcodes.direct.multiclass_svm import MulticlassSVC
from outputcodes.learners.kernel.kernel_svm import KernelSVM

X, y = load_digits(return_X_y=True)
X, y = X[:400] / 16, y[:400]
# Overlapping classes, so that many dual variables are at their bound and many are free.
N, T = make_classification(
    60, 5, n_informative=4, n_redundant=0, n_classes=4, n_clusters_per_class=1, class_sep=0.7, random_state=1
)
FORMULATIONS = ["crammer-singer", "weston-watkins"]
KERNELS = {
    "linear": ({"kernel": "linear"}, linear_kernel(N)),
    "rbf": ({"kernel": "rbf", "gamma": 0.3}, rbf_kernel(N, gamma=0.3)),
    "poly": ({"kernel": "poly", "gamma": 0.5, "degree": 2, "coef0": 1}, polynomial_kernel(N, None, 2, 0.5, 1)),
    "callable": ({"kernel": lambda A, B: rbf_kernel(A, B, gamma=0.3)}, rbf_kernel(N, gamma=0.3)),
}


def slacks(scores, labels, formulation):
    """ξ of each example, from the definitions."""
    answer = []
    for f, own in zip(scores, labels, strict=True):
        wrong = [max(0, 1 + f[r] - f[own]) for r in range(len(f)) if r != own]
        answer.append(max(wrong) if formulation == "crammer-singer" else sum(wrong))
    return np.array(answer)


def qp_solver(K, labels, k, cost, formulation):
    """The optimum, with w_r = Σ_i A_ir φ(x_i): by a general solver, in a factor of K."""
    values, vectors = np.linalg.eigh(K)
    root = vectors * np.sqrt(np.maximum(values, 0))
    W = cp.Variable((root.shape[1], k))
    F = root @ W
    loss = 0
    for i, own in enumerate(labels):
        wrong = [1 + F[i, r] - F[i, own] for r in range(k) if r != own]
        loss += cost[i] * (cp.maximum(0, *wrong) if formulation == "crammer-singer" else sum(map(cp.pos, wrong)))
    value = cp.Problem(cp.Minimize(cp.sum_squares(W) / 2 + loss)).solve(solver="CLARABEL")
    return value, root @ W.value


@pytest.mark.parametrize("formulation", FORMULATIONS)
@pytest.mark.parametrize("name", KERNELS)
def test_the_optimum_is_a_qp_solvers(name, formulation):
    params, K = KERNELS[name]
    weight = np.linspace(0.2, 2, len(T))
    model = MulticlassSVC(**params, C=0.7, formulation=formulation, tol=1e-6).fit(N, T, sample_weight=weight)
    value, scores = qp_solver(K, T, 4, 0.7 * weight, formulation)
    assert model.objective_ == pytest.approx(value, rel=1e-5)
    assert 0 <= model.dual_gap_ <= 1e-5 * value
    assert np.allclose(model.decision_function(N), scores, atol=1e-3)
    # What is said to be the objective is that of the machine that predicts.
    penalty = np.einsum("ri,ij,rj->", A := model.dual_coef_, K[np.ix_(model.support_, model.support_)], A) / 2
    loss = 0.7 * weight @ slacks(model.decision_function(N), T, formulation)
    assert penalty + loss == pytest.approx(model.objective_, rel=1e-9)


# scikit-learn 1.7 does not set the number of iterations of these and may warn of any; the weights are compared here.
@pytest.mark.filterwarnings("ignore:Liblinear failed to converge")
@pytest.mark.parametrize("C", [0.01, 1.0])
def test_linear_machines_are_liblinears(C):
    ours = MulticlassSVC("linear", C=C, tol=1e-6).fit(X, y)
    peer = LinearSVC(multi_class="crammer_singer", fit_intercept=False, C=C, tol=1e-7, max_iter=100_000, random_state=0)
    assert np.allclose(ours.coef_, peer.fit(X, y).coef_, atol=1e-4)
    assert np.allclose(ours.decision_function(X), X @ ours.coef_.T)


@pytest.mark.parametrize("formulation", FORMULATIONS)
def test_two_classes_are_the_binary_machine_at_twice_the_cost(formulation):
    labels = np.where(T < 2, "no", "yes")
    binary = KernelSVM(C=2 * 0.5, gamma=0.3, bias="none", tol=1e-8).fit(N, labels)
    model = MulticlassSVC(C=0.5, gamma=0.3, formulation=formulation, tol=1e-8).fit(N, labels)
    assert model.decision_function(N).shape == (len(N),)
    assert np.allclose(model.decision_function(N), binary.decision_function(N), atol=1e-6)
    assert (model.predict(N) == binary.predict(N)).all()
    linear = MulticlassSVC("linear", C=0.5, formulation=formulation, tol=1e-8).fit(N, labels)
    peer = LinearSVC(loss="hinge", C=1.0, fit_intercept=False, tol=1e-9, max_iter=1_000_000).fit(N, labels)
    assert np.allclose(linear.coef_[1] - linear.coef_[0], peer.coef_[0], atol=1e-4)
    assert np.allclose(linear.coef_.sum(axis=0), 0, atol=1e-12)


def test_weston_watkins_costs_more():
    for params, _ in KERNELS.values():
        values = [MulticlassSVC(**params, formulation=name, tol=1e-6).fit(N, T).objective_ for name in FORMULATIONS]
        assert values[0] < values[1]


@pytest.mark.parametrize("formulation", FORMULATIONS)
def test_every_form_of_the_same_features_gives_the_same_machine(formulation):
    common = {"C": 2.0, "formulation": formulation, "tol": 1e-7}
    model = MulticlassSVC(gamma=0.2, **common).fit(X, y)
    scores = model.decision_function(X[:50])
    from_sparse = MulticlassSVC(gamma=0.2, **common).fit(sparse.csr_matrix(X), y)
    assert np.allclose(from_sparse.decision_function(sparse.csr_matrix(X[:50])), scores, atol=1e-5)
    K = rbf_kernel(X, X, gamma=0.2)
    given = MulticlassSVC("precomputed", **common).fit(K, y)
    assert np.allclose(given.decision_function(K[:50]), scores, atol=1e-5)
    linear = MulticlassSVC("linear", **common).fit(X, y)
    by_gram = MulticlassSVC(linear_kernel, **common).fit(X, y)
    in_rows = MulticlassSVC("linear", **common).fit(sparse.csr_matrix(X), y)
    assert np.allclose(linear.decision_function(X), by_gram.decision_function(X), atol=1e-5)
    assert np.allclose(linear.coef_, in_rows.coef_, atol=1e-6)


def test_threads_and_caches_change_nothing(monkeypatch):
    monkeypatch.setattr("outputcodes._kernel_machines.spoc.gram.ClassesTogether.size", 100)
    fits = [MulticlassSVC(gamma=0.2, C=5, n_jobs=jobs, cache_size=0.5).fit(X, y) for jobs in (1, 2)]
    assert np.array_equal(fits[0].dual_coef_, fits[1].dual_coef_)
    assert np.array_equal(fits[0].decision_function(X), fits[1].decision_function(X))
    roomy = MulticlassSVC(gamma=0.2, C=5).fit(X, y)
    assert abs(fits[0].objective_ - roomy.objective_) <= max(fits[0].dual_gap_, roomy.dual_gap_)


def test_single_precision_is_certified_in_double(monkeypatch):
    """Beyond EXACT_ROWS kernel values are stored in float32; the certificate is not computed from those."""
    monkeypatch.setattr("outputcodes._kernel_machines.parameters.EXACT_ROWS", 100)
    model = MulticlassSVC(gamma=0.2, C=5).fit(X, y)
    K = rbf_kernel(X, X, gamma=0.2)
    tau = np.zeros((len(X), 10))
    tau[model.support_] = model.dual_coef_.T
    scores = K @ tau
    loss = 5 * slacks(scores, y, "crammer-singer").sum()
    dual = (tau * np.eye(10)[y]).sum() - np.vdot(tau, scores) / 2
    assert model.objective_ == pytest.approx(np.vdot(tau, scores) / 2 + loss, rel=1e-9)
    assert model.dual_gap_ == pytest.approx(np.vdot(tau, scores) / 2 + loss - dual, rel=1e-6)


@pytest.mark.parametrize("kernel", ["linear", "rbf", "precomputed"])
def test_weights_are_repetitions_and_zero_is_absence(kernel):
    times = np.arange(len(T)) % 3
    labels = np.where((times == 0) & (T == 0), 9, T)  # a class that only rows without weight have
    often = np.repeat(np.arange(len(T)), times)
    K = rbf_kernel(N, gamma=0.3)
    A, B, new = (K, K[np.ix_(often, often)], K[:, often]) if kernel == "precomputed" else (N, N[often], N)
    weighted = MulticlassSVC(kernel, gamma=0.3, tol=1e-8).fit(A, labels, sample_weight=times)
    repeated = MulticlassSVC(kernel, gamma=0.3, tol=1e-8).fit(B, labels[often])
    assert weighted.classes_.tolist() == [0, 1, 2, 3]
    assert np.allclose(weighted.decision_function(A), repeated.decision_function(new), atol=1e-6)
    assert (times[weighted.support_] > 0).all()


def test_support_patterns():
    iris, labels = load_iris(return_X_y=True)
    model = MulticlassSVC(gamma=0.5, tol=1e-6).fit(iris, labels)
    assert model.dual_coef_.shape == (3, len(model.support_))
    assert np.abs(model.dual_coef_.sum(axis=0)).max() < 1e-12
    assert model.n_support_.tolist() == [int((row != 0).sum()) for row in model.dual_coef_]
    # Without the others the machine is the same.
    rest = MulticlassSVC(gamma=0.5, tol=1e-6).fit(iris[model.support_], labels[model.support_])
    assert np.allclose(rest.decision_function(iris), model.decision_function(iris), atol=1e-3)


@pytest.mark.parametrize("kernel", ["linear", "rbf"])
@pytest.mark.parametrize("formulation", FORMULATIONS)
def test_warm_starts(kernel, formulation):
    model = MulticlassSVC(kernel, gamma=0.3, C=1.0, formulation=formulation, tol=1e-6, warm_start=True).fit(N, T)
    epochs = model.n_iter_
    assert model.fit(N, T).n_iter_ < epochs
    cold = MulticlassSVC(kernel, gamma=0.3, C=3.0, formulation=formulation, tol=1e-6).fit(N, T)
    assert np.allclose(model.set_params(C=3.0).fit(N, T).decision_function(N), cold.decision_function(N), atol=1e-3)
    assert model.fit(N[:40], T[:40]).objective_ < cold.objective_  # other data: a start of no use


def test_features_far_from_the_origin():
    near = MulticlassSVC(gamma=0.3, tol=1e-6).fit(N, T)
    far = MulticlassSVC(gamma=0.3, tol=1e-6).fit(N + 1e5, T)
    assert np.allclose(near.decision_function(N), far.decision_function(N + 1e5), atol=1e-4)


def test_gamma_is_scikit_learns():
    for gamma in ("scale", "auto"):
        ours = MulticlassSVC(gamma=gamma, tol=1e-8).fit(N, T)
        number = SVC(gamma=gamma).fit(N, T)._gamma
        assert np.allclose(
            ours.decision_function(N), MulticlassSVC(gamma=number, tol=1e-8).fit(N, T).decision_function(N)
        )


@pytest.mark.parametrize("kernel", ["linear", "rbf"])
def test_too_few_iterations_are_said_and_certified(kernel, monkeypatch):
    monkeypatch.setattr("outputcodes._kernel_machines.spoc.gram.ClassesTogether.size", 10)
    with pytest.warns(ConvergenceWarning, match="MulticlassSVC did not converge"):
        stopped = MulticlassSVC(kernel, max_iter=2).fit(N, T)
    assert stopped.n_iter_ == 2
    optimum = MulticlassSVC(kernel, tol=1e-6).fit(N, T).objective_
    assert 0 < stopped.objective_ - optimum <= stopped.dual_gap_


def test_pickled_machines_answer_the_same():
    for kernel in ("linear", "rbf"):
        model = MulticlassSVC(kernel).fit(N, T)
        assert np.array_equal(pickle.loads(pickle.dumps(model)).decision_function(N), model.decision_function(N))


@pytest.mark.parametrize(
    ("params", "message"),
    [
        ({"C": 0}, "C=0 must be a positive number"),
        ({"tol": "small"}, "tol='small' must be"),
        ({"cache_size": -1}, "cache_size=-1 must be"),
        ({"max_iter": 0}, "max_iter=0 must be"),
        ({"kernel": "gauss"}, "kernel='gauss' must be one of rbf"),
        ({"gamma": 0}, "gamma=0 must be 'scale', 'auto' or a positive number"),
        ({"degree": np.nan}, "degree=nan must be a finite number"),
        ({"formulation": "ovo"}, "formulation='ovo' must be one of crammer-singer, weston-watkins"),
        ({"kernel": "precomputed"}, "needs a square X in fit"),
        ({"kernel": "poly", "gamma": 1e300}, "kernel values are not finite"),
        ({"cache_size": 1e-9}, "cache_size=1e-09 MB is too small for two rows"),
        ({"kernel": lambda A, B: -linear_kernel(A, B)}, "not positive semidefinite"),
    ],
)
def test_bad_parameters(params, message):
    with pytest.raises(ValueError, match=message):
        MulticlassSVC(**params).fit(N, T)
