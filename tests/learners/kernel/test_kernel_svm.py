"""KernelSVM against LIBSVM, against a plain solver of the dual, and against itself told otherwise."""

import numpy as np
import pytest
from scipy import sparse
from scipy.optimize import LinearConstraint, minimize
from sklearn.datasets import load_digits, make_classification
from sklearn.exceptions import ConvergenceWarning
from sklearn.metrics.pairwise import linear_kernel, rbf_kernel
from sklearn.svm import SVC
from sklearn.utils.estimator_checks import parametrize_with_checks

from outputcodes.learners.kernel.kernel_svm import KernelSVM

X, y = load_digits(return_X_y=True)
X, y = X[:600] / 16, y[:600]
SIGN = np.where(np.isin(y, [1, 3, 4, 8, 9]), 1, -1)
BINARY = np.array([[-1], [+1]], dtype=np.int8)
# Overlapping classes, so that many dual variables are at their bound and many are free.
N, T = make_classification(150, 6, flip_y=0.2, class_sep=0.6, random_state=1)
KERNELS = [
    {"kernel": "rbf", "gamma": 0.05},
    {"kernel": "rbf", "gamma": "scale"},
    {"kernel": "poly", "gamma": 0.1, "degree": 2, "coef0": 1},
    {"kernel": "linear"},
    {"kernel": "sigmoid", "gamma": 0.001, "coef0": -0.5},
    {"kernel": "rbf", "gamma": "auto"},
]


def dual_objective(K, alpha, t):
    beta = alpha * t
    return alpha.sum() - beta @ K @ beta / 2


def plain_dual(K, t, bound, equality):
    """The largest value of the dual by a general solver."""
    Q = K * np.outer(t, t)
    answer = minimize(
        lambda a: a @ Q @ a / 2 - a.sum(),
        np.zeros(len(t)),
        jac=lambda a: Q @ a - 1,
        bounds=list(zip(np.zeros(len(t)), bound, strict=True)),
        constraints=[LinearConstraint(t[None].astype(float), 0, 0)] if equality else [],
        method="SLSQP",
        options={"maxiter": 1000, "ftol": 1e-12},
    )
    return -answer.fun


@pytest.mark.parametrize("params", KERNELS, ids=lambda p: "-".join(map(str, p.values())))
@pytest.mark.parametrize(("tol", "objective", "decision"), [(1e-3, 1e-4, 1e-1), (1e-7, 1e-9, 1e-4)])
def test_the_optimum_and_the_decisions_are_libsvms(params, tol, objective, decision):
    ours = KernelSVM(C=5, tol=tol, **params).fit(X, SIGN)
    libsvm = SVC(C=5, tol=tol, **params).fit(X, SIGN)
    K = ours.columns_.kernel.block(ours.columns_.kernel.features(X), ours.columns_.kernel.features(X))
    theirs = np.zeros(len(X))
    theirs[libsvm.support_] = np.abs(libsvm.dual_coef_[0])
    assert dual_objective(K, ours.columns_.dual()[:, 0], SIGN) == pytest.approx(
        dual_objective(K, theirs, SIGN), rel=objective
    )
    assert np.allclose(ours.decision_function(X), libsvm.decision_function(X), atol=decision)


@pytest.mark.parametrize("bias", ["free", "folded", "none", False])
def test_the_dual_is_as_large_as_a_general_solver_makes_it(bias):
    Z, t = N[:70], 2 * T[:70] - 1
    weight = np.linspace(0.2, 2, len(t))
    fitted = KernelSVM(C=2, gamma=0.3, bias=bias, tol=1e-8).fit(Z, t, sample_weight=weight)
    K = rbf_kernel(Z, Z, gamma=0.3) + (bias == "folded")
    alpha = fitted.columns_.dual()[:, 0]
    assert (alpha >= 0).all()
    assert (alpha <= 2 * weight).all()
    assert dual_objective(K, alpha, t) == pytest.approx(plain_dual(K, t, 2 * weight, bias == "free"), rel=1e-6)
    if bias == "free":
        assert alpha @ t == pytest.approx(0, abs=1e-10)
    # The primal at the same machine has the same value: no other proof of optimality is needed.
    f = fitted.decision_function(Z)
    hinge = 2 * weight @ np.maximum(0, 1 - t * f)
    primal = (alpha * t) @ K @ (alpha * t) / 2 + hinge
    assert primal == pytest.approx(dual_objective(K, alpha, t), rel=1e-6)


def test_a_folded_bias_is_a_kernel_one_larger_without_a_bias():
    K = rbf_kernel(N, N, gamma=0.3)
    folded = KernelSVM(gamma=0.3, bias="folded", tol=1e-9).fit(N, T)
    larger = KernelSVM(kernel="precomputed", bias="none", tol=1e-9).fit(K + 1, T)
    assert np.allclose(folded.decision_function(N), larger.decision_function(K + 1), atol=1e-7)


