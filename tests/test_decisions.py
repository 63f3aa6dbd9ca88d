"""Decisions against brute force over everything that could be decided, and the wrapper against its parts."""

import numpy as np
import pytest
from sklearn.datasets import load_iris
from sklearn.linear_model import LogisticRegression, RidgeClassifier
from sklearn.model_selection import GridSearchCV
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.utils.estimator_checks import parametrize_with_checks

from outputcodes import OutputCodeClassifier
from outputcodes.decisions import DecisionClassifier, code_distance, decide, with_priors

X, y = load_iris(return_X_y=True)
rng = np.random.default_rng(0)
P = rng.dirichlet(np.ones(4), size=200)


@pytest.mark.parametrize("decisions", [4, 5])
@pytest.mark.parametrize("reject_below", [None, 0.4])
def test_decisions_have_the_least_expected_cost(decisions, reject_below):
    cost = rng.random((4, decisions))
    for p, answer in zip(P, decide(P, cost=cost, reject_below=reject_below), strict=True):
        expected = [sum(p[r] * cost[r, s] for r in range(4)) for s in range(decisions)]
        best = expected.index(min(expected))
        if best == 4 or (reject_below is not None and p[best] < reject_below):
            best = -1
        assert answer == best


def test_without_costs_the_most_probable_class_is_decided_for():
    assert np.array_equal(decide(P), P.argmax(axis=1))
    assert np.array_equal(decide(P, cost=1 - np.eye(4)), P.argmax(axis=1))
    assert np.array_equal(decide(P, reject_below=0.5) == -1, P.max(axis=1) < 0.5)
    # Chow's rule: rejecting at a cost of c is rejecting below 1 - c.
    chow = np.column_stack([1 - np.eye(4), np.full(4, 0.6)])
    assert np.array_equal(decide(P, cost=chow), decide(P, reject_below=0.4))
    assert decide([[0.5, 0.5], [0.2, 0.8]]).tolist() == [0, 1]


def test_priors_are_bayes_rule():
    # Two classes, three values of x: posteriors by the definition under either frequencies.
    likelihood = np.array([[0.7, 0.2, 0.1], [0.1, 0.3, 0.6]])  # of x in each class
    old, new = np.array([0.5, 0.5]), np.array([0.9, 0.1])
    posterior = {}
    for name, prior in (("old", old), ("new", new)):
        joint = prior[:, None] * likelihood
        posterior[name] = (joint / joint.sum(axis=0)).T
    assert np.allclose(with_priors(posterior["old"], new, old), posterior["new"])
    assert np.array_equal(decide(posterior["old"], priors=new, training_priors=old), posterior["new"].argmax(axis=1))
    # Frequencies are what counts, not their sum; and an impossible class is never decided for.
    assert np.allclose(with_priors(P, [2, 2, 2, 2], [1, 1, 1, 1]), P)
    assert not np.any(decide(P, priors=[0, 1, 1, 1], training_priors=[1, 1, 1, 1]) == 0)
    assert np.allclose(with_priors([[1.0, 0.0, 0.0]], [0, 1, 3], [1, 1, 1]), [[0, 0.25, 0.75]])


def test_code_distance_counts_contradicted_bits():
    M = rng.choice([-1, 0, 1], size=(4, 6), p=[0.4, 0.2, 0.4])
    M[:, 0] = 1
    F = rng.normal(size=(30, 6)) * (rng.random((30, 6)) > 0.2)
    rows = rng.integers(0, 4, 30)
    for f, r, distance in zip(F, rows, code_distance(F, M, rows), strict=True):
        bits = [0.5 if z == 0 else float(z * m < 0) for m, z in zip(M[r], f, strict=True) if m != 0]
        assert distance == pytest.approx(sum(bits) / len(bits))


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"cost": np.ones((4, 3))}, r"cost of shape \(4, 3\)"),
        ({"cost": np.full((4, 4), np.nan)}, "finite"),
        ({"reject_below": 2}, "reject_below=2"),
        ({"priors": [1, 1, 1, 1]}, "priors need training_priors"),
        ({"priors": [1, 1], "training_priors": [1, 1, 1, 1]}, "must be 4 numbers"),
        ({"priors": "uniform", "training_priors": [1, 1, 1, 1]}, "priors='uniform'"),
        ({"priors": {0: 1.0}, "training_priors": [1, 1, 1, 1]}, "must be 4 numbers each"),
        ({"priors": [1, 1, 1, -1], "training_priors": [1, 1, 1, 1]}, "at least 0"),
        ({"priors": [1, 1, 1, 1], "training_priors": [0, 1, 1, 1]}, "positive"),
    ],
)
def test_bad_arguments_are_refused(arguments, message):
    with pytest.raises(ValueError, match=message):
        decide(P, **arguments)


