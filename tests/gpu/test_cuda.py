"""KernelSVM on a real GPU, beside the CPU. Run by `make test-gpu`; nothing else collects this file."""

import numpy as np
import pytest
from scipy import sparse
from sklearn.datasets import load_digits

from outputcodes import OutputCodeClassifier
from outputcodes._kernel_machines.device import backend
from outputcodes.learners import KernelSVM
from outputcodes.selection import BoundSearch, GridSearch, Race

try:
    DEVICE = backend.as_device("cuda")
except backend.DeviceError as error:
    pytest.skip(f"NOT TESTED, there is no GPU: {error}", allow_module_level=True)

import cupy as cp

from outputcodes._kernel_machines.device import cuda
from outputcodes._kernel_machines.device.cuda import CudaGram


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
    X, y = digits
    host = OutputCodeClassifier(KernelSVM(device="cuda"), code="one-vs-all").fit(X, y)
    there = OutputCodeClassifier(KernelSVM(device="cuda"), code="one-vs-all").fit(cp.asarray(X), y)
    answer = there.decision_function(cp.asarray(X))
    assert isinstance(answer, np.ndarray)
    np.testing.assert_array_equal(answer, host.decision_function(X))


def test_parts_of_the_rows(digits, monkeypatch):
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


@pytest.mark.parametrize("kind", ["cupy", "torch"])
def test_a_binary_svm_takes_arrays_on_the_device(digits, kind):
    X, y = digits
    there = pytest.importorskip(kind).asarray(X, **({"device": "cuda"} if kind == "torch" else {}))
    weight = np.where(np.arange(len(y)) % 7, 1.0, 0.0)
    expected = KernelSVM(device="cuda").fit(X, y > 4, weight)
    found = KernelSVM(device="cuda").fit(there, y > 4, weight)
    # Rows of weight 0 stay on the device, and γ = "scale" sees them.
    near = KernelSVM(device="cuda", gamma=1 / (X.shape[1] * X.var())).fit(X, y > 4, weight)
    np.testing.assert_allclose(found.decision_function(there), near.decision_function(X), atol=5e-3)
    assert (found.predict(there) == expected.predict(X)).mean() > 0.99


def test_nan_and_kernel_values_on_the_device(digits):
    X, y = digits
    model = OutputCodeClassifier(KernelSVM(device="cuda"), code="one-vs-all").fit(X, y)
    odd = cp.asarray(X).copy()
    odd[3, 5] = cp.nan
    with pytest.raises(ValueError, match="contains NaN"):
        model.predict(odd)
    K = X @ X.T
    given = OutputCodeClassifier(KernelSVM(kernel="precomputed", device="cuda"), code="one-vs-all").fit(
        cp.asarray(K), y
    )
    np.testing.assert_allclose(given.margins(cp.asarray(K)), given.margins(K), atol=1e-10)


@pytest.mark.parametrize("room", [10**6, 600])
def test_columns_in_blocks(digits, monkeypatch, room):
    X, y = digits
    monkeypatch.setattr(CudaGram, "room", lambda gram: room)
    model = OutputCodeClassifier(KernelSVM(C=10, gamma=0.05, device="cuda"), code="all-pairs")
    expected = model.fit(X, y).margins(X)
    monkeypatch.setattr(CudaGram, "columns_at_once", lambda gram: 7)
    np.testing.assert_array_equal(model.fit(X, y).margins(X), expected)


def test_too_little_memory(digits):
    X, y = digits
    pool = cp.get_default_memory_pool()
    pool.free_all_blocks()
    pool.set_limit(size=pool.used_bytes() + (1 << 20))
    try:
        with pytest.raises(
            backend.DeviceError, match=r"^device='cuda': the GPU has too little memory: .* device='cpu'\.$"
        ):
            OutputCodeClassifier(KernelSVM(device="cuda"), code="one-vs-all").fit(X, y)
        with pytest.warns(UserWarning, match="device='auto' uses the CPU: the GPU has too little memory"):
            found = OutputCodeClassifier(KernelSVM(device="auto"), code="one-vs-all").fit(X, y)
    finally:
        pool.set_limit(size=0)
    on_cpu = OutputCodeClassifier(KernelSVM(), code="one-vs-all").fit(X, y)
    np.testing.assert_allclose(found.decision_function(X), on_cpu.decision_function(X), atol=1e-5)