@pytest.mark.parametrize("bias", ["free", "folded", "none"])
def test_the_certificate_is_the_violation_of_the_optimality_conditions(bias):
    for tol in (1e-1, 1e-3, 1e-6):
        fitted = KernelSVM(C=2, gamma=0.3, bias=bias, tol=tol).fit(N, T)
        column, t = fitted.columns_, 2.0 * T - 1
        alpha = column.dual()[:, 0]
        e = t - fitted.decision_function(N)
        up, low = np.where(t > 0, alpha < 2, alpha > 0), np.where(t > 0, alpha > 0, alpha < 2)
        outside = [] if bias == "free" else [0.0]
        violation = max([*e[up], *outside]) - min([*e[low], *outside])
        assert column.certificate.gap[0] == pytest.approx(violation, abs=1e-9)
        assert violation <= tol
        assert column.certificate.converged.all()


def test_weights_are_as_in_libsvm_and_as_repetition():
    count = np.arange(len(T)) % 3
    weighted = KernelSVM(gamma=0.3, tol=1e-8).fit(N, T, sample_weight=count)
    repeated = KernelSVM(gamma=0.3, tol=1e-8).fit(np.repeat(N, count, axis=0), np.repeat(T, count))
    libsvm = SVC(gamma=0.3, tol=1e-8).fit(N, T, sample_weight=count)
    assert np.allclose(weighted.decision_function(N), repeated.decision_function(N), atol=1e-6)
    assert np.allclose(weighted.decision_function(N), libsvm.decision_function(N), atol=1e-6)


@pytest.mark.parametrize("params", KERNELS[:5], ids=lambda p: p["kernel"])
def test_sparse_callable_and_precomputed_say_the_same(params):
    dense = KernelSVM(tol=1e-7, **params).fit(X, SIGN)
    sparser = KernelSVM(tol=1e-7, **params).fit(sparse.csr_matrix(X), SIGN)
    assert np.allclose(dense.decision_function(X), sparser.decision_function(sparse.csr_matrix(X)), atol=1e-5)
    kernel = dense.columns_.kernel
    called = KernelSVM(kernel=lambda A, B: kernel.block(kernel.features(A), kernel.features(B)), tol=1e-7).fit(X, SIGN)
    assert np.allclose(dense.decision_function(X), called.decision_function(X), atol=1e-5)
    K = kernel.block(kernel.features(X), kernel.features(X))
    given = KernelSVM(kernel="precomputed", tol=1e-7).fit(K, SIGN)
    assert np.allclose(dense.decision_function(X), given.decision_function(K), atol=1e-5)


def test_features_far_from_the_origin():
    for kernel in ("rbf", "linear"):
        near = KernelSVM(kernel=kernel, gamma=0.3, tol=1e-6).fit(N, T)
        far = KernelSVM(kernel=kernel, gamma=0.3, tol=1e-6).fit(N + 1e5, T)
        assert np.allclose(near.decision_function(N), far.decision_function(N + 1e5), atol=1e-4)


def test_too_few_steps_are_said():
    with pytest.warns(ConvergenceWarning, match="1 of 1 columns did not converge"):
        stopped = KernelSVM(max_iter=5).fit(N, T)
    certificate = stopped.columns_.certificate
    assert certificate.iterations.tolist() == [5]
    assert not certificate.converged.any()
    assert certificate.gap[0] > 1e-3


@pytest.mark.parametrize(
    ("params", "message"),
    [
        ({"C": 0}, "C=0 must be a positive number"),
        ({"C": "1"}, "C='1' must be a positive number"),
        ({"tol": -1}, "tol=-1 must be"),
        ({"cache_size": 0}, "cache_size=0 must be"),
        ({"max_iter": 0}, "max_iter=0 must be"),
        ({"kernel": "gauss"}, "kernel='gauss' must be one of rbf"),
        ({"gamma": 0}, "gamma=0 must be 'scale', 'auto' or a positive number"),
        ({"gamma": "large"}, "gamma='large' must be"),
        ({"degree": np.nan}, "degree=nan must be a finite number"),
        ({"bias": True}, "bias=True must be 'free', 'folded' or 'none'"),
        ({"kernel": "precomputed"}, "needs a square X in fit"),
        ({"kernel": "poly", "gamma": 1e300}, "kernel values are not finite"),
        ({"cache_size": 1e-9}, "cache_size=1e-09 MB is too small for two rows"),
    ],
)
def test_bad_parameters(params, message):
    with pytest.raises(ValueError, match=message):
        KernelSVM(**params).fit(N, T)


def test_bad_data():
    K = linear_kernel(N)
    with pytest.raises(ValueError, match="trained on 150 examples"):
        KernelSVM(kernel="precomputed").fit(K, T).columns_.margins(K[:, :20])
    with pytest.raises(TypeError, match=r"[Ss]parse"):
        KernelSVM(kernel="precomputed").prepare(sparse.csr_matrix(K))
    learner = KernelSVM()
    with pytest.raises(ValueError, match=r"column 0 has no example of positive weight on its \+1 side"):
        learner.fit_columns(learner.prepare(N), T, BINARY, column_weight=np.array([[1.0], [0.0]]))


@parametrize_with_checks(
    [KernelSVM(gamma=0.1, tol=1e-9), KernelSVM(kernel="linear", bias="none", tol=1e-9), KernelSVM(kernel="precomputed")]
)
def test_scikit_learn_checks(estimator, check):
    check(estimator)
