"""KernelSVM on a device: the same problem, certificate and predictions; the device itself is a stand-in in NumPy."""

import pickle
import warnings

import numpy as np
import pytest
from scipy import sparse
from sklearn.datasets import load_iris, make_classification

from outputcodes import OutputCodeClassifier
from outputcodes._kernel_machines.device import backend
from outputcodes.app.run import make_plan
from outputcodes.learners import KernelSVM
from outputcodes.selection import BoundSearch, GridSearch, Race
from stand_in_device import StandIn


@pytest.fixture
def device(monkeypatch):
    stand_in = StandIn()
    monkeypatch.setattr(backend, "_cuda", lambda: stand_in)
    return stand_in


@pytest.fixture(scope="module")
def sample():
    return make_classification(240, 6, n_informative=5, n_redundant=0, n_classes=4, random_state=0)


def objective(model, X, y, learner):
    """The value of each column's dual."""
    fitted, M = model.columns_.fitted, model.code_matrix_
    folded = 0.0 if learner.bias == "folded" else fitted.intercept
    alpha = fitted.dual()
    f = fitted.margins(X) - folded
    return alpha.sum(axis=0) - 0.5 * (alpha * M[y] * f).sum(axis=0)


@pytest.mark.parametrize(
    "parameters",
    [
        {"C": 10, "gamma": 0.5},
        {"gamma": "scale", "bias": "folded"},
        {"gamma": "auto", "bias": "none"},
        {"kernel": "linear"},
        {"kernel": "poly", "degree": 2, "coef0": 1.0, "gamma": 0.3},
        {"kernel": "sigmoid", "gamma": 0.01},
    ],
)
@pytest.mark.parametrize("code", ["one-vs-all", "all-pairs", "dense"])
def test_the_problem_is_the_one_of_the_cpu(device, sample, parameters, code):
    X, y = sample
    parameters = {**parameters, "tol": 1e-4}
    on_cpu = OutputCodeClassifier(KernelSVM(**parameters), code=code, random_state=0).fit(X, y)
    learner = KernelSVM(**parameters, device="cuda")
    on_device = OutputCodeClassifier(learner, code=code, random_state=0).fit(X, y)
    assert device.grams == 1
    certificate = on_device.columns_.fitted.certificate
    assert certificate.converged.all()
    assert (certificate.gap <= learner.tol).all()
    assert (certificate.iterations > 0).all()
    # A sigmoid is indefinite, so that there is no one solution.
    near = 1e-4 if learner.kernel == "sigmoid" else 1e-5
    np.testing.assert_allclose(objective(on_device, X, y, learner), objective(on_cpu, X, y, learner), rtol=near)
    # Margins of training rows come from the device's Gram matrix, those of new rows from its expansion.
    fitted = on_device.columns_.fitted
    np.testing.assert_allclose(fitted.margins(learner.prepare(X)), fitted.margins(X), atol=1e-8)
    assert device.expansions > 0


@pytest.mark.parametrize("bias", ["free", "folded"])
def test_a_device_without_room_for_all_rows_solves_parts_of_them(device, sample, bias):
    X, y = sample
    whole = OutputCodeClassifier(KernelSVM(C=10, gamma=0.5, bias=bias, device="cuda"), code="one-vs-all").fit(X, y)
    for most in (170, 90):  # more than the support vectors of a column, and fewer
        device.most = most
        learner = KernelSVM(C=10, gamma=0.5, bias=bias, device="cuda")
        parts = OutputCodeClassifier(learner, code="one-vs-all").fit(X, y)
        certificate = parts.columns_.fitted.certificate
        assert certificate.converged.all()
        np.testing.assert_allclose(objective(parts, X, y, learner), objective(whole, X, y, learner), rtol=1e-5)
        np.testing.assert_allclose(parts.decision_function(X), whole.decision_function(X), atol=1e-2)


@pytest.mark.parametrize("most", [10**6, 170])
def test_columns_in_blocks(device, sample, most):
    X, y = sample
    device.most = most
    model = OutputCodeClassifier(KernelSVM(C=10, gamma=0.5, device="cuda"), code="all-pairs")
    expected = model.fit(X, y).margins(X)
    device.columns_at_once = 4
    np.testing.assert_array_equal(model.fit(X, y).margins(X), expected)