def test_a_search_by_bounds_stays_on_the_device(digits):
    X, y = digits[0][:600], digits[1][:600]
    grid = {"estimator__gamma": [0.01, 0.05, 0.2], "estimator__C": [1.0, 10.0]}
    found = []
    for device in ("cpu", "cuda"):
        model = OutputCodeClassifier(KernelSVM(bias="folded", device=device), code="one-vs-all")
        found.append(BoundSearch(model, grid).fit(X, y))
    assert found[0].best_params_ == found[1].best_params_
    np.testing.assert_allclose(found[1].cv_results_["loo_error"], found[0].cv_results_["loo_error"], atol=0.01)


def test_inner_products_are_kept_for_a_second_kernel(digits):
    X, y = digits
    like = None
    for gamma in (0.02, 0.05, 0.1):
        model = OutputCodeClassifier(KernelSVM(C=10, gamma=gamma, device="cuda"), code="one-vs-all")
        like = model.train(X, y, like=like)
        alone = model.train(X, y)
        found, expected = (trained.problem.data.gram.store()[:, : len(X)].get() for trained in (like, alone))
        np.testing.assert_array_equal(found, expected)
        assert len(like.problem.data.gram.features._products) == (gamma > 0.02)


def test_a_matrix_that_could_not_be_computed_is_not_kept(digits, monkeypatch):
    X, y = digits
    learner, M = KernelSVM(gamma=0.05, device="cuda"), np.where(np.eye(10), 1, -1).astype(np.int8)
    data = learner.prepare(X)
    multiply = cuda._multiply

    def fail(*arguments):
        raise cp.cuda.memory.OutOfMemoryError(1, 1, 1)

    monkeypatch.setattr(cuda, "_multiply", fail)
    with pytest.raises(backend.DeviceError, match="too little memory"):
        learner.fit_columns(data, y, M)
    monkeypatch.setattr(cuda, "_multiply", multiply)
    found, expected = (learner.fit_columns(given, y, M).margins(X) for given in (data, learner.prepare(X)))
    np.testing.assert_array_equal(found, expected)


def test_a_grid_search_on_the_gpu(digits):
    X, y = digits
    grid = {"estimator__gamma": [0.01, 0.05, 0.2], "estimator__C": [1.0, 10.0]}
    search = {
        name: GridSearch(OutputCodeClassifier(KernelSVM(device=name), code="one-vs-all"), grid, cv=3).fit(X, y)
        for name in ("cpu", "cuda")
    }
    scores = [search[name].cv_results_["mean_test_score"] for name in ("cpu", "cuda")]
    np.testing.assert_allclose(*scores, atol=2 / len(y))
    assert search["cuda"].best_estimator_.columns_.device == "cuda"


def test_labels_on_the_gpu(digits):
    X, y = digits
    model = OutputCodeClassifier(KernelSVM(device="cuda"), code="one-vs-all")
    expected = model.fit(X, y).margins(X)
    np.testing.assert_array_equal(model.fit(cp.asarray(X), cp.asarray(y)).margins(X), expected)


def test_a_race_in_processes_trains_on_the_gpu(digits):
    pytest.importorskip("loky")
    race = Race(60, contestants=["kernel-svm", "ridge"], device="cuda", n_jobs=2).fit(*digits)
    assert "kernel-svm" in {one["contestant"] for one in race.standings_}
    finals = [model[-1] for model in race.model_.models]
    assert {final.columns_.device for final in finals if isinstance(final.estimator, KernelSVM)} == {"cuda"}
