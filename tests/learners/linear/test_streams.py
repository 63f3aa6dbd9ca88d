"""Batches one after another: Ridge exactly, the others by steps; classes that come late; what is refused."""

import pickle
import re

import numpy as np
import pytest
import scipy.sparse as sp
from scipy.optimize import minimize
from sklearn.base import clone
from sklearn.datasets import load_digits
from sklearn.linear_model import LogisticRegression, Perceptron, SGDClassifier, SGDRegressor
from sklearn.naive_bayes import GaussianNB

from outputcodes import OutputCodeClassifier
from outputcodes.codes import AllPairs, Complete, Dense, OneVsAll, Sparse
from outputcodes.learners import LinearSVM, Logistic, Ridge
from outputcodes.learners.linear.metrics import Centre, DiagonalMetric, FullMetric
from outputcodes.learners.linear.reservoir import Reservoir

X, y = load_digits(return_X_y=True)
X, y = X[:600] / 16, np.array(list("abcdefghij"))[y[:600]]
WEIGHT = np.random.default_rng(0).integers(0, 3, 600).astype(float)
ORDER = np.random.default_rng(1).permutation(600)
# The first batches lack three classes.
LATE = ORDER[np.argsort(np.isin(y[ORDER], ["b", "g", "j"]), kind="stable")]


def streamed(model, order=ORDER, batches=7, data=X, weight=None, classes=None):
    for rows in np.array_split(order, batches):
        own = None if weight is None else weight[rows]
        model.partial_fit(data[rows], y[rows], classes=classes, sample_weight=own)
    return model


@pytest.mark.parametrize("make", [np.asarray, sp.csr_array])
@pytest.mark.parametrize("code", ["one-vs-all", "all-pairs", "dense", "sparse"])
@pytest.mark.parametrize("options", [{}, {"class_weight": "balanced"}, {"column_weight": "balanced"}], ids=str)
def test_ridge_is_exact(make, code, options):
    data = make(X)
    model = OutputCodeClassifier(Ridge(0.3), code=code, random_state=0, **options)
    whole = clone(model).fit(data, y, sample_weight=WEIGHT)
    parts = streamed(clone(model), data=data, weight=WEIGHT, classes=np.unique(y))
    assert np.array_equal(parts.code_matrix_, whole.code_matrix_)
    assert np.allclose(parts.margins(data), whole.margins(data), atol=1e-8)
    assert np.array_equal(parts.predict(data), whole.predict(data))


@pytest.mark.parametrize("code", ["one-vs-all", "all-pairs"])
def test_ridge_is_exact_after_every_batch_and_with_late_classes(code):
    model = OutputCodeClassifier(Ridge(), code=code)
    so_far = np.zeros(0, dtype=int)
    for rows in np.array_split(LATE, 5):
        model.partial_fit(X[rows], y[rows])
        so_far = np.append(so_far, rows)
        whole = OutputCodeClassifier(Ridge(), code=code).fit(X[so_far], y[so_far])
        assert np.array_equal(model.classes_, whole.classes_)
        assert np.array_equal(model.predict(X), whole.predict(X))
        D = model.decision_function(X)
        assert np.allclose(D, whole.decision_function(X), atol=1e-8)


@pytest.mark.parametrize("code", [OneVsAll(), AllPairs(), Dense(), Sparse()], ids=str)
@pytest.mark.parametrize("learner", [Ridge(), Logistic(), LinearSVM(), LinearSVM(loss="hinge")], ids=str)
def test_classes_come_late_and_columns_do_not_depend_on_threads(code, learner):
    models = [streamed(OutputCodeClassifier(learner, code=code, random_state=0, n_jobs=n), LATE) for n in (1, 2)]
    one, two = models
    assert np.array_equal(one.classes_, np.unique(y))
    assert np.array_equal(one.coef_, two.coef_)
    assert one.code_matrix_.shape[0] == 10
    assert len(np.unique(one.code_matrix_, axis=0)) == 10
    # New classes are learned: chance is 90 %.
    late = np.isin(y, ["b", "g", "j"])
    assert np.mean(one.predict(X[late]) != y[late]) < 0.3
    again = pickle.loads(pickle.dumps(one))
    assert np.array_equal(again.predict(X), one.predict(X))
    more = [model.partial_fit(X[:50], y[:50]).coef_ for model in (one, again)]
    assert np.array_equal(*more)


