"""The features that moved a prediction: their parts add up to the margins, under the names of the table."""

import numpy as np
import pandas as pd
import pytest
from sklearn.datasets import load_iris
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import Pipeline, make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.svm import SVC

from outputcodes import AdaBoostMH, AdaBoostOC, GradientBoost, OutputCodeClassifier
from outputcodes.app import tables
from outputcodes.app.report import answers, explain
from outputcodes.app.run import build
from outputcodes.app.run.race.winner import view_of
from outputcodes.learners import BoostedStumps, BoostedTrees, ColumnTree, KernelSVM
from outputcodes.selection import Race
from outputcodes.selection.race import views
from outputcodes.selection.race.blend import Blend

iris = load_iris(as_frame=True)
X, y = iris.data, iris.target_names[iris.target]


LINEAR = ["ridge", "logistic", "linear-svm", LogisticRegression(max_iter=1000), KernelSVM(kernel="linear")]
SUMS = [
    *(OutputCodeClassifier(one, code="dense", random_state=0) for one in [*LINEAR, "tree", BoostedStumps(20)]),
    OutputCodeClassifier(ColumnTree(max_depth=3), code="all-pairs"),
    OutputCodeClassifier(BoostedTrees(20), code="dense", random_state=0),
    AdaBoostMH(20),
    AdaBoostOC(20, random_state=0),
]


@pytest.mark.parametrize("model", SUMS, ids=lambda model: f"{type(model).__name__}-{getattr(model, 'estimator', None)}")
def test_parts_and_a_constant_add_up_to_the_margins(model):
    model.fit(X.to_numpy(), y)
    asked = answers(model, X.to_numpy())
    M, F = model.code_matrix_, model.margins(X.to_numpy())
    for p, r in ((0, 1), (2, 1)):
        parts = np.array([asked.parts.parts(i, p, r) for i in range(0, 150, 7)])
        assert parts.shape == (22, 4)
        rest = F[::7] @ (M[p].astype(float) - M[r]) / 2 - parts.sum(axis=1)
        # What features don't explain is the same for all rows.
        np.testing.assert_allclose(rest, rest[0], atol=1e-9)
        # And the features that a row shares with another one add the same to both, unless a tree asked them in turn.
        if "tree" not in str(model).lower():
            other = X.to_numpy()[::7].copy()
            other[:, 1:] = 0
            again = answers(model, other)
            np.testing.assert_allclose([again.parts.parts(i, p, r)[0] for i in range(22)], parts[:, 0], atol=1e-12)


def test_a_linear_classifier_without_a_code_is_explained_by_its_coefficients():
    model = LogisticRegression(max_iter=1000).fit(X, y)
    asked = answers(model, X)
    D = model.decision_function(X)
    for i in (0, 75, 149):
        rest = D[i, 2] - D[i, 0] - asked.parts.parts(i, 2, 0).sum()
        assert rest == pytest.approx(model.intercept_[2] - model.intercept_[0])
    two = LogisticRegression().fit(X[:100], y[:100])
    parts = answers(two, X[:100]).parts.parts(3, 1, 0)
    assert parts.sum() == pytest.approx(two.decision_function(X[3:4])[0] - two.intercept_[0])


@pytest.mark.parametrize("classes", [2, 3])
def test_boosted_trees_are_explained_by_the_questions_on_the_paths_of_a_row(classes):
    values, labels = X.to_numpy()[: 50 * classes].copy(), y[: 50 * classes]
    values[::11, 2], values[:, 1] = np.nan, np.rint(values[:, 1] * 3)
    model = GradientBoost(12, max_leaves=8, categorical_features=[1], validation_fraction=None, random_state=0)
    asked = answers(model.fit(values, labels), values)
    F = np.array(list(map(np.copy, model.forest_.staged_scores(values))))
    steps = np.diff(F, axis=0, prepend=np.tile(model.forest_.base, (1, len(values), 1)))
    for i, p, r in ((3, 0, 1), (70, 1, 0), (99, classes - 1, 0)):
        expected = np.zeros(4)
        for root, step in zip(model.forest_.roots, steps[:, :, p] - steps[:, :, r], strict=True):
            node, here = root, np.ones(len(values), bool)
            while (feature := followed(model.forest_.nodes, node, values)) is not None:
                f, left = feature
                before, here = step[here].mean(), here & (left == left[i])
                expected[f] += step[here].mean() - before
                node = model.forest_.nodes.left[node] + (not left[i])
        np.testing.assert_allclose(asked.parts.parts(i, p, r), expected, atol=1e-5)
        assert np.abs(expected).max() > 0.1


def followed(nodes, node, values):
    """Return the feature of a question and which rows go to the left; None at a leaf."""
    if nodes.kind[node] == -1:
        return None
    f, at, n_left = nodes.feature[node], nodes.at[node], nodes.threshold[node]
    x, known = values[:, f], ~np.isnan(values[:, f])
    left = x <= nodes.threshold[node]
    if nodes.kind[node] == 1:
        pool = nodes.pool[at : at + nodes.length[node]]
        left, known = np.isin(x, pool[: int(n_left)]), np.isin(x, pool)
    return f, np.where(known, left, nodes.missing_left[node])


