"""KernelSVM on a real GPU, beside the CPU. Run by `make test-gpu`; nothing else collects this file."""

import numpy as np
import pytest
from scipy import sparse
from sklearn.datasets import load_digits

from outputcodes import OutputCodeClassifier
from outputcodes._kernel_machines.device import backend
from outputcodes.learners import KernelSVM

try:
    DEVICE = backend.as_device("cuda")
except backend.DeviceError as error:
    pytest.skip(f"NOT TESTED, there is no GPU: {error}", allow_module_level=True)


@pytest.fixture(scope="module")
def digits():
    X, y = load_digits(return_X_y=True)
    return (X / 16).astype(np.float32), y


def objective(model, X, y, bias):
    fitted = model.columns_.fitted
    alpha = fitted.dual()
    f = fitted.margins(X) - (0.0 if bias == "folded" else fitted.intercept)
    return alpha.sum(axis=0) - 0.5 * (alpha * model.code_matrix_[y] * f).sum(axis=0)


@pytest.mark.parametrize("code", ["one-vs-all", "all-pairs", "dense", "sparse"])
@pytest.mark.parametrize(
    "parameters",
    [
        {"C": 10, "gamma": 0.05},
        {"bias": "folded"},
        {"bias": "none"},
        {"kernel": "linear"},
        {"kernel": "poly", "degree": 2, "coef0": 1.0, "gamma": 0.05},
    ],
)
def test_objectives_and_certificates(digits, code, parameters):
    X, y = digits
    models = [
        OutputCodeClassifier(KernelSVM(**parameters, device=device), code=code, random_state=0).fit(X, y)
        for device in ("cpu", "cuda")
    ]
    certificate = models[1].columns_.fitted.certificate
    assert certificate.converged.all()
    on_cpu, on_gpu = (objective(model, X.astype(float), y, parameters.get("bias")) for model in models)
    np.testing.assert_allclose(on_gpu, on_cpu, rtol=1e-5)


def test_the_same_bits_every_time(digits):
    X, y = digits
    first, again = (
        OutputCodeClassifier(KernelSVM(C=10, device="cuda"), code="dense", random_state=0).fit(X, y) for _ in range(2)
    )
    np.testing.assert_array_equal(first.decision_function(X), again.decision_function(X))
    np.testing.assert_array_equal(first.columns_.fitted.dual(), again.columns_.fitted.dual())


def test_arrays_on_the_device_are_taken_as_they_are(digits):
    import cupy as cp

    X, y = digits
    host = OutputCodeClassifier(KernelSVM(device="cuda"), code="one-vs-all").fit(X, y)
    there = OutputCodeClassifier(KernelSVM(device="cuda"), code="one-vs-all").fit(cp.asarray(X), y)
    answer = there.decision_function(cp.asarray(X))
    assert isinstance(answer, np.ndarray)
    np.testing.assert_array_equal(answer, host.decision_function(X))


def test_parts_of_the_rows(digits, monkeypatch):
    from outputcodes._kernel_machines.device.cuda import CudaGram

    X, y = digits
    whole = OutputCodeClassifier(KernelSVM(C=10, gamma=0.05, device="cuda"), code="one-vs-all").fit(X, y)
    monkeypatch.setattr(CudaGram, "room", lambda gram: 600)
    parts = OutputCodeClassifier(KernelSVM(C=10, gamma=0.05, device="cuda"), code="one-vs-all").fit(X, y)
    assert parts.columns_.fitted.certificate.converged.all()
    values = [objective(model, X.astype(float), y, "free") for model in (whole, parts)]
    np.testing.assert_allclose(values[1], values[0], rtol=1e-5)


def test_sparse_precomputed_and_weights(digits):
    X, y = digits
    weight = np.random.default_rng(0).integers(0, 3, len(y)).astype(float)
    K = (X @ X.T).astype(float)
    for given, parameters in [(sparse.csr_array(X), {"gamma": 0.05}), (K, {"kernel": "precomputed"})]:
        scores = [
            OutputCodeClassifier(KernelSVM(**parameters, device=device, tol=1e-4), code="one-vs-all")
            .fit(given, y, sample_weight=weight)
            .decision_function(given)
            for device in ("cpu", "cuda")
        ]
        np.testing.assert_allclose(scores[1], scores[0], atol=5e-3)


def test_infinite_numbers_are_refused(digits):
    X, y = digits
    X = X.copy()
    X[5, 3] = np.inf
    with pytest.raises(ValueError, match="Input X contains NaN or infinity"):
        OutputCodeClassifier(KernelSVM(device="cuda")).fit(X, y)
