"""Search spaces: what is tuned of each learner and system, where it starts, and how the time of a training grows.

One table, `SPACES`, has a line per estimator: its parameters, the most important first, and its `Cost`. It is read by
name, so that an estimator that is not installed has its line too, and a subclass has that of its base. A search, the
command line and the race ask `space_of(model, X)`, which returns the `Space` of a learner, of a classifier around it or
of a pipeline around that, with the parameter names as `set_params` of the model takes them:

- `space.start()` are the parameters to try first;
- `space.grid(most=24)` is a grid of at most that many candidates, over the most important parameters first;
- `space.distributions()` is what `RandomizedSearchCV` and `RandomSearch` draw from;
- `space.cost.seconds(Shape(n, d, k, L, density))` estimates the time of a training. The powers are meant to hold, the
  constant only roughly: after one training was measured, `space.cost.ratio(measured, wanted)` times its time is better.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any, NamedTuple

import numpy as np
from scipy import sparse
from scipy.stats import loguniform
from sklearn.base import clone
from sklearn.pipeline import Pipeline

from outputcodes._ground.validation import n_rows_of, take_rows
from outputcodes.classifier import OutputCodeClassifier
from outputcodes.learners.names import estimators_in
from outputcodes.learners.per_column import PerColumn
from outputcodes.selection.renumbered import Renumbered

# Rows from which the variance of the features is estimated, where values are relative to it.
SCALE_ROWS = 2000


@dataclass(frozen=True)
class Parameter:
    """A parameter that is tuned.

    Attributes
    ----------
    name : str
    values : tuple
        What a grid tries, in ascending order where there is an order.
    start : object
        The value to try first, one of `values`: what is best most often, not always the estimator's default.
    continuous : bool
        Whether numbers between the smallest and the largest value are of use; they are drawn evenly in the logarithm.
    relative : bool
        Whether the values are multiples of 1 / (d · variance of X), which kernels call "scale".
    """

    name: str
    values: tuple[Any, ...]
    start: Any
    continuous: bool = False
    relative: bool = False

    def at(self, prefix: str, unit: float | None) -> Parameter:
        """Return this parameter as a model around the estimator knows it, with numbers in place of multiples."""
        if not self.relative:
            return replace(self, name=prefix + self.name)
        if unit is None:
            return Parameter(prefix + self.name, ("scale",), "scale")
        # Four digits, so that the last bits of a variance choose nothing.
        values = tuple(float(f"{unit * value:.4g}") for value in self.values)
        return Parameter(prefix + self.name, values, values[self.values.index(self.start)], self.continuous)


class Shape(NamedTuple):
    """The size of a training: rows, features, classes, columns of the code, and its share of non-zero entries.

    A system without a code has as many columns as classes.
    """

    rows: int
    features: int
    classes: int
    columns: int
    density: float = 1.0


# The training whose seconds the table states: one-vs-all with ten classes.
REFERENCE = Shape(2000, 20, 10, 10)


@dataclass(frozen=True)
class Cost:
    """The time of one training: powers of the rows in a column, the features, the classes and the columns.

    Attributes
    ----------
    at_reference : float
        Seconds for the `REFERENCE` shape on one core, roughly.
    rows, features, classes, columns : float
        The powers. With columns that see only some classes, the rows are those that a column sees.
    """

    at_reference: float
    rows: float = 1.0
    features: float = 1.0
    classes: float = 0.0
    columns: float = 1.0

    def units(self, shape: Shape) -> float:
        """Return a number that is proportional to the time of a training."""
        seen = max(1.0, shape.density * shape.rows)
        powers = self.rows, self.features, self.classes, self.columns
        sizes = seen, shape.features, shape.classes, shape.columns
        return float(np.prod([float(size) ** power for size, power in zip(sizes, powers, strict=True)]))

    def seconds(self, shape: Shape) -> float:
        """Return an estimate in seconds before anything was measured.

        >>> round(Cost(2.0, rows=2).seconds(REFERENCE._replace(rows=4000)), 6)
        8.0
        """
        return self.at_reference * self.ratio(REFERENCE, shape)

    def ratio(self, measured: Shape, wanted: Shape) -> float:
        """Return how many times as long the training of another shape takes."""
        return self.units(wanted) / self.units(measured)


@dataclass(frozen=True)
class Space:
    """The parameters that are tuned, the most important first, and the cost of a training.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> X, y = load_iris(return_X_y=True)
    >>> space = space_of(OutputCodeClassifier("kernel-svm"), X)
    >>> [parameter.name for parameter in space.parameters]
    ['estimator__gamma', 'estimator__C']
    >>> {name: len(values) for name, values in space.grid(most=10).items()}
    {'estimator__gamma': 5, 'estimator__C': 2}
    >>> OutputCodeClassifier("kernel-svm").set_params(**space.start()).estimator
    KernelSVM(C=10.0, gamma=0.06417)
    """

    parameters: tuple[Parameter, ...] = ()
    cost: Cost = Cost(1.0)

    def start(self) -> dict[str, Any]:
        """Return the parameters to try first."""
        return {parameter.name: parameter.start for parameter in self.parameters}

    def grid(self, most: int | None = None) -> dict[str, list[Any]]:
        """Return a grid of at most `most` candidates; the less important parameters have fewer values, or only one."""
        left, grid = most, {}
        for parameter in self.parameters:
            count = len(parameter.values) if left is None else min(max(1, left), len(parameter.values))
            grid[parameter.name] = _near(parameter, count)
            left = None if left is None else left // count
        return grid

    def distributions(self) -> dict[str, Any]:
        """Return a distribution or a list of values for each parameter."""
        return {
            one.name: loguniform(min(one.values), max(one.values)) if one.continuous else list(one.values)
            for one in self.parameters
        }

    def at(self, prefix: str, unit: float | None = None) -> Space:
        """Return the space of a model around the estimator; `unit` is the "scale" of its features, if it is known."""
        return replace(self, parameters=tuple(one.at(prefix, unit) for one in self.parameters))


def _near(parameter: Parameter, count: int) -> list[Any]:
    """Return so many values around the start, in their order."""
    at = parameter.values.index(parameter.start)
    # The larger neighbour first: where it can't be known, starts err on the side of the smooth.
    order = sorted(range(len(parameter.values)), key=lambda i: (abs(i - at), i < at))
    return [parameter.values[i] for i in sorted(order[:count])]


def _powers(*exponents: float) -> tuple[float, ...]:
    return tuple(10.0**exponent for exponent in exponents)


_C = Parameter("C", _powers(-2, -1, 0, 1, 2), 1.0, continuous=True)
_KERNEL = (
    Parameter("gamma", (1 / 16, 1 / 4, 1.0, 4.0, 16.0), 1.0, continuous=True, relative=True),
    Parameter("C", _powers(-1, 0, 1, 2), 10.0, continuous=True),
)
_LEAVES = Parameter("max_leaves", (8, 16, 32, 64, 128, "auto"), "auto")
_ROWS = Parameter("min_rows", (1, 3, 10, 30), 1)
_ROUNDS = Parameter("n_rounds", (50, 100, 200, 500, 1000), 500)
_RATE = Parameter("learning_rate", (0.1, 0.3, 1.0), 1.0, continuous=True)
_REGION = Parameter("min_region", (1, 3, 10, 30), 1)
_LEAF = Parameter("min_samples_leaf", (1, 2, 5, 10, 30), 1)
_FOREST = (Parameter("max_features", (0.1, "sqrt", 0.5, 1.0), "sqrt"), _LEAF)
_STEP = Parameter("learning_rate", (0.03, 0.1, 0.3), 0.1, continuous=True)

SPACES: dict[str, Space] = {
    # Our learners, as the columns of a code.
    "LinearSVM": Space((_C,), Cost(0.03, rows=0.9, features=0.8, columns=0.6)),
    "Logistic": Space((_C,), Cost(0.02, rows=0.9, features=0.9, columns=0.7)),
    "Ridge": Space((Parameter("alpha", _powers(-3, -2, -1, 0, 1, 2, 3), 1.0, True),), Cost(0.003, 1, 1.5, columns=0.3)),
    "KernelSVM": Space(_KERNEL, Cost(0.12, rows=2.2, features=0.4, columns=0.7)),
    "BoostedStumps": Space((_ROUNDS,), Cost(0.4, rows=1.1)),
    "ColumnTree": Space(
        (_REGION, Parameter("min_gain", (0.0, 1e-4, 1e-3), 0.0), Parameter("max_features", (0.3, 0.6, 1.0), 1.0)),
        Cost(0.1, rows=1.1, columns=0.8),
    ),
    "BoostedTrees": Space(
        (_LEAVES, _STEP, _ROWS, Parameter("l2", (0.01, 0.1, 1.0, 10.0, "auto"), "auto")),
        Cost(0.5, rows=0.9, features=0.8, columns=0.4),
    ),
    # Our classifiers without a learner, whose columns are their classes unless they have a code.
    "GradientBoost": Space(
        (
            _LEAVES,
            Parameter("learning_rate", (0.06, 0.2, 0.6), 0.2, continuous=True),
            _ROWS,
            Parameter("l2", (0.02, 0.2, 2.0, 20.0, "auto"), "auto"),
        ),
        Cost(0.5, rows=0.8, features=0.8, columns=0.3),
    ),
    "AdaBoostMH": Space((_ROUNDS, _RATE), Cost(0.4, rows=0.8, features=0.8, columns=0.7)),
    "AdaBoostMO": Space((_ROUNDS, _RATE), Cost(0.4, rows=0.8, features=0.8, columns=0.7)),
    "AdaBoostMR": Space((_ROUNDS, _RATE), Cost(0.25, rows=0.9, features=0.8, columns=0.8)),
    "AdaBoostOC": Space((_ROUNDS, _RATE), Cost(0.02, rows=0.9, features=0.8, columns=0.1)),
    "SmoothBoost": Space((_ROUNDS, Parameter("lam", (0.1, 0.3, 0.5), 0.5)), Cost(0.03, 0.9, 0.8, columns=0.1)),
    "DecisionTree": Space((_REGION,), Cost(0.02, rows=1.2, features=0.9, columns=0.3)),
    "MulticlassSVC": Space(_KERNEL, Cost(0.25, rows=2.0, features=0.4, columns=0.3)),
    "NearestCentroids": Space((), Cost(0.002, rows=1.0, columns=0.2)),
    # Foreign systems. Boosters were measured at the reference, with four times its features, thrice its classes.
    # From 2,000 to 8,000 rows their powers are 0.2 to 0.6; these grow with the rows, so those here are larger.
    "LogisticRegression": Space((_C,), Cost(0.03, rows=0.9, columns=0.6)),
    "SVC": Space(_KERNEL, Cost(0.07, rows=1.9, columns=0.6)),
    "KNeighborsClassifier": Space(
        (Parameter("n_neighbors", (1, 3, 5, 9, 15), 5),), Cost(0.03, rows=1.5, features=0.7, columns=0.0)
    ),
    "DecisionTreeClassifier": Space((_LEAF,), Cost(0.03, rows=1.3, columns=0.5)),
    "RandomForestClassifier": Space(_FOREST, Cost(0.6, rows=1.1, features=0.5, columns=0.4)),
    "ExtraTreesClassifier": Space(_FOREST, Cost(0.5, rows=1.0, features=0.3, columns=0.3)),
    "HistGradientBoostingClassifier": Space(
        (Parameter("max_leaf_nodes", (8, 15, 31, 63), 31), _STEP, Parameter("min_samples_leaf", (5, 20, 50), 20)),
        Cost(2.1, rows=0.7, features=0.6, columns=0.7),
    ),
    "LGBMClassifier": Space(
        (Parameter("num_leaves", (15, 31, 63, 127), 31), _STEP, Parameter("min_child_samples", (5, 20, 50), 20)),
        Cost(1.5, rows=0.7, features=0.9, columns=0.8),
    ),
    "XGBClassifier": Space(
        (Parameter("max_depth", (3, 6, 9), 6), _STEP, Parameter("min_child_weight", (1, 5, 20), 1)),
        Cost(1.2, rows=0.8, features=0.9, columns=0.6),
    ),
    "CatBoostClassifier": Space((Parameter("depth", (4, 6, 8), 6),), Cost(23.0, rows=0.5, features=0.9, columns=0.9)),
}


def space_of(model: Any, X: Any = None, y: Any = None) -> Space:
    """Return the search space of a learner, a classifier or a pipeline, with its parameters as the model names them.

    Parameters
    ----------
    model : estimator
        A pipeline is searched in its last step, `OutputCodeClassifier` in its estimator. An estimator without a line in
        `SPACES`, and a list of estimators, have a space without parameters.
    X, y : the sample, optional
        They set the values of γ, after the first steps of a pipeline were fitted on some of the rows. Without X, γ is
        "scale".
    """
    if X is not None and n_rows_of(X) > SCALE_ROWS:
        some = np.linspace(0, n_rows_of(X) - 1, SCALE_ROWS).astype(np.intp)
        X, y = take_rows(X, some), None if y is None else take_rows(np.asarray(y), some)
    prefix = ""
    while True:
        if isinstance(model, Pipeline):
            if X is not None and len(model.steps) > 1:
                X = clone(model[:-1]).fit_transform(X, y)
            name, model = model.steps[-1]
            prefix += f"{name}__"
        elif isinstance(model, OutputCodeClassifier | PerColumn):
            inner = estimators_in(model.estimator)
            if len(inner) != 1 or isinstance(model.estimator, list | tuple):
                return Space()
            # A name is put in the place of an object when its parameters are set.
            model = model.estimator if isinstance(model.estimator, PerColumn) else inner[0]
            prefix += "estimator__"
        elif isinstance(model, Renumbered):
            model, prefix = model.estimator, prefix + "estimator__"
        else:
            break
    own = next((SPACES[one.__name__] for one in type(model).__mro__ if one.__name__ in SPACES), Space())
    return own.at(prefix, None if X is None else _scale(X))


def _scale(X: Any) -> float:
    """Return 1 / (d · variance of X)."""
    if sparse.issparse(X):
        size = X.shape[0] * X.shape[1]
        spread = float((X.data**2).sum() / size - (X.data.sum() / size) ** 2)
    else:
        spread = float(np.nanvar(np.asarray(X, dtype=np.float64)))
    return 1.0 / (X.shape[1] * spread) if spread > 0 else 1.0