def objective(theta, features, t, c, loss, free):
    penalised = theta[:-1] if free else theta
    return 0.5 * penalised @ penalised + c @ loss(t * (features @ theta[:-1] + theta[-1]))


@pytest.mark.parametrize(
    ("learner", "loss"),
    [
        (Logistic(C=2.0), lambda z: np.logaddexp(0, -z)),
        (LinearSVM(C=2.0), lambda z: np.maximum(0, 1 - z) ** 2),
    ],
    ids=["logistic", "squared hinge"],
)
def test_the_first_step_is_the_minimum_and_the_next_starts_from_its_curvature(learner, loss):
    few, t = X[:60, 20:24], np.where(np.isin(y[:60], list("abcde")), 1.0, -1.0)
    c = 2.0 * np.random.default_rng(3).uniform(0.5, 2, 60)
    code = np.array([[-1], [1]])
    model = OutputCodeClassifier(learner, code=code).partial_fit(few, t, sample_weight=c / 2.0)
    free = isinstance(learner, Logistic)
    best = minimize(objective, np.zeros(5), args=(few, t, c, loss, free), tol=1e-12)
    found = model.columns_.fitted
    theta = np.append(found.coef[:, 0], found.intercept)
    assert np.allclose(theta, best.x, atol=2e-4)
    # The second batch: a quadratic model of the first, by its definition, and the losses of the new rows.
    eps = 1e-4
    ones = np.hstack([few, np.ones((60, 1))])
    z = t * (ones @ theta)
    bend = (loss(z + eps) - 2 * loss(z) + loss(z - eps)) / eps**2
    A = (ones.T * (c * bend)) @ ones + np.diag([1, 1, 1, 1, 0 if free else 1])
    new, s = X[60:90, 20:24], np.where(np.isin(y[60:90], list("abcde")), 1.0, -1.0)

    def model_of_all(v):
        return 0.5 * (v - theta) @ A @ (v - theta) + 2.0 * loss(s * (new @ v[:-1] + v[-1])).sum()

    second = minimize(model_of_all, theta, tol=1e-12)
    found = model.partial_fit(new, s).columns_.fitted
    assert np.allclose(np.append(found.coef[:, 0], found.intercept), second.x, atol=2e-3)


def test_metrics_are_inverses_of_sums():
    rng = np.random.default_rng(0)
    rows, bend, penalty = rng.normal(size=(9, 4)), rng.uniform(0, 2, 9), rng.uniform(1, 2, 4)
    bend[3] = 0
    full = FullMetric(penalty)
    for part in (slice(0, 5), slice(5, 9)):
        full.add(rows[part], bend[part])
    A = np.diag(penalty) + (rows.T * bend) @ rows
    assert np.allclose(np.linalg.inv(full.inverse), A)
    assert np.allclose(full.kernel(rows), rows @ np.linalg.inv(A) @ rows.T)
    # The diagonal, of centred rows with a constant 2 at their end.
    rows[:, -1] = 2.0
    for given in (rows, sp.csr_array(rows)):
        centre = Centre(4, 2.0)
        centre.add(given, np.ones(9))
        mean = np.append(rows[:, :-1].mean(axis=0), 0)
        assert np.allclose(centre.mean, mean)
        diagonal = DiagonalMetric(penalty, centre)
        diagonal.add(given, bend)
        expected = penalty + ((rows - mean) ** 2).T @ bend
        assert np.allclose(1 / diagonal.inverse, expected)
        assert np.allclose(diagonal.kernel(given), ((rows - mean) / expected) @ (rows - mean).T)
        u = rng.normal(size=9)
        # What a step changes in the scores of all rows is K u.
        assert np.allclose(given @ diagonal.step(given, u), diagonal.kernel(given) @ u)


def test_every_row_has_the_same_chance_to_be_in_the_sample():
    counts = np.zeros(40)
    for seed in range(600):
        sample = Reservoir(10, seed)
        for rows in np.array_split(np.arange(40), 7):
            sample.add(np.column_stack([rows, rows]), rows, rows + 1.0)
        assert len(set(sample.y.tolist())) == 10
        assert np.array_equal(sample.X[:, 0], sample.y)
        assert np.array_equal(sample.weight, sample.y + 1.0)
        counts[sample.y] += 1
    # 150 expected, with a standard deviation of 10.6.
    assert np.abs(counts - 150).max() < 45


