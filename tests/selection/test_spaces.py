"""Search spaces: every learner and system has one, its values are accepted, and costs follow their powers."""

import numpy as np
import pytest
from scipy import sparse
from sklearn.datasets import load_iris
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.svm import SVC

from outputcodes import OutputCodeClassifier
from outputcodes.app.run.systems import SYSTEMS
from outputcodes.direct import DecisionTree
from outputcodes.learners import LEARNERS, KernelSVM, PerColumn
from outputcodes.selection import SPACES, Cost, Shape, space_of

X, y = load_iris(return_X_y=True)
MODELS = {
    **{name: lambda make=make: OutputCodeClassifier(make()) for name, make in LEARNERS.items()},
    **SYSTEMS,
    "decision-tree-of-ours": DecisionTree,
}


@pytest.mark.parametrize("name", MODELS)
def test_everything_has_a_space_that_it_accepts(name):
    model = MODELS[name]()
    space = space_of(model, X, y)
    # What has no parameters has nothing to search.
    assert space.parameters or not model.get_params(), name
    assert all(parameter.start in parameter.values for parameter in space.parameters)
    for parameter in space.parameters:
        for value in parameter.values:
            model.set_params(**{parameter.name: value})
            assert model.get_params()[parameter.name] == value
    # The start is trained: its values are valid, not only known.
    shrunk = space.start() | ({"n_rounds": 5} if "n_rounds" in space.start() else {})
    assert MODELS[name]().set_params(**shrunk).fit(X, y).predict(X).shape == y.shape


def test_a_grid_spends_its_candidates_on_the_first_parameters():
    space = space_of(OutputCodeClassifier(KernelSVM()), X)
    sizes = [len(one.values) for one in space.parameters]
    assert [len(values) for values in space.grid().values()] == sizes
    for most in range(1, 25):
        grid = space.grid(most)
        assert np.prod([len(values) for values in grid.values()]) <= most
        assert all(space.start()[name] in values for name, values in grid.items())
        assert len(grid["estimator__gamma"]) == min(most, sizes[0])
    assert space.grid(1) == {n: [v] for n, v in space.start().items()}


@pytest.mark.parametrize(
    ("model", "prefix"),
    [
        (KernelSVM(), ""),
        (OutputCodeClassifier("kernel-svm"), "estimator__"),
        (make_pipeline(StandardScaler(), OutputCodeClassifier(KernelSVM())), "outputcodeclassifier__estimator__"),
        (OutputCodeClassifier(make_pipeline(StandardScaler(), SVC())), "estimator__svc__"),
        (OutputCodeClassifier(PerColumn(SVC())), "estimator__estimator__"),
    ],
)
def test_parameters_are_named_as_the_model_names_them(model, prefix):
    space = space_of(model, X, y)
    assert [one.name for one in space.parameters] == [f"{prefix}gamma", f"{prefix}C"]
    model.set_params(**space.start()).get_params()
    inside = StandardScaler().fit_transform(X) if "pipeline" in repr(model).lower() else X
    assert space.start()[f"{prefix}gamma"] == pytest.approx(1 / (4 * inside.var()), rel=1e-3)


def test_gamma_is_scale_without_a_sample_and_the_same_for_sparse_rows():
    model = OutputCodeClassifier(KernelSVM())
    assert space_of(model).start()["estimator__gamma"] == "scale"
    assert space_of(model, sparse.csr_array(X)) == space_of(model, X)


def test_what_has_no_line_has_no_parameters():
    assert space_of(OutputCodeClassifier([SVC(), SVC(), SVC()])).parameters == ()
    assert space_of(StandardScaler()).parameters == ()


def test_costs_follow_their_powers():
    cost = Cost(1.0, rows=2, features=1, classes=0.5, columns=1)
    shape = Shape(1000, 10, 4, 6)
    assert cost.ratio(shape, shape) == 1
    assert cost.ratio(shape, shape._replace(rows=3000)) == pytest.approx(9)
    assert cost.ratio(shape, Shape(1000, 20, 16, 12)) == pytest.approx(2 * 2 * 2)
    # Columns that see half of the rows are like columns of half the rows.
    assert cost.units(shape._replace(density=0.5)) == pytest.approx(cost.units(shape._replace(rows=500)))
    assert all(space.cost.at_reference > 0 and space.cost.rows > 0 for space in SPACES.values())
