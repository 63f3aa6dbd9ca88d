"""Trees as text and as drawings."""

import matplotlib as mpl
import numpy as np
import pytest
from sklearn.datasets import load_iris
from sklearn.exceptions import NotFittedError

from outputcodes.direct.trees import DecisionTree, export_text, plot

mpl.use("Agg")
X, y = load_iris(return_X_y=True)


def answer(text, x):
    """Follow the text of an axis tree by eye."""
    lines = text.split("\n")
    at, depth = 0, 0
    while "<=" in lines[at]:
        feature, threshold = lines[at].split(": ")[-1].split(" <= ")
        wanted = "yes: " if x[int(feature[1:])] <= float(threshold) else "no: "
        depth += 1
        at = next(i for i in range(at + 1, len(lines)) if lines[i].startswith("|   " * depth + wanted))
    return int(lines[at].split(": ")[-1].split(" (")[0])


def test_the_text_answers_as_the_tree():
    model = DecisionTree().fit(X, y)
    text = export_text(model, decimals=17)
    assert [answer(text, x) for x in X] == model.predict(X).tolist()
    assert len(text.split("\n")) == len(model.tree_.counts)


def test_every_kind_of_question_has_its_words():
    colours = DecisionTree(categorical_features=[0]).fit([[1], [2], [3], [4]], [0, 1, 0, 1])
    assert export_text(colours, ["colour"]).split("\n") == ["colour in {1, 3}", "|   yes: 0 (2)", "|   no: 1 (2)"]
    ring = np.array([[0.0, 0], [2, 0], [0, 2], [-2, 0], [0, -2]])
    assert export_text(DecisionTree(("axis", "sphere")).fit(ring, [1, 0, 0, 0, 0])).startswith(
        "distance from (x0 0.00, x1 0.00) <= 1.00"
    )
    slope = DecisionTree(("axis", "oblique")).fit([[0.0, 0], [0, 1], [1, 1], [2, 1]], [0, 1, 0, 0])
    assert export_text(slope).split("\n")[0].count("x") == 2
    gap = DecisionTree().fit([[1.0], [np.nan], [2.0]], [0, 1, 0])
    assert export_text(gap, ["age"]).startswith("age is known")


def test_a_drawing_has_a_box_for_each_node_and_a_line_to_each_child():
    model = DecisionTree(("axis", "oblique")).fit(X, y)
    ax = plot(model, feature_names=["a", "b", "c", "d"])
    assert len(ax.texts) == len(model.tree_.counts)
    assert len(ax.lines) == len(model.tree_.counts) - 1
    leaves = [t for t in ax.texts if "\n" in t.get_text()]
    places = sorted(t.get_position()[0] for t in leaves)
    assert places == list(range(model.n_leaves_))
    assert plot(model, ax=ax) is ax


def test_errors():
    with pytest.raises(NotFittedError):
        export_text(DecisionTree())
    with pytest.raises(ValueError, match="feature_names must have 4 names, one per feature, got 1"):
        export_text(DecisionTree().fit(X, y), ["only"])