@pytest.mark.parametrize(
    "estimator",
    [SGDClassifier(loss="log_loss", random_state=0), Perceptron(), GaussianNB(), SGDRegressor(random_state=0)],
    ids=str,
)
@pytest.mark.parametrize("order", [ORDER, LATE], ids=["mixed", "late"])
def test_foreign_estimators_get_the_rows_of_their_column(estimator, order):
    model = streamed(OutputCodeClassifier(estimator, code="all-pairs"), order)
    arrived = model.stream_.labels
    assert sorted(arrived) == model.classes_.tolist()
    for column in (0, 20, 44):
        first, second = (arrived[r] for r in np.flatnonzero(model.stream_.M[:, column]))
        alone = clone(estimator)
        regresses = isinstance(estimator, SGDRegressor)
        for rows in np.array_split(order, 7):
            own = rows[np.isin(y[rows], [first, second])]
            seen = np.isin(y[order[: np.flatnonzero(order == rows[-1])[0] + 1]], [first, second])
            # The column exists once its second class has come.
            if own.size and arrived.index(second) < len(set(y[order[: len(seen)]])):
                signs = np.where(y[own] == first, 1, -1)
                target = signs.astype(float) if regresses else (signs > 0).astype(int)
                alone.partial_fit(X[own], target, **({} if regresses else {"classes": [0, 1]}))
        got = model.stream_.stream.estimators[column]
        assert np.allclose(got.predict(X), alone.predict(X))


def test_open_codes_and_how_they_grow():
    for code in (OneVsAll(), AllPairs()):
        M = code.open(2)
        for k in range(2, 6):
            M = code.grown(M, k)
            expected = code.draw(k + 1).matrix()
            # The same columns, perhaps in another order.
            assert sorted(map(bytes, M.T)) == sorted(map(bytes, expected.T))
    for code in (Dense(), Sparse()):
        M = code.open(4, 0)
        assert len(M) == 18
        assert code.grown(M, 17) is M
        with pytest.raises(ValueError, match=rf"{type(code).__name__} was drawn with 18 rows, and all of them"):
            code.grown(M, 18)
        assert len(code.open(6, 0, spare=False)) == 6


def test_what_is_refused():
    rows = np.arange(50)
    start = OutputCodeClassifier("ridge", code=Complete()).partial_fit(X[rows], y[rows], classes=np.unique(y))
    with pytest.raises(ValueError, match=r"y has the labels 'z', which are not among the classes of the first"):
        start.partial_fit(X[:1], ["z"])
    assert np.array_equal(start.classes_, np.unique(y))
    start.partial_fit(X[50:60], y[50:60])
    with pytest.raises(
        ValueError, match=r"classes has \['z'\], which no call before had: name all of them in the first"
    ):
        start.partial_fit(X[:1], ["a"], classes=["a", "z"])
    grows = OutputCodeClassifier("ridge").partial_fit(X[rows], y[rows])
    with pytest.raises(ValueError, match=r"classes has \['z'\], which no call before had: leave classes out"):
        grows.partial_fit(X[:1], ["a"], classes=["a", "z"])
    for classes, message in [
        ("ab", r"classes='ab' must be a list of all labels"),
        ([["a"], ["b"]], r"classes=\[\['a'\], \['b'\]\] must be a list of all labels"),
        (["a", "a"], r"classes=\['a', 'a'\] must name at least two classes"),
        (["a", "b", None], r"classes=\['a', 'b', None\] has a missing label"),
        ([0.0, 1.0, np.nan], r"classes=\[0.0, 1.0, nan\] has a missing label"),
    ]:
        with pytest.raises(ValueError, match=message):
            OutputCodeClassifier("ridge").partial_fit(X[rows], y[rows], classes=classes)
    with pytest.raises(ValueError, match=r"The first batch has only the class \['a'\]: name all classes"):
        OutputCodeClassifier("ridge").partial_fit(X[:2], ["a", "a"])
    for model, reason in [
        (OutputCodeClassifier("kernel-svm"), r"KernelSVM can't learn from batches \(partial_fit\)"),
        (OutputCodeClassifier(LogisticRegression()), r"LogisticRegression has no partial_fit and can't learn from"),
        (OutputCodeClassifier("ridge", probability="softmax"), r"probability='softmax' is fitted to margins of held"),
        (OutputCodeClassifier("ridge", decoder="likelihood"), r"Likelihood learns from margins of all rows"),
        *(
            (OutputCodeClassifier("ridge", code=code), r"is made from data, which partial_fit has not seen yet")
            for code in ("decoc", "forest", "ecoc-one", "designed")
        ),
        (OutputCodeClassifier(SGDClassifier(), variant="single-call"), r"SingleCall can't learn from batches"),
    ]:
        assert not hasattr(model, "partial_fit")
        with pytest.raises(AttributeError) as raised:
            model.partial_fit(X, y)
        assert re.search(reason, f"{raised.value} {raised.value.__cause__}")
    with pytest.raises(ValueError, match="estimator='rigde' is unknown"):
        OutputCodeClassifier("rigde").partial_fit(X, y)
    with pytest.raises(ValueError, match=r"y is multilabel"):
        OutputCodeClassifier("ridge", code="one-vs-all").partial_fit(X[:2], [[0, 1], [1, 1]])
    with pytest.raises(ValueError, match=r"X has 3 features"):
        start.partial_fit(X[:5, :3], y[:5])
    wide = sp.csr_array((3, 20_000))
    with pytest.raises(ValueError, match=r"Ridge learns from batches by Gram matrices, and 1 of 20000 × 20000"):
        OutputCodeClassifier("ridge", code="one-vs-all").partial_fit(wide, ["a", "b", "c"])