def test_what_is_no_probability_is_refused():
    for bad in ([[0.5, 0.6]], [[-0.5, 1.5]], [0.5, 0.5], [[np.nan, 1.0]]):
        with pytest.raises(ValueError, match="sum to 1"):
            decide(bad)
    with pytest.raises(ValueError, match="does not match the rows of the code"):
        code_distance(np.zeros((2, 3)), np.ones((4, 3)), [0])


# The wrapper.

inner = OutputCodeClassifier("ridge", code="one-vs-all", probability="likelihood", random_state=0)
fitted = OutputCodeClassifier("ridge", code="one-vs-all", probability="likelihood", random_state=0).fit(X, y)


@pytest.mark.parametrize(
    "parameters",
    [
        {},
        {"cost": [[0, 1, 9], [1, 0, 1], [1, 9, 0]]},
        {"reject_below": 0.6},
        {"priors": [1, 5, 1], "reject_below": 0.6},
    ],
)
def test_the_wrapper_decides_as_the_function(parameters):
    model = DecisionClassifier(inner, **parameters).fit(X, y)
    decided = decide(fitted.predict_proba(X), training_priors=[1, 1, 1], **parameters)
    assert np.array_equal(model.predict(X), decided)
    assert np.array_equal(decide(model.predict_proba(X), **{**parameters, "priors": None}), decided)


def test_rejection_by_code_distance():
    model = DecisionClassifier(inner, reject_beyond=0.2).fit(X, y)
    best = fitted.predict(X)
    wrong = (np.sign(fitted.margins(X)) != fitted.code_matrix_[best]).mean(axis=1)
    assert 0 < (wrong > 0.2).sum() < 150
    assert np.array_equal(model.predict(X), np.where(wrong > 0.2, -1, best))


def test_the_label_for_what_is_withheld():
    names = np.array(["a", "b", "c"])[y]
    answers = DecisionClassifier(inner, reject_below=0.8).fit(X, names).predict(X)
    assert set(answers) == {"a", "b", "c", "rejected"}
    own = DecisionClassifier(inner, reject_below=0.8, rejected="?").fit(X, names).predict(X)
    assert np.array_equal(own == "?", answers == "rejected")
    with pytest.raises(ValueError, match="rejected='a' is one of the classes"):
        DecisionClassifier(inner, rejected="a", reject_below=0.5).fit(X, names)
    with pytest.raises(ValueError, match="rejected=-1 is one of the classes"):
        DecisionClassifier(inner, cost=np.ones((3, 4))).fit(X, y - 1)
    assert set(DecisionClassifier(inner).fit(X, y - 1).predict(X)) == {-1, 0, 1}


@pytest.mark.parametrize(
    ("classes", "rejected"),
    [([0, 1, 2], "?"), ([0, 1, 2], 0.5), (["a", "b", "c"], -1), ([0.0, 1.0, 2.0], None), ([False, True, True], None)],
)
def test_labels_stay_what_they_are_beside_the_label_for_what_is_withheld(classes, rejected):
    labels = np.array(classes)[y]
    model = DecisionClassifier(inner, reject_below=0.8, rejected=rejected).fit(X, labels)
    withheld = model.estimator_.predict_proba(X).max(axis=1) < 0.8
    predicted, decided = model.predict(X), model.estimator_.predict(X)
    assert 0 < withheld.sum() < 150
    for answer, label, none in zip(predicted.tolist(), decided.tolist(), withheld, strict=True):
        assert answer == (model.rejected_ if none else label)
        assert none or type(answer) is type(label)
    # The type of the result does not depend on the rows.
    assert model.predict(X[~withheld]).dtype == predicted.dtype
    assert model.score(X, labels) == np.mean((decided == labels) & ~withheld)
    weight = np.arange(150)
    assert model.score(X, labels, weight) == pytest.approx(np.average((decided == labels) & ~withheld, weights=weight))