def test_few_rows_of_many(device, sample):
    # All rows don't fit, but those that take part do.
    X, y = sample
    learner, M = KernelSVM(C=10, gamma=0.5, device="cuda"), np.where(np.eye(4), 1, -1).astype(np.int8)
    few = np.flatnonzero(np.arange(len(y)) % 5 == 0)
    expected = learner.fit_columns(learner.prepare(X[few]), y[few], M).margins(X)
    device.most = 200
    found = learner.fit_columns(learner.prepare(X), y, M, rows=few)
    assert found.certificate.converged.all()
    np.testing.assert_allclose(found.margins(X), expected, atol=1e-2)


def test_the_steps_of_a_column_do_not_depend_on_blocks(device, sample):
    X, y = sample
    device.most = 170
    steps = []
    for at_once in (10**6, 2):
        device.columns_at_once = at_once
        model = OutputCodeClassifier(KernelSVM(C=100, device="cuda", max_iter=40), code="all-pairs")
        with pytest.warns(UserWarning, match="did not converge"):
            steps.append(model.fit(X, y).columns_.fitted.certificate.iterations)
    np.testing.assert_array_equal(*steps)


@pytest.mark.parametrize("broken", ["gram", "columns", "expand"])
def test_a_device_that_fails(device, sample, broken):
    X, y = sample
    device.out_of_order.add(broken)
    on_cpu = OutputCodeClassifier(KernelSVM(gamma=0.5), code="one-vs-all").fit(X, y)
    if broken == "expand":  # what was trained on a device predicts without it
        found = OutputCodeClassifier(KernelSVM(gamma=0.5, device="cuda"), code="one-vs-all").fit(X, y)
        with pytest.warns(UserWarning, match="Prediction uses the CPU: the stand-in failed"):
            found.predict(X)
        warnings.simplefilter("ignore")
        np.testing.assert_allclose(found.decision_function(X), on_cpu.decision_function(X), atol=1e-2)
        return
    with pytest.raises(
        backend.DeviceError, match=rf"^device='cuda': the stand-in failed \({broken}\); or use device='cpu'\.$"
    ):
        OutputCodeClassifier(KernelSVM(gamma=0.5, device="cuda"), code="one-vs-all").fit(X, y)
    with pytest.warns(UserWarning, match="device='auto' uses the CPU: the stand-in failed"):
        found = OutputCodeClassifier(KernelSVM(gamma=0.5, device="auto"), code="one-vs-all").fit(X, y)
    assert found.columns_.device == "cpu"
    np.testing.assert_allclose(found.decision_function(X), on_cpu.decision_function(X), atol=1e-8)


@pytest.mark.parametrize("parameters", [{"kernel": lambda A, B: A @ B.T}, {"tol": 1e-8}])
def test_auto_is_the_cpu_for_what_a_device_cannot_do(device, sample, parameters):
    X, y = sample
    with pytest.warns(UserWarning, match="device='auto' uses the CPU: (kernel is a Python function|tol=1e-08)"):
        found = OutputCodeClassifier(KernelSVM(device="auto", **parameters), code="one-vs-all").fit(X, y)
    on_cpu = OutputCodeClassifier(KernelSVM(**parameters), code="one-vs-all").fit(X, y)
    np.testing.assert_allclose(found.margins(X), on_cpu.margins(X), atol=1e-8)
    assert device.grams == 0


def test_a_plan_with_a_device_has_more_rows(device):
    for where, tried in (("cpu", False), ("cuda", True)):
        plan = make_plan(60_000, 10, quick=True, device=where)
        assert any(cell.learner == "kernel-svm" for cell in plan.cells) == tried
    with pytest.raises(ValueError, match="device='gpu' must be"):
        make_plan(100, 3, device="gpu")