@pytest.mark.parametrize("first", [1, 60])
def test_a_mapping_names_all_classes(first):
    classes = np.unique(y)
    code = dict(zip(classes, AllPairs().draw(len(classes)).matrix(), strict=True))
    model, order = OutputCodeClassifier("ridge", code=code), np.argsort(y, kind="stable")
    for rows in np.split(order, [first, 200, 400]):
        model.partial_fit(X[rows], y[rows])
    whole = OutputCodeClassifier("ridge", code=code).fit(X, y)
    assert np.array_equal(model.classes_, classes)
    np.testing.assert_allclose(model.margins(X), whole.margins(X), atol=1e-9)
    known = OutputCodeClassifier("ridge", code=code).partial_fit(X, y)
    for stream in (model, known, clone(known).partial_fit(X[:60], y[:60], classes=classes[:4])):
        with pytest.raises(
            ValueError, match=r"y has the labels 'zz', which are not among the classes of the first call or"
        ):
            stream.partial_fit(X[:1], ["zz"])
    with pytest.raises(ValueError, match=r"code has no row for the classes \['zz'\]"):
        clone(known).partial_fit(X, y, classes=[*classes, "zz"])


@pytest.mark.parametrize(
    "changed",
    [{"estimator__alpha": 1e6}, {"estimator": Logistic()}, {"estimator": "tree"}, {"code": "decoc"}],
    ids=["parameter", "estimator", "estimator-without-streams", "code-without-streams"],
)
def test_what_is_set_between_batches_is_ignored(changed):
    model, same = (OutputCodeClassifier(Ridge(), code="one-vs-all").partial_fit(X[:300], y[:300]) for _ in range(2))
    model.set_params(**changed)
    for stream in (model, same):
        stream.partial_fit(X[300:], y[300:])
    assert np.array_equal(model.margins(X), same.margins(X))
    assert model.margin_loss_ == same.margin_loss_
    new = clone(model)
    assert hasattr(model.fit(X, y), "partial_fit") == hasattr(new, "partial_fit")
    if not hasattr(new, "partial_fit"):
        return
    again = model.partial_fit(X, y)
    assert np.array_equal(again.margins(X), new.partial_fit(X, y).margins(X))
    assert not np.allclose(again.margins(X), same.margins(X))


def test_fit_starts_again_and_a_batch_without_new_rows_of_a_class_is_normal():
    model = streamed(OutputCodeClassifier("ridge", code="one-vs-all"))
    model.fit(X[:100], y[:100])
    whole = OutputCodeClassifier("ridge", code="one-vs-all").fit(X[:100], y[:100])
    assert np.array_equal(model.margins(X), whole.margins(X))
    # And the other way: a stream starts from nothing.
    parts = streamed(OutputCodeClassifier("ridge", code="one-vs-all").fit(X[:100, :9], y[:100]))
    assert np.array_equal(parts.margins(X), streamed(OutputCodeClassifier("ridge", code="one-vs-all")).margins(X))
    model = OutputCodeClassifier("logistic", code="one-vs-all").partial_fit(
        X[:50], y[:50], classes=[*np.unique(y), "zz"]
    )
    # A class that has not come yet has a constant column.
    assert (model.margins(X)[:, -1] == -1).all()
    for row in range(50, 60):
        model.partial_fit(X[row : row + 1], y[row : row + 1])
    assert model.predict(X).shape == (600,)