def test_the_training_frequencies_count_weights():
    weight = rng.integers(0, 4, size=150)
    model = DecisionClassifier(LogisticRegression(max_iter=1000)).fit(X, y, sample_weight=weight)
    assert np.allclose(model.training_priors_, np.bincount(np.repeat(y, weight)) / weight.sum())


@pytest.mark.parametrize("weight", [np.ones(150), rng.integers(1, 4, size=150), np.where(y == 1, 0, 2)])
@pytest.mark.parametrize("class_weight", ["balanced", {0: 3.0, 2: 0.5}])
def test_the_training_frequencies_are_those_of_the_weighted_sample(class_weight, weight):
    mass = np.bincount(y, weights=weight)
    mass = (mass > 0) if class_weight == "balanced" else mass * [3.0, 1.0, 0.5]
    coded = OutputCodeClassifier(code="one-vs-all", probability="likelihood", class_weight=class_weight)
    # A class without weight is no class for an output code; scikit-learn divides by it.
    for estimator in (coded, LogisticRegression(max_iter=1000, class_weight=class_weight))[: 1 + weight.all()]:
        model = DecisionClassifier(estimator).fit(X, y, sample_weight=weight)
        assert np.allclose(model.training_priors_, (mass / mass.sum())[model.classes_])


def test_several_labels_a_row_are_refused():
    model = DecisionClassifier(OutputCodeClassifier(code="one-vs-all", probability="likelihood"))
    with pytest.raises(ValueError, match="1d array"):
        model.fit(X, np.eye(3, dtype=int)[y])


def test_parameters_are_judged_when_fitting():
    for parameters, message in (
        ({"cost": np.ones((2, 2))}, "cost of shape"),
        ({"reject_below": -1}, "reject_below"),
        ({"reject_beyond": 3}, "reject_beyond=3"),
        ({"priors": [1, 1]}, "must be 3 numbers"),
    ):
        with pytest.raises(ValueError, match=message):
            DecisionClassifier(inner, **parameters).fit(X, y)
    with pytest.raises(ValueError, match="estimator=RidgeClassifier has no predict_proba"):
        DecisionClassifier(RidgeClassifier()).fit(X, y)
    rows = {0: [1, -1, -1], 1: [-1, 1, -1], 2: [-1, -1, 1], 3: [1, 1, 1]}
    lacking = OutputCodeClassifier(LogisticRegression(max_iter=1000), code=rows, probability="likelihood")
    with pytest.raises(ValueError, match=r"priors=\[1, 1, 1, 1\] cannot .* no examples of the classes \[3\]"):
        DecisionClassifier(lacking, priors=[1, 1, 1, 1]).fit(X, y)
    with pytest.raises(ValueError, match="LogisticRegression has none"):
        DecisionClassifier(LogisticRegression(max_iter=1000), reject_beyond=0.5).fit(X, y)
    assert not hasattr(DecisionClassifier(OutputCodeClassifier("ridge")), "predict_proba")


def test_in_pipelines_and_searches():
    model = make_pipeline(StandardScaler(), DecisionClassifier(inner, cost=[[0, 1, 2], [1, 0, 2], [2, 1, 0]]))
    search = GridSearchCV(model, {"decisionclassifier__reject_below": [None, 0.5]}, cv=3).fit(X, y)
    assert set(search.predict(X)) <= {-1, 0, 1, 2}


FOLDS = "a row given twice is held out once, a row of weight 2 whole"


@parametrize_with_checks(
    [DecisionClassifier(LogisticRegression(tol=1e-10, max_iter=10_000)), DecisionClassifier(inner)],
    expected_failed_checks=lambda model: (
        dict.fromkeys(
            ("check_sample_weight_equivalence_on_dense_data", "check_sample_weight_equivalence_on_sparse_data"), FOLDS
        )
        if isinstance(model.estimator, OutputCodeClassifier)
        else {}
    ),
)
@pytest.mark.filterwarnings("ignore:.*columns of the code have")
def test_scikit_learn_checks(estimator, check):
    check(estimator)


def test_labels_that_are_texts_of_numbers_have_their_weights():
    coded = OutputCodeClassifier(code="one-vs-all", probability="likelihood", class_weight={"0": 3.0, "2": 0.5})
    priors = DecisionClassifier(coded).fit(X, y.astype(str)).training_priors_
    np.testing.assert_allclose(priors, np.array([3.0, 1.0, 0.5]) / 4.5)