def test_weights_and_absent_rows(device, sample):
    X, y = sample
    weight = np.random.default_rng(0).integers(0, 3, len(y)).astype(float)
    learner, rows = KernelSVM(C=2, gamma=0.5, device="cuda", tol=1e-5), np.flatnonzero(weight)
    weighted = OutputCodeClassifier(learner, code="all-pairs").fit(X, y, sample_weight=weight)
    twice = np.repeat(np.arange(len(y)), weight.astype(int))
    repeated = OutputCodeClassifier(learner, code="all-pairs").fit(X[twice], y[twice])
    np.testing.assert_allclose(weighted.decision_function(X), repeated.decision_function(X), atol=1e-3)
    data, M = learner.prepare(X), np.where(np.eye(4), 1, -1).astype(np.int8)
    part = learner.fit_columns(data, y, M, rows=rows)
    alone = learner.fit_columns(learner.prepare(X[rows]), y[rows], M)
    np.testing.assert_allclose(part.margins(X), alone.margins(X), atol=1e-3)


def test_a_warm_start_needs_no_steps(device, sample):
    X, y = sample
    learner, M = KernelSVM(C=5, gamma=0.5, device="cuda"), np.where(np.eye(4), 1, -1).astype(np.int8)
    data = learner.prepare(X)
    first = learner.fit_columns(data, y, M)
    again = learner.fit_columns(data, y, M, init=first)
    assert again.certificate.iterations.sum() == 0
    np.testing.assert_allclose(again.margins(data), first.margins(data), atol=1e-8)


def test_the_steps_are_limited(device, sample):
    X, y = sample
    with pytest.warns(UserWarning, match="did not converge"):
        model = OutputCodeClassifier(KernelSVM(C=100, device="cuda", max_iter=3), code="one-vs-all").fit(X, y)
    assert (model.columns_.fitted.certificate.iterations <= 3).all()


def test_sparse_and_precomputed(device, sample):
    X, y = sample
    dense = OutputCodeClassifier(KernelSVM(gamma=0.2, device="cuda"), code="dense", random_state=0).fit(X, y)
    thin = OutputCodeClassifier(KernelSVM(gamma=0.2, device="cuda"), code="dense", random_state=0)
    thin.fit(sparse.csr_array(X), y)
    np.testing.assert_allclose(thin.decision_function(sparse.csr_array(X)), dense.decision_function(X), atol=1e-2)
    K, parameters = X @ X.T, {"tol": 1e-5, "device": "cuda"}
    given = OutputCodeClassifier(KernelSVM(kernel="precomputed", **parameters), code="one-vs-all").fit(K, y)
    linear = OutputCodeClassifier(KernelSVM(kernel="linear", **parameters), code="one-vs-all").fit(X, y)
    np.testing.assert_allclose(given.margins(K), linear.margins(X), atol=1e-2)


def test_a_search_with_bounds_stays_on_the_device(device, sample):
    X, y = sample
    search = {}
    for name in ("cpu", "cuda"):
        model = OutputCodeClassifier(KernelSVM(bias="folded", device=name), code="one-vs-all")
        search[name] = BoundSearch(model, {"estimator__gamma": [0.05, 0.2, 0.8], "estimator__C": [1.0, 10.0]}).fit(X, y)
    assert search["cuda"].best_params_ == search["cpu"].best_params_
    # One Gram matrix for each gamma.
    assert device.grams == 3


def test_a_grid_search_follows_the_device(device, sample):
    X, y = sample
    grid = {"estimator__gamma": [0.05, 0.2, 0.8], "estimator__C": [1.0, 10.0]}
    search = {
        name: GridSearch(OutputCodeClassifier(KernelSVM(device=name), code="one-vs-all"), grid, cv=3).fit(X, y)
        for name in ("cpu", "cuda")
    }
    scores = [search[name].cv_results_["mean_test_score"] for name in ("cpu", "cuda")]
    np.testing.assert_allclose(*scores, atol=1 / 240 + 1e-12)
    assert search["cuda"].best_estimator_.columns_.device == "cuda"
    # One Gram matrix for each gamma serves all folds, and the last fit has one more.
    assert device.grams <= 4


def test_a_race_follows_the_device(device, sample):
    X, y = sample
    names = ["kernel-svm", "ridge"]
    race = Race(None, contestants=names, blend=False, device="cuda", random_state=0).fit(X, y)
    assert device.grams > 0
    plain = Race(None, contestants=names, blend=False, random_state=0).fit(X, y)
    assert (race.predict(X) == plain.predict(X)).mean() > 0.98
    assert race.winner_ == plain.winner_
    assert "kernel-svm" in race.winner_[0]
    assert race.model_.models[0][-1].columns_.device == "cuda"