def test_boosted_trees_of_an_older_version_count_their_leaves_alike():
    model = GradientBoost(5, validation_fraction=None, random_state=0).fit(X, y)
    model.forest_.rows = None
    D = model.decision_function(X)
    for i in (0, 75, 149):
        assert D[i, 2] - D[i, 0] - answers(model, X).parts.parts(i, 2, 0).sum() == pytest.approx(
            D[0, 2] - D[0, 0] - answers(model, X).parts.parts(0, 2, 0).sum()
        )
    more = model.set_params(n_rounds=8, warm_start=True).fit(X, y)
    assert more.n_rounds_ == 8
    assert "Features for" in explain(more, X.iloc[70]).summary()


def test_other_columns_are_not_explained_by_features():
    for model in (OutputCodeClassifier(SVC()), OutputCodeClassifier("kernel-svm"), SVC()):
        found = explain(model.fit(X, y), X.iloc[70])
        assert found.features == []
        assert "Features" not in found.summary()


def test_the_sentence_names_features_by_their_size_and_sign():
    model = make_pipeline(StandardScaler(), OutputCodeClassifier("ridge", code="one-vs-all")).fit(X, y)
    found = explain(model, X.iloc[70], truth="versicolor")
    # The values are the user's; the parts are those of the scaled values.
    W, z = model[-1].coef_, model[0].transform(X.iloc[[70]])[0]
    p, r = found.predicted, found.rival
    expected = (W[p] - W[r]) * z
    named = {name.split(" = ")[0]: part for name, part in found.features}
    assert named == pytest.approx(dict(zip(X.columns, expected, strict=True)))
    assert [part for _, part in found.features if part > 0] == sorted((e for e in expected if e > 0), reverse=True)
    best = X.columns[expected.argmax()]
    assert f"Features for virginica over versicolor: {best} = {X[best][70]:g} (+" in found.summary()
    assert found.data()["features"][0][0] == f"{best} = {X[best][70]:g}"


def test_categories_are_named_as_the_table_has_them():
    rng = np.random.default_rng(0)
    frame = pd.DataFrame({"skin": np.tile(["red", "green", "blue"], 30), "mass": rng.normal(size=90)})
    table = tables.from_frame(frame, pd.Series(np.tile(["apple", "pear", "plum"], 30)))
    for learner in ("ridge", "stumps", "tree", "boosted-trees", "maxent", "gradient-boost"):
        code = None if learner in ("maxent", "gradient-boost") else "all-pairs"
        model = build(table.schema, learner, code, rows=90).fit(table.frame, table.target)
        features = explain(model, table.frame.iloc[0]).features
        assert features[0][0] == "skin = red"
        assert {name.split(" = ")[0] for name, _ in features} <= {"skin", "mass"}


def table_with_others():
    """A table with a category, and a column that models don't read in front."""
    frame = X.assign(colour=np.where(np.arange(len(X)) % 2, "red", "blue"))
    return frame, pd.concat([pd.Series(range(len(X)), name="id"), frame], axis=1)


@pytest.mark.parametrize("learner", ["ridge", "gradient-boost"])
def test_columns_that_the_model_does_not_read_change_no_name(learner):
    frame, more = table_with_others()
    model = build(tables.infer(frame), learner).fit(frame, y)
    own, found = explain(model, frame.iloc[[70]]), explain(model, more.iloc[[70]])
    assert own.features
    assert found.features == own.features


RACED = {
    "coded": (lambda kinds: views.as_numbers(None, kinds), OutputCodeClassifier("ridge", code="dense", random_state=0)),
    "trees": (views.as_codes, GradientBoost(10, categorical_features=[4])),
    "linear": (lambda kinds: views.as_numbers(None, kinds), LogisticRegression(max_iter=1000)),
}


@pytest.mark.parametrize("name", RACED)
def test_an_average_of_one_model_is_explained_as_this_model(name):
    frame, more = table_with_others()
    view, classifier = RACED[name]
    plain, numbers = views.plain_table(frame), np.searchsorted(iris.target_names, y)
    inner = Pipeline([("table", view(views.kinds_of(plain))), ("classifier", classifier)]).fit(plain, numbers)
    blend = Blend([inner], [2.0], [0.01], [1.0], list(iris.target_names))
    schema = tables.infer(frame)
    model = make_pipeline(view_of(schema), blend)
    asked, alone = answers(model, more), answers(inner, plain)
    np.testing.assert_allclose(asked.probabilities, model.predict_proba(more), rtol=1e-12)
    np.testing.assert_array_equal(asked.classes[asked.predicted], model.predict(more))
    if name == "coded":
        np.testing.assert_array_equal(asked.margins, alone.margins)
    np.testing.assert_array_equal(asked.parts.parts(70, 2, 1), alone.parts.parts(70, 2, 1))
    # By the names and values of the table, which the model inside does not know.
    found = explain(model, more.iloc[[70]])
    assert {feature.split(" = ")[0] for feature, _ in found.features} <= set(frame.columns)
    assert any(feature == f"petal width (cm) = {X.iloc[70, 3]}" for feature, _ in found.features)
    assert ("The probability of" in found.summary()) == (name != "coded")


def test_a_race_is_explained_by_the_columns_that_it_was_run_on():
    frame, more = table_with_others()
    race = Race(time_limit=None, contestants=["maxent"], random_state=0).fit(frame, y)
    assert explain(race, more.iloc[[70]]).features == explain(race, frame.iloc[[70]]).features
    assert explain(race, frame.iloc[[70]]).features