def test_without_a_gpu(monkeypatch):
    X, y = load_iris(return_X_y=True)

    def none():
        raise backend.DeviceError("no GPU was found")

    monkeypatch.setattr(backend, "_cuda", none)
    with pytest.raises(backend.DeviceError, match=r"^device='cuda': no GPU was found; or use device='cpu'\.$"):
        OutputCodeClassifier(KernelSVM(device="cuda")).fit(X, y)
    expected = OutputCodeClassifier(KernelSVM()).fit(X, y).decision_function(X)
    with warnings.catch_warnings():  # a filter that hides it here does not hide it below
        warnings.simplefilter("ignore")
        OutputCodeClassifier(KernelSVM(device="auto")).fit(X, y)
    with warnings.catch_warnings(record=True) as given:
        warnings.simplefilter("always")
        model = OutputCodeClassifier(KernelSVM(device="auto")).fit(X, y)
    assert [str(one.message) for one in given] == ["device='auto' uses the CPU: no GPU was found."]
    assert given[0].filename == __file__
    np.testing.assert_array_equal(model.decision_function(X), expected)


def test_what_was_trained_on_a_gpu_predicts_without_one(device, sample, monkeypatch):
    X, y = sample
    model = OutputCodeClassifier(KernelSVM(gamma=0.5, device="cuda"), code="one-vs-all").fit(X, y)
    assert model.columns_.device == "cuda"
    expected = model.decision_function(X)

    def none():
        raise backend.DeviceError("gone")

    monkeypatch.setattr(backend, "_cuda", none)
    np.testing.assert_allclose(model.decision_function(X), expected, atol=1e-10)


@pytest.mark.parametrize(
    ("parameters", "message"),
    [
        ({"device": "gpu"}, "device='gpu' must be 'cpu', 'cuda' or 'auto'"),
        ({"device": "cuda", "kernel": lambda A, B: A @ B.T}, "kernel is a Python function, which a GPU can't run"),
        ({"device": "cuda", "tol": 1e-8}, "tol=1e-08 is below 1e-05"),
    ],
)
def test_what_a_device_cannot_do_is_refused(device, parameters, message):
    X, y = load_iris(return_X_y=True)
    with pytest.raises(ValueError, match=message):
        OutputCodeClassifier(KernelSVM(**parameters)).fit(X, y)


def test_infinite_numbers_are_refused(device):
    X, y = load_iris(return_X_y=True)
    model = OutputCodeClassifier(KernelSVM(device="cuda")).fit(X, y)
    X[3, 1] = np.nan
    for refused in (lambda: model.fit(X, y), lambda: model.predict(X)):
        with pytest.raises(ValueError, match="Input X contains NaN"):
            refused()


def test_cupy_is_asked_for_by_name(monkeypatch):
    asked = []

    def missing(name):
        asked.append(name)
        raise ModuleNotFoundError(name)

    backend._looked_for.cache_clear()
    monkeypatch.setattr(backend, "import_module", missing)
    try:
        for _ in range(2):  # and looked for once
            with pytest.raises(backend.DeviceError, match=r"CuPy is not installed: install outputcodes\[gpu\]") as no:
                backend.as_device("cuda")
    finally:
        backend._looked_for.cache_clear()
    assert len(asked) == 1
    assert str(pickle.loads(pickle.dumps(no.value))) == str(no.value)


class OnDevice:
    """An array that can't be read here, as CuPy's."""

    def __init__(self, values):
        self.values = values

    def __dlpack_device__(self):
        return 2, 0

    def __array__(self, *_, **__):
        raise TypeError("Implicit conversion to a NumPy array is not allowed.")

    def get(self):
        return self.values


def test_labels_and_weights_on_a_device(sample):
    X, y = sample
    weight = np.linspace(1, 2, len(y))
    expected = OutputCodeClassifier(KernelSVM()).fit(X, y, sample_weight=weight).decision_function(X)
    model = OutputCodeClassifier(KernelSVM()).fit(X, OnDevice(y), sample_weight=OnDevice(weight))
    np.testing.assert_array_equal(model.decision_function(X), expected)
